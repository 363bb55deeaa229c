"""Ranking by clicks: a position-based click model on released clicks, and a learned ranker on top of it.

Released clicks have no positions: those of the public result list (`serp` of the truth) stand in for them. The model
says that a result is clicked if it is examined, which depends on its position alone, and attracts, which depends on
query and result (Craswell et al. 2008); both are estimated together by expectation maximisation. Each result list is
then ranked by attraction, what has no click last, in the public order: a release leaves rare clicks out. It is judged
by nDCG@10 against what people want (`relevance` of the truth).

The learned ranker weighs attraction, clicks, position, how often a site is clicked at all and whether the query is in
its address; it learns from half of the judged queries and is tested on the other half. The floor is the public order,
and a ranker that has no log; the ceiling is 1, the ideal order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hubbub.errors import InputError
from hubbub.worth.evidence import Evidence
from hubbub.worth.tasks.base import NotEvaluable, Scores, Setup, Task, need
from hubbub.worth.tasks.graph import Floats, Ints, shuffled
from hubbub.worth.tasks.measures import Lists, measured
from hubbub.worth.tasks.sides import BANDS, band, judged

MEASURE = "nDCG@10"
EACH = 1_500
"""Judged queries of each band of frequency, drawn by a fixed shuffle: all of them in a smaller log."""
TURNS = 30
"""Of expectation maximisation."""
PRIOR = 2.0
"""A result attracts as the average does, with the weight of so many users, until its clicks say otherwise."""
PENALTY = 1e-3
"""Of the squared weights of the learned ranker, for each pair."""
WITHOUT_LOG = (3, 5)
"""The features that need no log: position and address."""


class ClickRanking(Task, register=True):
    """nDCG of result lists ranked by a click model, and by a learned ranker."""

    name = "ranking"
    about = "whether result lists ranked by released clicks put first what people want"
    paper = "Craswell et al. 2008 (click model)"
    reads = ("clicks", "queries")
    truth = ("serp", "relevance")

    def score(self, original: Evidence, release: Evidence, setup: Setup) -> Scores:
        """The same lists ranked by each side's clicks."""
        need(release, "clicks", "release")
        serp, wanted = setup.known("serp"), setup.known("relevance")
        if serp is None or wanted is None:
            raise NotEvaluable(
                "result lists and what people want must be known: --truth DIR with serp.parquet (query, rank, url) and "
                "relevance.parquet (query, url, gain)"
            )
        pages = ResultPages.of(serp, wanted, need(original, "queries", "original"))
        if not pages.queries:
            raise NotEvaluable("no query of the original has a result list with a result that people want")
        setup.say(f"{pages.queries:,} result lists of {pages.row.size:,} results")
        seen = {side: clicked(pages, evidence) for side, evidence in (("original", original), ("release", release))}
        nothing = SeenClicks(np.zeros(pages.row.size), np.zeros(pages.row.size), np.zeros(pages.row.size))
        model = {side: attraction(pages, clicks) for side, clicks in seen.items()} | {"floor": -pages.rank / 100}
        by_model = {side: ndcg(pages, value) for side, value in model.items()}
        ceiling = np.ones(pages.queries)
        made: Scores = {f"click_model.{MEASURE}": dict(judged(by_model | {"ceiling": ceiling}))}
        for number, name in enumerate(BANDS):
            of = pages.band == number
            if of.any():
                sides = {side: value[of] for side, value in (by_model | {"ceiling": ceiling}).items()}
                made[f"{name}.{MEASURE}"] = dict(judged(sides))
        half = shuffled(np.arange(pages.queries)) % 2 == 0
        if half.any() and not half.all():
            features = {side: described(pages, seen.get(side, nothing), model[side]) for side in model}
            features["floor"] = features["floor"][:, WITHOUT_LOG]
            ranked = {
                side: ndcg(pages, values @ fitted(pages, values, half))[~half] for side, values in features.items()
            }
            made[f"learned.{MEASURE}"] = dict(judged(ranked | {"ceiling": ceiling[~half]}))
        return made


