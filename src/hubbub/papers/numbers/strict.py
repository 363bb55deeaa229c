"""What hubbub's strict variants have instead; `expected` is what our pages on the papers state.

Real-valued noise here too, so that each number stands beside the paper's; the last digits that run are on the cards.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from hubbub.look.estimate.zealous import survives
from hubbub.mechanisms.sessions import Sessions
from hubbub.mechanisms.zealous import formulas
from hubbub.papers.numbers import sessions_2017
from hubbub.papers.numbers.losses import LossGrid, laplace
from hubbub.papers.numbers.rows import NumberRow, Paper, PaperPart
from hubbub.privacy.account import release_probability

NAME = "hubbub"
DISCRETE = PaperPart(NAME, "strict/discrete", "The law that runs, on integers", ours=True)
KOROLOVA = PaperPart(
    NAME, "strict/korolova", "Strict korolova: δ = 1 − (1 − ½e^((1−K)/b))^d; d = 20, b = 10, δ = 1e-5", ours=True
)
ZEALOUS = PaperPart(
    NAME,
    "strict/zealous",
    "Strict zealous, replace: (2m/λ, 1 − (1 − ½e^(−(τ′−τ)/λ))^m); m = 5, λ = 5, τ′ = 50",
    ours=True,
)
SAFELOG = PaperPart(
    NAME, "strict/safelog", "Strict safelog: pure ε = q_f/b + q_f/b_q + c_f/b_c + c_t/b_t over a public pool", ours=True
)
SESSIONS = PaperPart(NAME, "strict/sessions", "Strict sessions, b = 1, K = 20, l_q = 3, l = 4", ours=True)
HONG = PaperPart(
    NAME, "strict/optimal", "Instead of Hong's sampling: a strict histogram of pairs, then synthetic users", ours=True
)
COMPOSED = PaperPart(
    NAME, "strict/composed", "Many draws together at δ = 1e-6: privacy losses added up, rounded up", ours=True
)


def rows() -> Iterator[NumberRow]:
    """All rows: mechanism by mechanism, then composition."""
    yield from thresholds()
    yield from closed_domain()
    yield from sessions()
    yield from composed()


def delta(keys: int, distance: float, scale: float) -> float:
    """1 − (1 − ½e^(−distance/scale))^keys, for counts that one user alone moved to 1."""
    return -math.expm1(keys * math.log1p(-survives(1, 1, 1 + distance, scale)))


def threshold(d: int, b: float, target: float) -> float:
    """K = 1 + b ln(1/(2(1 − (1−δ)^(1/d))))."""
    return 1 + b * math.log(-1 / (2 * math.expm1(math.log1p(-target) / d)))


def thresholds() -> Iterator[NumberRow]:
    """Thresholds for one new key, then those of Korolova, ZEALOUS and Hong."""
    yield DISCRETE.printed(
        "one-key",
        "4.096e-9",
        float(release_probability(Fraction(1), 20, 1)),
        "b = 1, rule count + Z >= T = 20: a key that one user holds is released with probability a^(T−1)/(1+a), "
        "a = e^(−1/b).",
    )
    yield KOROLOVA.printed("K", "139.2", threshold(20, 10, 1e-5), "The K that the strict δ needs.")
    needed = formulas.corrected_tau_prime(20, Fraction(10), Fraction(1, 10**5))
    yield KOROLOVA.printed("K-of-the-paper", "158.2", needed, "The K that Theorem 1 of the paper needs.")
    yield ZEALOUS.printed("delta", "1.39e-4", delta(5, 49, 5), "τ = 1; no number of users in it.")
    printed = float(formulas.corrected_delta(5, Fraction(5), Fraction(50)))
    yield ZEALOUS.printed("delta-prime-of-the-paper", "3.1e-4", printed, "The paper's δ′ (Table 1).")
    bound = float(formulas.theorem2_delta(500_000, 5, Fraction(5), 1, Fraction(50)))
    yield ZEALOUS.printed("delta-of-the-paper", "1", bound, "The paper's δ by Theorem 2 (Table 1), for U = 500k.")
    loose = formulas.corrected_tau_prime(4, Fraction(4), Fraction(5, 10**5))
    yield HONG.printed(
        "users-per-pair",
        "46",
        loose,
        "n = 1980, d = 4, ε = 1, δ = 5e-5: so many users a pair needs by Theorem 1 of Korolova et al., so that little "
        f"is left of such a log; by the strict δ it is {threshold(4, 4, 5e-5):.1f}.",
    )


def closed_domain() -> Iterator[NumberRow]:
    """The ε of Safelog over a public pool."""
    yield SAFELOG.printed(
        "epsilon",
        "1.000",
        exhaustive_epsilon(2, 2.0, 3.0),
        "q_f = 2, b = 2, K = 3, every query in the pool: every tiny log enumerated, the largest |ln ratio| of any "
        "output is q_f/b.",
    )
    yield SAFELOG.printed(
        "made-up-rows",
        "26.3",
        1_159_938 * survives(0, 0, 100, 10),
        "Queries of the pool that nobody asked and that pass all the same: 1,159,938 of them, b = 10, K = 100.",
    )


def exhaustive_epsilon(q_f: int, b: float, K: float, most: int = 5) -> float:
    """Counts of distinct users: one more user adds at most 1 to each of q_f queries; a product of laws."""
    worst = 0.0
    for others in product(range(most + 1), repeat=q_f):
        loss = 0.0
        for n in others:
            p, q = survives(n, 0, K, b), survives(n + 1, 0, K, b)
            loss += max(abs(math.log(q / p)), abs(math.log((1 - q) / (1 - p))))
        worst = max(worst, loss)
    return worst


def sessions() -> Iterator[NumberRow]:
    """Sessions: counts of distinct users, and the paper's own counting with its costs added up."""
    both, alone = ({"variant": "published", "b": 1, "K": 20, "tables": t} for t in (None, ["sessions"]))
    part, whole, reused = (Sessions(**given).loss().epsilon for given in (alone, both, {"b": 1, "K": 20}))
    yield SESSIONS.printed("epsilon-sessions", "8", part, "Sessions, selected and counted: 2Δf/b.")
    yield SESSIONS.printed("delta-sessions", "1.12e-8", delta(4, 19, 1), "Four new subsequences.")
    yield SESSIONS.printed("epsilon-clicks-too", "16", whole, "Sessions and clicks, selected and counted.")
    yield SESSIONS.printed("delta-clicks-too", "2.24e-8", delta(8, 19, 1), "Eight new keys.")
    yield SESSIONS.printed("epsilon-noise-reused", "8", reused, "The value that passed is published: the paper's ε.")
    yield SESSIONS.printed(
        "delta-faithful",
        "7.98e-8",
        sessions_2017.session_delta() + sessions_2017.click_delta(),
        "The paper's own counting, repeats included, at ε = 16.",
    )


