"""Spark as several processes: a master and two workers on loopback."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest

from hubbub.card import check
from hubbub.engines.spark import Spark, session
from hubbub.errors import ParameterError
from hubbub.noise import SecureNoise
from hubbub.release import Release
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


def test_noise_of_the_workers_outlives_a_worker(cluster: Cluster, tmp_path: Path) -> None:
    """Runs last: it ends one of the workers."""

    def draw(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        noise = SecureNoise()
        for batch in batches:
            drawn = noise.laplace("test", Fraction(20), batch.num_rows)
            pids = pa.array([os.getppid()] * batch.num_rows)
            yield pa.record_batch({"id": batch.column("id"), "noise": drawn, "process": pids})

    engine = Spark(tmp_path, master=cluster.url, memory="1GB")
    try:
        workers = engine.session.sparkContext._jsc.sc().getExecutorMemoryStatus
        until = time.monotonic() + 30
        while workers().size() < 3 and time.monotonic() < until:  # the driver is one
            time.sleep(0.1)
        schema = pa.schema([("id", pa.int64()), ("noise", pa.int64()), ("process", pa.int64())])
        engine.map_batches("noisy", "SELECT id FROM range(0, 4000, 1, 8)", draw, schema)
        seen = engine.fetch("SELECT id, noise, process FROM noisy ORDER BY id")
        assert len(set(seen["process"].to_pylist())) == 2, "only one worker drew"
        cluster.kill("two")
        assert engine.fetch("SELECT id, noise, process FROM noisy ORDER BY id").equals(seen)
    finally:
        engine.close()
