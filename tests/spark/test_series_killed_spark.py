"""A run of a series on Spark that is killed in any phase goes on where it was, on Spark, with the bytes of DuckDB."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from hubbub.engines.spark import Spark
from hubbub.privacy.ledger import Ledger
from hubbub.series import add, fix, show
from hubbub.series import state as state_module
from tests.forked import forked
from tests.series_made_up import Make, one_thread, seeded, visits_of
from tests.spark.conftest import Shared
from tests.unit.series.test_series_killed import Killed, killing

KILLS = ((3, "placed"), (3, "booked"))
"""In which of its commits each attempt ends, and when: in the third round, and when it publishes."""


def asked() -> list[tuple[str, str, str | None, int, int]]:
    """Forty users of one query, each with one of her own."""
    return [(f"user {u}", text, None, 0, 0) for u in range(40) for text in ("weather", f"rare {u}")]


def begun(place: Path) -> Path:
    place.mkdir()
    with Ledger(place / "book.sqlite") as book:
        fix(seeded(), place / "s", book, new_population=True)
    return place


def run(place: Path, make: Make) -> None:
    with Ledger(place / "book.sqlite") as book, visits_of(place, asked(), make) as log:
        add(place / "s", log, book)


def kept(place: Path) -> tuple[bytes, list[str]]:
    """The released table, and every commit that the ledger knows."""
    with Ledger(place / "book.sqlite") as book:
        return (place / "s/2020-01/public/queries.parquet").read_bytes(), sorted(book.outputs()[1])


def of_the_same_java(work: Path, port: int, secret: str) -> Make:
    """Engines of another Python in a Java that runs already: no second one has to start."""
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    os.environ |= {"PYSPARK_GATEWAY_PORT": str(port), "PYSPARK_GATEWAY_SECRET": secret}
    gateway = launch_gateway()  # type: ignore[no-untyped-call]
    context = gateway.jvm.org.apache.spark.api.java.JavaSparkContext.fromSparkContext(
        gateway.jvm.org.apache.spark.SparkContext.getOrCreate()
    )
    conf = SparkConf(_jvm=gateway.jvm, _jconf=context.getConf())
    owner = Spark(work, session=SparkSession(SparkContext(gateway=gateway, jsc=context, conf=conf)))
    return Shared(owner.folder, owner).engine


def killed_in_the_first_round(place: Path, port: int, secret: str) -> None:
    """In a process of its own: kill -9 when the files of the round are written, before the ledger hears of them."""
    real = state_module._sync

    def sync(path: Path) -> None:
        real(path)
        if path.name.startswith("sums"):
            os.kill(os.getpid(), signal.SIGKILL)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(state_module, "_sync", sync)
        run(place, of_the_same_java(place, port, secret))


def test_killed_in_every_phase_of_a_run_on_spark(
    make_engine: Callable[[Path], Spark], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """First by the system, in a round that is then played again; then in a later round, and where it publishes."""
    whole, place = begun(tmp_path / "whole"), begun(tmp_path / "killed")
    run(whole, one_thread)
    gateway = make_engine(tmp_path).session.sparkContext._gateway
    assert gateway is not None
    java = gateway.gateway_parameters
    assert forked(killed_in_the_first_round, place, java.port, java.auth_token) == -signal.SIGKILL
    assert list((place / "s/owner-only/state").glob("sums-*")), "files that no commit lists"
    for commit, where in KILLS:
        with Ledger(place / "book.sqlite") as book:
            assert show(place / "s", book).interrupted == "2020-01"
        with monkeypatch.context() as patch, pytest.raises(Killed):
            killing(patch, commit, where)
            run(place, make_engine)
    with Ledger(place / "book.sqlite") as book:
        assert show(place / "s", book).interrupted is None
        add(place / "s", None, book, period="2020-01")
    assert kept(place) == kept(whole)
