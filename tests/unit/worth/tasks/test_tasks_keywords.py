"""`keyword-generation`: the absorbing walk as a linear system, overlaps by hand."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from tests.unit.worth.tasks.test_tasks_graph import random_graph

from hubbub.testing import check_task
from hubbub.worth.evidence import EMPTY
from hubbub.worth.tasks import Evidence, KeywordGeneration, Setup, Truth
from hubbub.worth.tasks import keyword_generation as module
from hubbub.worth.tasks.keyword_generation import affinity


@pytest.mark.parametrize("seed", range(3))
def test_affinity_solves_the_walk(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "NEGLIGIBLE", 0.0)
    monkeypatch.setattr(module, "ROUNDS", 300)
    monkeypatch.setattr(module, "GIVE_UP", 0.05)
    clicks = random_graph(seed, 7, 6).clicks
    dense = clicks.toarray()
    queries, urls = dense.shape
    step = np.zeros((queries + urls, queries + urls))
    for q in range(queries):
        if dense[q].sum():
            step[q, queries:] = 0.95 * dense[q] / dense[q].sum()
    for u in range(urls):
        step[queries + u, :queries] = 0.95 * dense[:, u] / dense[:, u].sum()
    seeds = {0: 0, urls - 1: 1}  # url → concept
    for u in seeds:
        step[queries + u] = 0  # absorbed
    ends = np.zeros((queries + urls, 2))
    for u, concept in seeds.items():
        ends[queries + u, concept] = 1
    expected = np.linalg.solve(np.eye(queries + urls) - step, ends)[:queries]
    found = affinity(clicks, np.array(list(seeds)), np.array(list(seeds.values())), 2).toarray()
    assert found == pytest.approx(expected, abs=1e-6)


def evidence(rows: list[tuple[str, str, int]]) -> Evidence:
    query, url, n = (list(column) for column in zip(*rows, strict=True))
    return Evidence.of_tables({"clicks": pa.table({"query": query, "url": url, "users": n})})


WHOLE = [("shoes", "s", 9), ("red shoes", "s", 3), ("cheap shoes", "s", 1), ("cheap shoes", "t", 1), ("art", "g", 8)]


def test_overlap_by_hand() -> None:
    whole = evidence(WHOLE)
    released = evidence([("shoes", "s", 8), ("paint", "g", 2)])
    found = KeywordGeneration().score(whole, released, Setup())
    # s: shoes, red shoes (cheap shoes walks on to t, a seed too); g: art. The release: shoes; paint, which is none.
    assert {metric: pair["original"] for metric, pair in found.items() if "recall" in metric} == {
        "recall": 1.0,
        "recall_by_clicks": 1.0,
    }
    assert found["keywords"]["release"] == 2 and found["concepts_with_keywords"]["release"] == 2
    assert found["precision"] == {"original": 1.0, "release": 0.5}, "shoes is right, paint is not"
    empty = KeywordGeneration().score(whole, Evidence.of_tables(EMPTY), Setup())
    assert {pair["release"] for pair in empty.values()} == {0}


def test_topics_are_concepts() -> None:
    topics = pa.table({"query": ["shoes", "red shoes", "cheap shoes", "art"], "topic": ["shop"] * 3 + ["culture"]})
    found = KeywordGeneration().score(evidence(WHOLE), evidence(WHOLE[:1]), Setup(Truth({"topics": topics})))
    assert found["keywords"] == {"original": 4, "release": 1} and found["concepts_with_keywords"]["original"] == 2
    assert found["recall"]["release"] == pytest.approx((1 / 3 + 0) / 2)
    assert found["recall_by_clicks"]["release"] == pytest.approx((9 / 14 + 0) / 2)
    assert found["precision"] == {"original": 1.0, "release": 1.0}


def test_the_contract_of_keyword_generation() -> None:
    check_task(KeywordGeneration(), users=30)
