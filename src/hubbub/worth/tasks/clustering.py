"""Clustering of websites (Safelog, Zhang et al. 2016, eq. 14): pages that people reach by the same queries.

Single-link clustering that merges at similarity 0.5 or more is the same as the connected components of the pairs at
least that similar. The 1,000 most clicked URLs are clustered, as many as in the paper. Purity is over clusters of two
or more, as in the paper's hand-labelled ones: a website alone is always pure. The label of a website is the topic
most of its clicks in the original log have, by the truth's table `topics`; it is the same for both columns.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from hubbub.worth.evidence import Evidence
from hubbub.worth.tasks.base import NotEvaluable, Scores, Setup, Task, need
from hubbub.worth.tasks.graph import Graph, Ints, Matrix, find, matrix, number

WEBSITES = 1000
SIMILAR = 0.5


def similarity(clicks: Matrix) -> Matrix:
    """Sim(w₁, w₂) of eq. 14 for websites with a query in common; `clicks` is C(q, w), queries × websites."""
    shared = (clicks.T @ (clicks > 0).astype(np.float64)).tocsr()  # Σ_{q ∈ QS(w₁, w₂)} C(q, w₁)
    weight = np.asarray(clicks.sum(axis=0), np.float64).ravel()
    inverse = np.divide(1.0, weight, out=np.zeros_like(weight), where=weight > 0)
    ratio = (sp.diags_array(inverse) @ shared).tocsr()
    return ratio.minimum(ratio.T.tocsr())


def single_link(similar: Matrix, least: float = SIMILAR) -> Ints:
    """Which cluster each website is in, by single-link clustering."""
    joined = similar.copy()
    joined.data = (joined.data >= least - 1e-12).astype(np.float64)
    joined.eliminate_zeros()
    return np.asarray(connected_components(joined, directed=False)[1], np.int64)


def purity(cluster: Ints, label: Ints) -> float:
    """The share of websites that have the most frequent label of their cluster."""
    if not cluster.size:
        return 0.0
    table = matrix(cluster, label, np.ones(cluster.size), (int(cluster.max()) + 1, int(label.max()) + 1))
    return float(table.max(axis=1).sum() / cluster.size)


class Clustering(Task, register=True):
    """Purity of the clusters of the most clicked websites."""

    name = "clustering"
    about = "whether websites reached by the same queries are about the same topic"
    paper = "Zhang et al. 2016 (Safelog), eq. 14"
    reads = ("clicks",)
    truth = ("topics",)

    def score(self, original: Evidence, release: Evidence, setup: Setup) -> Scores:
        """Cluster each, label by the truth."""
        topics = setup.known("topics")
        if topics is None:
            raise NotEvaluable("it needs the topics of the queries: give --truth")
        whole = Graph.of(need(original, "clicks", "original"))
        setup.say("clustering: labels of the websites")
        labels = majority(whole, topics)
        ours = clustered(whole, whole.urls, labels)
        theirs = clustered(Graph.of(need(release, "clicks", "release")), whole.urls, labels)
        return {metric: {"original": ours[metric], "release": theirs[metric]} for metric in ours}


def majority(graph: Graph, topics: pa.Table) -> Ints:
    """The topic most clicks on each URL have, as a number; -1 where no click has any."""
    _, (topic,) = number(topics.column("topic"))
    at = find(graph.queries, topics.column("query").combine_chunks().cast(pa.large_string()))
    known = np.flatnonzero(at >= 0)
    kinds = int(topic.max(initial=-1)) + 1
    of_query = matrix(topic[at[known]], known, np.ones(known.size), (kinds, len(graph.queries)))
    votes = (of_query @ graph.clicks).tocsc()  # topics × urls
    label = np.full(len(graph.urls), -1)
    some = np.flatnonzero(np.diff(votes.indptr))
    if some.size:
        label[some] = np.asarray(votes[:, some].argmax(axis=0)).ravel()
    return label


def clustered(graph: Graph, urls: pa.Array, labels: Ints) -> dict[str, float]:
    """Every metric of one graph. A website that the original does not label is not in its purity."""
    weight = np.asarray(graph.clicks.sum(axis=0), np.float64).ravel()
    chosen = np.sort(np.argsort(-weight, kind="stable")[:WEBSITES])
    cluster = single_link(similarity(graph.clicks[:, chosen]))
    together = np.bincount(cluster, minlength=1)[cluster] > 1 if cluster.size else np.zeros(0, bool)
    label = np.append(labels, -1)[find(graph.urls.take(pa.array(chosen)), urls)]
    judged = together & (label >= 0)
    return {
        "purity": purity(cluster[judged], label[judged]),
        "clusters": int(np.unique(cluster[together]).size),
        "websites_in_clusters": int(together.sum()),
        "websites": int(chosen.size),
    }