@dataclass(frozen=True)
class ResultPages:
    """Public result lists of judged queries, result by result; no list holds a page twice."""

    queries: int
    band: Ints
    """Of each query."""
    row: Ints
    """Which query a result belongs to; the results of a query are side by side."""
    rank: Ints
    gain: Ints
    table: pa.Table
    """(query, url) of each result."""

    @classmethod
    def of(cls, serp: pa.Table, wanted: pa.Table, queries: pa.Table) -> ResultPages:
        """The lists of some judged queries of each band."""
        first_rank = pc.min(serp["rank"]).as_py()
        if first_rank is not None and first_rank < 1:
            raise InputError(
                "Ranks of the result lists count from 1.", given=f"serp.parquet: rank = {first_rank}", allowed="1, 2, …"
            )
        judged_queries = pc.unique(wanted["query"])
        judged_queries = judged_queries.filter(pc.is_in(judged_queries, value_set=pc.unique(serp["query"])))
        place = pc.fill_null(pc.index_in(judged_queries, value_set=queries["query"].combine_chunks()), -1).to_numpy()
        there = np.flatnonzero(place >= 0)
        bands = band(place[there])
        drawn = [there[bands == n][np.argsort(shuffled(there[bands == n]), kind="stable")[:EACH]] for n in range(3)]
        chosen = np.sort(np.concatenate(drawn))
        texts = judged_queries.take(pa.array(chosen))
        rows = serp.filter(pc.is_in(serp["query"], value_set=texts))
        first = rows.group_by(["query", "url"], use_threads=False).aggregate([("rank", "min")])
        first = first.append_column("row", pc.index_in(first["query"], value_set=texts).cast(pa.int64()))
        first = first.sort_by([("row", "ascending"), ("rank_min", "ascending")]).combine_chunks()
        gains = wanted.group_by(["query", "url"], use_threads=False).aggregate([("gain", "max")])
        gain = _joined(first, gains, "gain_max")
        row, rank = first["row"].to_numpy(), first["rank_min"].to_numpy().astype(np.int64)
        good = np.bincount(row, gain, minlength=len(chosen)) > 0
        kept, number = good[row], np.cumsum(good) - 1
        return cls(
            int(good.sum()),
            band(place[chosen])[good],
            number[row[kept]],
            rank[kept],
            gain[kept].astype(np.int64),
            first.select(["query", "url"]).filter(pa.array(kept)),
        )


def _joined(rows: pa.Table, table: pa.Table, value: str) -> Floats:
    """A table's value for the (query, url) of each row, 0 where it has none."""
    one, other = (pc.binary_join_element_wise(t["query"], t["url"], "\x1f").combine_chunks() for t in (rows, table))
    return _looked_up(one, other, table[value])


def _looked_up(texts: pa.Array, among: pa.Array, values: pa.ChunkedArray) -> Floats:
    at = pc.fill_null(pc.index_in(texts, value_set=among), -1).to_numpy()
    found: Floats = np.append(values.to_numpy().astype(np.float64), 0.0)[at]
    return found


@dataclass(frozen=True)
class SeenClicks:
    """What a side knows of each result: its clicks, the searches of its query, all clicks on its page."""

    clicks: Floats
    searches: Floats
    site: Floats


def clicked(pages: ResultPages, evidence: Evidence) -> SeenClicks:
    """From the tables of a log or a release; a query was searched at least as often as its most clicked result."""
    table, queries = need(evidence, "clicks", "original"), evidence.table("queries")
    mine = table.filter(pc.is_in(table["query"], value_set=pc.unique(pages.table["query"])))
    clicks = _joined(pages.table, mine, "n")
    searches = np.zeros(clicks.size)
    if queries is not None:
        texts = pages.table["query"].combine_chunks()
        searches = _looked_up(texts, queries["query"].combine_chunks(), queries["n"])
    most = np.zeros(pages.queries)
    np.maximum.at(most, pages.row, clicks)
    wanted = table.filter(pc.is_in(table["url"], value_set=pc.unique(pages.table["url"])))
    sites = wanted.group_by("url", use_threads=False).aggregate([("n", "sum")])
    site = _looked_up(pages.table["url"].combine_chunks(), sites["url"].combine_chunks(), sites["n_sum"])
    return SeenClicks(clicks, np.maximum(searches, most[pages.row]), site)


