"""The odometer: the stated numbers, and a stopping adversary computed by a dynamic programme."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pytest

from hubbub.audit.checks.adaptive import needed_at_the_best_stop
from hubbub.privacy.account import DiscreteLaplace, Gaussian, Generic, Loss, Pure
from hubbub.privacy.compose import compose
from hubbub.privacy.odometer import grid_epsilon, odometer

MU2 = Fraction("0.0551572795")
CROWD = Loss(1.0, 1e-6, (Gaussian(MU2),), tv=4.2462046e-7)


@pytest.mark.parametrize(
    ("releases", "delta", "expected"),
    [
        (1, "1e-6", 1.2081),
        (2, "1e-6", 1.7257),
        (3, "1e-6", 2.1922),
        (12, "1e-6", 4.5451),
        (24, "1e-6", 6.6060),
        (12, "1e-5", 4.1739),
    ],
)
def test_the_grid(releases: int, delta: str, expected: float) -> None:
    assert grid_epsilon(MU2 * releases, Fraction(delta)) == pytest.approx(expected, abs=1e-4)


def test_beyond_the_last_point_the_sums_remain() -> None:
    wide = Loss(40.0, 1e-6, (Gaussian(Fraction(20)),), tv=0.0)
    assert math.isinf(grid_epsilon(Fraction(20), Fraction("1e-6")))
    assert odometer([wide]) == (40.0, 2e-6)


def test_the_smaller_of_both_at_the_sum_of_what_they_need() -> None:
    assert odometer([CROWD])[0] == 1.0
    assert odometer([CROWD])[1] == pytest.approx(2.42462046e-6, rel=1e-12)
    epsilon, delta = odometer([CROWD] * 12)
    assert epsilon == pytest.approx(4.5451, abs=1e-4)
    assert delta == pytest.approx(12e-6 + 1e-6 + 12 * 4.2462046e-7, rel=1e-12)


def test_without_gaussian_noise_first_the_sums_are_the_number() -> None:
    pure = Loss(0.1, 0.0, (Pure(Fraction(1, 10)),), tv=0.0)
    assert odometer([pure] * 3) == (0.3, 0.0)
    assert odometer([pure, *[CROWD] * 12]) == (12.1, 1.2e-5), "the first release decides, before its output"
    assert odometer([]) == (0.0, 0.0)
    assert odometer([Loss(math.inf, 1.0, (), tv=0.0)]) == (math.inf, 1.0)


def test_other_noise_counts_beside_the_gaussian() -> None:
    laplace = Loss(1.0, 0.0, (DiscreteLaplace(Fraction(20), 20),), tv=0.0)
    generic = Loss(0.5, 1e-7, (Generic(Fraction(1, 2), Decimal("1e-7")),), tv=0.0)
    some = [CROWD] * 6
    epsilon, delta = odometer(some)
    more, same = odometer([*some, laplace])
    assert epsilon < more < epsilon + 1.0 and same == delta
    added, wider = odometer([*some, generic])
    assert added == pytest.approx(epsilon + 0.5, rel=1e-12)
    assert wider == pytest.approx(delta + 2e-7, rel=1e-12), "its δ counts for the sums and for the grid"


def test_what_no_price_is_safe_for_is_added() -> None:
    huge = Loss(2500.0, 0.0, (DiscreteLaplace(Fraction(1, 5), 500),), tv=0.0)
    assert odometer([CROWD, huge])[0] >= 2500


def test_no_stopping_rule_beats_it_and_one_beats_the_sum_decided_in_advance() -> None:
    """Twelve equal Gaussian releases, thresholds aside: 6.4 δ where `compose` so far is printed."""
    mu2 = float(MU2)
    valid = [(odometer([CROWD] * n)[0], odometer([CROWD] * n)[1]) for n in range(1, 13)]
    assert needed_at_the_best_stop(mu2, valid) <= valid[-1][1]
    alone = [Loss(9.0, 1e-6, (Gaussian(MU2),), tv=0.0)] * 12
    naive = [(compose(alone[:n], 1e-6), 1e-6) for n in range(1, 13)]
    assert needed_at_the_best_stop(mu2, naive) == pytest.approx(6.384e-6, rel=0.01)
