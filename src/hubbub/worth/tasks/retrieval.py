"""Retrieval (Safelog, Zhang et al. 2016): find the pages people click, from clicks and transitions.

Three rankings of URLs for a query: a random walk on the query-click graph, the same walk drawn to popular pages
(impact factor), and the click ranking merged with the ranks of the test clicks (implicit feedback). Five folds of
users; a test query's relevant pages are those clicked by the test users, as in the paper. The original's column
learns from the other four folds; the release is used as it is: unless it was made from those folds only, it has seen
the test users too. With the option `fold` one fold alone is scored, for a release made from the others.

The paper can "only evaluate those queries that are at the intersection" of test and release: nDCG@10, MAP@10, P@10
and R@10 are over those. U(Q) here is eq. 13 over every test query, an unknown one scoring 0, so that a release that
answers few but easy queries does not look better than the log it came from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import repeat

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from hubbub.worth.evidence import Evidence
from hubbub.worth.tasks.base import NotEvaluable, Scores, Setup, Task, need
from hubbub.worth.tasks.graph import Floats, Graph, Ints, Matrix, find, matrix, number, scaled, shuffled, top, total
from hubbub.worth.tasks.measures import Lists, mean, measured
from hubbub.worth.tasks.split import cut, same_users

FOLDS = 5
DEPTH = 10
SELF_LOOP = 0.1
"""s, the paper's."""
LAMBDA = 0.6
"""λ, the paper's."""
STEPS = 10
"""Steps of the walk; the paper does not say. About half of the mass rests at a page after each."""
NEGLIGIBLE = 1e-4
"""Less than this, still walking at one query, is dropped: it cannot order the first pages."""
TEST_QUERIES = 2000
"""Test queries ranked in a fold, drawn by the order of a hash; how many could be is counted exactly."""
BATCH = 500
MEASURES = ("nDCG@10", "AP@10", "P@10", "R@10")
COUNTED = ("test_queries", "test_queries_evaluated")
RANKINGS = ("random_walk", "impact_factor", "implicit_feedback")


def walk(graph: Graph, sources: Ints, impact: bool = False) -> Matrix:
    """Where a walker from each source rests after STEPS steps: sources × urls. Pages have no way out."""
    weight = total(graph.clicks) + total(graph.follows)
    share = np.divide(1 - SELF_LOOP, weight, out=np.zeros_like(weight), where=weight > 0)
    onto_urls = scaled(graph.clicks, share)  # P(k|j) = (1 - s) C_jk / Σ_i C_ji
    stay = np.where(weight > 0, SELF_LOOP, 1.0)  # P(j|j) = s
    onto_queries = scaled(graph.follows, share) + sp.diags_array(stay)
    if impact:  # P'(k|j) ∝ F_k P(k|j); F_i = 1 + log(1 + Σ_j C_ji) for pages, 1 for queries
        factor = 1 + np.log1p(np.asarray(graph.clicks.sum(axis=0), np.float64).ravel())
        onto_urls = (onto_urls @ sp.diags_array(factor)).tocsr()
        norm = 1 / (total(onto_urls) + total(onto_queries))
        onto_urls, onto_queries = scaled(onto_urls, norm), scaled(onto_queries, norm)
    onto_queries = onto_queries.tocsr()
    size = len(graph.queries)
    rested = []
    for start in range(0, sources.size, BATCH):
        at = sources[start : start + BATCH]
        walking = matrix(np.arange(at.size), at, np.ones(at.size), (at.size, size))
        visits = walking
        for _ in range(STEPS - 1):
            walking = walking @ onto_queries
            walking.data[walking.data < NEGLIGIBLE] = 0
            walking.eliminate_zeros()
            visits = visits + walking
        rested.append(keep(visits @ onto_urls, DEPTH))  # what steps to a page stays there
    return sp.vstack(rested, format="csr") if rested else sp.csr_array((0, len(graph.urls)))


def keep(weights: Matrix, k: int) -> Matrix:
    """Only the k largest of each row."""
    row, _, column, value = top(weights, k)
    return matrix(row, column, value, weights.shape)


