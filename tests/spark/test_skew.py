"""Skew, read from the plans that Spark really ran and from what it counted: a query that half of the users ask, and a
user with as many rows as all others together. Sizes from which Spark takes a partition for a large one are set small,
and nothing is broadcast, as on a log that is too large for it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hubbub.audit.tiny import SECRET
from hubbub.engines.spark import Spark
from hubbub.log import read_log
from hubbub.mechanisms import build
from hubbub.noise import SecureNoise
from hubbub.steps.mode import RunMode, Where
from tests.conftest import HEADER
from tests.spark.conftest import Shared

USERS, BUSY, TASKS, D = 1200, 3000, 6, 5
SMALL = {
    "spark.sql.shuffle.partitions": TASKS,
    "spark.sql.autoBroadcastJoinThreshold": -1,
    "spark.sql.adaptive.autoBroadcastJoinThreshold": -1,
    "spark.sql.adaptive.coalescePartitions.enabled": "false",
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": 4096,
    "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes": 4096,
    "spark.sql.adaptive.skewJoin.skewedPartitionFactor": 1.3,
    "spark.sql.files.openCostInBytes": 1 << 27,  # a task for every file
}


class Looked(Spark):
    """Remembers of every table it writes the plan that ran, and how many rows each shuffle of it moved."""

    def __init__(self, work: Path, session: Any) -> None:
        super().__init__(work, session=session)
        for key, value in SMALL.items():
            self.session.conf.set(key, str(value))
        self.plans: dict[str, str] = {}
        self.moved: dict[str, list[int]] = {}

    def _written(self, name: str, rows: Any) -> Any:
        written = super()._written(name, rows)
        self.session.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
        store = self.session._jsparkSession.sharedState().statusStore()
        last = store.executionsList().last()
        metrics, nodes = store.executionMetrics(last.executionId()), store.planGraph(last.executionId()).allNodes()
        self.plans[name] = last.physicalPlanDescription().split("== Initial Plan ==")[0]
        self.moved[name] = []
        for node in (nodes.apply(i) for i in range(nodes.size())):
            counted = {
                m.name(): m.accumulatorId() for m in (node.metrics().apply(i) for i in range(node.metrics().size()))
            }
            if "shuffle records written" in counted:
                self.moved[name].append(int(metrics.apply(counted["shuffle records written"]).replace(",", "")))
        return written


@pytest.fixture(scope="module")
def looked(shared: Shared, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Looked]:
    """What ran for a release of korolova and of crowd."""
    folder = tmp_path_factory.mktemp("skewed")
    (folder / "log").mkdir()
    rows = [f"busy\tquery {n}\t2006-03-02 {n // 3600:02d}:{n // 60 % 60:02d}:{n % 60:02d}\t\t" for n in range(BUSY)]
    for user in range(USERS):
        name = hashlib.sha256(str(user).encode()).hexdigest()[:32]
        asked = ["everybody's query"] * (user % 2) + [f"own {user}"]
        rows += [f"{name}\t{query}\t2006-03-01 08:0{n}:00\t\t" for n, query in enumerate(asked)]
    for n in range(TASKS):
        (folder / "log" / f"{n}.tsv").write_text("\n".join([HEADER, *rows[n::TASKS]]) + "\n", encoding="utf-8")
    shared.engine(folder).close()
    assert shared.owner is not None
    session = shared.owner.session
    with read_log(folder / "log", format="aol", engine=lambda work: Looked(work, session)) as log:
        budget = {"epsilon": 20, "delta": "1e-3"}
        for mechanism in (
            build("korolova", budget | {"d": D}),
            build("crowd", budget | {"D": D, "rounds": 2, "language": "none"}, tables=["queries"]),
        ):
            mechanism.draw(mechanism.measure(log, RunMode(SECRET, False, Where.ENGINE)), SecureNoise())
        assert isinstance(log.engine, Looked)
        yield log.engine


def test_a_query_of_many_and_a_user_of_many_rows_move_as_few(looked: Looked) -> None:
    """Distinct pairs, then by user, then by query: a popular key is one row per task, a busy user D rows per task."""
    by_query, by_user, pairs = looked.moved["counted_queries"]
    others = USERS + USERS // 2
    assert pairs == others + BUSY
    assert by_user <= others + D * TASKS
    assert by_query <= USERS + D + TASKS


def test_a_user_whom_a_join_has_moved_is_cut_before_she_moves_again(looked: Looked) -> None:
    """Users with more keys than a pool holds are found by a join, whose large partition is read by several tasks."""
    assert "SortMergeJoin(skew=true) LeftSemi" in looked.plans["placed_queries"]
    [cut] = looked.moved["heavy_queries"]
    assert D < cut <= D * TASKS
    assert looked.plans["heavy_queries"].count("- WindowGroupLimit") == 2
    rows = looked.fetch("SELECT max(n) AS n FROM (SELECT uid, count(*) AS n FROM pool_queries_2 GROUP BY uid) AS u")
    assert rows["n"][0].as_py() <= D, "no round has more of her to join"


@pytest.mark.parametrize(
    ("table", "kind"),
    [
        ("pooled_queries", "Inner"),  # the first weights, by user
        ("pool_queries_2", "LeftAnti"),  # who is no heavy user, by user
        ("pool_queries_2", "Inner"),  # the keys of the second round, by query
        ("holding_queries", "Inner"),  # the recount, by query
    ],
)
def test_large_partitions_of_joins_are_split(looked: Looked, table: str, kind: str) -> None:
    assert re.search(rf"SortMergeJoin\(skew=true\) {kind}\b", looked.plans[table]), looked.plans[table]
    assert re.search(r"AQEShuffleRead \(\d+\), skewed", looked.plans[table])
