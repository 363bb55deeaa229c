"""What every format shares: a release that checks, a folder to fill, and the list of formats."""

from __future__ import annotations

import gzip
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, ClassVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from hubbub.card.check import check, load, public_folder, refuse_draft
from hubbub.card.schema import Card
from hubbub.errors import InputError, Refused
from hubbub.plugins import Registry
from hubbub.plurals import counted
from hubbub.public.groups import Grouping
from hubbub.steps.keys import base_of, by_name, group_of


@dataclass(frozen=True)
class CheckedRelease:
    """The public folder of a release whose card and files check."""

    public: Path
    card: Card
    group: tuple[str, str] | None = None
    """A grouping and one of its groups: the tables are then that group's own, without the column."""

    @classmethod
    def open(cls, release: str | Path, group: str = "") -> CheckedRelease:
        """Open a release; refused if it is none or not as it was written, because an export repeats its claim.

        `group` is NAME=VALUE, of a release with tables by NAME.
        """
        document = load(release)
        refuse_draft(document, release)
        wrong = [finding for finding in check(release) if not finding.holds]
        if wrong:
            raise Refused(
                "The release is not as it was written, so nothing can be said of an export of it.",
                given=f"{wrong[0].what}: {wrong[0].seen}",
                next=f"see hubbub card {release} --check",
            )
        card = Card.model_validate(document)
        return cls(public_folder(release), card, one_group(card, group) if group else None)

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables of the release, or of the group."""
        named = self.card.release.contains
        if self.group is None:
            return tuple(named)
        return tuple(base_of(table) for table in named if group_of(table) == self.group[0])

    def table(self, name: str) -> pa.Table | None:
        """One table as it was published; None where the release does not have it."""
        if name not in self.tables:
            return None
        if self.group is None:
            return pq.read_table(self.public / f"{name}.parquet")
        column, value = self.group
        table = pq.read_table(self.public / f"{by_name(name, column)}.parquet")
        return table.filter(pc.equal(table.column(column), value)).drop_columns([column])

    def rows(self, name: str) -> int:
        """How many rows a table has, 0 where the release does not have it."""
        if self.group is not None:
            table = self.table(name)
            return 0 if table is None else table.num_rows
        return next((f.rows or 0 for f in self.card.release.files if f.path == f"{name}.parquet"), 0)

    def need(self, name: str) -> pa.Table:
        """A table that the format cannot be made without; refused if the release does not have it."""
        table = self.table(name)
        if table is None:
            raise InputError(f"The release has no table {name}.", given=", ".join(self.tables))
        return table


def one_group(card: Card, given: str) -> tuple[str, str]:
    """The grouping and the group that NAME=VALUE names, as the card spells them."""
    name, _, value = (part.strip() for part in given.partition("="))
    known = [Grouping.read(record) for record in card.mechanism.public_lists if record.get("use") == "groups"]
    divided = {one.name: one for one in known if one.name in map(group_of, card.release.contains)}
    if name not in divided:
        raise InputError(
            f"The release has no tables by {name or 'group'}.",
            given=f"--group {given}",
            allowed=f"--group NAME=VALUE, NAME one of: {', '.join(divided)}" if divided else "a release made with --by",
        )
    spelt = {one.lower(): one for one in divided[name].groups}
    if value.lower() not in spelt:
        allowed = ", ".join(divided[name].groups)
        raise InputError(f"The group {name} has no such value.", given=f"--group {given}", allowed=allowed)
    return name, spelt[value.lower()]


def value_column(table: pa.Table) -> str:
    """The column of numbers: `users`, or `count` where a mechanism counts occurrences."""
    name: str = table.column_names[-2]
    return name


@dataclass(frozen=True)
class WrittenFile:
    """One file of an export."""

    name: str
    rows: int
    about: str


@dataclass
class Folder:
    """The folder that an export fills; it lists what is written, for the README."""

    path: Path
    zipped: bool = False
    written: list[WrittenFile] = field(default_factory=list)

    def lines(
        self, name: str, about: str, rows: int, chunks: Iterable[bytes | memoryview], *, packed: bool = True
    ) -> None:
        """A text file from its bytes; with `zipped`, NAME.gz, unless it must be opened as it is (not `packed`)."""
        with self._open(name, zipped=self.zipped and packed) as (stream, called):
            for chunk in chunks:
                stream.write(chunk)
        self.written.append(WrittenFile(called, rows, about))

    def table(self, name: str, about: str, rows: pa.Table) -> None:
        """A table as a Parquet file, which is compressed already."""
        pq.write_table(rows, self.path / name)
        self.written.append(WrittenFile(name, rows.num_rows, about))

    @contextmanager
    def _open(self, name: str, *, zipped: bool) -> Iterator[tuple[IO[bytes], str]]:
        if not zipped:
            with (self.path / name).open("wb") as file:
                yield file, name
            return
        called = f"{name}.gz"
        with (
            (self.path / called).open("wb") as file,
            gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed,  # the same bytes on every day
        ):
            yield packed, called  # type: ignore[misc]


class Format(ABC):
    """A format that a release can be written in."""

    name: ClassVar[str]
    about: ClassVar[str]
    needs: ClassVar[tuple[str, ...]] = ()
    """Of these tables at least one must be there, with rows; none: any release will do."""
    text: ClassVar[bool] = True
    """Whether its files are text, which may be compressed."""
    copies: ClassVar[bool] = False
    """Whether its tables are the release's own files, so that the card's hashes are theirs."""

    def ready(self, source: CheckedRelease) -> None:
        """Refuse a release that this format cannot be made of, before anything is written."""
        if self.needs and not any(source.rows(name) for name in self.needs):
            wanted = " or ".join(self.needs)
            asked = ",".join(dict.fromkeys(["queries", self.needs[0]]))
            raise InputError(
                f"The {self.name} format is made of the table {wanted}, and this release has none with a row in it.",
                given=", ".join(f"{name}: {counted(source.rows(name), 'row')}" for name in source.tables),
                allowed=f"a release with {wanted}",
                next=f"release the log with --tables {asked}, or export --to tsv",
            )

    @abstractmethod
    def write(self, source: CheckedRelease, folder: Folder) -> None:
        """Write the format's files into the folder."""

    @abstractmethod
    def notes(self, card: Card) -> str:
        """What a reader must know of the files, as Markdown."""

    def front(self, card: Card) -> str:
        """Metadata that stands above the README's first line; none for most formats."""
        return ""


FORMATS: Registry[Format] = Registry("format", "hubbub.exporters", "hubbub.show.export", Format)


def register(form: Format) -> None:
    """Add a format to the list."""
    FORMATS.add(form)
