"""The embedded default: DuckDB with a memory limit, spilling to the work folder, and no server."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from hubbub.engines.base import Aggregate, Batches
from hubbub.errors import InputError, OurBug, OutputError, ParameterError
from hubbub.privacy.existence import Cause
from hubbub.switches import switch

OUT_OF_MEMORY = "The engine ran out of the memory it was allowed."
MEMORY = re.compile(r"\d+(\.\d+)?\s*([KMGT]i?B|B)", re.IGNORECASE)
BATCH = switch(__name__, "BATCH", 1 << 16, low=16)


class DuckDB:
    """One in-memory database; what does not fit in `memory` spills into `work`."""

    name = "duckdb"
    distributed = False

    def __init__(self, work: Path, *, memory: str = "2GB", threads: int | None = None) -> None:
        not_a_size = ParameterError("--memory is not a size.", given=memory, allowed="a size such as 500MB or 2GB")
        if not MEMORY.fullmatch(memory.strip()):
            raise not_a_size
        if threads is not None and threads < 1:
            raise ParameterError("The number of threads must be at least 1.", given=threads)
        self.work = work
        settings: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": memory.strip(),
            "temp_directory": str(work / "spill"),
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "preserve_insertion_order": "false",
        }
        try:
            with self._plain_errors():
                self.connection = duckdb.connect(config=settings)
        except duckdb.ParserException:
            raise not_a_size from None
        if threads is not None:
            self._run(f"SET threads = {threads}")

    @contextmanager
    def _plain_errors(self) -> Iterator[None]:
        """What a user can do something about, in a user's words."""
        try:
            yield
        except duckdb.OutOfMemoryException as error:
            raise ParameterError(
                OUT_OF_MEMORY,
                given=str(error).splitlines()[0],
                next="raise --memory, or give --work a folder with more free space to spill into",
                because=Cause.ENDED,
            ) from error
        except duckdb.IOException as error:
            text = str(error)
            if "No space left" in text or "not enough space" in text.lower():
                raise OutputError(
                    "The disk is full.", given=text.splitlines()[0], next="free some space or choose another --work"
                ) from error
            what = "The engine could not read or write a file."
            raise InputError(what, given=text.splitlines()[0], because=Cause.ENDED) from error

    def _run(self, sql: str) -> None:
        with self._plain_errors():
            self.connection.execute(sql)

    def scan(self, name: str, parquet: Path) -> None:
        """Make a Parquet file readable under a name, or a folder of them, which other engines write."""
        files = sorted(parquet.glob("*.parquet")) if parquet.is_dir() else [parquet]
        listed = ", ".join("'" + str(path).replace("'", "''") + "'" for path in files)
        self._run(f"CREATE OR REPLACE VIEW {name} AS SELECT * FROM read_parquet([{listed}])")

    def register(self, name: str, table: pa.Table) -> None:
        """Make an Arrow table readable under a name."""
        with self._plain_errors():
            self.connection.register(name, table)

    def view(self, name: str, sql: str) -> None:
        """Name a query without running it."""
        self._run(f"CREATE OR REPLACE VIEW {name} AS {sql}")

    def save(self, name: str, sql: str) -> None:
        """Run a query once and keep its rows under a name."""
        self._run(f"CREATE OR REPLACE TABLE {name} AS {sql}")

    def gather(self, name: str, rows: str, columns: Sequence[str], value: Aggregate) -> None:
        """Keep one row for every user and key."""
        self.save(name, value.first(rows, ", ".join(["uid", *columns])))

    def total(self, name: str, rows: str, columns: Sequence[str], value: Aggregate, by: Sequence[str], id: str) -> None:
        """Keep one row for every key, with its id."""
        self.number(name, value.first(rows, ", ".join(columns)), by, id)

    def summed(self, name: str, rows: str, value: Aggregate, keys: str) -> None:
        """Name the value of every key, by its id."""
        self.view(name, value.first(rows, "kid"))

    def number(self, name: str, sql: str, by: Sequence[str], id: str) -> None:
        """Keep the rows of a query with ids from 0 in the order of `by`, or in any order."""
        self.drop(name)
        if by:
            rows = f"SELECT row_number() OVER (ORDER BY {', '.join(by)}) - 1 AS {id}, * FROM ({sql}) AS numbered"
            self.save(name, rows)
            return
        self.save(f"{name}_rows", sql)  # written by all threads; a new table counts its own rows from 0
        if self.fetch(f"SELECT count(*) <> coalesce(max(rowid), -1) + 1 AS gaps FROM {name}_rows")["gaps"][0].as_py():
            raise OurBug(f"{name}: the engine did not count its rows from 0")
        self.view(name, f"SELECT rowid AS {id}, * FROM {name}_rows")

    def smallest(self, name: str, sql: str, columns: Sequence[str], by: str, limit: int) -> None:
        """Keep, of every `uid`, the rows with the smallest values: heaps of values find each user's last one."""
        kept, placed = ", ".join(["uid", *columns]), f"(SELECT *, {by} AS place FROM ({sql}) AS rows) AS placed"
        self.save(
            name,
            f"SELECT {kept}, place FROM {placed} JOIN (SELECT uid AS owner, list_max(min(place, {limit})) AS last "
            f"FROM {placed} GROUP BY uid) AS heaps ON uid = owner WHERE place <= last",
        )
        crowded = f"SELECT uid FROM {name} GROUP BY uid HAVING count(*) > {limit}"
        if self.fetch(f"SELECT count(*) AS n FROM ({crowded}) AS crowded")["n"][0].as_py():  # equal last values
            ordinal = f"row_number() OVER (PARTITION BY uid ORDER BY place, {', '.join(columns)}) AS ordinal"
            self.save(name, f"SELECT {kept} FROM (SELECT *, {ordinal} FROM {name}) AS o WHERE ordinal <= {limit}")
            return
        self._run(f"ALTER TABLE {name} DROP COLUMN place")

    def shuffle(self, columns: str) -> str:
        """DuckDB's own hash."""
        return f"hash({columns})"

    def map_batches(self, name: str, sql: str, function: Batches, schema: pa.Schema) -> None:
        """Run a function over the rows of a query, in this process; what it returns passes through a file."""
        path = self.work / f"mapped-{secrets.token_hex(8)}.parquet"
        try:
            with self._plain_errors(), pq.ParquetWriter(path, schema) as writer:
                for batch in function(iter(self.connection.sql(sql).to_arrow_reader(BATCH))):
                    writer.write_batch(batch)
            text = str(path).replace("'", "''")
            self.save(name, f"SELECT * FROM read_parquet('{text}')")
        finally:
            path.unlink(missing_ok=True)

    def fetch(self, sql: str) -> pa.Table:
        """The rows of a query as an Arrow table."""
        with self._plain_errors():
            return self.connection.sql(sql).to_arrow_table()

    def write(self, name: str, parquet: Path) -> None:
        """Write a table to a Parquet file."""
        path = str(parquet).replace("'", "''")
        self._run(f"COPY (SELECT * FROM {name}) TO '{path}' (FORMAT parquet)")

    def drop(self, name: str) -> None:
        """Forget a saved table, with the rows behind it if it is numbered."""
        try:
            self._run(f"DROP TABLE IF EXISTS {name}")
        except duckdb.CatalogException:  # a view; asking beforehand what it is costs more than all the rest
            self._run(f"DROP VIEW {name}")
            self._run(f"DROP TABLE IF EXISTS {name}_rows")

    def close(self) -> None:
        """Give back memory and temporary files."""
        self.connection.close()


def opened(work: Path, master: str | None, memory: str, threads: int | None) -> DuckDB:
    """For `--engine duckdb`."""
    if master is not None:
        raise ParameterError("DuckDB has no master.", given=master, next="say --engine spark, or leave --master out")
    return DuckDB(work, memory=memory, threads=threads)
