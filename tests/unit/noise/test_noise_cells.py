"""Cells: table weight times acceptance probability is the law, as an identity between exponents."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from hubbub.noise.gaussian import DiscreteGaussian, discrete_gaussian
from hubbub.noise.laplace import LaplaceSampler, discrete_laplace

SCALES = [Fraction(64), Fraction(200, 3), Fraction(100003, 7), Fraction(10**6), Fraction((1 << 45) + 1, 1 << 12)]
VARIANCES = [Fraction(4096), Fraction(9000), Fraction(10**9, 7), Fraction(25 * 10**12), Fraction((1 << 45) - 1)]
LAWS = [discrete_laplace(scale) for scale in SCALES] + [discrete_gaussian(variance) for variance in VARIANCES]


def exponent(law: LaplaceSampler | DiscreteGaussian, size: int) -> Fraction:
    """e with w(size) = exp(-e)."""
    return size / law.scale if isinstance(law, LaplaceSampler) else Fraction(size * size) / (2 * law.variance)


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_the_coin_completes_the_cell_weight(law: LaplaceSampler | DiscreteGaussian) -> None:
    width = 1 << law._cell_bits
    for h in (0, 1, 37, 500):
        for place in {0, 1, width // 2, width - 1}:
            size = h * width + place
            n = int(law._numerator(np.array([place]), np.array([size]))[0])
            assert Fraction(n, law._denominator) == exponent(law, size) - exponent(law, h * width)


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_the_table_holds_the_cell_weights(law: LaplaceSampler | DiscreteGaussian) -> None:
    lo, hi = law._table._bounds(192)
    width = 1 << law._cell_bits
    with mpmath.workprec(500):
        weight = []
        for h in range(len(lo) + 40 * 64):
            e = exponent(law, h * width)
            weight.append(mpmath.exp(-mpmath.mpf(e.numerator) / e.denominator))
            if weight[-1] < mpmath.ldexp(1, -300):
                break
        total, below = mpmath.fsum(weight), mpmath.mpf(0)
        for low, high, w in zip(lo, hi, weight, strict=False):
            below += w
            assert low <= mpmath.ldexp(below / total, 192) <= high
            assert high - low <= 2


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_cells_are_narrow_enough_for_the_coin(law: LaplaceSampler | DiscreteGaussian) -> None:
    spread = law.scale if isinstance(law, LaplaceSampler) else Fraction(float(law.variance) ** 0.5)
    assert 31 < spread / (1 << law._cell_bits) < 65
    assert law._denominator < 1 << 48
