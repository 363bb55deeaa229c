"""Götz et al. 2009 on the preset `gotz`: Figures 4 and 5, counts at m = 1 by ε, beside k-query anonymity (§8.1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from hubbub.papers.experiments.gotz import COMMON, EPSILONS, KINDS, NAME, OF_LOG, PRESET, k_query, said, zealous
from hubbub.papers.experiments.lab import Lab, Numbers
from hubbub.papers.experiments.rows import DrawSamples, Experiment, PaperFinding
from hubbub.papers.experiments.rule import close, every, falls, higher, lower, rises, times
from hubbub.worth.evidence import Integers, find, numbers
from hubbub.worth.tasks.base import need
from hubbub.worth.tasks.counts import compare


def by_epsilon(lab: Lab, kinds: Sequence[str] = COMMON) -> Numbers:
    """Every kind of item at every ε with m = 1, and of every k-query anonymous log; distributions at ε = 5, k = 10."""
    found: Numbers = {}
    original, log = lab.original(PRESET), lab.log(PRESET)
    for kind in KINDS:
        found[f"{kind} singletons"] = int((numbers(need(original, kind, "original")) == 1).sum())
    for kind in kinds:
        ours = need(original, kind, "original")
        settings = [zealous(lab, epsilon) for epsilon in (*EPSILONS, 5)]
        runs = lab.sweep(log, "zealous", settings, variant="published", tables=[kind])
        for epsilon, release in zip((*EPSILONS, 5), runs, strict=True):
            theirs = need(release, kind, "release")
            _difference(found, f"{kind} epsilon={epsilon}", ours, theirs)
        low = int(numbers(theirs).min(initial=10**9))
        c, x = numbers(ours), numbers(theirs)
        edge = 2 * low
        found[f"{kind} smallest"] = low if x.size else None
        found |= {f"{kind} slope original": slope(c, edge), f"{kind} slope zealous": slope(x, edge)}
        found |= {f"{kind} above original": int((c >= edge).sum()), f"{kind} above zealous": int((x >= edge).sum())}
        found |= {f"{kind} total original": int(c.sum()), f"{kind} total zealous": int(x.sum())}
    for k in (10 * epsilon for epsilon in EPSILONS):
        for kind, theirs in k_query(lab, k, [kind for kind in kinds if kind in OF_LOG]).items():
            _difference(found, f"{kind} k={k}", need(original, kind, "original"), theirs)
            if k == 10:
                found[f"{kind} total k"] = int(numbers(theirs).sum())
    return found


def _difference(found: Numbers, name: str, ours: pa.Table, theirs: pa.Table) -> None:
    scores = compare(numbers(ours), numbers(theirs), find(ours, theirs))
    found[f"{name} difference"] = scores["average_difference"]["release"] if theirs.num_rows else None
    found[f"{name} distinct"] = theirs.num_rows


def slope(n: Integers, least: int) -> float | None:
    """The exponent of a power law from `least` on, by maximum likelihood on integers."""
    tail = n[n >= least]
    return 1 + tail.size / float(np.log(tail / (least - 0.5)).sum()) if tail.size > 1 else None


def figure_4(cells: DrawSamples) -> Iterator[PaperFinding]:
    """Figure 4: distributions of counts at ε = 5, m = 1, k = 10."""
    yield from shapes(cells)
    for kind in ("clicks", "transitions"):
        ours, theirs = cells["keywords singletons"], cells[f"{kind} singletons"]
        yield PaperFinding(
            f"{kind}-singletons",
            f"an order of magnitude more {kind} than keywords have count one (10 times, within a factor of 3)",
            {"keywords": ours, kind: theirs},
            times(ours, theirs, 10, 3, ("that of keywords", f"the number of {kind}")),
            "preset gotz; the log itself",
            caution="Partly circular: the preset was fitted to the paper's numbers of distinct items.",
        )


def shapes(cells: DrawSamples, kinds: Sequence[str] = COMMON, where: str = "preset gotz") -> Iterator[PaperFinding]:
    """Whether each kind of item keeps its power law and its total."""
    for kind in kinds:
        ours, theirs = (cells[f"{kind} slope {side}"] for side in ("original", "zealous"))
        yield PaperFinding(
            f"{kind}-shape",
            "the power-law shape is well preserved (exponents from twice the smallest released count on, within 10 %)",
            {"original": ours, "zealous": theirs},
            close(ours, theirs, ("the original's", "ZEALOUS's exponent")),
            said(where=where),
            {f"{side}, items": cells[f"{kind} above {side}"] for side in ("original", "zealous")},
        )
        totals = {side: cells[f"{kind} total {side}"] for side in ("original", "zealous")}
        totals |= {"k-query": cells[f"{kind} total k"]} if kind in OF_LOG else {}
        yield PaperFinding(
            f"{kind}-total",
            "total frequencies are lower in the sanitized logs",
            totals,
            every([lower(totals["original"], totals[side], ("the original", side)) for side in list(totals)[1:]]),
            said(where=where) + "; k=10",
            caution="By construction but for the noise: each user keeps m = 1 item; k-anonymity only removes queries.",
        )


def figure_5(cells: DrawSamples, kinds: Sequence[str] = COMMON, where: str = "preset gotz") -> Iterator[PaperFinding]:
    """Figure 5: the average difference to the original's counts."""
    for kind in kinds:
        by = cells.series(f"{kind} epsilon={{}} difference", EPSILONS, "ε = {}")
        released = cells.series(f"{kind} epsilon={{}} distinct", EPSILONS, "ε = {}")
        yield PaperFinding(
            f"{kind}-epsilon", "decreases with increasing ε", by, falls(by), said(EPSILONS, where=where), released
        )
        if kind not in OF_LOG:
            continue
        ks = [10 * epsilon for epsilon in EPSILONS]
        k_anonymous = cells.series(f"{kind} k={{}} difference", ks, "k = {}")
        kept = cells.series(f"{kind} k={{}} distinct", ks, "k = {}")
        both, counts = by | k_anonymous, released | kept
        yield PaperFinding(
            f"{kind}-k",
            "decreases with decreasing k",
            k_anonymous,
            rises(k_anonymous),
            f"{where}; histograms of a k-query anonymous log, k={ks}",
            kept,
        )
        said_both = f"{said(EPSILONS, where=where)}; k={ks}"
        if kind == "keywords":
            pairs = [(f"k = {10 * e}", f"ε = {e}") for e in EPSILONS if e > 2]
            better = every([lower(both[k], both[e], (k, e)) for k, e in pairs])
            yield PaperFinding(
                f"{kind}-zealous-better", "ZEALOUS is more accurate than k-anonymity for all ε > 2",
                both, better, said_both, counts,
            )  # fmt: skip
        elif kind == "queries":
            yield PaperFinding(
                f"{kind}-alike", "roughly the same for k = 60 and ε = 6", both,
                close(both["k = 60"], both["ε = 6"], ("k = 60", "ε = 6")), said_both, counts,
            )  # fmt: skip
        else:
            pairs = [(f"k = {10 * e}", f"ε = {e}") for e in EPSILONS]
            better = every([higher(both[k], both[e], (k, e)) for k, e in pairs])
            yield PaperFinding(
                f"{kind}-k-better", "for query pairs k-query anonymity is better (smaller) than ZEALOUS",
                both, better, said_both, counts,
            )  # fmt: skip


EXPERIMENTS = (
    Experiment(
        "gotz/figure-4",
        NAME,
        "Figure 4: distributions of counts; ε = 5, m = 1, k = 10",
        by_epsilon,
        figure_4,
        ("clicks", "times"),
    ),
    Experiment(
        "gotz/figure-5",
        NAME,
        "Figure 5: average difference of counts by ε and k; m = 1",
        by_epsilon,
        figure_5,
        ("clicks", "times"),
    ),
)