def composed() -> Iterator[NumberRow]:
    """Composition: where adding up losses is cheaper than adding up ε, and where it is not."""
    for name, draws, b, before, after, what in (
        ("60-draws", 60, 20, "3.00", "1.64", "60 draws of scale 20"),
        ("safelog-10", 39, 10, "3.90", "2.69", "Safelog, q_f = c_f = 10, every scale 10: 39 draws"),
        ("safelog-100", 399, 10, "39.9", "10.7", "Safelog, q_f = c_f = 100, every scale 10: 399 draws"),
        ("sessions", 16, 1, "16", "15.9", "The 2017 paper, sessions and clicks: 16 draws of scale 1"),
        ("zealous", 10, 5, "2.00", "2.00", "ZEALOUS, m = 5, λ = 5: no gain"),
    ):
        yield COMPOSED.printed(f"{name}-sum", before, draws / b, f"{what}. The plain sum.")
        yield COMPOSED.printed(f"{name}", after, composed_epsilon(draws, b), f"{what}.")
    yield COMPOSED.printed("repeats", "3.000", composed_epsilon(1, 20, 60), "One key moved by 60, scale 20: no gain.")


def composed_epsilon(draws: int, b: float, more: float = 1, target: float = 1e-6) -> float:
    """ε at δ = `target` of so many independent draws of Laplace noise; an upper bound."""
    return LossGrid.at(*laplace(b, more, "up"), more / b / 256, "up").times(draws).epsilon(target)


PAPER = Paper("strict", "hubbub's strict variants", rows)
