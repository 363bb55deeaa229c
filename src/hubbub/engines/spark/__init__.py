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

from hubbub.engines.base import Batches
from hubbub.engines.spark.carried import require_no_generator
from hubbub.engines.spark.errors import plain_errors
from hubbub.engines.spark.session import await_worker, configure, end_java, require_classic, require_pyspark, start

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

    def _show(self, name: str, rows: DataFrame, path: Path | None = None) -> None:
        """Give rows a name; the files that had it before go."""
        rows.createOrReplaceTempView(name)
        self._forget(name)
        if path is not None:
            self._paths[name] = path

    def _forget(self, name: str) -> None:
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
        """Make a Parquet file readable under a name."""
        with self._asking():
            self._show(name, self.session.read.parquet(pattern(parquet.absolute())))

    def register(self, name: str, table: pa.Table) -> None:
        """Make an Arrow table readable under a name."""
        path = self._fresh(name)
        path.mkdir()
        pq.write_table(table, path / "rows.parquet")
        with self._asking():
            self._show(name, self.session.read.parquet(pattern(path)), path)

    def view(self, name: str, sql: str) -> None:
        """Name a query without running it."""
        with self._asking():
            self.session.sql(f"CREATE OR REPLACE TEMPORARY VIEW {name} AS {sql}")
        self._forget(name)

    def save(self, name: str, sql: str) -> None:
        """Run a query once and keep its rows under a name."""
        with self._asking():
            self._show(name, *self._written(name, self.session.sql(sql)))

    def number(self, name: str, sql: str, by: Sequence[str], id: str) -> None:
        """Keep the rows of a query with ids from 0 in the order of `by`, or in any order.

        Sorted in ranges, not in one place: an id is the place in a range after the sizes of the ranges before it.
        """
        order = ", ".join(term if " NULLS " in term.upper() else f"{term} NULLS LAST" for term in by)
        with self._asking():
            ordered = self.session.sql(f"SELECT * FROM ({sql}) AS numbered" + (f" ORDER BY {order}" if order else ""))
            rows, path = self._written(name, ordered.selectExpr("*", f"monotonically_increasing_id() AS {ROW}"))
            part = f"CAST(shiftright({ROW}, 33) AS INT)"
            sizes = rows.selectExpr(f"{part} AS part").groupBy("part").count().toArrow()
            size = dict(zip(sizes["part"].to_pylist(), sizes["count"].to_pylist(), strict=True))
            before = accumulate((size.get(p, 0) for p in range(max(size, default=0))), initial=0)
            start = f"array({', '.join(f'{n}L' for n in before)})[{part}]"
            place = f"({ROW} & {(1 << 33) - 1}L)"
            self._show(name, rows.selectExpr(f"{start} + {place} AS {id}", "*").drop(ROW), path)

    def smallest(self, name: str, sql: str, columns: Sequence[str], by: str, limit: int) -> None:
        """Keep, of every `uid`, the rows with the smallest values.

        Every task cuts a user to her limit before she moves. It cannot where a join by user has moved her already, so
        that the rows of such a join are written first.
        """
        sql, kept = self._settled(name, sql), ", ".join(columns)
        ordinal = f"row_number() OVER (PARTITION BY uid ORDER BY {by}, {kept}) AS ordinal"
        ordered = f"SELECT uid, {kept}, {ordinal} FROM ({sql}) AS rows"
        self.save(name, f"SELECT uid, {kept} FROM ({ordered}) AS ordered WHERE ordinal <= {limit}")
        self.drop(f"{name}_settled")

    def _settled(self, name: str, sql: str) -> str:
        """The same rows out of no shuffle: those that move, or whose plan is not shown whole, are written first."""
        with self._asking():
            plan = self.session.sql(sql)._jdf.queryExecution().executedPlan().toString()
        # The origin of every shuffle that was not asked for by a hint; a plan that the session cuts ends elsewhere.
        if "ENSURE_REQUIREMENTS" not in plan and plan.endswith("\n"):
            return sql
        self.save(f"{name}_settled", sql)
        return f"SELECT * FROM {name}_settled"

    def shuffle(self, columns: str) -> str:
        """Spark's own hash."""
        return f"xxhash64({columns})"

    def map_batches(self, name: str, sql: str, function: Batches, schema: pa.Schema) -> None:
        """Run a function over the rows of a query in the workers; what it returns is written once and read back.

        Rows that move are written first. A worker that dies takes its half of a shuffle with it: Spark then starts the
        tasks that read it anew, beside those that still run, and the faster of two draws would win.
        """
        from pyspark.sql.pandas.types import from_arrow_schema

        def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            yield from function(batches)

        require_no_generator(function)
        sql = self._settled(name, sql)
        with self._asking():
            self._show(name, *self._written(name, self.session.sql(sql).mapInArrow(run, from_arrow_schema(schema))))
        self.drop(f"{name}_settled")

    def fetch(self, sql: str) -> pa.Table:
        """The rows of a query as an Arrow table."""
        with self._asking():
            rows = self.session.sql(sql).toArrow()
        return rows.cast(pa.schema([(field.name, field.type) for field in rows.schema]))

    def write(self, name: str, parquet: Path) -> None:
        """Write a table to a folder of Parquet files."""
        with self._asking():
            rows = self.session.sql(f"SELECT * FROM {name}")
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
