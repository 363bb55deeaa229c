"""exp(-x) for rational x, and π, enclosed between two integers.

Everything rests on integer products and quotients rounded outwards, so the enclosure is a theorem and not an
estimate; mpmath is used only in the tests, as an independent witness.
"""

from __future__ import annotations

from fractions import Fraction

GUARD = 32
"""Extra bits carried inside a computation, so that the enclosure comes out about one unit wide."""


def times_down(a: int, b: int, precision: int) -> int:
    """Fixed-point product of non-negative a and b, rounded down."""
    return (a * b) >> precision


def times_up(a: int, b: int, precision: int) -> int:
    """Fixed-point product of non-negative a and b, rounded up."""
    return -((-a * b) >> precision)


def exp_neg_bounds(x: Fraction, precision: int) -> tuple[int, int]:
    """Integers lo <= 2^precision exp(-x) <= hi, for x >= 0.

    exp(-x) = (1 / exp(y))^(2^j) with y = x / 2^j <= 2^-7; the series of exp(y) has positive terms only.
    """
    if x < 0:
        raise ValueError(f"exp_neg_bounds needs x >= 0, got {x}")
    if x == 0:
        return 1 << precision, 1 << precision
    work = precision + GUARD
    one = 1 << work
    halvings = (x.numerator // x.denominator).bit_length() + 7
    y_lo = (x.numerator << work) // (x.denominator << halvings)
    series_lo, series_hi = _exp_series(y_lo, y_lo + 1, work)
    lo, hi = (one * one) // series_hi, min(one, -((-one * one) // series_lo))
    for _ in range(halvings):
        lo, hi = times_down(lo, lo, work), times_up(hi, hi, work)
    return lo >> GUARD, -(-hi >> GUARD)


def pi_bounds(precision: int) -> tuple[int, int]:
    """Integers lo <= 2^precision π <= hi, from Machin's π = 16 arctan(1/5) - 4 arctan(1/239)."""
    work = precision + GUARD
    five_lo, five_hi = _arctan_series(5, work)
    other_lo, other_hi = _arctan_series(239, work)
    return (16 * five_lo - 4 * other_hi) >> GUARD, -((4 * other_lo - 16 * five_hi) >> GUARD)


def _arctan_series(n: int, work: int) -> tuple[int, int]:
    """Bounds of 2^work arctan(1/n), n >= 2: each term is off by less than one unit, and so is all that is left out."""
    power, total, k = (1 << work) // n, 0, 0
    while power:
        total += (-1) ** k * (power // (2 * k + 1))
        power //= n * n
        k += 1
    return total - k - 1, total + k + 1


def _exp_series(y_lo: int, y_hi: int, work: int) -> tuple[int, int]:
    """Bounds of 2^work exp(y), y_lo <= 2^work y <= y_hi, y <= 2^-7 + 2^-work.

    Once the upper term is one unit, all later terms together are below one unit (each is at most y times the last).
    """
    term_lo = term_hi = sum_lo = sum_hi = 1 << work
    k = 1
    while term_hi > 1:
        term_lo = times_down(term_lo, y_lo, work) // k
        term_hi = -(-times_up(term_hi, y_hi, work) // k)
        sum_lo += term_lo
        sum_hi += term_hi
        k += 1
    return sum_lo, sum_hi + 1
