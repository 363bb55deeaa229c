"""One exact draw at a time, for rationals of any size: where the array samplers do not reach, and few are needed.

The exp(-x) coin is that of bernoulli.py, on Python's integers. `geometric` and `attempt` are the steps of Canonne,
Kamath and Steinke's discrete Gaussian sampler (2020), here around any rational centre. `attempt` tries once and may
come back empty-handed: its chance of giving x is a known constant times exp(-(x - centre)²/(2 variance)), the same
constant for every centre. That is what makes the law of absent.py an identity.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, isqrt

from hubbub.noise.bits import Bits, integer
from hubbub.noise.intervals import exp_neg_bounds

_ONE = Fraction(1)


def uniform(bits: Bits, limit: int) -> int:
    """A uniform integer of range(limit)."""
    while True:
        drawn = integer(bits, (limit - 1).bit_length())
        if drawn < limit:
            return drawn


def exp_neg(bits: Bits, x: Fraction) -> bool:
    """A coin with probability exp(-x), x >= 0."""
    n, d = x.numerator, x.denominator
    while n > d:
        if not exp_neg(bits, _ONE):
            return False
        n -= d
    k = 1
    while uniform(bits, k * d) < n:
        k += 1
    return k % 2 == 1


def geometric(bits: Bits, rate: Fraction) -> int:
    """g = 0, 1, ... with P(g) proportional to exp(-g rate).

    With rate = s/t, n = u + t v has P(n) proportional to exp(-n/t), and g = n // s.
    """
    s, t = rate.numerator, rate.denominator
    while True:
        u = uniform(bits, t)
        if exp_neg(bits, Fraction(u, t)):
            break
    v = 0
    while exp_neg(bits, _ONE):
        v += 1
    return (u + t * v) // s


def attempt(bits: Bits, centre: Fraction, variance: Fraction) -> int | None:
    """Each integer x with probability K exp(-(x - centre)²/(2 variance)), K enclosed by `attempt_bounds`; else None."""
    t = _width(variance)
    up = bool(integer(bits, 1))
    nearest = ceil(centre) if up else ceil(centre) - 1
    steps = geometric(bits, Fraction(1, t))
    x = nearest + steps if up else nearest - steps
    if not exp_neg(bits, abs(nearest - centre) / t):
        return None
    return x if exp_neg(bits, (abs(x - centre) - variance / t) ** 2 / (2 * variance)) else None


def attempt_bounds(variance: Fraction, precision: int) -> tuple[Fraction, Fraction]:
    """lo <= K <= hi for K = (1 - exp(-1/t)) exp(-variance/(2t²)) / 2, the constant of `attempt`."""
    t = _width(variance)
    one = 1 << precision
    step_lo, step_hi = exp_neg_bounds(Fraction(1, t), precision)
    peak_lo, peak_hi = exp_neg_bounds(variance / (2 * t * t), precision)
    return Fraction((one - step_hi) * peak_lo, 2 * one * one), Fraction((one - step_lo) * peak_hi, 2 * one * one)


def _width(variance: Fraction) -> int:
    """The scale of the proposal; K is largest near the standard deviation, any integer above 0 is correct."""
    return isqrt(int(variance)) + 1
