"""What a reader is, and the register of them: one format a file, registered on its last line.

A reader says which input column plays which role and turns a file into tasks. A task computes one part: records in
SearchLog's columns and rejects. Tasks run on any thread; their results are written in order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol

from hubbub.errors import ParameterError
from hubbub.ingest.fields import Layout
from hubbub.ingest.lines import blocks
from hubbub.ingest.records import from_lines
from hubbub.ingest.schema import Task
from hubbub.ingest.sources import opened


class Reader(Protocol):
    """One input format."""

    @property
    def name(self) -> str:
        """What `--format` calls it."""

    @property
    def sentence(self) -> str:
        """What it reads, in words."""

    def columns(self, given: Mapping[str, str] | None, files: list[Path]) -> dict[str, str]:
        """Which input column plays which role; refuses a choice that does not fit the format."""

    def tasks(self, file: Path, columns: Mapping[str, str], canonical_urls: bool) -> Iterator[Task]:
        """The work of reading one file."""


_READERS: dict[str, Reader] = {}


def register(reader: Reader) -> None:
    """Make a format known."""
    _READERS[reader.name] = reader


def formats() -> dict[str, str]:
    """The formats that can be read, each with what it is."""
    return {name: _READERS[name].sentence for name in sorted(_READERS)}


def reader(name: str) -> Reader:
    """The reader of a format."""
    if name not in _READERS:
        raise ParameterError(
            "The log's format is unknown.", given=name, allowed=", ".join(sorted(_READERS)), next="choose one of these"
        )
    return _READERS[name]


def line_tasks(file: Path, layout: Layout, canonical_urls: bool) -> Iterator[Task]:
    """The tasks of a delimited text file: one a block of lines."""
    with opened(file) as stream:
        for piece in blocks(stream):
            yield Task(lambda piece=piece: from_lines(piece, layout, canonical_urls), stream.done())  # type: ignore[misc]
