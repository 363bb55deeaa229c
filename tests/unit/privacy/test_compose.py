"""Composition: the stated oracles, independent computations, and the safe side everywhere."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.errors import OurBug
from hubbub.privacy.account import Atom, DiscreteLaplace, Gaussian, Generic, Loss, Pure
from hubbub.privacy.compose import basic_sums, compose, gaussian_delta, gaussian_epsilon, loss_record, read_loss

CROWD = Loss(1.0, 1e-6, (Gaussian(Fraction("0.0551572795")),), tv=2.88193e-7 + 1.5e-7)
LAPLACE = Loss(3.0, 0.0, (DiscreteLaplace(Fraction(20), 60),), tv=0.0)


def pure(epsilon: str) -> Loss:
    return Loss(float(epsilon), 0.0, (Pure(Fraction(epsilon)),), tv=0.0)


def laplace_losses(scale: float, keys: int) -> tuple[np.ndarray, np.ndarray]:
    """The loss of `keys` counts with discrete Laplace noise, each moved by one: enumerated and convolved."""
    x = np.arange(-int(60 * scale), int(60 * scale) + 2)
    one, other = np.exp(-np.abs(x) / scale), np.exp(-np.abs(x - 1) / scale)
    steps = np.rint(np.log(one / other) * scale).astype(int)
    law = np.array([one[steps == s].sum() for s in (-1, 0, 1)]) / one.sum()
    total = np.ones(1)
    for _ in range(keys):
        total = np.convolve(total, law)
    return np.arange(-keys, keys + 1) / scale, total


def smallest_epsilon(losses: np.ndarray, law: np.ndarray, delta: float, mu: float = 0.0) -> float:
    """Bisection on the definition: the sum over discrete losses of the hockey stick of the rest."""
    low, high = 0.0, float(losses.max()) + 10 * mu + mu**2
    for _ in range(60):
        middle = (low + high) / 2
        stick = sum(p * gaussian_delta(middle - x, mu) for x, p in zip(losses, law, strict=True))
        low, high = (middle, high) if stick > delta else (low, middle)
    return high


@pytest.mark.parametrize(
    ("n", "delta", "expected"), [(1, 1e-6, 1.0), (2, 2e-6, 1.43), (3, 3e-6, 1.75), (12, 1.2e-5, 3.53)]
)
def test_crowd_releases(n: int, delta: float, expected: float) -> None:
    assert compose([CROWD] * n, delta) == pytest.approx(expected, abs=0.005)


def test_one_release_costs_what_its_own_proof_says() -> None:
    """The tightening inside one release is not reused, so the composed form of one release is worse: 1.02."""
    alone = gaussian_epsilon(1e-6 - CROWD.tv, Fraction("0.0551572795"))
    assert alone == pytest.approx(1.02, abs=0.005)
    assert compose([CROWD], 1e-6) == 1.0
    assert compose([CROWD], 0.9e-6) > alone


def test_sixty_laplace_draws_against_direct_convolution() -> None:
    expected = smallest_epsilon(*laplace_losses(20, 60), 1e-6)
    assert compose([LAPLACE], 0.0) == 3.0
    assert expected == pytest.approx(1.66103, abs=1e-5)
    assert expected <= compose([LAPLACE], 1e-6) <= expected + 1e-6


def test_gaussian_beside_laplace_against_direct_convolution() -> None:
    mixed = [CROWD, Loss(1.0, 0.0, (DiscreteLaplace(Fraction(10), 10),), tv=0.0), CROWD]
    expected = smallest_epsilon(*laplace_losses(10, 10), 3e-6 - 2 * CROWD.tv, math.sqrt(2 * 0.0551572795))
    assert expected <= compose(mixed, 3e-6) <= expected + 1e-6


def test_generic_releases_against_the_optimal_composition_theorem() -> None:
    """Kairouz, Oh and Viswanath 2015, theorem 3.3, at ε' = (k - 2i) ε."""
    k, i, epsilon, delta = 20, 4, 0.1, 1e-8
    stick = sum(math.comb(k, j) * (math.exp((k - j) * epsilon) - math.exp((k - 2 * i + j) * epsilon)) for j in range(i))
    at = 1 - (1 - delta) ** k * (1 - stick / (1 + math.exp(epsilon)) ** k)
    releases = [Loss(epsilon, delta, (Generic(Fraction("0.1"), Decimal("1e-8")),), tv=0.0)] * k
    bound = compose(releases, at)
    assert (k - 2 * i) * epsilon <= bound <= (k - 2 * i) * epsilon + 2e-4


@pytest.mark.parametrize("mu", [1e-3, 0.05, 0.235, 1.0, 3.0, 30.0])
@pytest.mark.parametrize("share", [0.1, 1.0, 4.0, 8.0])
def test_gaussian_delta_against_forty_digits(mu: float, share: float) -> None:
    from mpmath import exp, mp, mpf, ncdf

    epsilon = mu**2 / 2 + share * mu
    with mp.workdps(40):
        m, e = mpf(mu), mpf(epsilon)
        exact = ncdf(m / 2 - e / m) - exp(e) * ncdf(-m / 2 - e / m)
        assert float(gaussian_delta(epsilon, mu) / exact) == pytest.approx(1, rel=1e-9)
        found = mpf(gaussian_epsilon(float(exact), mu**2))
        assert ncdf(m / 2 - found / m) - exp(found) * ncdf(-m / 2 - found / m) <= exact
        assert float(found) == pytest.approx(epsilon, rel=1e-8, abs=1e-8)


