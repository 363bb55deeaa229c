"""Query suggestion (Zhang & Yang 2017, §4): after a query, which queries will follow in the same session?

Two graphs: the query-flow graph, e(q_i, q_j) = how often q_j comes anywhere after q_i in a session, and the click
vectors of queries. Eq. 10 mixes the cosine of the vectors with the share of e. Every prefix of every test session
asks for five suggestions after its last query; the queries that do follow are the truth (eq. 11).

One tenth of the users are the test part; the original's column learns from the rest. The release is used as it is:
unless it was made from that rest only, it has seen the test sessions too. The paper averages over the prefixes for
which a log has a suggestion, so a small release answers the easy ones only: `every_prefix` counts the others as 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hubbub.errors import InputError
from hubbub.log import SearchLog
from hubbub.steps.keys import CLICKS
from hubbub.steps.sessions import GAP, require_times, sessions
from hubbub.worth.evidence import Evidence
from hubbub.worth.tasks.base import NotEvaluable, Scores, Setup, Task
from hubbub.worth.tasks.graph import Floats, Graph, Ints, Matrix, find, matrix, number, scaled, shuffled, top, total
from hubbub.worth.tasks.measures import mean
from hubbub.worth.tasks.split import cut, same_users, select

PARTS = 10
LAMBDA = 0.5
"""λ of eq. 10; the paper does not say its value."""
SUGGESTED = 5
TEST_SESSIONS = 20_000
"""Test sessions looked at, drawn by the order of a hash: all of them in a smaller log."""
BATCH = 2000


def pairs(session: Ints) -> tuple[Ints, Ints]:
    """Every two positions of the same session, the earlier one first; positions of a session are side by side."""
    left, right = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    at = np.arange(session.size)
    for lag in range(1, session.size):
        at = at[at + lag < session.size]
        at = at[session[at] == session[at + lag]]
        if not at.size:
            break
        left.append(at)
        right.append(at + lag)
    return np.concatenate(left), np.concatenate(right)


def vectors(clicks: Matrix) -> Matrix:
    """The click vectors of queries, each of length 1."""
    length = np.sqrt(total(clicks.multiply(clicks).tocsr()))
    return scaled(clicks, np.divide(1.0, length, out=np.zeros_like(length), where=length > 0))


def suggest(graph: Graph, nodes: Ints) -> tuple[Ints, Ints]:
    """The first five by eq. 10 for each node, never itself: (place of the node, suggested node)."""
    unit, out = vectors(graph.clicks), total(graph.follows)
    flow = scaled(graph.follows, np.divide(1.0, out, out=np.zeros_like(out), where=out > 0))  # e(q_i, q_j) / d(q_i)
    against = unit.T.tocsr()
    places, found = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for start in range(0, nodes.size, BATCH):
        at = nodes[start : start + BATCH]
        mixed = (LAMBDA * (unit[at] @ against) + (1 - LAMBDA) * flow[at]).tocsr()  # eq. 10
        mixed.data[np.repeat(at, np.diff(mixed.indptr)) == mixed.indices] = 0
        row, _, column, _ = top(mixed, SUGGESTED)
        places.append(row + start)
        found.append(column)
    return np.concatenate(places), np.concatenate(found)


@dataclass(frozen=True)
class Prefixes:
    """Every prefix of every test session, by its last query; and what follows it, each query once."""

    queries: pa.Array
    last: Ints
    session: Ints
    prefix: Ints
    """For each query that follows, the prefix it belongs to."""
    follows: Ints

    @classmethod
    def of(cls, queries: pa.Array, ids: Ints, session: Ints) -> Prefixes:
        """From the searches of the test part, in order."""
        every = np.unique(session)
        drawn = np.isin(session, every[np.argsort(shuffled(every), kind="stable")[:TEST_SESSIONS]])
        ids, session = ids[drawn], session[drawn]
        left, right = pairs(session)
        different = ids[left] != ids[right]
        truth = np.unique(np.stack([left[different], ids[right[different]]]), axis=1)
        at, prefix = np.unique(truth[0], return_inverse=True)
        return cls(queries, ids[at], session[at], prefix, truth[1])


class Suggestion(Task, register=True):
    """Precision and recall of five suggestions after every prefix."""

    name = "suggestion"
    about = "whether the queries that follow in a session are among five suggestions"
    paper = "Zhang & Yang 2017, §4"
    reads = ("sessions", "transitions", "clicks")

    def score(self, original: Evidence, release: Evidence, setup: Setup) -> Scores:
        """Learn from each, suggest for the same test sessions."""
        if original.log is None:
            raise NotEvaluable("the original is not a log, so no sessions can be held out")
        try:
            require_times(original.log)
        except InputError:
            raise NotEvaluable("the original has no times, so it has no sessions") from None
        if all(release.table(name) is None for name in self.reads):
            raise NotEvaluable("the release has no sessions, transitions or clicks")
        setup.say("suggestion: sessions of the training and of the test part")
        trained, prefixes = learned(original, setup.seed)
        setup.say(f"suggestion: {prefixes.last.size:,} prefixes of test sessions, by the original")
        ours = suggested(trained, prefixes)
        setup.say("suggestion: the same prefixes, by the release")
        split = same_users(release, original)
        theirs = suggested(learned(release, setup.seed)[0] if split else released(release), prefixes)
        return {metric: {"original": ours[metric], "release": theirs[metric]} for metric in ours}


def learned(original: Evidence, seed: int) -> tuple[Graph, Prefixes]:
    """The two graphs of nine tenths of the users, and the prefixes of the last tenth."""
    log = original.log
    assert log is not None
    parts = cut(log, seed, PARTS)
    rows = ordered(log, parts)
    test = rows.column("part").to_numpy() == PARTS - 1
    session = np.cumsum(rows.column("fresh").to_numpy())
    view = select(log, "trained", parts, f"part < {PARTS - 1}")
    held = CLICKS.distinct(view) if original.counts == "users" else CLICKS.occurrences(view)
    clicks = log.engine.fetch(f"SELECT query, url, count(*) AS n FROM ({held}) AS held GROUP BY query, url")
    queries, (ids, row) = number(rows.column("query"), clicks.column("query"))
    urls, (column,) = number(clicks.column("url"))
    follows = flow(ids[~test], session[~test], np.ones(int((~test).sum())), len(queries))
    graph = Graph(queries, urls, matrix(row, column, clicks.column("n").to_numpy(), (len(queries), len(urls))), follows)
    return graph, Prefixes.of(queries, ids[test], session[test])


def ordered(log: SearchLog, parts: str) -> pa.Table:
    """The searches of sessions of two or more, in their users' order; a query asked again at once stands once."""
    window = 'OVER (PARTITION BY uid, session ORDER BY "time", query)'
    return log.engine.fetch(
        "SELECT query, part, CASE WHEN before IS NULL THEN 1 ELSE 0 END AS fresh FROM ("
        f'SELECT uid, "time", query, lag(query) {window} AS before, lead(query) {window} AS after '
        f"FROM ({sessions(GAP)}) AS cut) AS ordered JOIN {parts} USING (uid) "
        "WHERE before <> query OR (before IS NULL AND after IS NOT NULL) "
        'ORDER BY uid, "time", query'
    )


