"""What a reader is, and the registry of them: one file per format, registered on its last line.

A reader says which input column plays which role and turns a file into tasks. A task computes one part: records in
SearchLog's columns and rejects. Tasks run on any thread; their results are written in order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self, runtime_checkable

from hubbub.errors import ParameterError
from hubbub.ingest import agents
from hubbub.ingest.fields import Layout
from hubbub.ingest.lines import blocks
from hubbub.ingest.records import from_lines
from hubbub.ingest.schema import ReadTask
from hubbub.ingest.sources import opened
from hubbub.ingest.stated import Stated
from hubbub.plugins import Registry


@dataclass(frozen=True)
class LineShape:
    """How a log is recognised as one of this format; only for formats that fix the user column."""

    line: re.Pattern[bytes]  # what every line looks like
    words: str  # the same for a person
    header: bytes | None = None  # a first line that settles it alone


@runtime_checkable
class Reader(Protocol):
    """One input format."""

    @property
    def name(self) -> str:
        """The name that `--format` takes."""

    @property
    def sentence(self) -> str:
        """One sentence about the files it reads."""

    @property
    def shape(self) -> LineShape | None:
        """How it is recognised; None if it must be named, because it leaves open who the user is."""

    def columns(self, given: Mapping[str, str] | None, files: list[Path]) -> dict[str, str]:
        """Which input column plays which role; refuses a choice that does not fit the format."""

    def settled(self, stated: Stated, columns: Mapping[str, str] | None, files: list[Path]) -> tuple[Reader, Stated]:
        """The reader as the owner's statements and the heads of the files make it, and all that it goes by."""

    def tasks(self, file: Path, columns: Mapping[str, str], canonical_urls: bool) -> Iterator[ReadTask]:
        """The tasks that together read one file, in the order of its lines."""


class NothingStated:
    """A reader whose format leaves nothing to be stated."""

    name: str

    def settled(self, stated: Stated, columns: Mapping[str, str] | None, files: list[Path]) -> tuple[Self, Stated]:
        """Refuses every statement."""
        agents.refuse(stated.drop_agents, self.name)
        if given := stated.options():
            raise ParameterError(
                f"The format `{self.name}` fixes its {' and its '.join(given)}.".replace("_", " "),
                given=", ".join(f"--{name.replace('_', '-')} {value}" for name, value in given.items()),
                next="leave it out, or read the file as `--format table`",
            )
        return self, stated


READERS: Registry[Reader] = Registry(
    "format", "hubbub.readers", "hubbub.ingest.readers", Reader, "The log's format is unknown."
)


def register(reader: Reader) -> None:
    """Add a reader to the register, under its name."""
    READERS.add(reader)


def formats() -> dict[str, str]:
    """The formats that can be read, each with what it is."""
    return {name: reader.sentence for name, reader in READERS.items()}


def shapes() -> dict[str, LineShape]:
    """The formats that can be recognised."""
    return {name: reader.shape for name, reader in READERS.items() if reader.shape is not None}


def reader(name: str) -> Reader:
    """The reader of a format."""
    return READERS.named(name)


def line_tasks(file: Path, layout: Layout, canonical_urls: bool) -> Iterator[ReadTask]:
    """The tasks of a delimited text file: one per block of lines."""
    with opened(file, layout.encoding) as stream:
        for piece in blocks(stream):
            yield ReadTask(lambda piece=piece: from_lines(piece, layout, canonical_urls), stream.done())  # type: ignore[misc]


@dataclass(frozen=True)
class FixedReader(NothingStated):
    """A format of delimited text that fixes its columns: all that there is to know of it is data."""

    name: str
    sentence: str
    shape: LineShape
    roles: Mapping[str, str]
    """What the format calls the column of each role."""
    layout: Layout

    def columns(self, given: Mapping[str, str] | None, files: list[Path]) -> dict[str, str]:
        """The columns of the format; refuses `--columns`."""
        if given:
            raise ParameterError(
                f"The format `{self.name}` fixes its columns.",
                given=", ".join(f"{role}={name}" for role, name in given.items()),
                allowed="no --columns",
                next="leave --columns out, or read the file as `--format table`",
            )
        return dict(self.roles)

    def tasks(self, file: Path, columns: Mapping[str, str], canonical_urls: bool) -> Iterator[ReadTask]:
        """One task per block of lines."""
        return line_tasks(file, self.layout, canonical_urls)