def implicit_feedback(clicks: Matrix, shown: Matrix) -> Matrix:
    """S(d) of every page d clicked for a query: clicks by Q', `shown` the ranks (from 1) of the test clicks."""
    row, rank, column, _ = top(clicks, clicks.shape[1])
    original = 1 / (rank + 2)  # 1 / (O_d + 1), O_d from 1
    at = np.asarray(shown[row, column], np.float64).ravel() if row.size else np.zeros(0)
    merged = LAMBDA / (at + 1) + (1 - LAMBDA) * original  # λ / (I_d + 1) + (1 - λ) / (O_d + 1)
    return matrix(row, column, np.where(at > 0, merged, original), clicks.shape)


@dataclass(frozen=True)
class HeldOutFold:
    """The test part of a fold: queries, and the pages clicked for them with the mean rank they were shown at."""

    queries: pa.Array
    row: Ints
    """For each clicked page, which of the queries it was clicked for."""
    url: pa.ChunkedArray
    shown: Floats

    def within(self, graph: Graph) -> Located:
        """Where a graph has these queries and pages."""
        return Located(find(self.queries, graph.queries), find(self.url, graph.urls))


@dataclass(frozen=True)
class Located:
    """The number of each test query and of each clicked page in a graph, -1 where it has none."""

    node: Ints
    page: Ints


class Retrieval(Task, register=True):
    """Three ways to rank pages for a query, each tested on five folds of users."""

    name = "retrieval"
    about = "how well clicks and transitions find the pages that other users click"
    paper = "Zhang et al. 2016 (Safelog)"
    reads = ("clicks", "transitions")

    def score(self, original: Evidence, release: Evidence, setup: Setup) -> Scores:
        """The mean over the folds, learned from the original and from the release."""
        if original.log is None:
            raise NotEvaluable("the original is not a log, so it cannot be split into folds")
        released = Graph.of(need(release, "clicks", "release"), release.table("transitions"))
        graphs: Iterable[Graph] = repeat(released)
        if same_users(release, original):
            graphs = (trained for _, _, trained, _ in folded(release, setup))
        folds: list[dict[str, tuple[float, float]]] = []
        for (fold, test, trained, located), graph in zip(folded(original, setup), graphs, strict=False):
            setup.say(f"retrieval: fold {fold + 1} of {FOLDS}, {len(test.queries):,} test queries")
            ours = fold_scores(trained, test, located)
            theirs = fold_scores(graph, test, test.within(graph))
            folds.append({metric: (ours[metric], theirs[metric]) for metric in ours})
        return {metric: _over(folds, metric) for metric in folds[0]}


def _over(folds: list[dict[str, tuple[float, float]]], metric: str) -> dict[str, float | None]:
    """The mean over the folds; of what is counted, the sum."""
    values = np.array([fold[metric] for fold in folds])
    if metric in COUNTED:
        return {"original": int(values[:, 0].sum()), "release": int(values[:, 1].sum())}
    return {"original": float(values[:, 0].mean()), "release": float(values[:, 1].mean())}


def folded(original: Evidence, setup: Setup) -> Iterator[tuple[int, HeldOutFold, Graph, Located]]:
    """Each fold: its number, its test part, the graph of the others, and where it has the test part."""
    log = original.log
    assert log is not None
    parts = cut(log, setup.seed, FOLDS)
    setup.say("retrieval: counting clicks and transitions by fold")
    number_of = "count(*)" if original.counts == "users" else "sum(events)"
    clicks = log.engine.fetch(
        f"SELECT query, url, part, CAST({number_of} AS BIGINT) AS n, avg(shown) AS shown FROM ("
        f'SELECT uid, query, url, count(*) AS events, avg("rank") AS shown FROM log WHERE url IS NOT NULL '
        f"GROUP BY uid, query, url) AS held JOIN {parts} USING (uid) GROUP BY query, url, part"
    )
    if not clicks.num_rows:
        raise NotEvaluable("the original has no clicks")
    moves = transitions_by_part(original, parts)
    queries, (asked, left, right) = number(clicks.column("query"), moves.column("query"), moves.column("next_query"))
    urls, (page,) = number(clicks.column("url"))
    n, m = clicks.column("n").to_numpy(), moves.column("n").to_numpy()
    clicked, moved = clicks.column("part").to_numpy(), moves.column("part").to_numpy()
    shown = np.nan_to_num(np.asarray(clicks.column("shown").to_numpy(), np.float64))
    size = len(queries)
    only = setup.options.get("fold")
    for fold in range(FOLDS) if only is None else [int(str(only))]:
        here = np.flatnonzero(clicked == fold)
        rows, row = np.unique(asked[here], return_inverse=True)
        test = HeldOutFold(queries.take(pa.array(rows)), row, clicks.column("url").take(pa.array(here)), shown[here])
        trained = Graph(
            queries,
            urls,
            matrix(asked, page, n * (clicked != fold), (size, len(urls))),
            matrix(left, right, m * (moved != fold), (size, size)),
        )
        yield fold, test, trained, Located(rows, page[here])