def test_edges_of_the_gaussian() -> None:
    assert gaussian_epsilon(1e-6, 0) == 0.0
    assert gaussian_epsilon(0.0, 0.1) == math.inf
    assert 0 < gaussian_epsilon(0.5, 0.01) < 1e-8, "no loss at all, but for the last digits"
    assert gaussian_delta(1.0, 0.0) == 0.0


@pytest.mark.parametrize(("epsilon", "n", "total"), [("1", 2, 2.0), ("0.1", 3, 0.3), ("0.1", 10, 1.0), ("0.7", 7, 4.9)])
def test_decimals_add_as_they_are_written(epsilon: str, n: int, total: float) -> None:
    releases = [pure(epsilon)] * n
    assert compose(releases, 0.0) == total


def test_deltas_add_as_they_are_written() -> None:
    releases = [Loss(1.0, 1e-5, (), tv=0.0)] * 3
    assert basic_sums(releases) == (3.0, 3e-5)
    assert compose(releases, 3e-5) == 3.0
    assert compose(releases, math.nextafter(3e-5, 0)) == math.inf


def test_a_release_without_atoms_is_known_by_its_numbers() -> None:
    bare = [Loss(1.0, 1e-7, (), tv=0.0)] * 5
    known = [Loss(1.0, 1e-7, (Generic(Fraction(1), Decimal("1e-7")),), tv=0.0)] * 5
    assert 4.0 < compose(bare, 1e-4) == compose(known, 1e-4) < 5.0


def test_infinity() -> None:
    assert compose([CROWD, Loss(math.inf, 1.0, (), tv=0.0)], 1e-6) == math.inf
    assert basic_sums([Loss(math.inf, 1.0, (), tv=0.0)]) == (math.inf, 1.0)
    assert compose([CROWD] * 3, 1e-6) == math.inf, "the thresholds alone need more than this δ"
    assert compose([], 0.0) == 0.0


def test_huge_losses_fall_back_to_the_sum() -> None:
    assert compose([pure("700"), pure("2000")], 1e-6) == 2700.0


@pytest.mark.parametrize(
    "loss",
    [
        Loss(-1.0, 0.0, (), 0.0),
        Loss(math.nan, 0.0, (), 0.0),
        Loss(1.0, 1.5, (), 0.0),
        Loss(1.0, 0.0, (), -1e-9),
        Loss(1.0, 0.0, (Gaussian(Fraction(-1)),), 0.0),
        Loss(1.0, 0.0, (DiscreteLaplace(Fraction(1), 0),), 0.0),
        Loss(1.0, 0.0, (Pure(Fraction(-1)),), 0.0),
        Loss(1.0, 0.0, (Generic(Fraction(1), Decimal(2)),), 0.0),
    ],
)
def test_impossible_costs_are_our_bug(loss: Loss) -> None:
    with pytest.raises(OurBug):
        compose([loss], 1e-6)
    with pytest.raises(OurBug):
        compose([], -1.0)


small = st.fractions(min_value=0, max_value=2, max_denominator=1000)
atoms: st.SearchStrategy[Atom] = st.one_of(
    st.builds(Gaussian, small),
    st.builds(DiscreteLaplace, st.fractions(min_value=1, max_value=50, max_denominator=7), st.integers(1, 20)),
    st.builds(Pure, small),
    st.builds(Generic, small, st.sampled_from([Decimal(0), Decimal("1e-9")])),
)


def cost(parts: list[Atom]) -> Loss:
    """A release with a proof of its own: the sum of safe numbers for each part."""
    epsilon = Fraction(0)
    for part in parts:
        match part:
            case Gaussian(mu2):
                epsilon += Fraction(gaussian_epsilon(1e-8, mu2))
            case DiscreteLaplace(scale, keys):
                epsilon += keys / scale
            case Pure(own) | Generic(own, _):
                epsilon += own
    return Loss(float(epsilon) + 1e-9, 1e-7, tuple(parts), tv=1e-8)


losses = st.lists(atoms, min_size=1, max_size=3).map(cost)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.lists(losses, min_size=1, max_size=3), losses, st.sampled_from([0.0, 1e-7, 1e-6, 1e-4]))
def test_more_releases_never_cost_less_and_order_is_nothing(some: list[Loss], more: Loss, delta: float) -> None:
    before, after = compose(some, delta), compose([*some, more], delta)
    assert before <= after + 1e-9
    assert after == compose([more, *reversed(some)], delta)
    assert after <= basic_sums([*some, more])[0] or basic_sums([*some, more])[1] > delta


@given(losses)
def test_losses_survive_as_text(loss: Loss) -> None:
    assert read_loss(loss_record(loss)) == loss


def test_an_unknown_atom_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown atom"):
        read_loss({"epsilon": "1", "delta": "0", "tv": "0", "atoms": [{"atom": "Magic"}]})
