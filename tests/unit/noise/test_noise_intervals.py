"""The enclosure of exp(-x), witnessed by mpmath at a higher precision."""

from __future__ import annotations

from fractions import Fraction
from unittest.mock import patch

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.noise import intervals
from hubbub.noise.intervals import _exp_series, exp_neg_bounds, times_down, times_up


def exact(x: Fraction, precision: int) -> mpmath.mpf:
    with mpmath.workprec(precision + 300):
        return mpmath.ldexp(mpmath.exp(-mpmath.mpf(x.numerator) / x.denominator), precision)


@settings(max_examples=400, deadline=None)
@given(st.fractions(min_value=0, max_value=2000, max_denominator=1 << 50), st.sampled_from([64, 192, 320]))
def test_bounds_enclose_exp_tightly(x: Fraction, precision: int) -> None:
    lo, hi = exp_neg_bounds(x, precision)
    assert lo <= exact(x, precision) <= hi
    assert hi - lo <= 2


@pytest.mark.parametrize("work", range(7, 15))
def test_series_is_enclosed_for_every_short_argument(work: int) -> None:
    for y in range(1 << (work - 7)):
        lo, hi = _exp_series(y, y + 1, work)
        assert lo <= mpmath.ldexp(mpmath.exp(mpmath.ldexp(y, -work)), work)
        assert mpmath.ldexp(mpmath.exp(mpmath.ldexp(y + 1, -work)), work) <= hi


@settings(max_examples=400, deadline=None)
@given(st.fractions(min_value=0, max_value=40, max_denominator=1000), st.integers(8, 40))
def test_rounding_is_outwards_even_without_guard_bits(x: Fraction, precision: int) -> None:
    with patch.object(intervals, "GUARD", 0):
        lo, hi = exp_neg_bounds(x, precision)
    assert lo <= exact(x, precision) <= hi


@pytest.mark.parametrize(
    "x", [Fraction(1, 1 << 200), Fraction(1, 10**6), Fraction(1), Fraction(10**6), Fraction(1 << 100)]
)
def test_bounds_at_extreme_arguments(x: Fraction) -> None:
    lo, hi = exp_neg_bounds(x, 192)
    assert 0 <= lo <= exact(x, 192) <= hi <= 1 << 192
    assert hi - lo <= 2


def test_zero_is_exact_and_negative_is_refused() -> None:
    assert exp_neg_bounds(Fraction(0), 64) == (1 << 64, 1 << 64)
    with pytest.raises(ValueError, match="x >= 0"):
        exp_neg_bounds(Fraction(-1), 64)


@given(st.integers(0, 1 << 80), st.integers(0, 1 << 80), st.integers(1, 64))
def test_products_round_outwards(a: int, b: int, precision: int) -> None:
    down, up = times_down(a, b, precision), times_up(a, b, precision)
    assert down << precision <= a * b <= up << precision
    assert up - down <= 1
