"""OpenDP's samplers as an independent oracle: two samples, one law. See test_noise_oracles for the level."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt
import opendp.prelude as dp
import pytest
from scipy import stats
from tests.statistical.test_noise_oracles import BITS, LEVEL, histogram

from hubbub.noise.gaussian import discrete_gaussian
from hubbub.noise.laplace import discrete_laplace

THEIRS = 40_000
OURS = 1_000_000


@pytest.fixture(scope="module", autouse=True)
def contrib() -> None:
    dp.enable_features("contrib")


def opendp_laplace(scale: float) -> npt.NDArray[np.int64]:
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    return np.array(dp.m.make_laplace(*space, scale=scale)([0] * THEIRS))


def opendp_gaussian(scale: float) -> npt.NDArray[np.int64]:
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="i64")
    return np.array(dp.m.make_gaussian(*space, scale=scale)([0] * THEIRS))


def same_law_p_value(ours: npt.NDArray[np.int64], theirs: npt.NDArray[np.int64]) -> float:
    """Two-sample chi-square on cells that hold at least about 30 of the smaller sample."""
    cuts = np.unique(np.quantile(ours, np.linspace(0, 1, 41)).astype(np.int64))
    table = np.array([np.bincount(np.searchsorted(cuts, x), minlength=cuts.size + 1) for x in (ours, theirs)])
    table = table[:, table.sum(axis=0) > 200]
    return float(stats.chi2_contingency(table).pvalue)


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(11, 2)], ids=str)
def test_laplace_agrees_with_opendp(scale: Fraction) -> None:
    theirs = opendp_laplace(float(scale))
    assert same_law_p_value(discrete_laplace(scale).draw(BITS, OURS), theirs) > LEVEL
    assert same_law_p_value(discrete_laplace(scale * Fraction(10, 11)).draw(BITS, OURS), theirs) < LEVEL


@pytest.mark.parametrize("sigma", [2, 150])
def test_gaussian_agrees_with_opendp(sigma: int) -> None:
    theirs = opendp_gaussian(float(sigma))
    assert same_law_p_value(discrete_gaussian(sigma**2).draw(BITS, OURS), theirs) > LEVEL
    assert same_law_p_value(discrete_gaussian(Fraction(sigma**2 * 5, 6)).draw(BITS, OURS), theirs) < LEVEL


def test_small_noise_agrees_with_opendp_value_by_value() -> None:
    ours, theirs = discrete_laplace(Fraction(1, 2)).draw(BITS, OURS), opendp_laplace(0.5)
    table = np.array([histogram(x, 4) for x in (ours, theirs)])
    assert stats.chi2_contingency(table).pvalue > LEVEL
