"""Spark's part-wise engine without Spark: its jobs run as tasks of this process, and any attempt can be lost.

What is of no user and no key runs in DuckDB. `Lossy` runs every task twice and keeps one of the two: the file of the
other lies beside it, and must never be read.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from hubbub.engines.base import Aggregate, Batches
from hubbub.engines.duckdb import DuckDB
from hubbub.engines.spark.parted import Done, Parted
from hubbub.engines.spark.tables import Query, Stored, TaskTable
from hubbub.engines.spark.tasks import Answer, Doing, Move

Run = Callable[[Iterable[int]], Iterable[Answer]]


class Session:
    """The little of a Spark session that a job asks for."""

    defaultParallelism = 2

    def __init__(self, lossy: bool) -> None:
        self.lossy, self.jobs, self.sparkContext = lossy, 0, self

    def getLocalProperty(self, _: str) -> None:
        """Nobody has set any."""

    def setLocalProperty(self, name: str, value: None) -> None:
        """Nobody looks."""

    def setJobDescription(self, _: str) -> None:
        """Nobody looks."""

    def parallelize(self, tasks: range, parts: int) -> Session:
        assert tasks == range(parts)
        self.parts = parts
        return self

    def mapPartitions(self, run: Run) -> Session:
        self.run = run
        return self

    def collect(self) -> list[Answer]:
        """Of two attempts of a task the first is kept, or the second."""
        said: list[Answer] = []
        for part in range(self.parts):
            attempts = [list(self.run([part])) for _ in range(1 + self.lossy)]
            said += attempts[self.jobs % len(attempts)]
        self.jobs += 1
        return said[::-1]  # in no order


class Moving(Parted):
    """Counts how often rows of users and sums of keys move, and how many."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.moves: list[tuple[str, str, int]] = []

    def _run(self, name: str, sql: str, doing: Doing, sources: Iterable[tuple[str, TaskTable]], parts: int) -> Done:
        done = super()._run(name, sql, doing, sources, parts)
        if isinstance(doing, Move):
            self.moves.append((name, "rows" if doing.cut.column == "uid" else "sums", sum(done.rows)))
        return done


class InParts:
    """The protocol of engines: tasks for what is of one user or one key, DuckDB for the rest."""

    name, distributed, lossy = "parts", True, False

    def __init__(self, work: Path) -> None:
        self.work, self.duck = work, DuckDB(work, memory="1GB", threads=1)
        (work / "parts").mkdir()
        self.parted = Moving(Session(self.lossy), work / "parts", "500MB", nullcontext)
        self.plain: list[str] = []
        """Tables that no task has made."""

    def _is(self, name: str, table: Stored | Query) -> None:
        self.drop(name)
        self.duck.view(name, table.sql(0))
        self.parted.tables[name] = table

    def _made(self, name: str) -> None:
        """A table of DuckDB's own, as files for the tasks."""
        self.plain.append(name)
        path = self.work / f"{name}-{len(self.plain)}.parquet"
        self.duck.write("made", path)
        self.duck.drop("made")
        self._is(name, Stored((str(path),), tuple(pq.read_schema(path).names)))

    def scan(self, name: str, parquet: Path) -> None:
        self._is(name, Stored((str(parquet),), tuple(pq.read_schema(parquet).names)))

    def register(self, name: str, table: pa.Table) -> None:
        path = self.work / f"{name}-{secrets.token_hex(4)}.parquet"
        pq.write_table(table, path)
        self._is(name, Stored((str(path),), tuple(table.column_names), small=True))

    def view(self, name: str, sql: str) -> None:
        self._is(name, Query(str(sql)))

    def _kept(self, name: str, parts: tuple[Stored, Path] | None, otherwise: Callable[[], None]) -> None:
        if parts is not None:
            self._is(name, parts[0])
        else:
            otherwise()
            self._made(name)

    def save(self, name: str, sql: str) -> None:
        self._kept(name, self.parted.save(name, sql), lambda: self.duck.save("made", sql))

    def gather(self, name: str, rows: str, columns: Sequence[str], value: Aggregate) -> None:
        made = self.parted.gather(name, rows, columns, value)
        self._kept(name, made, lambda: self.duck.gather("made", rows, columns, value))

    def total(self, name: str, rows: str, columns: Sequence[str], value: Aggregate, by: Sequence[str], id: str) -> None:
        made = self.parted.total(name, rows, columns, value, by, id)
        self._kept(name, made, lambda: self.duck.total("made", rows, columns, value, by, id))

    def summed(self, name: str, rows: str, value: Aggregate, keys: str) -> None:
        made = self.parted.summed(name, rows, value, keys)
        self._kept(name, made, lambda: self.duck.save("made", value.first(rows, "kid")))

    def number(self, name: str, sql: str, by: Sequence[str], id: str) -> None:
        self.duck.number("made", sql, by, id)
        self._made(name)

    def smallest(self, name: str, sql: str, columns: Sequence[str], by: str, limit: int) -> None:
        made = self.parted.smallest(name, sql, columns, by, limit)
        self._kept(name, made, lambda: self.duck.smallest("made", sql, columns, by, limit))

    def shuffle(self, columns: str) -> str:
        return f"hash({columns})"

    def map_batches(self, name: str, sql: str, function: Batches, schema: pa.Schema) -> None:
        made = self.parted.map_batches(name, sql, function, schema)
        self._kept(name, made, lambda: self.duck.map_batches("made", sql, function, schema))

    def fetch(self, sql: str) -> pa.Table:
        brought = self.parted.fetch(sql)
        return self.duck.fetch(sql) if brought is None else brought

    def write(self, name: str, parquet: Path) -> None:
        self.duck.write(name, parquet)

    def drop(self, name: str) -> None:
        self.parted.forget(name)
        self.duck.connection.execute(f"DROP VIEW IF EXISTS {name}")

    def close(self) -> None:
        self.duck.close()


class Lossy(InParts):
    """Every task has an attempt that is lost."""

    lossy = True
