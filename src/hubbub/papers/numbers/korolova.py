"""Korolova et al. 2009: Theorem 1 holds, and is loose. The tight δ, and α's second branch, which is not needed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from hubbub.look.estimate.zealous import survives
from hubbub.mechanisms.safelog.paper import log_alpha
from hubbub.mechanisms.zealous.formulas import corrected_delta
from hubbub.papers.numbers.rows import Number, NumberRow, Paper, PaperPart

NAME = "Korolova et al. 2009"
THEOREM_1 = PaperPart(NAME, "korolova/theorem-1", "Theorem 1: ε = d ln α + d/b_q + d_c/b_c, δ = (d/2) e^((d−K)/b)")
TIGHT = PaperPart(NAME, "korolova/tight-delta", "The tight δ*: no smaller one holds, and no K >= d is needed")
CLICKS = PaperPart(NAME, "korolova/clicks", "Get-Click-Counts: the URLs that have a row")


def printed_delta(d: int, b: Fraction, K: Fraction) -> float:
    """Theorem 1: δ = (d/2) e^((d−K)/b), which Götz et al. write with m, λ and τ′."""
    return float(corrected_delta(d, b, K))


def shows(count: int, b: Fraction, K: Fraction) -> float:
    """r: the chance that a query asked `count` times is released; never asked, never released."""
    return survives(count, 1, float(K), float(b))


def tight_delta(d: int, b: Fraction, K: Fraction) -> float:
    """δ* = max_k 1 − (1 − r(1))^(k−1) (1 − r(d−k+1)): k new queries, all repeats on one of them."""
    hidden = [math.log1p(-shows(m, b, K)) for m in range(1, d + 1)]
    return max(-math.expm1((k - 1) * hidden[0] + hidden[d - k]) for k in range(1, d + 1))


def exhaustive_delta(d: int, b: Fraction, K: Fraction, epsilon: float, most: int) -> float:
    """The largest δ(ε) over all logs of d queries with counts up to `most` and all users to add or remove."""
    worst = 0.0
    users = [m for m in product(range(d + 1), repeat=d) if 1 <= sum(m) <= d and list(m) == sorted(m)]
    for others in product(range(most + 1), repeat=d):
        for user in users:
            before = [shows(n, b, K) for n in others]
            after = [shows(n + m, b, K) for n, m in zip(others, user, strict=True)]
            excess = [0.0, 0.0]
            for released in product((True, False), repeat=d):
                p = math.prod(r if out else 1 - r for r, out in zip(before, released, strict=True))
                q = math.prod(r if out else 1 - r for r, out in zip(after, released, strict=True))
                excess[0] += max(0.0, p - math.exp(epsilon) * q)
                excess[1] += max(0.0, q - math.exp(epsilon) * p)
            worst = max(worst, *excess)
    return worst


def rows() -> Iterator[NumberRow]:
    """Theorem 1, its α and its δ, against exact enumeration and the tight δ."""
    b = K = Fraction(10)
    alpha = math.exp(log_alpha(10, 10))
    yield THEOREM_1.stated(
        "alpha",
        "max(e^(1/b), 1 + 1/(2e^((K−1)/b) − 1))",
        alpha,
        math.isclose(alpha, max(math.exp(1 / b), 1 + 1 / (2 * math.exp((K - 1) / b) - 1))),
        "α for b = K = 10; its second entry is 1/(1 − ½e^((1−K)/b)). The paper prints no numbers; its formulas are "
        "used in Table 1 of Götz et al. (δ′) and in Table 4 of the 2017 paper.",
    )
    stays = exhaustive_delta(1, b, K, 1 / 10, 40) <= tight_delta(1, b, K) * (1 + 1e-12)
    yield THEOREM_1.claim(
        "epsilon",
        log_alpha(10, 10),
        0.1 if stays else math.inf,
        "b = K = 10, d = 1: ln α is {}, but d/b is enough. α's second branch is not needed at this δ: with counts up "
        "to 40 enumerated, δ(d/b) never exceeds δ*.",
        Number(log_alpha(10, 10), "0.2273"),
        noted="0.1",
    )
    d, b, K = 3, Fraction(3, 2), Fraction(5)
    formula = tight_delta(d, b, K)
    yield THEOREM_1.claim(
        "delta",
        printed_delta(d, b, K),
        exhaustive_delta(d, b, K, d / float(b), 6),
        "d = 3, b = 1.5, K = 5: every log of three queries with counts up to 6 and every user enumerated, both "
        "directions, at ε = d/b. The theorem holds; the tight formula gives the same {}.",
        Number(formula, "0.1317986"),
        noted="0.1317986",
    )
    for d, scale, threshold, ratio in ((5, 1, 20, "5.00"), (20, 10, 140, "6.69"), (20, 50, 400, "1.46")):
        b, K = Fraction(scale), Fraction(threshold)
        claimed, exact = printed_delta(d, b, K), tight_delta(d, b, K)
        best = "d, as one new query asked d times is worst" if ratio == "5.00" else "less than d"
        yield TIGHT.claim(
            f"{d}-{scale}-{threshold}",
            claimed,
            exact,
            f"d = {d}, b = {scale}, K = {threshold}: the printed δ is {{}} times the tight one ({best}).",
            Number(claimed / exact, ratio),
        )
    exists = shows(101, Fraction(1), Fraction(20))
    yield CLICKS.stated(
        "public-list",
        "the top ten results, which anybody can see",
        exists,
        exists > printed_delta(1, Fraction(1), Fraction(20)),
        "Such a list is needed. d = 1, b = 1, K = 20, where δ is {}: with the URLs seen in the log instead, and a "
        "query of 100 others for which one user alone clicked on u, the row (q, u) exists with this probability, "
        "against 0.",
        Number(printed_delta(1, Fraction(1), Fraction(20)), "2.8e-9"),
        inequality=True,
    )


PAPER = Paper(
    "korolova", "Korolova, Kenthapadi, Mishra, Ntoulas: Releasing Search Queries and Clicks Privately (2009)", rows
)
