"""Zhang et al. 2016 (Safelog): Figure 4 with transitions, the conclusions' t-test, and Table 4, clusters of web sites.

**The t-test.** "A statistical significance test (two-tailed t-test, p < 0.01) shows that" retrieval with the
anonymized log is comparable. What was compared is not said. A t-test that finds p < 0.01 has found a difference; one
that does not has shown nothing. Here all readings are run, question by question, at Figure 3's K = 500, b = 10: the two
means, each over its own questions (Welch); the same questions on both logs (paired); and what would show "comparable":
two one-sided tests that the mean difference is within 10 % of the original's mean.

**Table 4.** Purity is by the synthetic log's topics in the place of hand labels, over every cluster of two sites or
more.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from hubbub.papers.experiments.lab import Lab, Numbers
from hubbub.papers.experiments.rows import DrawSamples, Experiment, PaperFinding
from hubbub.papers.experiments.rule import always, average, close, falls, higher, near
from hubbub.papers.experiments.safelog import (
    FOLD,
    FOLDS,
    GRAPHS,
    NAME,
    PRESET,
    RANKINGS,
    questions,
    released,
    restricted,
    said,
    scored,
    settings,
)
from hubbub.worth.evidence import Evidence
from hubbub.worth.tasks.base import Setup, need
from hubbub.worth.tasks.clustering import Clustering
from hubbub.worth.tasks.graph import Graph
from hubbub.worth.tasks.retrieval import Asked, ask

Floats = npt.NDArray[np.float64]
ALL = ("queries", "clicks", "transitions")
WITH = GRAPHS["clicks and transitions"]
MEASURE, LEVEL, COMPARABLE = "nDCG@10", 0.01, 0.1
WALKS = ("RW", "RW-2")
KS, BS = (100, 500), (1, 10, 35)
"""Of the five K and b of Figure 4: every ordered pair of released queries is a transition, and where b is not far below
K half of all queries are released, by chance: tens of millions of pairs."""
PURITY = 0.76

# ------------------------------------------------------------------ Figure 4 with transitions


def grid(lab: Lab) -> Numbers:
    """Every K and b, on the graph of clicks and transitions."""
    test, trained = questions(lab), lab.training(PRESET, FOLDS, FOLD)
    found: Numbers = {}
    each = [(K, b) for K in KS for b in BS]
    runs = released(lab, trained, [settings(K, b) | {"b_t": 10} for K, b in each], ALL)
    for (K, b), release in zip(each, runs, strict=True):
        scored(found, f"K={K} b={b}{WITH}", release, test)
    return found


def figure_4(cells: DrawSamples) -> Iterator[PaperFinding]:
    """Figure 4 by the rankings that use transitions."""
    more = ", b_t=10"
    for K in KS:
        for short in WALKS:
            by = cells.series(f"K={K} b={{}}{WITH} {RANKINGS[short]}.{MEASURE}", BS, "b = {}")
            yield PaperFinding(
                f"{short.lower()}-k-{K}",
                f"{short} with transitions, K = {K}: as b increases, nDCG@10 decreases",
                by,
                falls(by),
                said(K, BS, more=more),
                cells.series(f"K={K} b={{}}{WITH} test_queries_evaluated", BS, "test queries, b = {}"),
            )
    means = {
        short: average(cells[f"K={K} b={b}{WITH} {RANKINGS[short]}.{MEASURE}"] for K in KS for b in BS)
        for short in ("RW", "IF")
    }
    yield PaperFinding(
        "if-above-rw",
        "implicit feedback performs better than the random walk with transitions (mean over all K and b)",
        means,
        higher(means["RW"], means["IF"], ("the random walk", "implicit feedback")),
        said(KS, BS, more=more),
        {"test queries, K = 100, b = 1": cells[f"K=100 b=1{WITH} test_queries_evaluated"]},
    )


# ------------------------------------------------------------------ the t-test


def tested(lab: Lab) -> Numbers:
    """p-values over questions, for each ranking."""
    test, trained = questions(lab), lab.training(PRESET, FOLDS, FOLD)
    (release,) = released(lab, trained, [settings(500, 10)])
    theirs = Graph.of(need(release, "clicks", "release"))
    ours = Graph.of(need(Evidence.of_log(trained, "count"), "clicks", "original"))
    same = restricted(test, theirs)
    whole, part = (ask(ours, each, each.within(ours)) for each in (test, same))
    anonymized = ask(theirs, same, same.within(theirs))
    found: Numbers = {"questions, original": whole.drawn.size, "questions, both": _both(part, anonymized)[0].size}
    for short, ranking in RANKINGS.items():
        metric = f"{ranking}.{MEASURE}"
        a, b = (each.values[metric][at] for each, at in zip((part, anonymized), _both(part, anonymized), strict=True))
        found |= {
            f"{short} own": welch(whole.values[metric], anonymized.values[metric]),
            f"{short} same": paired(a, b),
            f"{short} comparable": comparable(a, b),
            f"{short} original": float(a.mean()) if a.size else None,
            f"{short} anonymized": float(b.mean()) if b.size else None,
        }
    return found


def _both(one: Asked, other: Asked) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Where each has the questions that both were asked."""
    _, first, second = np.intersect1d(one.drawn, other.drawn, return_indices=True)
    return first, second


