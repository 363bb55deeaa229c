"""Spark: the same SQL text on as many machines as the log needs.

Every saved table is a Parquet folder below `work`, written once to a path of its own and read back from there: a plan
that Spark runs twice, or a lost cache, would draw noise twice. On a cluster all workers must see `work` under the same
path, and have the same Python with hubbub in it. What `fetch` returns must fit the memory of the process that asks: no
more than the release, but for seeded runs, which bring all counts.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from hubbub.engines.base import Aggregate, Batches
from hubbub.engines.spark.carried import require_no_generator
from hubbub.engines.spark.errors import plain_errors
from hubbub.engines.spark.parted import Parted
from hubbub.engines.spark.session import (
    await_worker,
    configure,
    end_java,
    memory_of_a_task,
    require_classic,
    require_pyspark,
    start,
)
from hubbub.engines.spark.tables import BUCKET, PLACE, Query, Stored, needed
from hubbub.engines.spark.tasks import HASH

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SQL = "org.apache.spark.sql.execution"
SAME_SQL = {
    "spark.sql.ansi.enabled": "true",  # an overflow is an error, never a wrong count
    "spark.sql.ansi.doubleQuotedIdentifiers": "true",
    "spark.sql.ansi.enforceReservedKeywords": "false",
    "spark.sql.caseSensitive": "false",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.legacy.storeAnalyzedPlanForView": "false",  # a view sees its tables as they are when it is read
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(1 << 16),
    "spark.sql.sources.commitProtocolClass": f"{SQL}.datasources.SQLHadoopMapReduceCommitProtocol",
    "spark.sql.parquet.output.committer.class": "org.apache.parquet.hadoop.ParquetOutputCommitter",
    "spark.sql.adaptive.enabled": "true",  # a key that half of the users hold is joined in several tasks
    "spark.sql.adaptive.skewJoin.enabled": "true",
}
COMMIT = {"mapreduce.fileoutputcommitter.algorithm.version": "1"}  # an attempt that loses leaves no file behind
ROW = "hubbub_row"  # partition << 33 | place in it, as monotonically_increasing_id() gives it


class Spark:
    """Tables in a Spark session: one started here and stopped by `close`, or one given, which is left running.

    `memory` is for the driver and for each worker; the driver's counts when Java starts, once per process.
    """

    name = "spark"
    distributed = True

    def __init__(
        self, work: Path, *, master: str = "local[*]", memory: str = "2GB", session: SparkSession | None = None
    ) -> None:
        require_pyspark()
        self._paths: dict[str, Path] = {}
        self._shown: set[str] = set()
        self._own: SparkSession | None = None
        self._interrupted = False
        self.folder = work.absolute() / f"spark-{secrets.token_hex(4)}"
        if session is None:
            conf = configure(master, memory, self.folder)
        else:
            require_classic(session)
        self.folder.mkdir(parents=True)
        try:
            with self._asking():
                if session is None:
                    self._own = session = start(conf, self.folder / "spark.log")
                    await_worker(session, conf["spark.executor.memory"])
                self.session = session.newSession()  # with names and settings of its own
                for key, value in SAME_SQL.items():
                    self.session.conf.set(key, value)
                self.parted = Parted(self.session, self.folder, memory_of_a_task(session, memory), self._asking)
        except BaseException:
            self.close()
            raise

    @contextmanager
    def _asking(self) -> Iterator[None]:
        """Turn errors of Spark into a user's words, and remember an interrupt: a running query cannot be taken back."""
        try:
            with plain_errors():
                yield
        except Exception:
            raise
        except BaseException:
            self._interrupted = True
            raise

    def _fresh(self, name: str) -> Path:
        return self.folder / f"{name}-{secrets.token_hex(8)}"

    def _is(self, name: str, table: Query | Stored, path: Path | None = None) -> None:
        """Give a table a name; the files that had it before go. Spark sees it when a statement of its own needs it."""
        self._forget(name)
        self.parted.tables[name] = table
        if path is not None:
            self._paths[name] = path

    def _show(self, name: str, rows: DataFrame, path: Path, select: str = "*") -> None:
        """Give rows that Spark has written a name."""
        rows.createOrReplaceTempView(name)
        files = tuple(str(file) for file in sorted(path.glob("*.parquet")))
        self._is(name, Stored(files, tuple(rows.columns), select=select), path)
        self._shown.add(name)

    def _sql(self, sql: str) -> DataFrame:
        """A query in Spark's own SQL, over all tables that it names."""
        for name, table in needed(sql, self.parted.tables):
            if name not in self._shown:
                self._shown.add(name)
                if isinstance(table, Query):
                    self.session.sql(f"CREATE OR REPLACE TEMPORARY VIEW {name} AS {table.text}")
                    continue
                rows = self.session.read.parquet(*(pattern(Path(file)) for file in table.files))
                if table.cut is not None and BUCKET in rows.columns:
                    starts = ", ".join(f"{n}L" for n in table.cut.bounds)
                    id = f"array({starts})[{BUCKET}] + {PLACE} AS {table.cut.column}"
                    rows = rows.selectExpr(id, "*").drop(BUCKET, PLACE)
                rows.createOrReplaceTempView(name)
        return self.session.sql(sql)

    def _forget(self, name: str) -> None:
        self._shown.discard(name)
        self.parted.forget(name)
        path = self._paths.pop(name, None)
        if path is not None:
            shutil.rmtree(path, ignore_errors=True)

    def _written(self, name: str, rows: DataFrame) -> tuple[DataFrame, Path]:
        """Write rows once, to a path nobody has used; what is returned reads them back."""
        path = self._fresh(name)
        try:
            rows.write.mode("errorifexists").options(**COMMIT).parquet(uri(path))
        except BaseException:
            if not (path / "_SUCCESS").exists():  # rows that were never committed go unread
                shutil.rmtree(path, ignore_errors=True)
            raise
        return self.session.read.schema(rows.schema).parquet(pattern(path)), path

    def scan(self, name: str, parquet: Path) -> None:
        """Make a Parquet file readable under a name, or a folder of them."""
        path = parquet.absolute()
        files = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
        if not files or not files[0].exists():
            with self._asking():
                self.session.read.parquet(pattern(path))
        self._is(name, Stored(tuple(map(str, files)), tuple(pq.read_schema(files[0]).names)))

    def register(self, name: str, table: pa.Table) -> None:
        """Make an Arrow table readable under a name."""
        path = self._fresh(name)
        path.mkdir()
        pq.write_table(table, path / "rows.parquet")
        self._is(name, Stored((str(path / "rows.parquet"),), tuple(table.column_names), small=True), path)

    def view(self, name: str, sql: str) -> None:
        """Name a query without running it."""
        self._is(name, Query(sql))

    def save(self, name: str, sql: str) -> None:
        """Run a query once and keep its rows under a name."""
        if (parts := self.parted.save(name, sql)) is not None:
            self._is(name, *parts)
            return
        with self._asking():
            self._show(name, *self._written(name, self._sql(sql)))

    def gather(self, name: str, rows: str, columns: Sequence[str], value: Aggregate) -> None:
        """Keep one row for every user and key."""
        if (parts := self.parted.gather(name, rows, columns, value)) is not None:
            self._is(name, *parts)
            return
        self.save(name, value.first(rows, ", ".join(["uid", *columns])))

    def total(self, name: str, rows: str, columns: Sequence[str], value: Aggregate, by: Sequence[str], id: str) -> None:
        """Keep one row for every key, with its id."""
        if (parts := self.parted.total(name, rows, columns, value, by, id)) is not None:
            self._is(name, *parts)
            return
        self.number(name, value.first(rows, ", ".join(columns)), by, id)

    def summed(self, name: str, rows: str, value: Aggregate, keys: str) -> None:
        """Name the value of every key, by its id."""
        if (parts := self.parted.summed(name, rows, value, keys)) is not None:
            self._is(name, *parts)
            return
        self.view(name, value.first(rows, "kid"))

    def number(self, name: str, sql: str, by: Sequence[str], id: str) -> None:
        """Keep the rows of a query with ids from 0 in the order of `by`, or in any order.

        Sorted in ranges, not in one place: an id is the place in a range after the sizes of the ranges before it.
        """
        order = ", ".join(term if " NULLS " in term.upper() else f"{term} NULLS LAST" for term in by)
        with self._asking():
            ordered = self._sql(f"SELECT * FROM ({sql}) AS numbered" + (f" ORDER BY {order}" if order else ""))
            rows, path = self._written(name, ordered.selectExpr("*", f"monotonically_increasing_id() AS {ROW}"))
            part = f"CAST(shiftright({ROW}, 33) AS INT)"
            sizes = rows.selectExpr(f"{part} AS part").groupBy("part").count().toArrow()
            size = dict(zip(sizes["part"].to_pylist(), sizes["count"].to_pylist(), strict=True))
            before = list(accumulate((size.get(p, 0) for p in range(max(size, default=0))), initial=0))
            start = f"array({', '.join(f'{n}L' for n in before)})[{part}]"
            place = f"({ROW} & {(1 << 33) - 1}"
            numbered = rows.selectExpr(f"{start} + {place}L) AS {id}", "*").drop(ROW)
            self._show(name, numbered, path, f"{before}[({ROW} >> 33) + 1] + {place}) AS {id}, * EXCLUDE ({ROW})")

    def smallest(self, name: str, sql: str, columns: Sequence[str], by: str, limit: int) -> None:
        """Keep, of every `uid`, the rows with the smallest values.

        Every task cuts a user to her limit before she moves. It cannot where a join by user has moved her already, so
        that the rows of such a join are written first.
        """
        if (parts := self.parted.smallest(name, sql, columns, by, limit)) is not None:
            self._is(name, *parts)
            return
        sql, kept = self._settled(name, sql), ", ".join(columns)
        ordinal = f"row_number() OVER (PARTITION BY uid ORDER BY {by}, {kept}) AS ordinal"
        ordered = f"SELECT uid, {kept}, {ordinal} FROM ({sql}) AS rows"
        self.save(name, f"SELECT uid, {kept} FROM ({ordered}) AS ordered WHERE ordinal <= {limit}")
        self.drop(f"{name}_settled")

    def _settled(self, name: str, sql: str) -> str:
        """The same rows out of no shuffle: those that move, or whose plan is not shown whole, are written first."""
        with self._asking():
            plan = self._sql(sql)._jdf.queryExecution().executedPlan().toString()
        # The origin of every shuffle that was not asked for by a hint; a plan that the session cuts ends elsewhere.
        if "ENSURE_REQUIREMENTS" not in plan and plan.endswith("\n"):
            return sql
        self.save(f"{name}_settled", sql)
        return f"SELECT * FROM {name}_settled"

    def shuffle(self, columns: str) -> str:
        """Spark's own hash; in the workers' DuckDB, which knows it by this name, DuckDB's."""
        return f"{HASH}({columns})"

    def map_batches(self, name: str, sql: str, function: Batches, schema: pa.Schema) -> None:
        """Run a function over the rows of a query in the workers; what it returns is written once and read back.

        Rows that move are written first. A worker that dies takes its half of a shuffle with it: Spark then starts the
        tasks that read it anew, beside those that still run, and the faster of two draws would win.
        """
        from pyspark.sql.pandas.types import from_arrow_schema

        def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            yield from function(batches)

        require_no_generator(function)
        if (parts := self.parted.map_batches(name, sql, function, schema)) is not None:
            self._is(name, *parts)
            return
        sql = self._settled(name, sql)
        with self._asking():
            self._show(name, *self._written(name, self._sql(sql).mapInArrow(run, from_arrow_schema(schema))))
        self.drop(f"{name}_settled")

    def fetch(self, sql: str) -> pa.Table:
        """The rows of a query as an Arrow table."""
        if (brought := self.parted.fetch(sql)) is not None:
            return brought
        with self._asking():
            rows = self._sql(sql).toArrow()
        return rows.cast(pa.schema([(field.name, field.type) for field in rows.schema]))

    def write(self, name: str, parquet: Path) -> None:
        """Write a table to a folder of Parquet files."""
        with self._asking():
            rows = self._sql(f"SELECT * FROM {name}")
            rows.write.mode("errorifexists").options(**COMMIT).parquet(uri(parquet.absolute()))

    def drop(self, name: str) -> None:
        """Forget a saved table."""
        self.session.catalog.dropTempView(name)
        self._forget(name)

    def close(self) -> None:
        """Give back memory and temporary files; stop the session if it was started here."""
        own, self._own = self._own, None
        try:
            if own is not None and not self._interrupted:
                own.stop()
        except Exception:  # Java is gone
            self._interrupted = True
        finally:
            if own is not None and self._interrupted:
                end_java()
            shutil.rmtree(self.folder, ignore_errors=True)


def uri(path: Path) -> str:
    """A local file, whatever the cluster's default file system is."""
    return f"file:{path}"


def pattern(path: Path) -> str:
    """The same address for reading, with *, ? and brackets escaped, which would else be a pattern."""
    return "".join(f"\\{c}" if c in "\\*?[]{}" else c for c in uri(path))


def opened(work: Path, master: str | None, memory: str, threads: int | None) -> Spark:
    """For `--engine spark`: on the master given, or on this machine."""
    return Spark(work, master=master or f"local[{threads or '*'}]", memory=memory)
