"""Draws against the exact laws: scales of every size, the exact fallback, tails, independence.

The level and its family-wise error are stated in test_noise_oracles.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats
from tests.statistical.test_noise_oracles import (
    BITS,
    DRAWS,
    LEVEL,
    chi_square,
    gaussian_law,
    laplace_law,
    law_p_value,
    place_p_value,
)

from hubbub.noise import bernoulli
from hubbub.noise.gaussian import discrete_gaussian
from hubbub.noise.laplace import discrete_laplace
from hubbub.noise.tables import Table

SCALES = [Fraction(1, 5), Fraction(1), Fraction(17, 3), Fraction(50), Fraction(128), Fraction(1003, 7)]
VARIANCES = [Fraction(1, 9), Fraction(1), Fraction(89, 4), Fraction(2500), Fraction(16384), Fraction(100003, 7)]


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_laplace_has_its_law(scale: Fraction) -> None:
    assert law_p_value(discrete_laplace(scale).draw(BITS, DRAWS), laplace_law(scale)) > LEVEL


@pytest.mark.parametrize("variance", VARIANCES, ids=str)
def test_gaussian_has_its_law(variance: Fraction) -> None:
    assert law_p_value(discrete_gaussian(variance).draw(BITS, DRAWS), gaussian_law(variance)) > LEVEL


def test_places_inside_cells() -> None:
    laplace, gaussian = discrete_laplace(Fraction(128)), discrete_gaussian(16384)
    assert place_p_value(laplace.draw(BITS, 6 * DRAWS), laplace_law(Fraction(128)), 4) > LEVEL
    assert place_p_value(gaussian.draw(BITS, 6 * DRAWS), gaussian_law(Fraction(16384)), 4) > LEVEL


@pytest.fixture
def refinements(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Words that had to be refined."""
    seen: list[int] = []
    plain = Table._refine

    def counted(self: Table, bits: object, word: int) -> int:
        seen.append(word)
        return plain(self, BITS, word)

    monkeypatch.setattr(Table, "_refine", counted)
    return seen


@pytest.mark.parametrize("scale", [Fraction(17, 3), Fraction(50), Fraction(128)], ids=str)
def test_laplace_with_short_words_keeps_its_law(scale: Fraction, refinements: list[int]) -> None:
    assert law_p_value(discrete_laplace(scale, word_bits=16).draw(BITS, DRAWS), laplace_law(scale)) > LEVEL
    assert len(refinements) > DRAWS // 2000


@pytest.mark.parametrize("variance", [Fraction(89, 4), Fraction(2500), Fraction(16384)], ids=str)
def test_gaussian_with_short_words_keeps_its_law(variance: Fraction, refinements: list[int]) -> None:
    assert law_p_value(discrete_gaussian(variance, word_bits=16).draw(BITS, DRAWS), gaussian_law(variance)) > LEVEL
    assert len(refinements) > DRAWS // 5000


@pytest.mark.parametrize("scale", [5000, 10**6, 5 * 10**6])
def test_wide_laws_between_integer_cuts(scale: int) -> None:
    """P(x <= c): a closed form for Laplace; for Gauss Φ((c + 1/2)/sigma), whose error at these scales is below 1e-8."""
    even = np.linspace(0, 1, 301)[1:-1]
    cuts = np.rint(stats.laplace.ppf(even) * scale).astype(np.int64)
    a, tail = np.exp(-1 / scale), np.where(cuts >= 0, cuts + 1, -cuts)
    below = np.where(cuts >= 0, 1 - a**tail / (1 + a), a**tail / (1 + a))
    assert cut_p_value(discrete_laplace(Fraction(scale)).draw(BITS, DRAWS), cuts, below) > LEVEL
    cuts = np.rint(stats.norm.ppf(even) * scale).astype(np.int64)
    assert (
        cut_p_value(discrete_gaussian(scale**2).draw(BITS, DRAWS), cuts, stats.norm.cdf((cuts + 0.5) / scale)) > LEVEL
    )


def cut_p_value(draws: npt.NDArray[np.int64], cuts: npt.NDArray[np.int64], below: npt.NDArray[np.float64]) -> float:
    counts = np.bincount(np.searchsorted(cuts, draws, "left"), minlength=cuts.size + 1)
    return chi_square(counts, np.diff(below, prepend=0, append=1))


@pytest.mark.parametrize("modulus", [64, 100])
def test_low_digits_of_wide_laws_are_uniform(modulus: int) -> None:
    flat = np.full(modulus, 1 / modulus)
    for draws in (discrete_laplace(Fraction(10**6)), discrete_gaussian(10**12)):
        assert chi_square(np.bincount(draws.draw(BITS, DRAWS) % modulus, minlength=modulus), flat) > LEVEL


@pytest.mark.parametrize(("scale", "threshold"), [(Fraction(1), 5), (Fraction(10), 40), (Fraction(1000, 3), 1500)])
def test_mass_at_a_threshold(scale: Fraction, threshold: int) -> None:
    """P(Z >= T) = a^T / (1 + a): the probability on which every threshold's delta rests."""
    a = np.exp(-1 / float(scale))
    draws = discrete_laplace(scale).draw(BITS, 2 * DRAWS)
    passed, p = int((draws >= threshold).sum()), a**threshold / (1 + a)
    assert stats.binomtest(passed, draws.size, p).pvalue > LEVEL
    assert stats.binomtest(int((draws <= -threshold).sum()), draws.size, p).pvalue > LEVEL


def test_a_strict_threshold_is_told_from_an_inclusive_one() -> None:
    draws, a = discrete_laplace(Fraction(10)).draw(BITS, 2 * DRAWS), np.exp(-0.1)
    assert stats.binomtest(int((draws > 40).sum()), draws.size, a**40 / (1 + a)).pvalue < LEVEL


@pytest.mark.parametrize(("n", "d"), [(1, 3), (1, 1), (5, 2), (1, (1 << 48) - 1), (1 << 46, (1 << 48) - 1)])
def test_exponential_coin(n: int, d: int) -> None:
    heads = bernoulli.exp_neg(BITS, np.full(DRAWS // 4 if n <= d else 10_000, n, np.uint64), d)
    assert stats.binomtest(int(heads.sum()), heads.size, np.exp(-n / d)).pvalue > LEVEL


def lag_z(draws: npt.NDArray[np.int64], lag: int) -> float:
    """Lag correlation in standard deviations."""
    x = (draws - draws.mean()) / draws.std()
    return float((x[lag:] * x[:-lag]).mean() * np.sqrt(draws.size))


@pytest.mark.parametrize("wide", [False, True])
def test_successive_draws_are_uncorrelated(wide: bool) -> None:
    limit = float(stats.norm.isf(LEVEL / 2))
    laplace = discrete_laplace(Fraction(10**6 if wide else 5)).draw(BITS, DRAWS)
    gaussian = discrete_gaussian(10**12 if wide else 25).draw(BITS, DRAWS)
    for lag in (1, 2, 1 << 17):  # the last is the block length
        assert abs(lag_z(laplace, lag)) < limit
        assert abs(lag_z(gaussian, lag)) < limit
    assert abs(lag_z(gaussian[1:] + gaussian[:-1] // 50, 1)) > limit  # one part in fifty leaking is seen
