"""Cumulative tables and digits behind the exact binomial."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import mpmath
import pytest
from tests.unit.noise.noise_scripted import Scripted

from hubbub.noise import laplace
from hubbub.noise.binomial import Probability, by_digits, fair, group_bounds
from hubbub.noise.bits import SystemBits


def known(p: Fraction) -> Probability:
    return lambda precision: (
        (p.numerator << precision) // p.denominator,
        -((-p.numerator << precision) // p.denominator),
    )


@pytest.mark.parametrize(
    ("n", "p"), [(1, Fraction(1, 3)), (5, Fraction(1, 2)), (40, Fraction(2, 9)), (900, Fraction(1, 97))]
)
@pytest.mark.parametrize("precision", [192, 320])
def test_cumulative_binomial_is_enclosed(n: int, p: Fraction, precision: int) -> None:
    lo, hi = group_bounds(n, known(p))(precision)
    assert lo == sorted(lo)
    assert hi == sorted(hi)
    assert len(lo) <= n + 1
    total = Fraction(0)
    for k, (low, high) in enumerate(zip(lo, hi, strict=True)):
        total += comb(n, k) * p**k * (1 - p) ** (n - k)
        assert low <= total * (1 << precision) <= high
        assert high - low <= 2
    assert 1 - total < Fraction(1, 1 << (precision - 8))


@pytest.mark.parametrize(
    "p", [Fraction(2, 9) - Fraction(1, 1 << 20), Fraction(2, 9), Fraction(2, 9) + Fraction(1, 1 << 20)]
)
def test_a_vague_p_gives_wide_but_true_bounds(p: Fraction) -> None:
    def vague(precision: int) -> tuple[int, int]:
        lo, hi = known(Fraction(2, 9))(precision)
        return lo - (1 << (precision - 20)), hi + (1 << (precision - 20))

    n, total = 40, Fraction(0)
    for k, (low, high) in enumerate(zip(*group_bounds(n, vague)(192), strict=True)):
        total += comb(n, k) * p**k * (1 - p) ** (n - k)
        assert low <= total * (1 << 192) <= high


def test_digits_of_p_decide_one_trial() -> None:
    # p = 0.0110...: first bit 1 fails; 0 then 0 succeeds; 0, 1, 0 succeeds; 0, 1, 1, 1 fails
    p = known(Fraction(3, 8))
    for bits, successes in (([1], 0), ([0, 0], 1), ([0, 1, 0], 1), ([0, 1, 1, 1], 0)):
        assert by_digits(Scripted(bytes(bits)), 1, p) == successes


def test_digits_of_an_unsettled_p_are_refined() -> None:
    def vague(precision: int) -> tuple[int, int]:
        lo, hi = known(Fraction(1, 3))(precision)
        return (lo, hi) if precision > 192 else (0, 1 << 192)

    assert by_digits(Scripted(bytes([1])), 1, vague) == 0
    assert by_digits(Scripted(bytes([0, 0])), 1, vague) == 1


def test_fair_counts_only_the_bits_asked_for() -> None:
    assert fair(Scripted(b"\xff\xff"), 11) == 11
    assert fair(Scripted(b"\x0f\x01"), 16) == 5
    assert fair(SystemBits(), 0) == 0


@pytest.mark.parametrize("scale", [Fraction(1, 50), Fraction(1), Fraction(17, 3), Fraction(100003, 7), Fraction(10**6)])
@pytest.mark.parametrize("at_least", [1, 2, 40, 10**7])
def test_laplace_tail_is_enclosed(scale: Fraction, at_least: int) -> None:
    lo, hi = laplace.tail_bounds(scale, at_least, 192)
    with mpmath.workprec(600):
        a = mpmath.exp(-mpmath.mpf(scale.denominator) / scale.numerator)
        assert lo <= mpmath.ldexp(a**at_least / (1 + a), 192) <= hi
    assert hi - lo <= 2