def flow(ids: Ints, session: Ints, weight: Floats, size: int) -> Matrix:
    """e(q_i, q_j) of the query-flow graph: q_j anywhere after q_i in a session."""
    left, right = pairs(session)
    apart = ids[left] != ids[right]
    left, right = left[apart], right[apart]
    return matrix(ids[left], ids[right], weight[left], (size, size))


def released(release: Evidence) -> Graph:
    """The two graphs of a release: flow from its sessions, without these from its transitions."""
    table, clicks = release.table("sessions"), release.table("clicks")
    if table is None:
        return Graph.of(clicks, release.table("transitions"))
    lists = table.column("queries").combine_chunks()
    session = pc.list_parent_indices(lists).to_numpy()
    none = pa.array([], pa.large_string())
    asked, url, n = (clicks.column(name) for name in ("query", "url", "n")) if clicks is not None else (none, none, [])
    queries, (ids, row) = number(pc.list_flatten(lists), asked)
    urls, (column,) = number(url)
    weight = table.column("n").to_numpy().astype(np.float64)[session]
    size = len(queries)
    return Graph(queries, urls, matrix(row, column, n, (size, len(urls))), flow(ids, session, weight, size))


def suggested(graph: Graph, prefixes: Prefixes) -> dict[str, float]:
    """Every metric of one log on the prefixes."""
    asked, ask = np.unique(prefixes.last, return_inverse=True)
    node = find(prefixes.queries.take(pa.array(asked)), graph.queries)
    known = np.flatnonzero(node >= 0)
    place, found = suggest(graph, node[known])
    size = len(graph.queries)
    listed = known[place] * size + found
    follows, inverse = np.unique(prefixes.follows, return_inverse=True)
    target = find(prefixes.queries.take(pa.array(follows)), graph.queries)[inverse]
    hit = (target >= 0) & np.isin(ask[prefixes.prefix] * size + target, listed)
    hits = np.bincount(prefixes.prefix[hit], minlength=prefixes.last.size).astype(np.float64)
    truth = np.bincount(prefixes.prefix, minlength=prefixes.last.size)
    answered = np.isin(ask, known[place])
    return {
        "precision@5": mean(hits[answered] / SUGGESTED),  # eq. 11
        "recall@5": mean((hits / np.maximum(truth, 1))[answered]),
        "every_prefix.precision@5": mean(hits / SUGGESTED),
        "every_prefix.recall@5": mean(hits / np.maximum(truth, 1)),
        "sessions_evaluated": _distinct(prefixes.session[answered]),
        "sessions": _distinct(prefixes.session),
        "prefixes_evaluated": int(answered.sum()),
        "prefixes": int(prefixes.last.size),
    }


def _distinct(ids: npt.NDArray[np.int64]) -> int:
    return int(np.unique(ids).size)
