"""The part-wise engine of Spark, task by task in this process: the integers of DuckDB, whichever attempts are lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import PySparkException
from tests.made_up import synthesise
from tests.parted import InParts, Lossy

from hubbub.audit.tiny import SECRET
from hubbub.engines.base import of_user
from hubbub.engines.duckdb import OUT_OF_MEMORY, DuckDB
from hubbub.engines.spark import parted
from hubbub.engines.spark.errors import OTHER_VERSION, plain_errors
from hubbub.engines.spark.tasks import PartJob, Say
from hubbub.errors import OurBug, ParameterError
from hubbub.ingest import SCHEMA
from hubbub.log import SearchLog
from hubbub.mechanisms import build
from hubbub.noise import SecureNoise, SeededNoise
from hubbub.release.rows import named_rows
from hubbub.steps import pools
from hubbub.steps.mode import RunMode, Where

BUDGET = {"epsilon": 20, "delta": "1e-2"}
CASES: dict[str, tuple[str, dict[str, Any], list[str], tuple[int, int]]] = {
    "korolova": ("korolova", {"d": 3}, ["queries", "clicks", "transitions"], (3, 3)),
    "zealous": ("zealous", {"m": 3}, ["queries", "keywords", "clicks"], (2, 2)),
    "sips": ("sips", {}, ["queries"], (1, 3)),
    "crowd": ("crowd", {"D": 5}, ["queries", "clicks", "transitions"], (3, 18)),
}
"""Mechanism, settings, tables; how often rows of users move, and sums of keys."""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("log") / "log.parquet"
    synthesise(120, path, seed=5)
    rows = pq.read_table(path)
    pq.write_table(rows, path, row_group_size=500)
    return path


def released(path: Path, work: Path, make: Callable[[Path], Any], case: str) -> tuple[dict[str, Any], Any]:
    """A seeded release, as rows, and the engine that it was measured in."""
    name, settings, tables, _ = CASES[case]
    mechanism = build(name, BUDGET | settings, tables=tables)
    work.mkdir()
    with SearchLog.over(path, make(work), work) as log:
        counts = mechanism.measure(log, RunMode(SECRET, True, Where.LOCAL))
        drawn = mechanism.draw(counts, SeededNoise(3))
        rows = {table: named_rows(log, mechanism, table, counts, drawn).to_pylist() for table in tables}
        return rows, log.engine


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_a_seeded_release_is_that_of_duckdb_whichever_attempts_are_lost(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    monkeypatch.setattr(parted, "ROWS", 10_000)
    monkeypatch.setattr(pools, "ROWS", 0)
    (right, _), (found, engine) = (released(path, tmp_path / kind.__name__, kind, case) for kind in (DuckDB, Lossy))
    assert found == right and found["queries"]
    moves = Counter(kind for _, kind, _ in engine.parted.moves)
    assert (moves["rows"], moves["sums"]) == CASES[case][3], engine.parted.moves


USERS, BUSY, D = 300, 1000, 5


@pytest.fixture(scope="module")
def skewed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A query that half of the users ask, and a user with more rows than all others together."""
    path = tmp_path_factory.mktemp("skewed") / "log.parquet"
    rows = [{"user": "busy", "time": n, "query": f"query {n % 700}"} for n in range(BUSY)]
    for user in range(USERS):
        asked = ["everybody's query"] * (user % 2) + [f"own {user}"]
        rows += [{"user": f"user {user}", "time": n, "query": query} for n, query in enumerate(asked)]
    pq.write_table(pa.Table.from_pylist(rows[::2] + rows[1::2], schema=SCHEMA), path, row_group_size=100)
    return path


