"""What a step may ask of an engine. Small on purpose: the SQL text is the same on all of them.

The common subset (so that every engine runs the very same text): times are BIGINT epoch seconds,
NULLS LAST is always written out, no QUALIFY, no arrays, no backslash in a literal, and the user column
is called `uid` (a bare `user` is the account's name on some engines).
What SQL does not have in common is a function over Arrow batches, run by `map_batches`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self

import pyarrow as pa

Batches = Callable[[Iterator[pa.RecordBatch]], Iterable[pa.RecordBatch]]
"""A function over Arrow batches; called any number of times, each time with some of the rows."""


class Along(str):
    """SQL that may be run part by part along a column: `uid` (a user's rows) or `kid` (a key's).

    It promises that its rows with one value of that column follow from rows with that value, in the tables that have
    that column, and from all rows of the others. A distributed engine then cuts the former and reads the latter whole.
    """

    column: str

    def __new__(cls, sql: str, column: str) -> Self:
        """The same text, with its promise."""
        self = super().__new__(cls, sql)
        self.column = column
        return self


def of_user(sql: str) -> Along:
    """A query whose rows of one user follow from her own."""
    return Along(sql, "uid")


def of_key(sql: str) -> Along:
    """A query whose rows of one key follow from its own, by id."""
    return Along(sql, "kid")


@dataclass(frozen=True)
class Aggregate:
    """A number for each group of rows that can be made in two steps: of some rows, then of what was made of them."""

    name: str
    once: str
    again: str

    @staticmethod
    def count(name: str) -> Aggregate:
        """How many rows."""
        return Aggregate(name, "count(*)", "sum")

    @staticmethod
    def sum(of: str, name: str) -> Aggregate:
        """A sum of whole numbers."""
        return Aggregate(name, f"CAST(sum({of}) AS BIGINT)", "sum")

    @staticmethod
    def least(of: str, name: str) -> Aggregate:
        """The smallest value."""
        return Aggregate(name, f"min({of})", "min")

    def first(self, rows: str, by: str) -> str:
        """SQL of the groups of rows."""
        return f"SELECT {by}, {self.once} AS {self.name} FROM ({rows}) AS rows GROUP BY {by}"

    def merged(self, groups: str, by: str) -> str:
        """SQL of the same from groups of parts of the rows."""
        whole = f"{self.again}({self.name})"
        whole = f"CAST({whole} AS BIGINT)" if self.again == "sum" else whole
        return f"SELECT {by}, {whole} AS {self.name} FROM {groups} GROUP BY {by}"


class Engine(Protocol):
    """A place that holds tables and runs SQL over them."""

    name: str
    distributed: bool
    """Whether rows lie on several machines: then what is computed from all of them is computed there."""

    def scan(self, name: str, parquet: Path) -> None:
        """Make a Parquet file readable under a name."""
        ...

    def register(self, name: str, table: pa.Table) -> None:
        """Make an Arrow table readable under a name."""
        ...

    def view(self, name: str, sql: str) -> None:
        """Name a query without running it."""
        ...

    def save(self, name: str, sql: str) -> None:
        """Run a query once and keep its rows under a name."""
        ...

    def gather(self, name: str, rows: str, columns: Sequence[str], value: Aggregate) -> None:
        """Keep one row for every user and key (`columns`) among rows that each follow from one row of the log.

        What a machine can add up of its own rows moves as one.
        """
        ...

    def total(self, name: str, rows: str, columns: Sequence[str], value: Aggregate, by: Sequence[str], id: str) -> None:
        """Keep, of rows of users (`of_user`), one for every key with a value, and `number` them."""
        ...

    def summed(self, name: str, rows: str, value: Aggregate, keys: str) -> None:
        """Name the value of every key among rows of users (`of_user`), by its id `kid` in the numbered table `keys`."""
        ...

    def number(self, name: str, sql: str, by: Sequence[str], id: str) -> None:
        """Like `save`, with a column `id` that counts the rows from 0 in the order of `by`.

        Ids that follow the text are the same on every engine, so that seeded noise falls on the same keys. An
        empty `by` asks for ids in any order: enough where the noise cannot be repeated anyway, and cheaper.
        """
        ...

    def smallest(self, name: str, sql: str, columns: Sequence[str], by: str, limit: int) -> None:
        """Keep, of every `uid`, the rows with the `limit` smallest values of `by`, ties by the columns."""
        ...

    def shuffle(self, columns: str) -> str:
        """SQL for a fast hash of columns, to order rows at random; other engines may order them otherwise."""
        ...

    def map_batches(self, name: str, sql: str, function: Batches, schema: pa.Schema) -> None:
        """Run a function over the rows of a query, once, and keep what it returns under a name.

        Whatever reads the name later reads the kept rows: a function that draws noise draws it once. The function
        may run in other processes, so it makes its generator itself; one that is carried into it is an error
        where it would be copied.
        """
        ...

    def fetch(self, sql: str) -> pa.Table:
        """The rows of a query. Only ever as large as a list of keys or a release."""
        ...

    def write(self, name: str, parquet: Path) -> None:
        """Write a table to a new place, from where `scan` reads it: a file or a folder of them."""
        ...

    def drop(self, name: str) -> None:
        """Forget a saved table."""
        ...

    def close(self) -> None:
        """Give back memory and temporary files."""
        ...
