"""The judge of the noise tests: exact probabilities from mpmath, a chi-square check, and proof that it can condemn.

Every check in the test_noise files rejects below `LEVEL`; together they make fewer than 100 checks on fresh system
randomness, so a correct sampler fails a whole run with probability below 1e-4. The tests in this file show that the
same check rejects samplers that are wrong in a realistic way.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import isqrt

import mpmath
import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from hubbub.noise import bernoulli
from hubbub.noise.bits import Bits, SystemBits
from hubbub.noise.gaussian import discrete_gaussian
from hubbub.noise.laplace import _boundaries, discrete_laplace
from hubbub.noise.tables import Table

LEVEL = 1e-6
DRAWS = 1_000_000
BITS = SystemBits()

Integers = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]


@lru_cache
def laplace_law(scale: Fraction) -> Reals:
    """P(|x| = h), h = 0, 1, ..., far into the tail."""
    with mpmath.workdps(30):
        a = mpmath.exp(-mpmath.mpf(scale.denominator) / scale.numerator)
        zero = (1 - a) / (1 + a)
        return np.array([float((2 if h else 1) * zero * a**h) for h in range(2 + int(45 * scale))])


@lru_cache
def gaussian_law(variance: Fraction) -> Reals:
    """P(|x| = h), h = 0, 1, ..., far into the tail."""
    with mpmath.workdps(30):
        c = mpmath.mpf(variance.denominator) / (2 * variance.numerator)
        w = [mpmath.exp(-c * h * h) * (2 if h else 1) for h in range(3 + 12 * (1 + isqrt(int(variance))))]
        total = mpmath.fsum(w)
        return np.array([float(x / total) for x in w])


def signed(law: Reals) -> Reals:
    """The law of x on -H..H from the law of |x|."""
    half = law[1:] / 2
    return np.concatenate([half[::-1], law[:1], half])


def histogram(draws: Integers, reach: int) -> Integers:
    """Counts of -reach..reach; draws further out are counted at the ends."""
    return np.bincount(np.clip(draws, -reach, reach) + reach, minlength=2 * reach + 1)


def chi_square(counts: Integers, probabilities: Reals, least: float = 30.0) -> float:
    """p-value of the counts; neighbouring cells are merged until each expects at least `least`."""
    expected = probabilities / probabilities.sum() * counts.sum()
    starts, held = [0], 0.0
    for cell, wanted in enumerate(expected):
        if held >= least:
            starts, held = [*starts, cell], 0.0
        held += wanted
    if held < least:
        starts.pop()
    observed, wished = np.add.reduceat(counts, starts), np.add.reduceat(expected, starts)
    return float(stats.chi2.sf(((observed - wished) ** 2 / wished).sum(), len(starts) - 1))


def law_p_value(draws: Integers, law: Reals) -> float:
    return chi_square(histogram(draws, law.size - 1), signed(law))


def place_p_value(draws: Integers, law: Reals, width: int) -> float:
    """|x| modulo the cell width only: blind to the shape of the law, sharp for the acceptance inside cells."""
    places: Reals = np.bincount(np.arange(law.size) % width, law, width).astype(np.float64)
    return chi_square(np.bincount(np.abs(draws) % width, minlength=width), places)


def test_the_exact_laws_sum_to_one() -> None:
    for law in (laplace_law(Fraction(17, 3)), gaussian_law(Fraction(89, 4)), gaussian_law(Fraction(1, 9))):
        assert law.sum() == pytest.approx(1, abs=1e-12)


def test_merging_keeps_every_count() -> None:
    law = np.array([1e-9, 0.5, 0.5, 1e-9])
    assert chi_square(np.array([0, 500, 500, 0]), law) == pytest.approx(1)
    assert chi_square(np.array([100, 400, 400, 100]), law) == pytest.approx(1)
    assert chi_square(np.array([200, 400, 400, 0]), law) < LEVEL


def test_a_halved_scale_is_condemned() -> None:
    assert law_p_value(discrete_laplace(Fraction(5)).draw(BITS, DRAWS), laplace_law(Fraction(10))) < LEVEL
    assert law_p_value(discrete_gaussian(25).draw(BITS, DRAWS), gaussian_law(Fraction(100))) < LEVEL


def test_a_scale_wrong_by_two_per_cent_is_condemned() -> None:
    assert law_p_value(discrete_laplace(Fraction(51)).draw(BITS, DRAWS), laplace_law(Fraction(50))) < LEVEL
    assert law_p_value(discrete_gaussian(2600).draw(BITS, DRAWS), gaussian_law(Fraction(2500))) < LEVEL


def test_a_table_shifted_by_one_is_condemned() -> None:
    def shifted(precision: int) -> tuple[list[int], list[int]]:
        lo, hi = _boundaries(Fraction(1, 50), direct=True)(precision)
        return lo[1:], hi[1:]

    size = Table(shifted).draw(BITS, DRAWS)
    draws = np.where(np.frombuffer(BITS.take(DRAWS), np.uint8) & 1, size, -size)
    assert law_p_value(draws, laplace_law(Fraction(50))) < LEVEL


def test_zero_drawn_with_both_signs_is_condemned() -> None:
    draws = discrete_laplace(Fraction(5)).draw(BITS, DRAWS)
    twice = np.concatenate([draws, draws[draws == 0]])
    assert law_p_value(twice, laplace_law(Fraction(5))) < LEVEL


def test_cells_without_the_acceptance_coin_are_condemned(monkeypatch: pytest.MonkeyPatch) -> None:
    def always(bits: Bits, numerator: npt.NDArray[np.uint64], denominator: int) -> npt.NDArray[np.bool_]:
        return np.ones(numerator.size, np.bool_)

    monkeypatch.setattr(bernoulli, "exp_neg", always)
    laplace, gaussian = discrete_laplace(Fraction(128)), discrete_gaussian(16384)
    assert place_p_value(laplace.draw(BITS, 6 * DRAWS), laplace_law(Fraction(128)), 4) < LEVEL
    assert place_p_value(gaussian.draw(BITS, 6 * DRAWS), gaussian_law(Fraction(16384)), 4) < LEVEL
