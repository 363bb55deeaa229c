"""Zip archives: every member is a file of the log, called `archive.zip/member`, and read without being unpacked."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from hubbub.errors import InputError

SUFFIX = ".zip"
ENCRYPTED = 0x1


def is_archive(file: Path) -> bool:
    """Whether the file's name says so."""
    return file.suffix.lower() == SUFFIX and file.is_file()


def of(file: Path) -> Path | None:
    """The archive that a file is a member of; None if it is a file of its own."""
    return next((parent for parent in file.parents if is_archive(parent)), None)


def kind(file: Path) -> str | None:
    """What the file is packed in, in a word."""
    return "zip" if of(file) else None


def members(file: Path) -> dict[Path, int]:
    """The files in an archive with their sizes; folders, hidden and empty files are left out."""
    with _opened(file) as archive:
        found = archive.infolist()
    for member in found:
        if member.flag_bits & ENCRYPTED:
            raise InputError("The zip archive is encrypted.", given=file, next="unpack it first")
    return {
        file / member.filename: member.file_size
        for member in found
        if member.file_size and not member.is_dir() and not _hidden(member.filename)
    }


@contextmanager
def member(file: Path) -> Iterator[IO[bytes]]:
    """A member, opened."""
    archive_file = of(file)
    assert archive_file is not None
    with _opened(archive_file) as archive, archive.open(file.relative_to(archive_file).as_posix()) as stream:
        yield stream


def _hidden(name: str) -> bool:
    return any(part.startswith((".", "_")) for part in name.split("/"))


def _opened(file: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(file)
    except (zipfile.BadZipFile, OSError) as error:
        raise InputError(
            f"The zip archive is damaged or cut off: {str(error).rstrip('.')}.",
            given=file,
            next="test it with `unzip -t` and copy it again",
        ) from None
