"""Noise drawn in the workers: what goes wrong with plain Spark, and does not with `map_batches`."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.errors import ArithmeticException, PySparkException

from hubbub.engines import Engine
from hubbub.engines.duckdb import DuckDB
from hubbub.engines.spark import Spark
from hubbub.engines.spark.errors import quietly
from hubbub.errors import OurBug, ParameterError
from hubbub.noise import SecureNoise, SeededBits, SeededNoise, SystemBits
from tests.spark.conftest import Shared

SCHEMA = pa.schema([("id", pa.int64()), ("noisy", pa.int64())])
ROWS = "SELECT id FROM range(0, 2000, 1, 2)"  # two partitions of a thousand rows
ALL = "SELECT id, noisy FROM noisy ORDER BY id"


@pytest.fixture
def draw() -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Draws as a mechanism would: the source is made where it is used."""

    def draw(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        noise = SecureNoise()
        for batch in batches:
            drawn = noise.laplace("test", Fraction(1000), batch.num_rows)
            yield pa.record_batch({"id": batch.column("id"), "noisy": pa.array(drawn)})

    return draw


def halves(rows: pa.Table) -> tuple[list[int], list[int]]:
    """What each partition drew."""
    drawn = rows.sort_by("id")["noisy"].to_pylist()
    return drawn[:1000], drawn[1000:]


def test_a_lazy_plan_draws_at_every_action_and_a_kept_table_once(engine: Spark, draw: Any) -> None:
    with quietly():
        lazy = engine.session.sql(ROWS).mapInArrow(draw, "id long, noisy long")
        assert halves(lazy.toArrow()) != halves(lazy.toArrow()), "the danger is gone: this test shows nothing"
    engine.map_batches("noisy", ROWS, draw, SCHEMA)
    first = engine.fetch(ALL)
    assert first.num_rows == 2000
    assert engine.fetch(ALL).equals(first)


def test_every_partition_draws_its_own_noise(engine: Spark, draw: Any) -> None:
    engine.map_batches("noisy", ROWS, draw, SCHEMA)
    one, two = halves(engine.fetch(ALL))
    assert sum(a == b for a, b in zip(one, two, strict=True)) < 30  # at scale 1000 about 0.25 of 1000 by chance

    generator = np.random.default_rng(3)

    def copied(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield pa.record_batch({"id": batch.column("id"), "noisy": generator.integers(0, 10**9, batch.num_rows)})

    with quietly():
        one, two = halves(engine.session.sql(ROWS).mapInArrow(copied, "id long, noisy long").toArrow())
    assert one == two, "the danger is gone: this test shows nothing"
    with pytest.raises(OurBug, match="Generator would be copied"):
        engine.map_batches("noisy", ROWS, copied, SCHEMA)


@pytest.mark.parametrize(
    "generator",
    [SecureNoise(), SeededNoise(1), SystemBits(), SeededBits(1, "a"), random.Random(1)],  # noqa: S311
    ids=lambda g: type(g).__name__,
)
def test_no_generator_is_carried_into_the_workers(engine: Spark, generator: Any) -> None:
    def function(held: dict[str, Any], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from batches

    with pytest.raises(OurBug, match="would be copied"):
        engine.map_batches("noisy", ROWS, partial(function, {"deep": [generator]}), SCHEMA)
    assert engine._paths == {}


def test_a_threshold_holds_for_the_noise_that_is_kept(engine: Spark, draw: Any) -> None:
    engine.map_batches("noisy", ROWS, draw, SCHEMA)
    engine.save("released", "SELECT id, noisy FROM noisy WHERE noisy >= 100")
    assert min(engine.fetch("SELECT noisy FROM released")["noisy"].to_pylist()) >= 100
    differ = "SELECT count(*) AS n FROM released AS r JOIN noisy AS k ON r.id = k.id WHERE r.noisy <> k.noisy"
    assert engine.fetch(differ).to_pylist() == [{"n": 0}]


def test_a_lost_cache_changes_no_noise(engine: Spark, draw: Any) -> None:
    engine.map_batches("noisy", ROWS, draw, SCHEMA)
    engine.session.catalog.cacheTable("noisy")
    first = engine.fetch(ALL)
    engine.session.catalog.clearCache()
    engine.session.catalog.refreshTable("noisy")
    assert engine.fetch(ALL).equals(first)


def test_no_draw_reads_a_shuffle_that_a_dying_worker_takes_along(engine: Spark, draw: Any) -> None:
    """Rows that move are written first: the job that draws is one stage, which Spark never starts beside itself."""
    context = engine.session.sparkContext
    for name, sql, jobs in (("still", ROWS, 1), ("noisy", "SELECT id % 500 AS id FROM range(2000) GROUP BY 1", 2)):
        context.setJobGroup(name, name)
        engine.map_batches(name, sql, draw, SCHEMA)
        status: Any = context.statusTracker()
        stages = [len(status.getJobInfo(job).stageIds) for job in sorted(status.getJobIdsForGroup(name))]
        assert stages[-1] == 1 and len(stages) >= jobs, stages
    assert engine.fetch("SELECT count(DISTINCT id) AS n FROM noisy").to_pylist() == [{"n": 500}]
    assert len(list(engine.folder.iterdir())) == 2, "what was written on the way is gone"


def test_a_plan_that_is_not_shown_whole_is_taken_for_one_that_moves_rows(engine: Spark) -> None:
    jvm: Any = engine.session.sparkContext._jvm
    conf, longest = jvm.org.apache.spark.sql.internal.SQLConf.get(), "spark.sql.maxPlanStringLength"
    assert engine._settled("noisy", ROWS) == ROWS
    try:
        for most in ("0", "40"):  # that of whoever gave the session
            conf.setConfString(longest, most)
            assert engine._settled("noisy", ROWS) == "SELECT * FROM noisy_settled", most
    finally:
        conf.unsetConf(longest)
    assert engine.fetch("SELECT count(*) AS n FROM noisy_settled").to_pylist() == [{"n": 2000}]


@pytest.mark.parametrize(
    ("setting", "given", "said"),
    [
        ("spark.speculation", "true", "faster of two draws"),
        ("spark.hadoop.outputCommitCoordination.enabled", "false", "noise would be drawn twice"),
    ],
)
def test_a_session_that_may_choose_between_draws_is_refused(
    shared: Shared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str, given: str, said: str
) -> None:
    shared.engine(tmp_path).close()
    assert shared.owner is not None
    session = shared.owner.session
    conf = session.sparkContext.getConf().set(setting, given)
    monkeypatch.setattr(type(session.sparkContext), "getConf", lambda _: conf)
    with pytest.raises(ParameterError, match=said) as refused:
        Spark(tmp_path, session=session)
    assert refused.value.given == f"{setting} = {given}" and refused.value.allowed and refused.value.next
    assert list(tmp_path.iterdir()) == []


def test_an_overflow_is_an_error_and_never_a_count(engine: Spark) -> None:
    engine.register("t", pa.table({"n": [2**63 - 1, 1]}))
    for sql in ("SELECT sum(n) AS n FROM t", "SELECT n + 1 AS n FROM t", "SELECT CAST(n AS INT) AS n FROM t"):
        with pytest.raises(ArithmeticException):
            engine.fetch(sql)


def test_what_fails_leaves_nothing_to_read(engine: Spark, draw: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if batch.column("id")[0].as_py() >= 1000:
                raise ValueError("the second partition fails")
            yield from draw(iter([batch]))

    with pytest.raises(PySparkException, match="the second partition fails"):
        engine.map_batches("noisy", ROWS, fails, SCHEMA)
    assert list(engine.folder.iterdir()) == []
    assert not engine.session.catalog.tableExists("noisy")


def test_nothing_is_written_over(engine: Spark, draw: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    engine.map_batches("noisy", ROWS, draw, SCHEMA)
    first = engine.fetch(ALL)
    monkeypatch.setattr(engine, "_fresh", lambda name: engine._paths["noisy"])
    with pytest.raises(PySparkException, match="PATH_ALREADY_EXISTS"):
        engine.map_batches("again", ROWS, draw, SCHEMA)
    assert engine.fetch(ALL).equals(first)


@pytest.mark.parametrize("sql", ["SELECT id, query FROM t", "SELECT id, query FROM t WHERE id < 0"])
def test_a_function_gives_the_same_on_both_engines(engine: Spark, tmp_path: Path, sql: str) -> None:
    def folded(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import unicodedata

        for batch in batches:
            text = [unicodedata.normalize("NFKC", q).casefold() for q in batch.column("query").to_pylist()]
            yield pa.record_batch({"id": batch.column("id"), "text": pa.array(text, pa.string())})

    seen = []
    engines: tuple[Engine, ...] = (engine, DuckDB(tmp_path))
    for one in engines:
        one.register("t", pa.table({"id": range(4), "query": ["Ｑ", "STRASSE", "straße", "ﬁ"]}))
        one.map_batches("folded", sql, folded, pa.schema([("id", pa.int64()), ("text", pa.string())]))
        seen.append(one.fetch("SELECT id, text FROM folded ORDER BY id"))
    assert seen[0].equals(seen[1])
