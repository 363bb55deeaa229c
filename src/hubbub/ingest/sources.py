"""Which files a log consists of, and how their bytes are read: plain, gzip or Zstandard, always as a stream.

Compression is recognised by the first bytes, not by the name; a name that promises it and does not keep it is an error.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from hubbub.errors import InputError

CODECS = {".gz": ("gzip", b"\x1f\x8b"), ".zst": ("zstd", b"\x28\xb5\x2f\xfd")}
READABLE = "a file, a folder of files or a glob; plain, .gz or .zst"
FOREIGN = {
    b"PAR1": ("a Parquet file", "read it with the format `table`"),
    b"PK\x03\x04": ("a zip archive", "unpack it first"),
    b"BZh": ("compressed with bzip2", "decompress it, or compress it with gzip or zstd instead"),
    b"\xfd7zXZ": ("compressed with xz", "decompress it, or compress it with gzip or zstd instead"),
    b"\xff\xfe": ("UTF-16 text", "convert it to UTF-8"),
    b"\xfe\xff": ("UTF-16 text", "convert it to UTF-8"),
}


def resolve(source: str | Path) -> list[Path]:
    """The files of a log, in the order of their names; empty ones are left out."""
    path = Path(source)
    if path.is_dir():
        files = _listing(path)
    elif path.exists():
        files = [path]
    elif glob.has_magic(str(source)):
        files = [Path(name) for name in sorted(glob.glob(str(source), recursive=True)) if not os.path.isdir(name)]
        if not files:
            raise InputError(
                "No file matches the log's pattern.", given=source, allowed=READABLE, next="check the glob"
            )
    else:
        raise InputError("The log does not exist.", given=source, allowed=READABLE, next="check the path")
    sized = [(file, _size(file)) for file in files]
    if not any(size for _, size in sized):
        what = "The log's folder holds no data." if path.is_dir() else "The log is empty."
        raise InputError(what, given=source, allowed=READABLE, next="check that it was copied whole")
    return [file for file, size in sized if size]


def _listing(folder: Path) -> list[Path]:
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        raise InputError(
            f"The log's folder cannot be read: {error.strerror}.", given=folder, next="check access"
        ) from None
    return [entry for entry in entries if not entry.name.startswith((".", "_")) and not entry.is_dir()]


def _size(file: Path) -> int:
    """The size of a file that can be read."""
    try:
        if not file.is_file() and file.exists():
            raise InputError("Part of the log is not a regular file.", given=file, allowed=READABLE)
        with file.open("rb") as opened:
            return os.fstat(opened.fileno()).st_size
    except OSError as error:
        raise InputError(
            f"Part of the log cannot be read: {error.strerror}.", given=file, next="check the file and its permissions"
        ) from None


def bare(file: Path) -> Path:
    """The file's name without the suffix of its compression."""
    return file.with_suffix("") if file.suffix in CODECS else file


class Stream:
    """A file's bytes after decompression, and how many of the file's own have been used."""

    def __init__(self, file: Path, raw: Any, data: Any, codec: str | None) -> None:
        self.file, self._raw, self._data, self._codec = file, raw, data, codec

    def read(self, size: int, /) -> bytes:
        """The next bytes, at most `size`; none at the end."""
        try:
            return bytes(self._data.read(size))
        except OSError as error:
            if self._codec:
                what = f"The {self._codec} stream is damaged or cut off."
                raise InputError(
                    what, given=self.file, next=f"test it with `{self._codec} -t`, copy it again"
                ) from None
            raise InputError(f"The log cannot be read: {error.strerror}.", given=self.file) from None

    def done(self) -> int:
        """How much of the file has been read."""
        return int(self._raw.tell())


@contextmanager
def opened(file: Path) -> Iterator[Stream]:
    """The file as a stream of text."""
    try:
        raw = pa.OSFile(str(file), "rb")
    except OSError as error:
        raise InputError(f"The log cannot be opened: {error.strerror}.", given=file) from None
    with raw:
        magic = raw.read(6)
        raw.seek(0)
        for start, (what, advice) in FOREIGN.items():
            if magic.startswith(start):
                raise InputError(f"The log is {what}, not text.", given=file, allowed=READABLE, next=advice)
        codec = next((name for name, start in CODECS.values() if magic.startswith(start)), None)
        if codec is None and file.suffix in CODECS:
            name = CODECS[file.suffix][0]
            raise InputError(
                f"The file is named {file.suffix} but is not a {name} stream.", given=file, next="rename it"
            )
        data = pa.CompressedInputStream(raw, codec) if codec else raw
        yield Stream(file, raw, data, codec)
