"""Spark for tests: one local session that tests share, and a real cluster of processes on loopback."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from hubbub.engines.spark import Spark

FAST_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # tests are over before the optimiser pays


@pytest.fixture(scope="session", autouse=True)
def java() -> Iterator[None]:
    """Skip without Java; in CI it must be there."""
    home = os.environ.get("JAVA_HOME")
    if not shutil.which("java", path=home and f"{home}/bin"):
        if os.environ.get("CI") == "true":
            pytest.fail("CI needs Java", pytrace=False)
        pytest.skip("no Java: the Spark engine is not tested")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_SUBMIT_OPTS", FAST_START)
        yield


@dataclass
class Shared:
    """The session that tests share; started when first asked for, and again after `stop`."""

    work: Path
    owner: Spark | None = None

    def engine(self, work: Path) -> Spark:
        """An engine with tables of its own in the shared session."""
        if self.owner is None:
            self.owner = Spark(self.work, master="local[2]", memory="1GB")
        engine = Spark(work, session=self.owner.session)
        engine.session.conf.set("spark.sql.shuffle.partitions", "2")  # logs of tests are small
        return engine

    def stop(self) -> None:
        """Make room: a process runs one Spark session at a time."""
        if self.owner is not None:
            self.owner.close()
            self.owner = None


@pytest.fixture(scope="session")
def shared(java: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    """The shared session's keeper."""
    shared = Shared(tmp_path_factory.mktemp("spark"))
    yield shared
    shared.stop()


@pytest.fixture
def make_engine(shared: Shared) -> Callable[[Path], Spark]:
    """Engines in the shared session, by work folder."""
    return shared.engine


@pytest.fixture
def engine(shared: Shared, tmp_path: Path) -> Iterator[Spark]:
    """One engine in the shared session."""
    engine = shared.engine(tmp_path)
    yield engine
    engine.close()


@pytest.fixture
def alone(shared: Shared) -> None:
    """No session is running: the test starts its own."""
    shared.stop()


@dataclass
class Cluster:
    """A standalone master and two workers of one core each: processes of their own, on loopback."""

    folder: Path
    url: str = ""
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def start(self) -> None:
        """Start all three and wait until the workers have registered."""
        self._run("master", "master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        self.url = self._wait("master", r"Starting Spark master at (spark://\S+)")
        for name, host in (("one", "127.0.0.1"), ("two", "localhost")):  # Spark speculates on another host only
            options = ("-c", "1", "-m", "1g", "-d", str(self.folder / name), "--host", host, "--webui-port", "0")
            self._run(name, "worker.Worker", *options, self.url)
        for name in ("one", "two"):
            self._wait(name, r"(Successfully registered)")

    def _run(self, name: str, role: str, *arguments: str) -> None:
        import pyspark

        home = Path(pyspark.__file__).parent
        places = {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_CONF_DIR": str(self.folder)}
        java = {"JDK_JAVA_OPTIONS": FAST_START, "SPARK_DAEMON_MEMORY": "256m", "PYSPARK_PYTHON": sys.executable}
        command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{role}", *arguments]
        with (self.folder / f"{name}.log").open("wb") as log:
            self.processes[name] = subprocess.Popen(
                command, stdout=log, stderr=log, env=os.environ | places | java, start_new_session=True
            )

    def _wait(self, name: str, sign: str, seconds: float = 60) -> str:
        log, until = self.folder / f"{name}.log", time.monotonic() + seconds
        while (found := re.search(sign, log.read_text(errors="replace"))) is None:
            running = self.processes[name].poll() is None and time.monotonic() < until
            assert running, f"{name} did not start:\n{log.read_text(errors='replace')}"
            time.sleep(0.1)
        return found[1]

    def kill(self, name: str) -> None:
        """End one process and those it started, at once."""
        with suppress(ProcessLookupError):
            os.killpg(self.processes[name].pid, signal.SIGKILL)
        self.processes.pop(name).wait(timeout=30)

    def stop(self) -> None:
        """End what still runs."""
        for name in list(self.processes):
            self.kill(name)


@pytest.fixture(scope="module")
def cluster(java: None, shared: Shared, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A running cluster, ended whatever happens."""
    shared.stop()
    cluster = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()
