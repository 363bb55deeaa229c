"""A Spark session of our own: its settings, Java's start and end, and what a cluster must have ready."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hubbub.engines.spark.errors import quietly, said
from hubbub.errors import ParameterError
from hubbub.extras import missing

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COORDINATION, SPECULATION = "spark.hadoop.outputCommitCoordination.enabled", "spark.speculation"
START = {
    "spark.app.name": "hubbub",
    "spark.log.level": "ERROR",
    "spark.ui.enabled": "false",  # what Spark learns about the log stays in its processes
    "spark.ui.showConsoleProgress": "false",
    "spark.eventLog.enabled": "false",
    SPECULATION: "false",
    COORDINATION: "true",
    "spark.sql.catalogImplementation": "in-memory",
}
SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(i?)B", re.IGNORECASE)
LEAST = 512_000_000  # bytes without which Spark does not start
PATIENCE = 60.0  # seconds in which a cluster must have given us a worker


def require_pyspark() -> None:
    """Spark as a library, not the thin client of Spark Connect, and Java to run it."""
    try:
        with quietly():
            from pyspark.sql import SparkSession
            from pyspark.util import is_remote_only
    except ImportError:
        raise missing("spark", "The Spark engine needs pyspark 4, which") from None
    if is_remote_only() or not hasattr(SparkSession, "newSession"):
        raise _connect("the package pyspark-client")
    home = os.environ.get("JAVA_HOME")
    if "PYSPARK_GATEWAY_PORT" not in os.environ and not shutil.which("java", path=home and f"{home}/bin"):
        raise ParameterError(
            "The Spark engine needs Java, which was not found.",
            given=f"JAVA_HOME={home}" if home else "no JAVA_HOME, no java on the PATH",
            next="install Java 17 or later, or set JAVA_HOME",
        )


def require_classic(session: object) -> None:
    """Refuse a session on which noise might be drawn twice, or whose workers we cannot know (Spark Connect)."""
    if type(session).__module__.startswith("pyspark.sql.connect"):
        raise _connect("a Spark Connect session")
    from pyspark.sql import SparkSession

    if not isinstance(session, SparkSession):
        raise ParameterError("This is no Spark session.", given=type(session).__name__)
    conf = session.sparkContext.getConf()
    if (given := conf.get(COORDINATION, "true")) != "true":
        raise ParameterError(
            "This Spark session lets two attempts of one task both write their rows: noise would be drawn twice.",
            given=f"{COORDINATION} = {given}",
            allowed="true",
            next="leave that setting alone",
        )
    if (given := conf.get(SPECULATION, "false")) != "false":
        raise ParameterError(
            "This Spark session copies slow tasks and keeps the faster of two draws, which is not quite the law of the "
            "noise that is proven.",
            given=f"{SPECULATION} = {given}",
            allowed="false",
            next=f"start the session with {SPECULATION} = false; it cannot be changed while it runs",
        )


def _connect(given: str) -> ParameterError:
    return ParameterError(
        "Spark Connect is not supported: noise must be written once where it is drawn, and the client does not own "
        "the session that draws it.",
        given=given,
        allowed="local[N], spark://HOST:PORT, yarn or k8s://…",
        next="give --master the cluster itself, or pass a classic SparkSession",
    )


def configure(master: str, memory: str, folder: Path) -> dict[str, str]:
    """The settings of a session of our own; refuses what cannot work before anything is started."""
    for remote in (master, os.environ.get("SPARK_REMOTE", "")):
        if remote.startswith("sc:"):
            raise _connect(remote)
    bytes = size_in_bytes(memory)
    if bytes < LEAST:
        raise ParameterError("--memory is too small for Spark.", given=memory, allowed="512MB or more")
    if "," in str(folder):
        raise ParameterError("Spark cannot work in a folder with a comma.", given=folder, next="choose another --work")
    folders = {"spark.local.dir": str(folder / "spill"), "spark.sql.warehouse.dir": str(folder / "warehouse")}
    memories = dict.fromkeys(("spark.driver.memory", "spark.executor.memory"), f"{bytes >> 20}m")
    loopback = _is_local(master) or re.match(r"spark://(127\.0\.0\.1|localhost):", master)
    hosts = ("spark.driver.host", "spark.driver.bindAddress") if loopback else ()
    return START | folders | memories | dict.fromkeys(hosts, "127.0.0.1") | {"spark.master": master}


def size_in_bytes(memory: str) -> int:
    """A size as a user writes it."""
    size = SIZE.fullmatch(memory.strip())
    if size is None:
        raise ParameterError("--memory is not a size.", given=memory, allowed="a size such as 600MB or 2GB")
    return int(float(size[1]) * (1024 if size[3] else 1000) ** " KMGT".index(size[2].upper() or " "))


def memory_of_a_task(session: SparkSession, memory: str) -> str:
    """What the DuckDB of one task may use of a worker's memory, which all its cores share."""
    context = session.sparkContext
    workers = max(1, context._jsc.sc().getExecutorMemoryStatus().size() - 1)  # the driver is one
    cores = -(-int(context.defaultParallelism) // workers)
    return f"{max(LEAST // 2, size_in_bytes(memory) // cores) >> 20}MiB"


def _is_local(master: str) -> bool:
    return master == "local" or master.startswith("local[")


def start(settings: dict[str, str], log: Path) -> SparkSession:
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
                with signals(wait=True):
                    SparkContext._ensure_initialized(gateway=launch(java, {"stdout": file, "stderr": file}))
            with signals():
                context = SparkContext(conf=conf)
    except (PySparkException, Py4JError, OSError) as error:
        lines = [line for line in log.read_text(errors="replace").splitlines() if "Exception" in line or "rror" in line]
        next = "check --master and --memory, and that Java is 17 or later"
        raise ParameterError("Spark did not start.", given=lines[0] if lines else said(error), next=next) from error
    except Exception:
        raise
    except BaseException:
        end_java()
        raise
    return SparkSession(context)


def await_worker(session: SparkSession, memory: str) -> None:
    """Wait for the first worker; refuse a cluster that has none within a time, instead of waiting for ever."""
    context, until = session.sparkContext, time.monotonic() + PATIENCE
    while (
        not _is_local(str(context.master)) and context._jsc.sc().getExecutorMemoryStatus().size() < 2
    ):  # the driver is one
        if time.monotonic() > until:
            next = f"check that a worker is up with {memory} to spare"
            raise ParameterError("The cluster gave no worker.", given=context.master, next=next)
        time.sleep(0.1)


def end_java() -> None:
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
    """Refuse a master that does not listen at once, instead of after minutes of trying."""
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
def signals(wait: bool = False) -> Iterator[None]:
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
