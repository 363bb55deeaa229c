"""Spark as several processes: a master and two workers on loopback."""

from __future__ import annotations

import json
import os
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest

from hubbub.card import check
from hubbub.engines.spark import Spark, session
from hubbub.errors import ParameterError
from hubbub.log import read_log
from hubbub.mechanisms import Korolova
from hubbub.mechanisms.noisy import reaching
from hubbub.noise import SecureNoise
from hubbub.noise.source import Integers
from hubbub.privacy.ledger import Ledger
from hubbub.release.opened import Release
from hubbub.release.plan import Plan
from hubbub.release.story import run_release
from tests.conftest import RELEASE, Hubbub
from tests.spark.conftest import Cluster

pytestmark = pytest.mark.usefixtures("alone")


def test_a_release_end_to_end(cluster: Cluster, hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    where = ("--engine", "spark", "--master", cluster.url, "--memory", "1GB", "--work", tmp_path / "work")
    hubbub("release", log_file, *RELEASE, *where, "--out", tmp_path / "out")
    assert [f.what for f in check(tmp_path / "out") if not f.holds] == []
    release = Release(tmp_path / "out")
    assert set(release.queries.to_arrow()["query"].to_pylist()) == {"weather", "news", "maps"}
    public = {"card.json", "index.html", "README.md", "queries.parquet"}
    assert {p.name for p in (tmp_path / "out" / "public").iterdir()} == public
    assert "spark" not in json.dumps(release.card).lower()
    assert list((tmp_path / "work").iterdir()) == [], "a copy of the raw log was left"
    for worker in ("one", "two"):
        assert list((cluster.folder / worker).glob("app-*/*")), f"worker {worker} ran nothing"


def test_a_cluster_without_room_says_so(cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "PATIENCE", 2)
    with pytest.raises(ParameterError, match="gave no worker"):
        Spark(tmp_path, master=cluster.url, memory="4GB")
    assert list(tmp_path.glob("spark-*")) == []


def await_both(engine: Spark) -> None:
    """Both workers have given us a process."""
    workers = engine.session.sparkContext._jsc.sc().getExecutorMemoryStatus
    until = time.monotonic() + 60
    while workers().size() < 3 and time.monotonic() < until:  # the driver is one
        time.sleep(0.1)


def test_a_speculative_copy_draws_too_and_is_not_seen(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One attempt hangs after its draw, Spark starts another that draws again: the table holds one of the two."""
    eager = {"spark.speculation": "true", "spark.speculation.quantile": "0.5", "spark.speculation.multiplier": "1.1"}
    for key, value in (eager | {"spark.speculation.interval": "100ms"}).items():
        monkeypatch.setitem(session.START, key, value)
    draws, hung = tmp_path / "draws", str(tmp_path / "hung")
    draws.mkdir()
    notes = str(draws)

    def draw(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        noise = SecureNoise()
        for batch in batches:
            drawn = noise.laplace("test", Fraction(10**6), batch.num_rows)
            first = batch.column("id")[0].as_py()
            Path(notes, f"{first}-{os.getpid()}").write_text(json.dumps(drawn.tolist()))
            if first == 0:
                with suppress(FileExistsError):
                    os.close(os.open(hung, os.O_CREAT | os.O_EXCL))
                    time.sleep(15)  # the first attempt only
            yield pa.record_batch({"id": batch.column("id"), "noise": drawn})

    engine = Spark(tmp_path, master=cluster.url, memory="1GB")
    try:
        await_both(engine)
        schema = pa.schema([("id", pa.int64()), ("noise", pa.int64())])
        engine.map_batches("noisy", "SELECT id FROM range(0, 400, 1, 4)", draw, schema)
        rows = engine.fetch("SELECT id, noise FROM noisy ORDER BY id")
    finally:
        engine.close()
    assert rows["id"].to_pylist() == list(range(400))
    attempts = [json.loads(path.read_text()) for path in draws.glob("0-*")]
    assert len(attempts) == 2 and attempts[0] != attempts[1], "both attempts drew"
    assert sum(rows["noise"].to_pylist()[:100] == drawn for drawn in attempts) == 1


def test_a_release_outlives_a_worker(cluster: Cluster, log_file: Path, tmp_path: Path) -> None:
    """Runs last: it ends one of the workers in the middle of the noise. One draw per row, one release, one budget."""
    draws = tmp_path / "draws"
    draws.mkdir()
    notes = str(draws)

    class Slow(Korolova):
        @staticmethod
        def passes(noisy: Integers, threshold: int) -> Integers:
            found = reaching(noisy, threshold)
            Path(notes, f"{os.getppid()}-{secrets.token_hex(4)}").write_text(str(noisy[found].tolist()))
            time.sleep(2)
            return found

    def engine(work: Path) -> Spark:
        made = Spark(work, master=cluster.url, memory="1GB")
        await_both(made)
        made.session.conf.set("spark.sql.adaptive.coalescePartitions.enabled", "false")
        made.session.conf.set("spark.sql.shuffle.partitions", "6")
        return made

    def kill_in_the_middle() -> None:
        until = time.monotonic() + 120
        while len({note.name.split("-")[0] for note in draws.iterdir()}) < 2 and time.monotonic() < until:
            time.sleep(0.05)
        cluster.kill("two")

    killer = threading.Thread(target=kill_in_the_middle)
    killer.start()
    ledger = Ledger(tmp_path / "ledger.sqlite")
    with ledger, read_log(log_file, format="aol", engine=engine) as log:
        result = run_release(log, Plan(Slow(epsilon=2, delta="1e-5", d=3), tmp_path / "out"), ledger)
        killer.join()
        assert isinstance(log.engine, Spark)
        [noisy] = [name for name in log.engine._paths if name.startswith("noisy_")]
        seen = [log.engine.fetch(f"SELECT kid, value FROM {noisy} ORDER BY kid") for _ in range(2)]
        assert [entry.state for entry in ledger.entries()] == ["committed"]
    assert len({note.name.split("-")[0] for note in draws.iterdir()}) == 2, "both workers drew"
    ids = seen[0]["kid"].to_pylist()
    assert seen[0].equals(seen[1]) and len(set(ids)) == len(ids) == result.rows["queries"]
    released = result.release.queries.to_arrow()
    assert set(released["query"].to_pylist()) == {"weather", "news", "maps"}
    assert sorted(released["users"].to_pylist()) == sorted(seen[0]["value"].to_pylist())
    drawn = [value for note in draws.iterdir() for value in json.loads(note.read_text())]
    assert set(released["users"].to_pylist()) <= set(drawn)
    assert [f.what for f in check(tmp_path / "out") if not f.holds] == []
