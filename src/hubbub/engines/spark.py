"""Spark: the same SQL text on as many machines as the log needs.

Every saved table is a Parquet folder below `work`, written once to a path of its own and read back from there: a plan
that Spark runs twice, or a lost cache, would draw noise twice. On a cluster all workers must see `work` under the same
path, and have the same Python with hubbub in it. What `fetch` returns, the counts of all keys included, must fit
the memory of the process that asks.
"""

from __future__ import annotations

import io
import logging
import os
import random
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hubbub.engines.base import Batches
from hubbub.errors import InputError, OurBug, OutputError, ParameterError
from hubbub.noise import SecureNoise, SeededBits, SeededNoise, SystemBits

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

START = {
    "spark.app.name": "hubbub",
    "spark.log.level": "ERROR",
    "spark.ui.enabled": "false",  # what Spark learns about the log stays in its processes
    "spark.ui.showConsoleProgress": "false",
    "spark.eventLog.enabled": "false",
    "spark.speculation": "false",
    "spark.sql.catalogImplementation": "in-memory",
}
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
}
COMMIT = {"mapreduce.fileoutputcommitter.algorithm.version": "1"}  # an attempt that loses leaves no file behind
NUMPY = (np.random.Generator, np.random.BitGenerator, np.random.RandomState)
GENERATORS = (SecureNoise, SeededNoise, SystemBits, SeededBits, random.Random, *NUMPY)
ROW = "hubbub_row"  # partition << 33 | place in it, as monotonically_increasing_id() gives it
SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(i?)B", re.IGNORECASE)
LEAST = 512_000_000  # bytes without which Spark does not start
ENDED = "see whether the system killed it for its memory; lower --memory or free some"
PATIENCE = 60.0  # seconds in which a cluster must have given us a worker


class Spark:
    """Tables in a Spark session: one started here and stopped by `close`, or one given, which is left running.

    `memory` is for the driver and for each worker; the driver's counts when Java starts, once a process.
    """

    name = "spark"

    def __init__(
        self, work: Path, *, master: str = "local[*]", memory: str = "2GB", session: SparkSession | None = None
    ) -> None:
        _require_pyspark()
        self._paths: dict[str, Path] = {}
        self._own: SparkSession | None = None
        self._interrupted = False
        self.folder = work.absolute() / f"spark-{secrets.token_hex(4)}"
        if session is None:
            conf = _configure(master, memory, self.folder)
        else:
            _require_classic(session)
        self.folder.mkdir(parents=True)
        try:
            with self._asking():
                if session is None:
                    self._own = session = _start(conf, self.folder / "spark.log")
                    _await_worker(session, conf["spark.executor.memory"])
                self.session = session.newSession()  # with names and settings of its own
                for key, value in SAME_SQL.items():
                    self.session.conf.set(key, value)
        except BaseException:
            self.close()
            raise

    @contextmanager
    def _asking(self) -> Iterator[None]:
        """What a user can do something about, in a user's words. An interrupted question cannot be taken back."""
        from py4j.protocol import Py4JError, Py4JNetworkError
        from pyspark.errors import PySparkException

        try:
            with _quietly():
                yield
        except (PySparkException, Py4JError, ConnectionError) as error:
            text, first = str(error), _said(error)
            if isinstance(error, (Py4JNetworkError, ConnectionError)) or _java_is_gone():
                raise ParameterError("Spark ended in the middle of its work.", given=first, next=ENDED) from error
            if "OutOfMemoryError" in text or "maxResultSize" in text:
                what = "The engine ran out of the memory it was allowed."
                raise ParameterError(what, given=first, next="raise --memory") from error
            if "No space left on device" in text:
                next = "free some space or choose another --work"
                raise OutputError("The disk is full.", given=first, next=next) from error
            if any(sign in text for sign in ("PATH_NOT_FOUND", "FAILED_READ_FILE", "FileNotFoundException")):
                next = "on a cluster, choose a --work that every worker sees under the same path"
                raise InputError("The engine could not read or write a file.", given=first, next=next) from error
            raise
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
            rows.write.mode("errorifexists").options(**COMMIT).parquet(_uri(path))
        except BaseException:
            if not (path / "_SUCCESS").exists():  # rows that were never committed go unread
                shutil.rmtree(path, ignore_errors=True)
            raise
        return self.session.read.schema(rows.schema).parquet(_pattern(path)), path

    def scan(self, name: str, parquet: Path) -> None:
        """Make a Parquet file readable under a name."""
        with self._asking():
            self._show(name, self.session.read.parquet(_pattern(parquet.absolute())))

    def register(self, name: str, table: pa.Table) -> None:
        """Make an Arrow table readable under a name."""
        path = self._fresh(name)
        path.mkdir()
        pq.write_table(table, path / "rows.parquet")
        with self._asking():
            self._show(name, self.session.read.parquet(_pattern(path)), path)

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
        """Keep, of every `uid`, the rows with the smallest values."""
        kept = ", ".join(columns)
        ordinal = f"row_number() OVER (PARTITION BY uid ORDER BY {by}, {kept}) AS ordinal"
        ordered = f"SELECT uid, {kept}, {ordinal} FROM ({sql}) AS rows"
        self.save(name, f"SELECT uid, {kept} FROM ({ordered}) AS ordered WHERE ordinal <= {limit}")

    def shuffle(self, columns: str) -> str:
        """Spark's own hash."""
        return f"xxhash64({columns})"

    def map_batches(self, name: str, sql: str, function: Batches, schema: pa.Schema) -> None:
        """Run a function over the rows of a query in the workers; what it returns is written once and read back."""
        from pyspark.sql.pandas.types import from_arrow_schema

        def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            yield from function(batches)

        _require_no_generator(function)
        with self._asking():
            self._show(name, *self._written(name, self.session.sql(sql).mapInArrow(run, from_arrow_schema(schema))))

    def fetch(self, sql: str) -> pa.Table:
        """The rows of a query as an Arrow table."""
        with self._asking():
            rows = self.session.sql(sql).toArrow()
        return rows.cast(pa.schema([(field.name, field.type) for field in rows.schema]))

    def write(self, name: str, parquet: Path) -> None:
        """Write a table to a folder of Parquet files."""
        with self._asking():
            rows = self.session.sql(f"SELECT * FROM {name}")
            rows.write.mode("errorifexists").options(**COMMIT).parquet(_uri(parquet.absolute()))

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
                _end_java()
            shutil.rmtree(self.folder, ignore_errors=True)


