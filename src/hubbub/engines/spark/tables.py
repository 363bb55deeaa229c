"""Tables as files that DuckDB reads in a worker: whole, or the part of them that a task is about.

A table is cut along a column: rows with one value of it lie in one file. Whatever a query along that column reads is
cut to the task's part, by its file or, where it lies otherwise, by a filter; tables without that column are read whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

PART, BUCKET, PLACE = "hubbub_part", "hubbub_bucket", "hubbub_place"
"""Columns of our own: where a row that moves goes; in which file a numbered row lies, and where in it."""
USER = {"uid": ("uid", "user")}
"""The log as it was cleaned calls its users `user`."""
NAME = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class Cut:
    """Into how many parts, along which column: by its hash, or by ranges that begin with `bounds` (of ids)."""

    column: str
    parts: int
    bounds: tuple[int, ...] = ()

    def holds(self, column: str, part: int) -> str:
        """That a row is in a part, as SQL."""
        if not self.bounds:
            return f'hash("{column}") % {self.parts} = {part}'
        last = part == self.parts - 1
        return f'"{column}" >= {self.bounds[part]}' + ("" if last else f' AND "{column}" < {self.bounds[part + 1]}')

    def placed(self, rows: str, columns: str) -> str:
        """Rows with the part that each is in, as SQL."""
        if not self.bounds:
            return f"SELECT *, CAST(hash({columns}) % {self.parts} AS INTEGER) AS {PART} FROM ({rows}) AS moving"
        starts = dict(zip(self.bounds, range(self.parts), strict=True))  # of equal starts the last one's part has rows
        values = ", ".join(f"({start}, {part})" for start, part in starts.items())
        return (
            f"SELECT moving.*, starts.part AS {PART} FROM ({rows}) AS moving "
            f"ASOF JOIN (VALUES {values}) AS starts(start, part) ON moving.{columns} >= starts.start"
        )


class TaskTable(Protocol):
    """What a name stands for in the DuckDB of a task."""

    def sql(self, part: int) -> str:
        """The rows that the task of this part reads."""
        ...


@dataclass(frozen=True)
class Query:
    """A view: a query over other names."""

    text: str

    def sql(self, part: int) -> str:
        """The same in every task: the names differ."""
        return self.text


@dataclass(frozen=True)
class Stored:
    """Rows in Parquet files; with a cut, file i holds the rows of part i."""

    files: tuple[str, ...]
    columns: tuple[str, ...]
    cut: Cut | None = None
    select: str = "*"
    """What is read of a row of the files, as DuckDB says it."""
    small: bool = False
    """Whether the process that asks made it: then every task may as well read all of it."""

    def sql(self, part: int) -> str:
        """The rows of all its files."""
        return self.read(self.files)

    def read(self, files: Iterable[str]) -> str:
        """The rows of some of its files."""
        return f"SELECT {self.select} FROM read_parquet([{listed(files)}])"

    def along(self, column: str) -> str:
        """The column that a cut along this one would go by; empty if it has none."""
        return next((name for name in USER.get(column, (column,)) if name in self.columns), "")


@dataclass(frozen=True)
class OwnPart:
    """The part of a table that a task is about."""

    table: Stored
    cut: Cut

    def sql(self, part: int) -> str:
        """Its own file, or the rows of all files that are in the part."""
        if self.table.cut == self.cut:
            return self.table.read(self.table.files[part : part + 1])
        column = self.table.along(self.cut.column)
        return f"SELECT * FROM ({self.table.sql(part)}) AS whole WHERE {self.cut.holds(column, part)}"


@dataclass(frozen=True)
class Slice:
    """The rows of a table that a task reads before they are brought to their part: a file, from a row to another."""

    slices: tuple[tuple[str, int, int], ...]

    def sql(self, part: int) -> str:
        """Row groups outside are not read."""
        file, first, after = self.slices[part]
        rows = f"SELECT * FROM read_parquet([{listed([file])}])"
        return f"{rows} WHERE file_row_number >= {first} AND file_row_number < {after}"


@dataclass(frozen=True)
class Moved:
    """What tasks have written for a part, each in a file of its own that is sorted by part."""

    files: tuple[str, ...]

    def sql(self, part: int) -> str:
        """Row groups of other parts are not read."""
        return f"SELECT * EXCLUDE ({PART}) FROM read_parquet([{listed(self.files)}]) WHERE {PART} = {part}"


def numbered(id: str, starts: Sequence[int]) -> str:
    """What is read of a numbered row: its id is its place after all rows of the files before its own."""
    return f"CAST({list(starts)}[{BUCKET} + 1] + {PLACE} AS BIGINT) AS {id}, * EXCLUDE ({BUCKET}, {PLACE})"


def listed(files: Iterable[str]) -> str:
    """Files as SQL."""
    return ", ".join("'" + file.replace("'", "''") + "'" for file in files)


def needed(sql: str, known: Mapping[str, Query | Stored]) -> Iterator[tuple[str, Query | Stored]]:
    """The names that a query may read, each after those it is made of. A word that is no table does no harm."""
    seen: set[str] = set()

    def visit(text: str) -> Iterator[tuple[str, Query | Stored]]:
        for word in NAME.findall(text):
            if word in known and word not in seen:
                seen.add(word)
                table = known[word]
                if isinstance(table, Query):
                    yield from visit(table.text)
                yield word, table

    return visit(sql)
