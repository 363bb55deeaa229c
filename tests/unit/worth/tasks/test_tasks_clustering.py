"""`clustering`: eq. 14 and single link by brute force, purity by hand."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from tests.unit.worth.tasks.test_tasks_graph import graph, random_graph

from hubbub.testing import check_task
from hubbub.worth.evidence import EMPTY
from hubbub.worth.tasks import Clustering, Evidence, NotEvaluable, Setup, Truth
from hubbub.worth.tasks.clustering import majority, purity, similarity, single_link


@pytest.mark.parametrize("seed", range(6))
def test_similarity_and_clusters_by_brute_force(seed: int) -> None:
    clicks = random_graph(seed, 8, 7).clicks
    dense = clicks.toarray()
    found = similarity(clicks).toarray()
    cluster = list(range(dense.shape[1]))
    for a, b in combinations(range(dense.shape[1]), 2):
        common = [q for q in range(dense.shape[0]) if dense[q, a] and dense[q, b]]
        ratios = [sum(dense[q, w] for q in common) / dense[:, w].sum() for w in (a, b)]  # eq. 14
        assert found[a, b] == pytest.approx(min(ratios)) and found[b, a] == pytest.approx(min(ratios))
        if min(ratios) >= 0.5:
            cluster = [cluster[a] if c == cluster[b] else c for c in cluster]
    ours = single_link(similarity(clicks))
    same = {(a, b) for a, b in combinations(range(len(cluster)), 2) if cluster[a] == cluster[b]}
    assert same == {(a, b) for a, b in combinations(range(len(cluster)), 2) if ours[a] == ours[b]}


def test_purity_by_hand() -> None:
    cluster, label = np.array([0, 0, 0, 1, 1, 2]), np.array([4, 4, 1, 0, 1, 3])
    right = sum(max(Counter(label[cluster == c].tolist()).values()) for c in range(3))
    assert purity(cluster, label) == right / 6 == 4 / 6
    assert purity(np.zeros(0, np.int64), np.zeros(0, np.int64)) == 0


def test_a_website_has_the_topic_of_most_of_its_clicks() -> None:
    g = graph({("a", "u"): 3, ("b", "u"): 2, ("c", "u"): 2, ("c", "v"): 1, ("x", "w"): 9})
    topics = pa.table({"query": ["a", "b", "c"], "topic": ["sports", "art", "art"]})
    assert majority(g, topics).tolist() == [0, 0, -1], "art has four clicks, nobody knows about x"


def test_two_topics_are_two_clusters() -> None:
    rows = [
        ("song", "lyrics", 5),
        ("song", "words", 5),
        ("luck", "lotto", 5),
        ("luck", "draw", 4),
        ("other", "alone", 3),
    ]
    query, url, n = (list(column) for column in zip(*rows, strict=True))
    clicks = Evidence.of_tables({"clicks": pa.table({"query": query, "url": url, "users": n})})
    truth = Truth({"topics": pa.table({"query": ["song", "luck", "else"], "topic": ["music", "games", "news"]})})
    found = Clustering().score(clicks, clicks, Setup(truth))
    both = {metric: pair["release"] for metric, pair in found.items()}
    assert both == {"purity": 1.0, "clusters": 2, "websites_in_clusters": 4, "websites": 5}
    mixed = Evidence.of_tables({"clicks": pa.table({"query": ["q"] * 4, "url": url[:4], "users": [1] * 4})})
    assert Clustering().score(clicks, mixed, Setup(truth))["purity"]["release"] == 0.5
    empty = Clustering().score(clicks, Evidence.of_tables(EMPTY), Setup(truth))
    assert {pair["release"] for pair in empty.values()} == {0}
    with pytest.raises(NotEvaluable, match="topics"):
        Clustering().score(clicks, clicks, Setup())


def test_the_contract_of_clustering() -> None:
    check_task(Clustering(), users=30)