def _uri(path: Path) -> str:
    """A local file, whatever the cluster's default file system is."""
    return f"file:{path}"


def _pattern(path: Path) -> str:
    """The same for reading, where *, ? and brackets would be a pattern."""
    return "".join(f"\\{c}" if c in "\\*?[]{}" else c for c in _uri(path))


def _require_no_generator(function: Batches) -> None:
    """Every worker would unpickle the same generator, and draw the same noise."""
    from pyspark import cloudpickle

    pickler: Any = cloudpickle.CloudPickler

    class Watchful(pickler):  # type: ignore[misc]
        def reducer_override(self, thing: object) -> Any:
            if isinstance(thing, GENERATORS):
                raise OurBug(f"a {type(thing).__name__} would be copied into every worker: make it in the function")
            return super().reducer_override(thing)

    Watchful(io.BytesIO()).dump(function)


def _said(error: Exception) -> str:
    """The first line of what went wrong, without where in Java."""
    thrown: Any = getattr(error, "java_exception", None)
    text = str(error) if thrown is None else str(thrown.getMessage())
    return text.strip().splitlines()[0]


@contextmanager
def _quietly() -> Iterator[None]:
    """Without pyspark's word about new versions of pandas, which is not used here, and py4j's own tracebacks."""
    root = logging.getLogger()
    root.addFilter(_not_py4j)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
            yield
    finally:
        root.removeFilter(_not_py4j)


def _not_py4j(record: logging.LogRecord) -> bool:
    return "py4j" not in record.pathname


# ------------------------------------------------------------------ the session


def _require_pyspark() -> None:
    """Spark as a library, not the thin client of Spark Connect, and Java to run it."""
    try:
        with _quietly():
            from pyspark.sql import SparkSession
            from pyspark.util import is_remote_only
    except ImportError:
        raise ParameterError(
            "The Spark engine needs pyspark 4, which is not installed.", next="pip install 'hubbub[spark]'"
        ) from None
    if is_remote_only() or not hasattr(SparkSession, "newSession"):
        raise _connect("the package pyspark-client")
    home = os.environ.get("JAVA_HOME")
    if "PYSPARK_GATEWAY_PORT" not in os.environ and not shutil.which("java", path=home and f"{home}/bin"):
        raise ParameterError(
            "The Spark engine needs Java, which was not found.",
            given=f"JAVA_HOME={home}" if home else "no JAVA_HOME, no java on the PATH",
            next="install Java 17 or later, or set JAVA_HOME",
        )


def _require_classic(session: object) -> None:
    """A session whose workers we can be sure of."""
    if type(session).__module__.startswith("pyspark.sql.connect"):
        raise _connect("a Spark Connect session")
    from pyspark.sql import SparkSession

    if not isinstance(session, SparkSession):
        raise ParameterError("This is no Spark session.", given=type(session).__name__)


def _connect(given: str) -> ParameterError:
    return ParameterError(
        "Spark Connect is not supported: noise must be written once where it is drawn, and the client does not own "
        "the session that draws it.",
        given=given,
        allowed="local[N], spark://HOST:PORT, yarn or k8s://…",
        next="give --master the cluster itself, or pass a classic SparkSession",
    )


