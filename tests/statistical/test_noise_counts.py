"""Exact binomials and uniform subsets against their laws. See test_noise_oracles for the level."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from scipy import stats
from tests.statistical.test_noise_oracles import BITS, LEVEL, chi_square

from hubbub.noise import SecureNoise, laplace
from hubbub.noise.binomial import by_digits, by_groups, group_bounds
from hubbub.noise.subset import choose
from hubbub.noise.tables import Table

NOISE = SecureNoise()
SCALE, AT_LEAST, TRIALS = Fraction(7, 2), 2, 60
P = float(np.exp(-AT_LEAST / 3.5) / (1 + np.exp(-1 / 3.5)))


def enclosed(precision: int) -> tuple[int, int]:
    return laplace.tail_bounds(SCALE, AT_LEAST, precision)


def test_binomial_by_digits_has_its_law() -> None:
    drawn = np.bincount([by_digits(BITS, TRIALS, enclosed) for _ in range(8000)], minlength=TRIALS + 1)
    assert chi_square(drawn, stats.binom.pmf(np.arange(TRIALS + 1), TRIALS, P)) > LEVEL
    assert chi_square(drawn, stats.binom.pmf(np.arange(TRIALS + 1), TRIALS, P * 1.05)) < LEVEL


def test_binomial_of_one_group_has_its_law() -> None:
    drawn = np.bincount(Table(group_bounds(TRIALS, enclosed), 16).draw(BITS, 200_000), minlength=TRIALS + 1)
    assert chi_square(drawn, stats.binom.pmf(np.arange(TRIALS + 1), TRIALS, P)) > LEVEL
    assert chi_square(drawn, stats.binom.pmf(np.arange(TRIALS + 1), TRIALS, P * 1.01)) < LEVEL


def test_binomial_of_several_groups_has_its_law() -> None:
    trials = 500  # two groups and a rest
    drawn = np.bincount([by_groups(BITS, trials, enclosed) for _ in range(400)], minlength=trials + 1)
    assert chi_square(drawn, stats.binom.pmf(np.arange(trials + 1), trials, P), 20) > LEVEL


@pytest.mark.parametrize("trials", [10**6, 10**9, 10**10])
@pytest.mark.parametrize("at_least", [-6, 0, 1, 35, 80])
def test_binomial_tail_of_laplace(trials: int, at_least: int) -> None:
    """Few and many trials, thresholds on both sides of 0."""
    a = np.exp(-1 / 3.5)
    p = a**at_least / (1 + a) if at_least > 0 else 1 - a ** (1 - at_least) / (1 + a)
    passed = NOISE.binomial_tail("tail", SCALE, at_least, trials)
    assert min(stats.binom.cdf(passed, trials, p), stats.binom.sf(passed - 1, trials, p)) > LEVEL / 2


@pytest.mark.parametrize("size", [2, 4])
def test_every_subset_is_equally_likely(size: int) -> None:
    subsets = dict.fromkeys(combinations(range(6), size), 0)
    for _ in range(6000):
        subsets[tuple(choose(BITS, 6, size).tolist())] += 1
    counts = np.array(list(subsets.values()))
    assert chi_square(counts, np.ones(15)) > LEVEL
    assert chi_square(counts, np.linspace(0.7, 1.3, 15)) < LEVEL