def attraction(pages: ResultPages, seen: SeenClicks) -> Floats:
    """How much each result attracts whoever examines it, by the position-based model; ties in the public order."""
    position = np.minimum(pages.rank, 10) - 1
    searches = np.where(seen.clicks > 0, seen.searches, 0.0)
    total = np.bincount(position, searches, minlength=10)
    examined, missed = 1 / (np.arange(10) + 1.0), searches - seen.clicks
    mean = float(seen.clicks.sum() / max((seen.searches * examined[position]).sum(), 1e-9))
    attracts = np.full(seen.clicks.size, min(max(mean, 1e-6), 0.5))
    for _ in range(TURNS):
        look = examined[position]
        none = np.maximum(1 - look * attracts, 1e-12)
        looked = seen.clicks + missed * look * (1 - attracts) / none
        wanted = seen.clicks + missed * attracts * (1 - look) / none
        attracts = np.clip((wanted + PRIOR * mean) / (searches + PRIOR), 1e-9, 1 - 1e-9)
        examined = np.clip(np.bincount(position, looked, minlength=10) / np.maximum(total, 1e-9), 1e-6, 1)
        examined = examined / examined.max()  # the scale of examination is not identified: the first is always seen
    found: Floats = np.where(seen.clicks > 0, attracts, 0) - 1e-9 * pages.rank
    return found


def described(pages: ResultPages, seen: SeenClicks, attracts: Floats) -> Floats:
    """The features of each result, each of them near 0 to 1."""
    chance = np.clip(attracts, 1e-9, 1 - 1e-9)
    share = seen.clicks / np.maximum(seen.searches, 1)
    hosts = pc.utf8_lower(pages.table["url"]).to_pylist()
    texts = [query.removeprefix("www.").removesuffix(".com") for query in pages.table["query"].to_pylist()]
    inside = [float(text.replace(" ", "-") in host) for text, host in zip(texts, hosts, strict=True)]
    features = [np.log(chance / (1 - chance)) / 10, np.log1p(seen.clicks) / 5, share, 1 / pages.rank]
    return np.stack([*features, np.log1p(seen.site) / 10, np.array(inside)], axis=1)


def fitted(pages: ResultPages, features: Floats, train: npt.NDArray[np.bool_]) -> Floats:
    """The weights that put wanted results above the others of their list: a logistic model of pairs."""
    from scipy.optimize import minimize

    better, worse = ordered_pairs(pages, train)
    apart = features[better] - features[worse]

    def loss(weights: Floats) -> tuple[float, Floats]:
        margin = apart @ weights
        wrong = 1 / (1 + np.exp(np.clip(margin, -500, 500)))
        slope = -(apart * wrong[:, None]).mean(axis=0) + 2 * PENALTY * weights
        return float(np.logaddexp(0, -margin).mean() + PENALTY * weights @ weights), slope

    found: Floats = minimize(loss, np.zeros(features.shape[1]), jac=True, method="L-BFGS-B").x
    return found


def ordered_pairs(pages: ResultPages, train: npt.NDArray[np.bool_]) -> tuple[Ints, Ints]:
    """Every two results of a training query of which the first has the higher gain."""
    better, worse = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    size = pages.row.size
    for lag in range(1, int(np.bincount(pages.row).max(initial=1))):
        at = np.arange(size - lag)
        at = at[(pages.row[at] == pages.row[at + lag]) & train[pages.row[at]]]
        up = pages.gain[at] > pages.gain[at + lag]
        down = pages.gain[at] < pages.gain[at + lag]
        better += [at[up], at[down] + lag]
        worse += [at[up] + lag, at[down]]
    return np.concatenate(better), np.concatenate(worse)


def ndcg(pages: ResultPages, value: Floats) -> Floats:
    """nDCG@10 of every list, ranked by a value, largest first, ties in the public order."""
    order = np.lexsort((pages.rank, -value, pages.row))
    start = np.searchsorted(pages.row, np.arange(pages.queries))
    rank = np.empty(value.size, np.int64)
    rank[order] = np.arange(value.size) - start[pages.row[order]]
    item = np.arange(value.size)
    good = pages.gain > 0
    truth = Lists(pages.row[good], item[good], pages.gain[good], pages.queries)
    return measured([MEASURE], truth, Lists(pages.row, item, rank, pages.queries))[MEASURE]
