"""Zhang et al. 2016 (Safelog): Table 3, Figures 3 and 5, and why Theorem 1's pure ε does not hold."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product

from hubbub.look.estimate.zealous import survives
from hubbub.mechanisms.safelog import paper
from hubbub.papers.numbers.rows import Number, NumberRow, Paper, PaperPart

NAME = "Zhang et al. 2016"
PREFILTER = PaperPart(NAME, "safelog/prefilter", "Theorem 1: pure ε, though queries asked fewer than 5 times go first")
POOL = PaperPart(NAME, "safelog/pool", "Theorems 1 and 2: what the pool of queries must be")
LISTED = PaperPart(NAME, "safelog/listed", "Theorem 1: which rows of transitions and clicks are listed")
TABLE_3 = PaperPart(NAME, "safelog/table-3", "Table 3: ε by equation (2), K = b = b_q = b_c = 10, q_f = c_f")
FIGURE_3 = PaperPart(NAME, "safelog/figure-3", "Figure 3: ε of the run with K = 500, b = 10")
FIGURE_5 = PaperPart(
    NAME, "safelog/figure-5", "Figure 5: the b at which equation (2) is smallest (the text prints no numbers)"
)

WITH_TRANSITIONS = {10: "5.17", 50: "26.26", 100: "52.63", 150: "78.99", 200: "105.35"}
LEAST = 5
"""Queries asked less often are removed before anything else."""


def rows() -> Iterator[NumberRow]:
    """All rows: the tables, then the theorems."""
    yield from table_3()
    yield from figures()
    yield from prefilter()
    yield from pool()
    yield from listed()


# ------------------------------------------------------------------ the printed numbers


def table_3() -> Iterator[NumberRow]:
    """Table 3: ε as printed, and with the term that is missing."""
    for limit, printed in paper.TABLE_3.items():
        yield TABLE_3.printed(
            f"{limit}",
            f"{printed:.2f}",
            paper.table_3(limit),
            f"q_f = c_f = {limit}, without the transitions' term (q_f − 1)/b_t, which equation (2) has.",
            noted=f"{printed:.2f}",
        )
    for limit, printed in paper.TABLE_3.items():
        yield TABLE_3.printed(
            f"{limit}-with-transitions",
            f"{printed:.2f}",
            paper.epsilon(q_f=limit, c_f=limit, b=10, K=10, b_q=10, b_c=10, b_t=10),
            f"q_f = c_f = {limit} with b_t = 10, as equation (2) has it: the printed ε does not cover the transitions.",
            noted=WITH_TRANSITIONS[limit],
        )
    second = paper.log_alpha(10, 10)
    least = math.exp(1 / 10 - second)
    below, above = (paper.log_alpha(10, 10, least * f) for f in (1 - 1e-6, 1 + 1e-6))
    yield TABLE_3.stated(
        "p_g",
        "right for some p_g (not stated)",
        least,
        below > second and above == second,
        "The least p_g for which the table is right: from there on the second entry of α leads.",
        noted="0.8805",
    )
    yield TABLE_3.printed(
        "10-exact",
        "4.27",
        paper.exact_selection(10, 10) + 10 / 10 + 10 / 10,
        "The first row by the exact cost of the selection, q_f/b + q_f ln(1/p_g), p_g = 1: α's second entry is never "
        "needed.",
        noted="3.00",
    )


def figures() -> Iterator[NumberRow]:
    """Figures 3 and 5: the ε of one, the turning points of the other."""
    exact = paper.epsilon(q_f=100, c_f=100, b=10, K=500, b_q=10, b_c=10)
    cut = math.floor(math.exp(paper.log_alpha(10, 500)) * 1e4) / 1e4
    yield FIGURE_3.printed(
        "epsilon",
        "29.99",
        exact,
        "q_f = c_f = 100, b_q = b_c = 10. With α cut to {} it is {}; that the authors did so is a guess.",
        Number(cut, "1.1051"),
        Number(100 * math.log(cut) + 20, "29.99"),
        noted="30.00",
    )
    for p_g, points in paper.FIGURE_5.items():
        for K, noted in points.items():
            b = paper.turning_point(K, p_g) or math.nan
            at, *beside = (paper.log_alpha(b * f, K, p_g) for f in (1.0, 0.99, 1.01))
            yield FIGURE_5.stated(
                f"{p_g:g}-{K}",
                "a turning point",
                b,
                at < min(beside),
                f"p_g = {p_g:g}, K = {K}: both entries of α agree at this b, and equation (2) is larger on both sides.",
                noted=f"{noted:.2f}",
            )
    b = paper.turning_point(100) or math.nan
    yield FIGURE_5.stated(
        "strongest-privacy",
        "the smallest ε is at the turning point",
        paper.exact_selection(1, 10 * b) / paper.exact_selection(1, b),
        paper.exact_selection(1, 10 * b) >= paper.exact_selection(1, b),
        "K = 100, p_g = 1: the exact ε of the selection at ten times the b of the turning point, over the one at it. "
        "Turning points are an artefact of a loose bound: the exact ε falls with b.",
        noted="0.1",
        inequality=True,
    )


# ------------------------------------------------------------------ Theorem 1


def prefilter() -> Iterator[NumberRow]:
    """The filter runs before the limit, so one user moves the counts of others."""
    b, K = 1.0, 10.0

    def ratio(before: Counter[str], after: Counter[str], queries: Sequence[str]) -> tuple[float, float]:
        """P(all these queries are released), pool included (p_g = 1), from both logs."""
        p, q = (math.prod(survives(n[query], 0, K, b) for query in queries) for n in (before, after))
        return p, q

    four = [["q"]] * 4
    p, q = ratio(kept(four), kept([*four, ["q"]]), ["q"])
    yield PREFILTER.claim(
        "released",
        "1.000",
        math.log(q / p),
        "q_f = 1, b = 1, K = 10, p_g = 1. Four users ask q, then a fifth: after the filter q counts 0 against 5. The "
        "event 'q is released' has probability {} against {}; the logarithm of the ratio may be 1 at most.",
        Number(q, "3.369e-3"),
        Number(p, "2.270e-5"),
        noted="5.000",
    )
    refilled, others = [["q", "z"]] * 4, [["z"]] * 5
    before, after = kept(refilled + others), kept([*refilled, *others, ["q"]])
    yield PREFILTER.claim(
        "refill",
        "1",
        sum(abs(after[query] - before[query]) for query in before | after),
        "q_f = 1: how far one user moves all counts. The four others, whose first query was removed, had kept z; with "
        "a fifth user they keep q.",
        noted="9",
    )
    many = [f"q{i}" for i in range(10)]
    crowd = [[query] for query in many for _ in range(4)]
    p, q = ratio(kept(crowd), kept([*crowd, many]), many)
    yield PREFILTER.claim(
        "unbounded",
        "1.000",
        math.log(q / p),
        f"q_f = 1, b = 1: one user who asked R = 10 queries, each asked by four others, lets all pass. The event 'all "
        f"are released' has probability {q:.3e} against {p:.3e}: the logarithm of the ratio is at least 4R/b, and "
        "grows without bound.",
        noted="41",
    )


def kept(histories: Sequence[Sequence[str]], limit: int = 1) -> Counter[str]:
    """Algorithm 1's order: rare queries go first, then each user's first `limit` are counted."""
    asked = Counter(query for history in histories for query in history)
    often = [[query for query in history if asked[query] >= LEAST] for history in histories]
    return Counter(query for history in often for query in history[:limit])


def pool() -> Iterator[NumberRow]:
    """When Theorem 2 holds, and every pool for which it does not."""
    yield POOL.claim(
        "independent-and-secret",
        paper.exact_selection(2, 2, 0.6),
        exhaustive_epsilon(2, 2.0, 3.0, 0.6),
        "q_f = 2, b = 2, K = 3, p_g = 0.6, no filter before: every tiny log enumerated. With an independent, secret "
        "pool Theorem 2 holds, and the exact ε is q_f/b + q_f ln(1/p_g).",
        noted="2.021651",
    )
    r0, r1 = survives(0, 0, 10, 1), survives(1, 0, 10, 1)
    yield POOL.claim(
        "outside",
        "0",
        r1,
        "b = 1, K = 10: a query that cannot be in the pool (not an n-gram) is released with this probability if one "
        "user asks it, and with 0 otherwise, so ε = ∞. Over an infinite domain any finite pool leaves such queries. "
        "The same for a pool that is fixed, public or leaked, whatever p_g is: δ = ½e^((1−K)/b) for each new query.",
        noted="6.2e-5",
    )
    together = sum(math.log((1000 - i) / (500 - i)) for i in range(100))
    yield POOL.claim(
        "fixed-size",
        0.0,
        together - 100 * math.log(2),
        "A pool of exactly 500 of 1000 queries instead of p_g = 0.5 each, q_f = 100: what ε needs on top of the "
        "theorem's, as 100 given queries are together in it less often than p_g^100. A pool smaller than q_f needs ∞.",
        noted="5.51",
    )
    p_g = 0.5
    alpha = math.exp(paper.log_alpha(1, 10, p_g))
    yield POOL.claim(
        "two-draws",
        "5.4366",
        (1 - (1 - r1) * (1 - p_g * r0)) / (p_g * r0),
        "b = 1, K = 10, p_g = 0.5: a query in log and pool that is drawn for twice. The ratio of 'released' is this, "
        "α is {}.",
        Number(alpha, "5.4366"),
        noted="6.4365",
    )
    half, whole = (paper.epsilon(q_f=100, b=10, K=500, b_q=10, p_g=p) for p in (p_g, 1.0))
    yield POOL.stated(
        "cost-of-p_g",
        "q_f ln(1/p_g)",
        half - whole,
        math.isclose(half - whole, 100 * math.log(1 / p_g)),
        "What p_g = 0.5 adds to ε by equation (2), q_f = 100.",
        noted="69.3",
    )


def exhaustive_epsilon(q_f: int, b: float, K: float, p_g: float, most: int = 3) -> float:
    """The largest |ln ratio| of any output over all logs of q_f queries, for one user more or less.

    A query of the log is released with probability r(count); one that nobody asked only if the pool has it.
    """

    def law(counts: Sequence[int]) -> list[float]:
        shown = [survives(n, 0, K, b) * (1.0 if n else p_g) for n in counts]
        return [
            math.prod(r if out else 1 - r for r, out in zip(shown, released, strict=True))
            for released in product((True, False), repeat=len(counts))
        ]

    worst = 0.0
    for others in product(range(most + 1), repeat=q_f):
        for user in product(range(q_f + 1), repeat=q_f):
            if 1 <= sum(user) <= q_f:
                more = [n + m for n, m in zip(others, user, strict=True)]
                pairs = zip(law(others), law(more), strict=True)
                worst = max(worst, *(abs(math.log(q / p)) for p, q in pairs))
    return worst


def listed() -> Iterator[NumberRow]:
    """What a list of rows tells if a row is on it only because the log holds it."""
    yield LISTED.claim(
        "seen-pairs",
        "0",
        survives(31, 0, 10, 1) ** 2,
        "b = 1, K = 10: a and b are each asked by 30 others, one user goes from a to b. If only pairs (or URLs) seen "
        "in the log are listed, 'the row (a, b) exists' has this probability against 0. The paper lists every pair of "
        "released queries, but has no list of URLs for clicks.",
        noted="1",
    )


PAPER = Paper(
    "safelog",
    "Zhang, Yang, Singh, Xiong: Safelog, Supporting Web Search and Mining by Differentially-Private Query Logs (2016)",
    rows,
)
