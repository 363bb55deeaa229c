"""Götz et al. 2009 on the preset `gotz`: Figure 6 (index caching, §8.2), Figures 7 and 8 (query substitution, §8.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa

from hubbub.papers.experiments.gotz import EPSILONS, FIVEFOLD, NAME, PRESET, k_query, said, zealous
from hubbub.papers.experiments.lab import Lab, Numbers
from hubbub.papers.experiments.rows import DrawSamples, Experiment, PaperFinding
from hubbub.papers.experiments.rule import NOTHING, DrawSample, average, close, every, higher, lower
from hubbub.worth.evidence import find, numbers
from hubbub.worth.tasks.base import need
from hubbub.worth.tasks.graph import number
from hubbub.worth.tasks.index_caching import MEMORY, pack
from hubbub.worth.tasks.query_substitution import QUERIES, compared, ranked, substitutions

KS = tuple(10 * epsilon for epsilon in EPSILONS)
MS = (1, 2, 6, 10, 20, 40)
METRICS = ("NDCG", "MAP", "precision", "recall")
CUTS = (2, 5)
CACHE = f"index-caching, {MEMORY:,} bytes of memory for each distinct keyword of the log (the paper: 1 GB, a million)"
SIDE_BY_SIDE = [f"ε = {e} beside k = {k}" for e, k in zip(EPSILONS, KS, strict=True)]


# ------------------------------------------------------------------ Figure 6


def caching(lab: Lab) -> Numbers:
    """The hit probability of the cache that each log fills."""
    found: Numbers = {}
    log = lab.log(PRESET)
    score = _cache(lab)

    def keep(name: str, keywords: pa.Table) -> None:
        found[f"{name} hit"], found[f"{name} cached"] = score(keywords)

    keep("original", need(lab.original(PRESET), "keywords", "original"))
    settings = [zealous(lab, epsilon) for epsilon in EPSILONS]
    runs = lab.sweep(log, "zealous", settings, variant="published", tables=["keywords"])
    for epsilon, release in zip(EPSILONS, runs, strict=True):
        keep(f"epsilon={epsilon}", need(release, "keywords", "release"))
    for m in MS:
        release = lab.run(log, "zealous", zealous(lab, m=m), variant="published", tables=["keywords"])
        keep(f"m={m}", need(release, "keywords", "release"))
    for k in KS:
        keep(f"k={k}", k_query(lab, k, ["keywords"])["keywords"])
    return found


def _cache(lab: Lab) -> Callable[[pa.Table], tuple[float, int]]:
    """The cache of the index-caching task; what is asked and how long the lists are is looked up once for all logs."""
    documents = lab.truth(PRESET).table("document_frequency")
    assert documents is not None
    asked = need(lab.original(PRESET, "count"), "keywords", "original")
    memory = MEMORY * need(lab.original(PRESET), "keywords", "original").num_rows
    known, lists, traffic = documents.select(["keyword"]), documents.column("documents").to_numpy(), numbers(asked)

    def score(keywords: pa.Table) -> tuple[float, int]:
        at = find(keywords, known)
        keywords, at = keywords.filter(pa.array(at >= 0)), at[at >= 0]
        cached = keywords.filter(pa.array(pack(numbers(keywords), lists[at], memory)[0]))
        return float(traffic[find(asked, cached) >= 0].sum() / traffic.sum()), cached.num_rows

    return score


def figure_6(cells: DrawSamples) -> Iterator[PaperFinding]:
    """Figure 6: hit probabilities by ε, k and m."""
    by, ks, ms = (
        cells.series(f"{name}={{}} hit", values, f"{label} = {{}}")
        for name, label, values in (("epsilon", "ε", EPSILONS), ("k", "k", KS), ("m", "m", MS))
    )
    lists = cells.series("epsilon={} cached", EPSILONS, "ε = {}") | cells.series("k={} cached", KS, "k = {}")
    lists |= {"original": cells["original cached"]}
    hits = {"original": cells["original hit"]} | by | ks
    both = f"{said(EPSILONS)}; k={list(KS)}; {CACHE}"
    yield PaperFinding(
        "a-zealous-above-k",
        "ZEALOUS is better than k-anonymity for a range of parameters (the mean over " + "; ".join(SIDE_BY_SIDE) + ")",
        hits,
        higher(average(ks.values()), average(by.values()), ("k-anonymity", "ZEALOUS")),
        both,
        lists,
    )
    for name, series in (("epsilon", by), ("k", ks)):
        first, last = list(series)[1], list(series)[-1]  # ε = 2 and 10, k = 20 and 100
        yield PaperFinding(
            f"a-marginal-{name}",
            f"utility suffers only marginally: {first} and {last} within 10 %",
            series,
            close(series[first], series[last], (first, last)),
            both,
            lists,
        )
    cached = cells.series("m={} cached", MS, "m = {}")
    yield PaperFinding(
        "b-m-6-above-m-1",
        "m = 6 (above 0.36) is better than m = 1 (below 0.33)",
        ms,
        higher(ms["m = 1"], ms["m = 6"], ("m = 1", "m = 6")),
        f"{said(m=MS)}; {CACHE}",
        cached,
    )
    yield PaperFinding(
        "b-falls-later",
        "with higher m the hit probability decreases at some point (m = 40 below m = 6)",
        ms,
        lower(ms["m = 6"], ms["m = 40"], ("m = 6", "m = 40")),
        f"{said(m=MS)}; {CACHE}",
        cached,
    )


# ------------------------------------------------------------------ Figures 7 and 8

FEW, FEW_K = (2, 6, 10), (20, 60, 100)
"""ε and k here: learning from a log takes longest."""


def rewriting(lab: Lab) -> Numbers:
    """Substitutions learned from each log's query pairs, against the original's, for its most frequent queries.

    The paper takes 100,000 of them, those with enough information, from 500,000 users: here half as many as users.
    """
    found: Numbers = {}
    lab = lab.fivefold  # at 20,000 users two pairs are released
    original, log = lab.original(PRESET), lab.log(PRESET)
    asked = (
        need(original, "queries", "original")
        .column("query")
        .slice(0, min(QUERIES, max(1, lab.users // 2)))
        .combine_chunks()
    )
    asked = asked.cast(pa.large_string())
    ours = substitutions(need(original, "transitions", "original"), asked)

    def keep(name: str, pairs: pa.Table) -> None:
        theirs = substitutions(pairs, asked)
        _, (our_text, their_text) = number(ours[1], theirs[1])
        truth, other = (ranked(r[0], t, r[2], len(asked)) for r, t in ((ours, our_text), (theirs, their_text)))
        scores = compared(truth, other)
        answered = scores["queries_evaluated"]
        found[f"{name} pairs"] = pairs.num_rows
        for metric, value in scores.items():
            quality = metric.partition("@")[0] in METRICS
            found[f"{name} {metric}"] = None if quality and not answered else value
        for cut in CUTS:  # Figure 8 plots coverage for both
            first = np.unique(truth.row[truth.rank < cut])
            found[f"{name} coverage@{cut}"] = float(np.isin(first, other.row).mean()) if first.size else None

    for m in (1, 6):
        settings = [zealous(lab, epsilon, m) for epsilon in FEW]
        runs = lab.sweep(log, "zealous", settings, variant="published", tables=["transitions"])
        for epsilon, release in zip(FEW, runs, strict=True):
            keep(f"m={m} epsilon={epsilon}", need(release, "transitions", "release"))
    for k in FEW_K:
        keep(f"k={k}", k_query(lab, k, ["transitions"])["transitions"])
    return found


BESIDE = [f"ε = {e} beside k = {k}" for e, k in zip(FEW, FEW_K, strict=True)]


def figure_7(cells: DrawSamples) -> Iterator[PaperFinding]:
    """Figure 7: quality by ε and k, and the coverage that goes with it."""
    parameters = f"{said(FEW, where=FIVEFOLD)}; k={list(FEW_K)}; query-substitution"
    evaluated = _series(cells, "m=1 epsilon={} queries_evaluated", "k={} queries_evaluated")
    for metric in METRICS:
        for cut in CUTS:
            found = _series(cells, f"m=1 epsilon={{}} {metric}@{cut}", f"k={{}} {metric}@{cut}")
            for name, symbol in (("epsilon", "ε"), ("k", "k")):
                series = {x: sample for x, sample in found.items() if x.startswith(symbol)}
                last = list(series)[-1]
                first = next((x for x, sample in series.items() if sample.mean is not None), last)
                yield PaperFinding(
                    f"{metric.lower()}-{cut}-{name}",
                    f"varying {symbol} has hardly any influence: {metric}@{cut} at the largest {symbol} and "
                    "at the smallest that has answers in every draw, within 10 %",
                    series,
                    close(series[first], series[last], (first, last)) if first != last else NOTHING,
                    parameters,
                    {x: sample for x, sample in evaluated.items() if x.startswith(symbol)},
                )
            yield PaperFinding(
                f"{metric.lower()}-{cut}-comparable",
                f"{metric}@{cut} is comparable with k-query anonymity (ε = 10 and k = 100 within 10 %)",
                found,
                close(found["k = 100"], found["ε = 10"], ("k = 100", "ε = 10")),
                parameters,
                evaluated,
            )
    coverage = _series(cells, "m=1 epsilon={} coverage", "k={} coverage")
    yield PaperFinding(
        "coverage",
        "the coverage of ZEALOUS is not good: lower than that of k-query anonymity at " + ", ".join(BESIDE),
        coverage,
        every(
            [
                lower(coverage[f"k = {k}"], coverage[f"ε = {e}"], (f"k = {k}", f"ε = {e}"))
                for e, k in zip(FEW, FEW_K, strict=True)
            ]
        ),
        parameters,
        evaluated,
    )


def _series(cells: DrawSamples, epsilon: str, k: str) -> dict[str, DrawSample]:
    return cells.series(epsilon, FEW, "ε = {}") | cells.series(k, FEW_K, "k = {}")


def figure_8(cells: DrawSamples) -> Iterator[PaperFinding]:
    """Figure 8: quality with m = 1 and with m = 6."""
    for cut in CUTS:
        one, six = (cells.series(f"m={m} epsilon={{}} coverage@{cut}", FEW, "ε = {}") for m in (1, 6))
        evaluated = {
            f"{e}, m = {m}": sample
            for m in (1, 6)
            for e, sample in cells.series(f"m={m} epsilon={{}} queries_evaluated", FEW, "ε = {}").items()
        }
        seen = {f"{e}, m = {m}": sample for m, series in ((1, one), (6, six)) for e, sample in series.items()}
        yield PaperFinding(
            f"top-{cut}",
            f"larger m leads to smaller coverage of the top {cut} (the mean over all ε)",
            seen,
            lower(average(one.values()), average(six.values()), ("m = 1", "m = 6")),
            said(FEW, "1, 6", FIVEFOLD) + "; query-substitution",
            evaluated,
        )


EXPERIMENTS = (
    Experiment("gotz/figure-6", NAME, "Figure 6: hit probabilities of an index cache", caching, figure_6, ("lists",)),
    Experiment(
        "gotz/figure-7", NAME, "Figure 7: quality of query substitutions; m = 1", rewriting, figure_7, ("times",)
    ),
    Experiment(
        "gotz/figure-8", NAME, "Figure 8: coverage of query substitutions, m = 1 and 6", rewriting, figure_8, ("times",)
    ),
)
