"""The paper's formulas as it prints them, and what replaces those that are wrong; pure functions.

Notation of the paper: U users, at most m items each, noise of scale λ, raw filter τ, threshold τ′. Continuous noise
and the rule "> τ′" here; the integer law that runs is `entering`. Tiny numbers are decimals that do not underflow.
"""

from __future__ import annotations

import math
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction

from hubbub.privacy.account import DIGITS, SLACK, release_probability

WIDE = Context(prec=DIGITS, Emin=MIN_EMIN, Emax=MAX_EMAX)


def _exp(x: Fraction) -> Decimal:
    with localcontext(WIDE):
        return (Decimal(x.numerator) / Decimal(x.denominator)).exp()


def ln(x: Fraction) -> float:
    """The logarithm of a positive fraction too small or too large for a float."""
    return math.log(x.numerator) - math.log(x.denominator)


# ------------------------------------------------------------------ Theorem 2: probabilistic differential privacy


def theorem2_delta(users: int, m: int, lam: Fraction, tau: int, tau_prime: Fraction) -> Decimal:
    """(8): δ = (U m / 2τ) e^(−(τ′−τ)/λ); 1 where it exceeds 1."""
    with localcontext(WIDE):
        return min(Decimal(1), Decimal(users * m) / (2 * tau) * _exp((tau - tau_prime) / lam))


def first_branch(lam: Fraction) -> float:
    """(5), left: τ′ − τ must reach −λ ln(2 − 2e^(−1/λ)), or an absent item tells too much."""
    return -float(lam) * math.log(-2 * math.expm1(-1 / lam))


def theorem2_tau_prime(users: int, m: int, lam: Fraction, tau: int, delta: Fraction) -> float:
    """(5): τ′ = τ + max(first branch, −λ ln(2δτ / U m))."""
    return tau + max(first_branch(lam), -float(lam) * ln(2 * delta * tau / (users * m)))


def best_tau(users: int, m: int, lam: Fraction, delta: Fraction) -> int:
    """The integer τ that makes (5)'s τ′ smallest. Proposition 4 says ⌈λ⌉, which is not always so.

    τ − λ ln τ is convex with its minimum at λ: ⌊λ⌋ or ⌈λ⌉. Where the first branch of (5) is the larger one, from
    τ = U m (1 − e^(−1/λ))/δ on, τ′ grows with τ: then the best is where it takes over, or 1.
    """
    takes_over = users * m * Fraction(-math.expm1(-1 / lam)) / delta
    near = {math.floor(lam), math.ceil(lam)} if takes_over > lam else {math.floor(takes_over), math.ceil(takes_over)}
    return min(sorted({max(1, tau) for tau in near}), key=lambda t: theorem2_tau_prime(users, m, lam, t, delta))


# ------------------------------------------------------------------ Theorem 1: indistinguishability


def theorem1_tau_prime(m: int, epsilon: Fraction, delta: Fraction) -> float:
    """(3) as printed, for τ = 1: τ′ = m (1 − ln(2δ′/m)/ε′). False: it has m/ε′ where λ belongs."""
    return m * (1 - ln(2 * delta / m) / float(epsilon))


def theorem1_delta(m: int, epsilon: Fraction, tau_prime: Fraction) -> Decimal:
    """(3) as printed, solved for δ′ = (m/2) e^(ε′(1 − τ′/m)); 1 where it exceeds 1."""
    with localcontext(WIDE):
        return min(Decimal(1), Decimal(m) / 2 * _exp(epsilon * (1 - tau_prime / m)))


def corrected_tau_prime(m: int, lam: Fraction, delta: Fraction) -> float:
    """(3) corrected: τ′ = m − λ ln(2δ′/m)."""
    return m - float(lam) * ln(2 * delta / m)


def corrected_delta(m: int, lam: Fraction, tau_prime: Fraction) -> Decimal:
    """(3) corrected, solved for δ′ = (m/2) e^((m−τ′)/λ), which is what Table 1 prints; 1 where it exceeds 1."""
    with localcontext(WIDE):
        return min(Decimal(1), Decimal(m) / 2 * _exp((m - tau_prime) / lam))


# ------------------------------------------------------------------ the law that runs


def entering(lam: Fraction, tau: int, threshold: int) -> Decimal:
    """r: the chance that an item whose count just reached τ is released, a^(T−τ)/(1+a) for the rule `>= T`."""
    return release_probability(lam, threshold, tau)


def probabilistic(users: int, m: int, lam: Fraction, tau: int, threshold: int) -> tuple[Fraction, Decimal]:
    """(ε, δ) of the probabilistic guarantee under replace, by the repaired proof, for the integer law.

    ε = 2m max(1/λ, −ln(1−r)): the second is (5)'s first branch, never larger where that holds. δ = 1 − (1−r)^n is the
    chance that one of the n <= U m/τ items with count exactly τ shows; rounded up.
    """
    r, edge = entering(lam, tau, threshold), users * m // tau
    with localcontext(WIDE):
        delta = min(1 - (1 - r) ** edge + SLACK, r * edge * (1 + SLACK), Decimal(1)) if edge else Decimal(0)
        silent = Fraction(-(1 - r).ln())
    return 2 * m * max(1 / lam, silent), delta
