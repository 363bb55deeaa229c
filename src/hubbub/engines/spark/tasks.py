"""What a task does in a worker: one statement over its part of the tables, by the DuckDB that one machine would use.

Every attempt writes a file that nobody else writes and says its name. Only what the driver was told by the attempt that
Spark accepted is ever read; files of attempts that were lost are nobody's.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from hubbub.engines import duckdb as engine
from hubbub.engines.base import Batches
from hubbub.engines.duckdb import DuckDB
from hubbub.engines.spark.errors import OTHER_VERSION
from hubbub.engines.spark.tables import BUCKET, PART, PLACE, Cut, TaskTable, listed
from hubbub.errors import OurBug, ParameterError
from hubbub.privacy.existence import Cause
from hubbub.switches import switch

Answer = tuple[int, str, int, bytes]
"""Of a task: its part, the file that this attempt has written, how many rows, and what else it has to say."""
PLAIN = {"BIGINT", "INTEGER", "VARCHAR", "DOUBLE", "BOOLEAN", "UBIGINT"}
"""Types that a Parquet file keeps: another one would come back as a rounded number."""
MOVING = switch(__name__, "MOVING", 1 << 13, low=2048)
"""Rows of a row group of what moves: a task skips those of other parts."""
COLUMNS = "kept_rows"
HASH, MOST = "xxhash64", 6
"""The name of the fast hash in our SQL, and of how many columns at most."""


class Doing(Protocol):
    """What becomes of the rows of a query."""

    def __call__(self, duck: DuckDB, sql: str, part: int, path: Path) -> tuple[int, bytes]:
        """Write them to a path or say them; how many there are."""
        ...


def copied(duck: DuckDB, sql: str, path: Path, options: str = "") -> int:
    """Write rows to a Parquet file; how many there are."""
    types = duck.fetch(f"SELECT column_name, column_type FROM (DESCRIBE {sql})").to_pylist()
    if lost := [row for row in types if row["column_type"] not in PLAIN]:
        raise OurBug(f"a file would not keep {lost}")
    copy = f"COPY ({sql}) TO {listed([str(path)])} (FORMAT parquet, COMPRESSION snappy{options})"
    return int(duck.fetch(copy)["Count"][0].as_py())


@dataclass(frozen=True)
class Keep:
    """Rows of the task's part stay in a file; a user of another part among them is an error, never a second user."""

    cut: Cut

    def __call__(self, duck: DuckDB, sql: str, part: int, path: Path) -> tuple[int, bytes]:
        total = copied(duck, sql, path)
        if self.cut.column in pq.read_schema(path).names:
            kept = f"read_parquet([{listed([str(path)])}])"
            strange = f"SELECT count(*) AS n FROM {kept} WHERE NOT ({self.cut.holds(self.cut.column, part)})"
            if duck.fetch(strange)["n"][0].as_py():
                raise OurBug(f"a query along {self.cut.column} made rows of another part: {sql}")
        return total, b""


@dataclass(frozen=True)
class Smallest:
    """Of every user the rows with the smallest values."""

    cut: Cut
    columns: Sequence[str]
    by: str
    limit: int

    def __call__(self, duck: DuckDB, sql: str, part: int, path: Path) -> tuple[int, bytes]:
        duck.smallest(COLUMNS, sql, self.columns, self.by, self.limit)
        return Keep(self.cut)(duck, f"SELECT * FROM {COLUMNS}", part, path)


@dataclass(frozen=True)
class Move:
    """Rows go to the part of a value."""

    cut: Cut
    columns: str

    def __call__(self, duck: DuckDB, sql: str, part: int, path: Path) -> tuple[int, bytes]:
        rows = f"SELECT * FROM ({self.cut.placed(sql, self.columns)}) AS placed ORDER BY {PART}"
        return copied(duck, rows, path, f", ROW_GROUP_SIZE {MOVING}"), b""


@dataclass(frozen=True)
class NumberRows:
    """Rows stay in a file with their place in it, in an order or in any."""

    by: Sequence[str]

    def __call__(self, duck: DuckDB, sql: str, part: int, path: Path) -> tuple[int, bytes]:
        order = f"ORDER BY {', '.join(self.by)}" if self.by else ""
        place = f"CAST(row_number() OVER ({order}) - 1 AS BIGINT) AS {PLACE}"
        return copied(duck, f"SELECT {part} AS {BUCKET}, {place}, * FROM ({sql}) AS numbered", path), b""


@dataclass(frozen=True)
class Say:
    """Rows are few, and go to the driver."""

    def __call__(self, duck: DuckDB, sql: str, part: int, path: Path) -> tuple[int, bytes]:
        rows, sink = duck.fetch(sql), pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, rows.schema) as stream:
            stream.write_table(rows)
        return rows.num_rows, sink.getvalue().to_pybytes()


@dataclass(frozen=True)
class Map:
    """A function over batches of rows; what it returns stays in a file."""

    function: Batches
    schema: pa.Schema

    def __call__(self, duck: DuckDB, sql: str, part: int, path: Path) -> tuple[int, bytes]:
        total = 0
        with pq.ParquetWriter(path, self.schema) as writer:
            for batch in self.function(iter(duck.connection.sql(sql).to_arrow_reader(engine.BATCH))):
                writer.write_batch(batch)
                total += batch.num_rows
        return total, b""


@dataclass(frozen=True)
class PartJob:
    """One statement, cut into tasks. `tables` has what it reads, each name after those it is made of."""

    folder: str
    sql: str
    doing: Doing
    tables: tuple[tuple[str, TaskTable], ...]
    memory: str
    version: str = duckdb.__version__
    """Hashes decide where a user's rows go: all tasks must have the same."""

    def __call__(self, parts: Iterable[int]) -> Iterator[Answer]:
        """The tasks of these parts; an answer names the file of this very attempt."""
        if duckdb.__version__ != self.version:
            raise ParameterError(OTHER_VERSION, given=duckdb.__version__, allowed=self.version, because=Cause.ENDED)
        for part in parts:
            path = Path(self.folder) / f"{part:05d}-{secrets.token_hex(8)}.parquet"
            yield part, str(path), *self._one(part, path)

    def _one(self, part: int, path: Path) -> tuple[int, bytes]:
        with _duck(self.folder, self.memory) as duck:
            if HASH in self.sql or any(HASH in source.sql(part) for _, source in self.tables):
                columns = (", ".join(f"c{i}" for i in range(n)) for n in range(1, MOST + 1))
                duck.connection.execute(f"CREATE MACRO {HASH} " + ", ".join(f"({c}) AS hash({c})" for c in columns))
            for name, source in self.tables:
                duck.view(name, source.sql(part))
            return self.doing(duck, self.sql, part, path)


_OPEN: dict[tuple[Path, str], DuckDB] = {}
"""The DuckDB of this process, from one task to the next: opening one costs as much as a small task."""


@contextmanager
def _duck(folder: str, memory: str) -> Iterator[DuckDB]:
    """A DuckDB with nothing in it; one in which a task has failed is not used again."""
    work = Path(folder).parent
    found = _OPEN.pop((work, memory), None)
    while _OPEN:
        _OPEN.popitem()[1].close()
    duck = found or DuckDB(work / f"worker-{os.getpid()}", memory=memory, threads=1)
    try:
        duck.connection.execute("CREATE SCHEMA task")
        duck.connection.execute("USE task")
        yield duck
        duck.connection.execute("USE main")
        duck.connection.execute("DROP SCHEMA task CASCADE")
    except BaseException:
        duck.close()
        raise
    _OPEN[work, memory] = duck
