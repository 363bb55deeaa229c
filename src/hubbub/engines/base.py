"""What a step may ask of an engine. Small on purpose: the SQL text is the same on all of them.

The common subset (so that every engine runs the very same text): times are BIGINT epoch seconds,
NULLS LAST is always written out, no QUALIFY, no arrays, no backslash in a literal, and the user column
is called `uid` (a bare `user` is the account's name on some engines).
What SQL does not have in common is a function over Arrow batches, run by `map_batches`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

import pyarrow as pa

Batches = Callable[[Iterator[pa.RecordBatch]], Iterable[pa.RecordBatch]]
"""A function over Arrow batches; called any number of times, each time with some of the rows."""


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