def paired(a: Floats, b: Floats) -> float | None:
    """Student's two-tailed t-test of the same questions; None where there are too few to test."""
    return _two_tailed(b - a)


def comparable(a: Floats, b: Floats) -> float | None:
    """Two one-sided t-tests that the mean of b is within 10 % of a's: the larger of both p-values."""
    if not a.size:
        return None
    room = COMPARABLE * abs(float(a.mean()))
    sides = [_above(b - a + room), _above(a - b + room)]
    return max(side for side in sides if side is not None) if None not in sides else None


def welch(a: Floats, b: Floats) -> float | None:
    """Welch's two-tailed t-test of two means."""
    from scipy.stats import ttest_ind

    if min(a.size, b.size) < 2 or not (a.var() or b.var()):
        return None
    return float(ttest_ind(a, b, equal_var=False).pvalue)


def _above(x: Floats) -> float | None:
    """The p-value of "the mean is above zero"."""
    from scipy.stats import t

    if x.size < 2:
        return None
    mean, error = float(x.mean()), float(x.std(ddof=1)) / math.sqrt(x.size)
    if not error:
        return 0.0 if mean > 0 else 1.0
    return float(t.sf(mean / error, x.size - 1))


def _two_tailed(x: Floats) -> float | None:
    one = _above(x)
    return None if one is None else 1.0 if not x.any() else min(1.0, 2 * min(one, 1 - one))


def t_test(cells: DrawSamples) -> Iterator[PaperFinding]:
    """Every reading of the conclusions' sentence, for every ranking."""
    about = {"questions, original": cells["questions, original"], "questions, both": cells["questions, both"]}
    for short in RANKINGS:
        means = ", ".join(f"{side} {cells[f'{short} {side}'].mean or 0:.3g}" for side in ("original", "anonymized"))
        note = f"Mean nDCG@10 on the same questions: {means}."
        for name, which, words in (
            ("own", "each log's mean over its own questions (Welch)", "p is 1 % or more"),
            ("same", "the same questions on both logs (paired)", "p is 1 % or more"),
        ):
            yield PaperFinding(
                f"{short.lower()}-{name}",
                f"{short}: a two-tailed t-test at 1 % finds no difference between {which}",
                {"p": cells[f"{short} {name}"]},
                always(cells[f"{short} {name}"], lambda p: p >= LEVEL, words),
                said(500, 10),
                about,
                note,
                caution="That no difference is found does not show that there is none.",
            )
        yield PaperFinding(
            f"{short.lower()}-comparable",
            f"{short}: the two are comparable: a difference of 10 % is excluded at 1 % (two one-sided tests, same "
            "questions)",
            {"p": cells[f"{short} comparable"]},
            always(cells[f"{short} comparable"], lambda p: p < LEVEL, "p is below 1 %"),
            said(500, 10),
            about,
            note,
        )


# ------------------------------------------------------------------ Table 4


def clusters(lab: Lab) -> Numbers:
    """Purity, clusters and sites of the log and of the release that Table 4 is about."""
    (release,) = released(lab, lab.log(PRESET), [settings(100, 10)])
    scores = Clustering().score(lab.original(PRESET, "count"), release, Setup(lab.truth(PRESET), lab.seed))
    found: Numbers = {f"{metric} {side}": value for metric, pair in scores.items() for side, value in pair.items()}
    for side in ("original", "release"):
        if not found[f"clusters {side}"]:
            found[f"purity {side}"] = None
    return found


def table_4(cells: DrawSamples) -> Iterator[PaperFinding]:
    """Table 4: ten clusters, labelled by hand, had a purity of 0.76."""
    parameters = "preset aol; safelog published, K=100, b=b_q=b_c=10, q_f=c_f=100; clustering"
    about = {
        f"{what.replace('_', ' ')}, {side}": cells[f"{what} {side}"]
        for what in ("clusters", "websites_in_clusters", "websites")
        for side in ("original", "release")
    }
    seen = {"original": cells["purity original"], "anonymized": cells["purity release"]}
    yield PaperFinding(
        "purity",
        "clusters of the anonymized log are pure: 0.76 (shown: within 0.1)",
        seen,
        near(seen["anonymized"], PURITY, 0.1),
        parameters,
        about,
        caution="Labels are the sixteen topics of the synthetic log; the paper's were made by hand for ten clusters.",
    )
    yield PaperFinding(
        "as-pure-as-original",
        "a meaningful structure can still be extracted: the clusters are as pure as the original's (within 10 %)",
        seen,
        close(seen["original"], seen["anonymized"], ("the original", "the anonymized log")),
        parameters,
        about,
    )


EXPERIMENTS = (
    Experiment(
        "safelog/figure-4-transitions", NAME, "Figure 4 with transitions", grid, figure_4, ("clicks", "times")
    ),
    Experiment("safelog/t-test", NAME, "Conclusions: a two-tailed t-test", tested, t_test, ("clicks",)),
    Experiment("safelog/table-4", NAME, "Table 4: clusters of web sites", clusters, table_4, ("clicks", "topics")),
)  # fmt: skip
