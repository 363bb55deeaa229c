"""Which files a log consists of, and how their bytes are read: plain or compressed, always as a stream.

Compression is recognised by the first bytes, not by the name; a name that promises it and does not keep it is an error.
"""

from __future__ import annotations

import bz2
import glob
import lzma
import os
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from hubbub.errors import InputError
from hubbub.ingest import archives
from hubbub.ingest.encodings import MARKS, UTF8, WIDE, Utf8Of

CODECS = {
    ".gz": ("gzip", rb"\x1f\x8b"),
    ".zst": ("zstd", rb"\x28\xb5\x2f\xfd"),
    ".xz": ("xz", rb"\xfd7zXZ\x00"),
    ".bz2": ("bzip2", rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"),
}
READABLE = "a file, a folder of files or a glob; plain, .gz, .zst, .xz, .bz2 or .zip"
FOREIGN = {  # what no line of UTF-8 text begins with
    rb"PAR1[\x00-\x08\x0e-\x1f]": ("a Parquet file", "read it with `--format table`, and call it .parquet"),
    rb"ARROW1\x00\x00": ("an Arrow file", "read it with `--format table`, and call it .arrow"),
    rb"PK\x03\x04": ("a zip archive", "call it .zip, or .xlsx if it is an Excel file"),
}
DAMAGES = (OSError, EOFError, lzma.LZMAError, zlib.error, zipfile.BadZipFile)
WIDE_TEXT = ("UTF-16 text", "read it with `--format table --encoding utf-16`, or convert it to UTF-8")


def resolve(source: str | Path) -> dict[Path, int]:
    """The files of a log with their sizes, in the order of their names; empty files are left out."""
    try:
        files = _matching(source)
    except OSError as error:
        raise InputError(f"The log cannot be read: {error.strerror}.", given=source, allowed=READABLE) from None
    sizes = {file: _size(file) for file in files}
    if not any(sizes.values()):
        what = "The log is empty." if sizes else "The log's folder holds no files."
        raise InputError(what, given=source, allowed=READABLE, next="check that it was copied whole")
    found: dict[Path, int] = {}
    for file, size in sizes.items():
        found |= archives.members(file) if archives.is_archive(file) else {file: size} if size else {}
    if not found:
        raise InputError("The log's archive holds no files.", given=source, allowed=READABLE)
    return found


def on_disk(file: Path) -> Path:
    """The file itself, or the archive that it is in."""
    return archives.of(file) or file


def _matching(source: str | Path) -> list[Path]:
    path = Path(source)
    if path.is_dir():
        return [file for file in sorted(path.iterdir()) if not file.name.startswith((".", "_")) and not file.is_dir()]
    if path.exists() or archives.of(path):
        return [path]
    if not glob.has_magic(str(source)):
        raise InputError("The log does not exist.", given=source, allowed=READABLE, next="check the path")
    files = sorted({Path(name) for name in glob.glob(str(source), recursive=True) if not os.path.isdir(name)})
    if not files:
        raise InputError("No file matches the log's pattern.", given=source, allowed=READABLE, next="check the pattern")
    return files


def _size(file: Path) -> int:
    """The size of a file that can be opened."""
    if archive := archives.of(file):
        return archives.members(archive).get(file, 0)
    try:
        if file.exists() and not file.is_file():
            raise InputError("Part of the log is not a regular file.", given=file, allowed=READABLE)
        with file.open("rb") as opened:
            return os.fstat(opened.fileno()).st_size
    except OSError as error:
        raise InputError(
            f"Part of the log cannot be read: {error.strerror}.",
            given=file,
            allowed=READABLE,
            next="check the file and its permissions, or leave it out with a glob",
        ) from None


def bare(file: Path) -> Path:
    """The file's name without the suffix of its compression."""
    return file.with_suffix("") if file.suffix.lower() in CODECS else file


def is_parquet(file: Path) -> bool:
    """Whether the file is Parquet, by the suffix of its name."""
    return file.suffix.lower() in (".parquet", ".pq")


class Stream:
    """A file's bytes after decompression, and how many of the file's own have been used."""

    def __init__(self, file: Path, raw: Any, data: Any, codec: str | None) -> None:
        self.file, self._raw, self._data, self._codec = file, raw, data, codec

    def read(self, size: int, /) -> bytes:
        """The next bytes, at most `size`; none at the end."""
        try:
            return bytes(self._data.read(size))
        except DAMAGES as error:
            what = f"The {self._codec} stream is damaged or cut off" if self._codec else "The log cannot be read"
            advice = f"test it with `{self._codec} -t` and copy it again" if self._codec else "check the disk"
            raise InputError(f"{what}: {error}.", given=self.file, next=advice) from None

    def done(self) -> int:
        """How many bytes of the file itself have been read."""
        return int(self._raw.tell())


@contextmanager
def opened(file: Path, encoding: str = UTF8, marked: bool = False) -> Iterator[Stream]:
    """The file as a stream of text: UTF-8 if its encoding is UTF-16, otherwise as it is.

    A mark of UTF-16 where another encoding is meant is an error, unless it may be `marked`.
    """
    with archives.member(file) if archives.of(file) else _on_disk(file) as raw:
        start = raw.read(16)
        raw.seek(0)
        for pattern, (what, advice) in FOREIGN.items():
            if re.match(pattern, start):
                raise InputError(f"The log is {what}, not text.", given=file, allowed=READABLE, next=advice)
        codec = next((name for name, magic in CODECS.values() if re.match(magic, start)), None)
        if codec is None and file.suffix.lower() in CODECS:
            raise InputError(f"The file is named {file.suffix} but not compressed so.", given=file, next="rename it")
        stream = Stream(file, raw, _decompressed(raw, codec), codec or archives.kind(file))
        if encoding in WIDE:
            stream = Stream(file, raw, Utf8Of(stream, encoding, file), None)
        elif codec is None and start[:2] in MARKS and not marked:
            what, advice = WIDE_TEXT
            raise InputError(f"The log is {what}.", given=file, allowed="UTF-8 text", next=advice)
        yield stream


def begins(file: Path) -> bytes:
    """The first two bytes of a file after decompression."""
    with opened(file, UTF8, marked=True) as stream:
        return stream.read(2)


def _on_disk(file: Path) -> Any:
    try:
        return pa.OSFile(str(file), "rb")
    except OSError as error:
        raise InputError(f"The log cannot be opened: {error}.", given=file) from None


def _decompressed(raw: Any, codec: str | None) -> Any:
    if codec == "xz":
        return lzma.LZMAFile(raw)
    if codec == "bzip2":
        return bz2.BZ2File(raw)
    return pa.CompressedInputStream(raw, codec) if codec else raw