def _configure(master: str, memory: str, folder: Path) -> dict[str, str]:
    """The settings of a session of our own; refuses what cannot work before anything is started."""
    for remote in (master, os.environ.get("SPARK_REMOTE", "")):
        if remote.startswith("sc:"):
            raise _connect(remote)
    size = SIZE.fullmatch(memory.strip())
    if size is None:
        raise ParameterError("--memory is not a size.", given=memory, allowed="a size such as 600MB or 2GB")
    bytes = int(float(size[1]) * (1024 if size[3] else 1000) ** " KMGT".index(size[2].upper() or " "))
    if bytes < LEAST:
        raise ParameterError("--memory is too small for Spark.", given=memory, allowed="512MB or more")
    if "," in str(folder):
        raise ParameterError("Spark cannot work in a folder with a comma.", given=folder, next="choose another --work")
    folders = {"spark.local.dir": str(folder / "spill"), "spark.sql.warehouse.dir": str(folder / "warehouse")}
    memories = dict.fromkeys(("spark.driver.memory", "spark.executor.memory"), f"{bytes >> 20}m")
    loopback = _is_local(master) or re.match(r"spark://(127\.0\.0\.1|localhost):", master)
    hosts = ("spark.driver.host", "spark.driver.bindAddress") if loopback else ()
    return START | folders | memories | dict.fromkeys(hosts, "127.0.0.1") | {"spark.master": master}


def _is_local(master: str) -> bool:
    return master == "local" or master.startswith("local[")


def _start(settings: dict[str, str], log: Path) -> SparkSession:
    """Java, a Spark context and a session, with everything they print in a file."""
    from py4j.protocol import Py4JError
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkException
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    if SparkContext._active_spark_context is not None:
        raise ParameterError(
            "This process runs a Spark session already.", next="pass it on: Spark(work, session=…), or stop it first"
        )
    master = settings["spark.master"]
    _require_open(master)
    conf = SparkConf().setAll(list(settings.items()))
    java = SparkConf().setMaster(master).set("spark.driver.memory", settings["spark.driver.memory"])
    try:
        with _own_python(), log.open("wb") as file:
            if SparkContext._gateway is None:  # Java outlives its sessions, until this process ends
                launch: Any = launch_gateway
                with _signals(wait=True):
                    SparkContext._ensure_initialized(gateway=launch(java, {"stdout": file, "stderr": file}))
            with _signals():
                context = SparkContext(conf=conf)
    except (PySparkException, Py4JError, OSError) as error:
        said = [line for line in log.read_text(errors="replace").splitlines() if "Exception" in line or "rror" in line]
        next = "check --master and --memory, and that Java is 17 or later"
        raise ParameterError("Spark did not start.", given=said[0] if said else _said(error), next=next) from error
    except Exception:
        raise
    except BaseException:
        _end_java()
        raise
    return SparkSession(context)


def _await_worker(session: SparkSession, memory: str) -> None:
    """A cluster without room would let us wait for ever, and say so to nobody."""
    context, until = session.sparkContext, time.monotonic() + PATIENCE
    while (
        not _is_local(str(context.master)) and context._jsc.sc().getExecutorMemoryStatus().size() < 2
    ):  # the driver is one
        if time.monotonic() > until:
            next = f"check that a worker is up with {memory} to spare"
            raise ParameterError("The cluster gave no worker.", given=context.master, next=next)
        time.sleep(0.1)


def _java_is_gone() -> bool:
    from pyspark import SparkContext

    process = getattr(SparkContext._gateway, "proc", None)
    return process is not None and process.poll() is not None


def _end_java() -> None:
    """End Java, which can be asked nothing more in the middle of an answer; the next session starts another."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    process = getattr(SparkContext._gateway, "proc", None)
    if process is not None:
        process.stdin.close()  # upon which it ends by itself
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
    SparkSession._instantiatedSession = None


def _require_open(master: str) -> None:
    """A master that does not listen is met at once, not after minutes of trying."""
    if not master.startswith("spark://"):
        return
    problem: object = "no HOST:PORT"
    for host, port in re.findall(r"([^,:/]+):(\d+)", master.removeprefix("spark://")):
        try:
            socket.create_connection((host, int(port)), timeout=5).close()
            return
        except (OSError, OverflowError) as error:
            problem = error
    raise ParameterError("The Spark master does not answer.", given=f"{master}: {problem}", next="check --master")


@contextmanager
def _own_python() -> Iterator[None]:
    """Workers run the Python that runs this, unless the user named another."""
    given = os.environ.get("PYSPARK_PYTHON")
    os.environ["PYSPARK_PYTHON"] = given or sys.executable
    try:
        yield
    finally:
        if given is None:
            del os.environ["PYSPARK_PYTHON"]


@contextmanager
def _signals(wait: bool = False) -> Iterator[None]:
    """Signals keep the handlers they have; with `wait`, they come after this block, when Java can be told to end."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    late: list[int] = []
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in handlers if wait else ():
        signal.signal(number, lambda number, _: late.append(number))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        if late:
            signal.raise_signal(late[0])