def transitions_by_part(original: Evidence, parts: str) -> pa.Table:
    """Transitions counted by part; none where the log has no times."""
    from hubbub.steps.keys import TRANSITIONS

    log = original.log
    assert log is not None
    rows = TRANSITIONS.distinct() if original.counts == "users" else TRANSITIONS.occurrences()
    return log.engine.fetch(
        f"SELECT query, next_query, part, count(*) AS n FROM ({rows}) AS held JOIN {parts} USING (uid) "
        "GROUP BY query, next_query, part"
    )


@dataclass(frozen=True)
class Asked:
    """One graph on one fold, question by question."""

    evaluated: int
    """Test queries that the graph knows."""
    drawn: Ints
    """Which of the fold's queries were ranked."""
    values: dict[str, Floats]
    """Each ranking's measures, by names such as "random_walk.nDCG@10", for the queries in `drawn`."""


def ask(graph: Graph, test: HeldOutFold, located: Located) -> Asked:
    """Every measure of every ranking, for each test query that the graph knows, or for a sample of them."""
    known = np.append(graph.known(), False)  # the last one answers for -1
    evaluated = np.flatnonzero(known[located.node])
    drawn = np.sort(evaluated[np.argsort(shuffled(evaluated), kind="stable")[:TEST_QUERIES]])
    place = np.full(len(test.queries), -1)
    place[drawn] = np.arange(drawn.size)
    ours = np.flatnonzero(place[test.row] >= 0)
    row, page = place[test.row[ours]], located.page[ours]
    # Pages that the graph does not have are relevant too: they get numbers behind its own.
    missing = page < 0
    _, (extra,) = number(test.url.take(pa.array(ours[missing])))
    page[missing] = len(graph.urls) + extra
    truth = Lists(row, page, np.ones(row.size, np.int64), drawn.size)
    sources = located.node[drawn]
    inside = ~missing
    shown = matrix(row[inside], page[inside], test.shown[ours][inside], (drawn.size, len(graph.urls)))
    ranked = (walk(graph, sources), walk(graph, sources, impact=True), implicit_feedback(graph.clicks[sources], shown))
    values: dict[str, Floats] = {}
    for name, weights in zip(RANKINGS, ranked, strict=True):
        listed, rank, item, _ = top(weights, DEPTH)
        found = measured(MEASURES, truth, Lists(listed, item, rank, drawn.size))
        values |= {f"{name}.{measure.replace('AP', 'MAP')}": each for measure, each in found.items()}
    return Asked(int(evaluated.size), drawn, values)


def fold_scores(graph: Graph, test: HeldOutFold, located: Located) -> dict[str, float]:
    """Every metric of one graph on one fold."""
    asked = ask(graph, test, located)
    scores: dict[str, float] = dict(zip(COUNTED, (len(test.queries), asked.evaluated), strict=True))
    answered = asked.evaluated / max(len(test.queries), 1)
    for name in RANKINGS:
        scores |= {metric: mean(each) for metric, each in asked.values.items() if metric.startswith(f"{name}.")}
        scores[f"{name}.U(Q)"] = answered * scores[f"{name}.nDCG@10"]  # eq. 13
    return scores
