"""`retrieval`: walks against dense matrices, eq. 12 against ir-measures, a release of the training folds."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from tests.made_up import synthesise
from tests.unit.worth.tasks.test_tasks_graph import graph, lists, random_graph

from hubbub.log import read_log
from hubbub.testing import check_task
from hubbub.worth.evidence import EMPTY
from hubbub.worth.tasks import Evidence, NotEvaluable, Retrieval, Setup
from hubbub.worth.tasks import retrieval as module
from hubbub.worth.tasks.graph import Graph
from hubbub.worth.tasks.measures import measured
from hubbub.worth.tasks.retrieval import SELF_LOOP, STEPS, implicit_feedback, walk
from hubbub.worth.tasks.split import cut, select


def dense_walk(g: Graph, impact: bool) -> np.ndarray:
    """Step by step over all nodes, queries first, with the transition matrix written out."""
    clicks, follows = g.clicks.toarray(), g.follows.toarray()
    queries, urls = clicks.shape
    factor = np.concatenate([np.ones(queries), 1 + np.log(1 + clicks.sum(axis=0))])
    step = np.eye(queries + urls)
    for j in range(queries):
        weights = np.concatenate([follows[j], clicks[j]])
        if weights.sum():
            step[j] = (1 - SELF_LOOP) * weights / weights.sum()
            step[j, j] = SELF_LOOP
            if impact:
                step[j] = factor * step[j] / (factor * step[j]).sum()
    return np.linalg.matrix_power(step, STEPS)[:queries, queries:]


@pytest.mark.parametrize("impact", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_the_walk_is_a_power_of_its_matrix(seed: int, impact: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BATCH", 4)  # several batches
    g = random_graph(seed)
    found = walk(g, np.arange(len(g.queries)), impact).toarray()
    assert found == pytest.approx(dense_walk(g, impact), abs=20 * module.NEGLIGIBLE)
    monkeypatch.setattr(module, "NEGLIGIBLE", 0.0)
    assert walk(g, np.arange(len(g.queries)), impact).toarray() == pytest.approx(dense_walk(g, impact))


def test_a_walk_by_hand() -> None:
    g = graph({("a", "u"): 3, ("b", "v"): 1}, {("a", "b"): 1})
    found = walk(g, np.array([0])).toarray()[0]
    at_u = 0.9 * 0.75 * (1 - 0.1**STEPS) / 0.9  # 0.675 of what is still at a, step after step
    at_v = sum(0.225 * 0.1 ** (t - 1) * (1 - 0.1 ** (STEPS - t)) for t in range(1, STEPS))
    assert found == pytest.approx([at_u, at_v], abs=1e-3)


def test_implicit_feedback_by_hand() -> None:
    clicks = sp.csr_array(np.array([[5.0, 3.0, 1.0]]))  # O = 1, 2, 3
    shown = sp.csr_array(np.array([[0.0, 0.0, 1.0]]))  # the third was clicked at rank 1 in the test part
    expected = [1 / 2, 1 / 3, 0.6 / 2 + 0.4 / 4]
    assert implicit_feedback(clicks, shown).toarray()[0] == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(5))
def test_measures_by_their_formulas(seed: int) -> None:
    draw = np.random.default_rng(seed)
    relevant = [draw.choice(30, draw.integers(1, 15), replace=False).tolist() for _ in range(20)]
    listing = [draw.choice(30, draw.integers(0, 11), replace=False).tolist() for _ in range(20)]
    found = measured(("nDCG@10", "AP@10", "P@10", "R@10"), lists(relevant, judged=True), lists(listing))
    for i, (good, listed) in enumerate(zip(relevant, listing, strict=True)):
        hits = [d in good for d in listed]
        gain = sum(hit / math.log2(n + 2) for n, hit in enumerate(hits))
        ideal = sum(1 / math.log2(n + 2) for n in range(min(len(good), 10)))
        assert found["nDCG@10"][i] == pytest.approx(gain / ideal)  # eq. 12
        assert found["P@10"][i] == pytest.approx(sum(hits) / 10)
        assert found["R@10"][i] == pytest.approx(sum(hits) / len(good))
        precision = [sum(hits[: n + 1]) / (n + 1) for n, hit in enumerate(hits) if hit]
        assert found["AP@10"][i] == pytest.approx(sum(precision) / len(good))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("retrieval") / "log.parquet"
    synthesise(150, path)
    return path


def test_a_release_of_the_training_folds_is_worth_as_much(made: Path) -> None:
    """As tables, without users: nothing tells the task that these are the counts it makes itself."""
    from hubbub.steps.keys import CLICKS, TRANSITIONS

    with read_log(made) as log:
        select(log, "others", cut(log, 0, 5), "part <> 3")
        tables = {
            keys.name: log.engine.fetch(
                f"SELECT {keys.list()}, count(*) AS n FROM ({keys.distinct('others')}) AS held GROUP BY {keys.list()}"
            )
            for keys in (CLICKS, TRANSITIONS)
        }
        original = Evidence.of_log(log)
        found = Retrieval().score(original, Evidence.of_tables(tables), Setup(options={"fold": 3}))
        assert found["test_queries_evaluated"]["release"]
        for metric, pair in found.items():
            assert pair["original"] == pytest.approx(pair["release"], abs=1e-12), metric
        for name in ("random_walk", "impact_factor", "implicit_feedback"):
            share = found["test_queries_evaluated"]["original"] / found["test_queries"]["original"]  # type: ignore[operator]
            assert found[f"{name}.U(Q)"]["original"] == pytest.approx(share * found[f"{name}.nDCG@10"]["original"])  # type: ignore[operator]
            assert 0 < found[f"{name}.nDCG@10"]["original"] <= 1  # type: ignore[operator]
        empty = Retrieval().score(original, Evidence.of_tables(EMPTY), Setup())
        assert not any(pair["release"] for metric, pair in empty.items() if metric != "test_queries")
        with pytest.raises(NotEvaluable, match="no clicks"):
            Retrieval().score(original, Evidence.of_tables({}), Setup())


def test_a_log_that_says_it_keeps_the_users_is_split_like_the_original(made: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.parquet"
    pq.write_table(pq.read_table(made), copy)
    with read_log(made) as log, read_log(copy) as release:
        found = Retrieval().score(Evidence.of_log(log), Evidence.of_log(release, same_users=True), Setup())
        assert all(pair["original"] == pytest.approx(pair["release"]) for pair in found.values())
        whole = Retrieval().score(Evidence.of_log(log), Evidence.of_log(release), Setup())
        assert whole["test_queries_evaluated"]["release"] > found["test_queries_evaluated"]["release"]  # type: ignore[operator]
        table = Evidence.of_tables({"clicks": pa.table({"query": ["a"], "url": ["u"], "users": [3]})})
        with pytest.raises(NotEvaluable, match="not a log"):
            Retrieval().score(table, table, Setup())


@pytest.mark.slow
def test_the_contract_of_retrieval() -> None:
    check_task(Retrieval(), users=30)
