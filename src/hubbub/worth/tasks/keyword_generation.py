"""Keyword generation (Korolova et al. 2009, after Fuxman et al. 2008): which queries belong to a concept?

A concept is a few seed URLs. A walker on the click graph starts at a query and goes to a clicked URL, from there to
a query that clicked it, and so on; seeds absorb it, and at each step it gives up with probability α. A query's
affinity to a concept is the probability that the walk ends in one of its seeds; queries of affinity 0.5 or more are
its keywords. The release's are compared with those the original gives for the same seeds.

With the truth's table `topics` a concept is a topic and its seeds are its ten most clicked URLs; without it, each of
the twenty most clicked URLs is a concept of its own.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from hubbub.worth.evidence import Evidence
from hubbub.worth.tasks.base import NotEvaluable, Scores, Setup, Task, need
from hubbub.worth.tasks.clustering import majority
from hubbub.worth.tasks.graph import Graph, Ints, Matrix, find, matrix, scaled, total
from hubbub.worth.tasks.measures import mean

GIVE_UP = 0.001
"""α, the chance of the absorbing null node at each step."""
NEGLIGIBLE = 0.01
"""γ: smaller affinities are dropped on the way; only those from RELEVANT on are looked at."""
RELEVANT = 0.5
ROUNDS = 20
SEEDS, URLS = 10, 20


def affinity(clicks: Matrix, seed: Ints, concept: Ints, concepts: int) -> Matrix:
    """The chance that a walk from each query ends in each concept: queries × concepts."""
    onto_urls = scaled(clicks, _inverse(total(clicks)))  # w_qu / Σ_u w_qu
    back = clicks.T.tocsr()
    onto_queries = scaled(back, _inverse(total(back)))
    absorbed = matrix(seed, concept, np.ones(seed.size), (clicks.shape[1], concepts))
    free = np.ones(clicks.shape[1])
    free[seed] = 0
    onto_queries = scaled(onto_queries, free)  # a seed lets nobody out
    urls = absorbed
    for _ in range(ROUNDS):
        queries = _pruned((1 - GIVE_UP) * (onto_urls @ urls))
        urls = _pruned((1 - GIVE_UP) * (onto_queries @ queries)) + absorbed
    return queries


def _pruned(chances: Matrix) -> Matrix:
    chances.data[chances.data < NEGLIGIBLE] = 0
    chances.eliminate_zeros()
    return chances


def _inverse(weight: np.ndarray[tuple[int], np.dtype[np.float64]]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.divide(1.0, weight, out=np.zeros_like(weight), where=weight > 0)


class KeywordGeneration(Task, register=True):
    """Overlap of the keywords with those of the original."""

    name = "keyword-generation"
    about = "whether the queries that belong to a concept are still found from a few of its pages"
    paper = "Korolova et al. 2009, §6"
    reads = ("clicks",)
    truth = ("topics",)

    def score(self, original: Evidence, release: Evidence, setup: Setup) -> Scores:
        """Keywords of both for the same seeds."""
        whole = Graph.of(need(original, "clicks", "original"))
        published = Graph.of(need(release, "clicks", "release"))
        if not len(whole.urls):
            raise NotEvaluable("the original has no clicks")
        seed, concept = seeds(whole, setup.known("topics"))
        concepts = int(concept.max()) + 1
        setup.say(f"keyword-generation: {concepts} concepts, {seed.size} seeds, by the original")
        ours = keywords(whole, seed, concept, concepts)
        setup.say("keyword-generation: the same, by the release")
        at = find(whole.urls.take(pa.array(seed)), published.urls)
        theirs = keywords(published, at[at >= 0], concept[at >= 0], concepts)
        theirs = renamed(theirs, find(published.queries, whole.queries), len(whole.queries))
        volume = total(whole.clicks)
        same = overlap(ours, ours, volume)
        found = overlap(theirs, ours, volume)
        return {metric: {"original": same[metric], "release": found[metric]} for metric in same}


def seeds(graph: Graph, topics: pa.Table | None) -> tuple[Ints, Ints]:
    """The seed URLs and the concept of each, both numbers."""
    weight = np.asarray(graph.clicks.sum(axis=0), np.float64).ravel()
    popular = np.argsort(-weight, kind="stable")
    if topics is None:
        return popular[:URLS], np.arange(min(URLS, popular.size))
    label = majority(graph, topics)[popular]
    popular, label = popular[label >= 0], label[label >= 0]
    if not popular.size:
        raise NotEvaluable("the truth knows no topic of a clicked query")
    order = np.argsort(label, kind="stable")
    place = np.arange(label.size) - np.searchsorted(label[order], label[order])
    first = order[place < SEEDS]
    return popular[first], np.unique(label[first], return_inverse=True)[1]


def keywords(graph: Graph, seed: Ints, concept: Ints, concepts: int) -> Matrix:
    """Which queries are keywords of which concept: 1 where they are."""
    found = affinity(graph.clicks, seed, concept, concepts)
    row = np.repeat(np.arange(found.shape[0]), np.diff(found.indptr))
    enough = found.data >= RELEVANT
    return matrix(row[enough], found.indices[enough], np.ones(int(enough.sum())), found.shape)


def renamed(words: Matrix, node: Ints, size: int) -> Matrix:
    """Keywords of a release under the original's numbers; those it does not have come after them."""
    fresh = np.where(node >= 0, node, size + np.arange(node.size))
    listed = words.tocoo()
    return matrix(fresh[listed.row], listed.col, listed.data, (size + node.size, words.shape[1]))


def overlap(theirs: Matrix, ours: Matrix, volume: np.ndarray[tuple[int], np.dtype[np.float64]]) -> dict[str, float]:
    """Precision, recall and recall by volume against the original's keywords, averaged over the concepts."""
    known = theirs[: ours.shape[0]]
    both = known.multiply(ours).tocsr()
    given, wanted, common = (np.asarray(m.sum(axis=0), np.float64).ravel() for m in (theirs, ours, both))
    weighted, all_weight = (np.asarray((sp.diags_array(volume) @ m).sum(axis=0)).ravel() for m in (both, ours))
    some, asked = given > 0, wanted > 0
    return {
        "keywords": int(given.sum()),
        "concepts_with_keywords": int(some.sum()),
        "precision": mean(common[some] / given[some]),
        "recall": mean(common[asked] / wanted[asked]),
        "recall_by_clicks": mean(weighted[asked] / all_weight[asked]),
    }