@pytest.mark.parametrize("name", ["korolova", "crowd"])
def test_a_query_of_many_and_a_user_of_many_rows_move_as_few(skewed: Path, tmp_path: Path, name: str) -> None:
    """Rows move once, added up; a popular key then moves as one row of every part, a busy user as D rows."""
    settings = {"d": D} if name == "korolova" else {"D": D, "rounds": 2, "language": "none"}
    mechanism = build(name, BUDGET | settings, tables=["queries"])
    with SearchLog.over(skewed, InParts(tmp_path), tmp_path) as log:
        mechanism.draw(mechanism.measure(log, RunMode(SECRET, False, Where.ENGINE)), SecureNoise())
        assert isinstance(log.engine, InParts)
        (_, what, pairs), *sums = log.engine.parted.moves
        others, cut = USERS + USERS // 2, log.engine.parted.users
        assert what == "rows" and others + 700 <= pairs <= others + BUSY, "she is one row for each of her keys and task"
        assert {kind for _, kind, _ in sums} == {"sums"} and len(sums) == (1 if name == "korolova" else 3)
        assert cut is not None and all(moved <= USERS + D + cut.parts for _, _, moved in sums)
        assert log.engine.plain == [], "nothing was left to another plan"


def test_rows_of_another_part_are_an_error(skewed: Path, tmp_path: Path) -> None:
    """A query that breaks its promise would make one user several, each with a bound of her own."""
    with SearchLog.over(skewed, InParts(tmp_path), tmp_path) as log:
        log.engine.save("fine", of_user("SELECT DISTINCT uid FROM log"))
        assert log.engine.fetch("SELECT count(*) AS n FROM fine")["n"][0].as_py() == USERS + 1
        with pytest.raises(OurBug, match="another part"):
            log.engine.save("wrong", of_user("SELECT DISTINCT 'busy' AS uid FROM log"))
        with pytest.raises(OurBug, match="would not keep"):
            log.engine.save("wrong", of_user("SELECT uid, sum(1) AS n FROM log GROUP BY uid"))


def test_what_is_looked_up_is_whole_and_what_has_the_column_is_cut(skewed: Path, tmp_path: Path) -> None:
    with SearchLog.over(skewed, InParts(tmp_path), tmp_path) as log:
        engine = log.engine
        engine.register("few", pa.table({"uid": ["busy", "user 1", "nobody"], "n": [1, 2, 3]}))
        engine.register("names", pa.table({"query": ["own 1", "query 3", "own 2"]}))
        asked = "SELECT l.uid AS uid, l.query AS query FROM log AS l JOIN names AS n ON l.query = n.query"
        both = f"SELECT a.uid AS uid, a.query AS query FROM ({asked}) AS a JOIN few AS f ON a.uid = f.uid"
        engine.save("seen", of_user(f"SELECT uid, query, count(*) AS n FROM ({both}) AS b GROUP BY uid, query"))
        rows = engine.fetch("SELECT uid, query, n FROM seen ORDER BY uid").to_pylist()
        assert [tuple(row.values()) for row in rows] == [("busy", "query 3", 2), ("user 1", "own 1", 1)]
        once = engine.fetch(of_user("SELECT uid, n FROM few JOIN (SELECT DISTINCT uid AS u FROM log) AS l ON u = uid"))
        assert sorted(once["uid"].to_pylist()) == ["busy", "user 1"]


def test_a_worker_without_the_same_packages_is_named(tmp_path: Path) -> None:
    for said in ("No module named 'hubbub.engines.spark.tasks'", "No module named 'hubbub'", OTHER_VERSION):
        with pytest.raises(ParameterError, match="not the packages") as refused, plain_errors():
            raise PySparkException(f"Job aborted\n  {said}")
        assert refused.value.next
    with pytest.raises(ParameterError, match="ran out of the memory"), plain_errors():
        raise PySparkException(f"Job aborted\n  {OUT_OF_MEMORY}")
    other = replace(PartJob(str(tmp_path), "SELECT 1 AS n", Say(), (), "100MB"), version="0")
    with pytest.raises(ParameterError, match="another version"):
        list(other([0]))
