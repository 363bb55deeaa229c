"""Starting and stopping Spark, and every way in which it cannot be started."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from pyspark import SparkContext

from hubbub.engines.spark import Spark
from hubbub.engines.spark.session import signals
from hubbub.errors import NotInstalled, ParameterError
from hubbub.log import read_log
from tests.conftest import RELEASE, Hubbub
from tests.spark.conftest import Shared


def test_a_session_started_here_is_stopped_and_a_given_one_left(alone: None, shared: Shared, tmp_path: Path) -> None:
    engine = Spark(tmp_path / "new", master="local[1]", memory="1GB")
    context = engine.session.sparkContext
    assert context.master == "local[1]" and context.uiWebUrl is None
    assert context.getConf().get("spark.driver.bindAddress") == "127.0.0.1"
    assert context.pythonExec == sys.executable
    engine.session.sql("SELECT 1 AS n").createOrReplaceTempView("mine")
    engine.session.conf.set("spark.sql.ansi.enabled", "false")
    given = Spark(tmp_path, session=engine.session)
    assert given.session.conf.get("spark.sql.ansi.enabled") == "true"
    assert engine.session.conf.get("spark.sql.ansi.enabled") == "false"
    given.save("mine", "SELECT 2 AS n")
    given.close()
    assert engine.fetch("SELECT n FROM mine").to_pylist() == [{"n": 1}]
    with pytest.raises(ParameterError, match="already"):
        Spark(tmp_path, master="local[1]")
    engine.close()
    engine.close()
    assert SparkContext._active_spark_context is None
    assert list(tmp_path.rglob("spark-*")) == []


def test_signals_wait_until_java_can_be_ended() -> None:
    came: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: came.append(number))
    try:
        with signals(wait=True):
            signal.raise_signal(signal.SIGTERM)
            assert came == []
        assert came == [signal.SIGTERM]
    finally:
        signal.signal(signal.SIGTERM, before)


def test_the_command_line_and_a_log_that_cannot_be_read(
    alone: None, hubbub: Hubbub, log_file: Path, tmp_path: Path
) -> None:
    hubbub("release", log_file, *RELEASE, "--engine", "spark", "--master", "local[2]", "--out", tmp_path / "out")
    run = (tmp_path / "out" / "owner-only" / "run.toml").read_text()
    assert 'engine = "spark"' in run and 'master = "local[2]"' in run
    hubbub("release", tmp_path / "none", *RELEASE, "--engine", "spark", "--out", tmp_path / "two", code=2)
    assert SparkContext._active_spark_context is None
    said = hubbub("release", log_file, *RELEASE, "--master", "local[2]", "--out", tmp_path / "two", code=2)
    assert "DuckDB has no master" in said.output
    said = hubbub("release", log_file, *RELEASE, "--engine", "flink", "--out", tmp_path / "two", code=2)
    assert "duckdb, spark" in said.output
    with pytest.raises(ParameterError, match="no such engine"):
        read_log(log_file, format="aol", engine="flink")


def test_spark_connect_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connected = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})()
    with pytest.raises(ParameterError, match="Spark Connect is not supported"):
        Spark(tmp_path, session=connected)
    with pytest.raises(ParameterError, match="Spark Connect is not supported"):
        Spark(tmp_path, master="sc://localhost")
    monkeypatch.setenv("SPARK_REMOTE", "sc://localhost")
    with pytest.raises(ParameterError, match="Spark Connect is not supported"):
        Spark(tmp_path)
    with pytest.raises(ParameterError, match="no Spark session"):
        Spark(tmp_path, session=3)  # type: ignore[arg-type]


def test_what_is_not_installed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "pyspark.sql", None)
        with pytest.raises(NotInstalled, match=r"pip install 'hubbub\[spark\]'"):
            Spark(tmp_path)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(ParameterError, match="needs Java"):
        Spark(tmp_path)


@pytest.mark.parametrize(
    ("master", "memory", "said"),
    [
        ("local[1]", "plenty", "not a size"),
        ("local[1]", "100MB", "too small"),
        ("local[many]", "1GB", "Could not parse Master URL"),
        ("spark://127.0.0.1:1", "1GB", "does not answer"),
        ("spark://", "1GB", "does not answer"),
    ],
)
def test_what_cannot_start_says_why(alone: None, tmp_path: Path, master: str, memory: str, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        Spark(tmp_path, master=master, memory=memory)
    assert list(tmp_path.glob("spark-*")) == []


def test_a_comma_in_the_work_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="comma"):
        Spark(tmp_path / "a,b")


def test_an_interrupted_question_ends_java_and_leaves_nothing(alone: None, tmp_path: Path) -> None:
    engine = Spark(tmp_path, master="local[1]", memory="1GB")
    gateway: Any = SparkContext._gateway
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler, "Spark took Ctrl-C for itself"
    try:
        signal.setitimer(signal.ITIMER_REAL, 1.5)
        with pytest.raises(KeyboardInterrupt):
            engine.save("forever", "SELECT sum(id % 7) AS n FROM range(1000000000000)")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    engine.close()
    assert gateway.proc.poll() is not None
    assert list(tmp_path.iterdir()) == []
    again = Spark(tmp_path, master="local[1]", memory="1GB")
    assert again.fetch("SELECT 1 AS n").to_pylist() == [{"n": 1}]
    gateway = SparkContext._gateway
    gateway.proc.kill()
    gateway.proc.wait()
    with pytest.raises(ParameterError, match="ended in the middle"):
        again.fetch("SELECT 1 AS n")
    again.close()
    assert list(tmp_path.iterdir()) == []
