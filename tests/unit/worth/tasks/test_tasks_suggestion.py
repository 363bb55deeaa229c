"""`suggestion`: eqs. 10 and 11 in plain Python, by ir-measures, and for a release of the training part."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.made_up import synthesise
from tests.unit.worth.tasks.test_tasks_graph import random_graph

from hubbub.log import read_log
from hubbub.testing import check_task
from hubbub.worth.evidence import EMPTY
from hubbub.worth.tasks import Evidence, NotEvaluable, Setup, Suggestion
from hubbub.worth.tasks.graph import Graph
from hubbub.worth.tasks.measures import Lists, measured
from hubbub.worth.tasks.split import cut, select
from hubbub.worth.tasks.suggestion import LAMBDA, Prefixes, learned, pairs, released, suggest, suggested


def test_the_pairs_are_the_shortest_of_the_papers_subsequences() -> None:
    """A session of four queries has 2⁴ - 1 - 4 = 11 subsequences of two or more (§3); six of them are pairs."""
    session = ["a", "b", "c", "d"]
    subsequences = [part for size in (2, 3, 4) for part in combinations(session, size)]
    assert len(subsequences) == 11
    left, right = pairs(np.array([7, 7, 7, 7, 8, 8, 9]))
    found = sorted(zip(left.tolist(), right.tolist(), strict=True))
    assert [(session[a], session[b]) for a, b in found[:-1]] == sorted(p for p in subsequences if len(p) == 2)
    assert found[-1] == (4, 5), "nothing across sessions"


def by_hand(g: Graph, q: int) -> list[int]:
    """Eq. 10 for one query."""
    clicks, follows = g.clicks.toarray(), g.follows.toarray()
    scores = {}
    for j in range(len(clicks)):
        norm = np.linalg.norm(clicks[q]) * np.linalg.norm(clicks[j])
        cosine = clicks[q] @ clicks[j] / norm if norm else 0.0
        flow = follows[q, j] / follows[q].sum() if follows[q].sum() else 0.0
        score = LAMBDA * cosine + (1 - LAMBDA) * flow
        if j != q and score > 0:
            scores[j] = score
    return sorted(scores, key=lambda j: (-round(scores[j], 12), j))[:5]


@pytest.mark.parametrize("seed", range(6))
def test_suggestions_by_hand(seed: int) -> None:
    g = random_graph(seed, 9, 5)
    nodes = np.array([4, 0, 2, 8])
    nodes = nodes[nodes < len(g.queries)]
    place, found = suggest(g, nodes)
    for row, node in enumerate(nodes):
        expected = by_hand(g, int(node))
        assert sorted(found[place == row].tolist()) == sorted(expected)


def test_equation_11_by_hand_and_by_ir_measures() -> None:
    """Session a b c d, test session a b x a d: what follows is looked for among five, each prefix by itself."""
    sessions = pa.table({"queries": [["a", "b", "c", "d"], ["b", "a"]], "users": [4, 1]})
    g = released(Evidence.of_tables({"sessions": sessions}))
    names = pa.array(["a", "b", "d", "x"], pa.large_string())
    prefixes = Prefixes.of(names, np.array([0, 1, 3, 0, 2]), np.array([1, 1, 1, 1, 1]))
    found = suggested(g, prefixes)
    # After a follow b, x, d, and b, c, d are suggested; after b x, a, d, of c, d, a; x is unknown; after a again d.
    hits, truth, answered = np.array([2, 2, 0, 1]), np.array([3, 3, 2, 1]), np.array([True, True, False, True])
    assert found["precision@5"] == pytest.approx((hits / 5)[answered].mean())
    assert found["recall@5"] == pytest.approx((hits / truth)[answered].mean())
    assert found["every_prefix.recall@5"] == pytest.approx((hits / truth).mean())
    assert found["prefixes_evaluated"] == 3 and found["prefixes"] == 4
    assert found["sessions_evaluated"] == found["sessions"] == 1
    place, item = suggest(g, np.array([0, 1, 0]))  # a, b, a are the first numbers of the graph too
    rank = np.arange(place.size) - np.searchsorted(place, place)
    judged = Lists(np.array([0, 0, 0, 1, 1, 1, 2]), np.array([1, 99, 3, 99, 0, 3, 3]), np.ones(7, np.int64), 3)
    measures = measured(("P@5", "R@5"), judged, Lists(place, item, rank, 3))
    assert measures["P@5"].mean() == pytest.approx(found["precision@5"])
    assert measures["R@5"].mean() == pytest.approx(found["recall@5"])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("suggestion") / "log.parquet"
    synthesise(300, path)
    return path


def test_a_release_of_the_training_part_is_worth_as_much(made: Path, tmp_path: Path) -> None:
    part = tmp_path / "part.parquet"
    with read_log(made) as log:
        view = select(log, "others", cut(log, 5, 10), "part < 9")
        rows = log.engine.fetch(f'SELECT uid AS "user", "time", query, "rank", url FROM {view}')
        pq.write_table(rows, part)
        with read_log(part) as kept:
            counted = Evidence.of_log(kept, "count")
            tables = {name: counted.table(name) for name in ("sessions", "clicks", "transitions")}
        original = Evidence.of_log(log, "count")
        found = Suggestion().score(original, Evidence.of_tables(tables, "count"), Setup(seed=5))
        assert all(pair["original"] == pytest.approx(pair["release"], abs=1e-12) for pair in found.values()), found
        assert found["prefixes_evaluated"]["release"] and found["recall@5"]["release"]
        for only in (["clicks"], ["transitions"], ["sessions"]):
            some = Evidence.of_tables({name: tables[name] for name in only}, "count")
            assert Suggestion().score(original, some, Setup(seed=5))["prefixes"]["release"]
        empty = Suggestion().score(original, Evidence.of_tables(EMPTY, "count"), Setup())
        assert empty["recall@5"]["release"] == empty["sessions_evaluated"]["release"] == 0
        with pytest.raises(NotEvaluable, match="no sessions"):
            Suggestion().score(original, Evidence.of_tables({}), Setup())
        trained, _ = learned(original, 5)
        assert trained.follows.sum() > 0


def test_the_contract_of_suggestion() -> None:
    check_task(Suggestion(), users=30)
