"""What steps cost, by a second computation: brute force, mpmath, and the notes' figures."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal
from fractions import Fraction

import mpmath
import pytest

from hubbub.errors import OurBug, ParameterError
from hubbub.privacy.account import (
    Domain,
    Step,
    loss_of,
    read_step,
    release_probability,
    round_up,
    smallest_threshold,
    threshold_delta,
    total_delta,
)


def tail(b: Fraction, m: int) -> mpmath.mpf:
    """P(Z >= m) by adding up the law."""
    with mpmath.workdps(50):
        a = mpmath.exp(-mpmath.mpf(b.denominator) / b.numerator)
        return mpmath.nsum(lambda x: (1 - a) / (1 + a) * a ** abs(x), [m, mpmath.inf])


@pytest.mark.parametrize("b", [Fraction(1, 2), Fraction(1), Fraction(10), Fraction(7, 3)])
@pytest.mark.parametrize("count", [-1, 0, 3, 4, 5, 9])
def test_release_probability_is_the_tail_including_the_threshold(b: Fraction, count: int) -> None:
    expected = tail(b, 4 - count)
    assert math.isclose(float(release_probability(b, 4, count)), float(expected), rel_tol=1e-12)


def brute_force(b: Fraction, threshold: int, l0: int, l1: int, linf: int) -> float:
    """Every way to spread at most l1 over at most l0 keys."""
    r = [float(release_probability(b, threshold, m)) for m in range(linf + 1)]
    spreads = (m for k in range(1, l0 + 1) for m in itertools.product(range(1, linf + 1), repeat=k) if sum(m) <= l1)
    return max(1 - math.prod(1 - r[i] for i in m) for m in spreads)


@pytest.mark.parametrize(
    ("l0", "l1", "linf"), [(1, 1, 1), (3, 3, 1), (3, 3, 3), (4, 4, 3), (4, 6, 2), (5, 5, 5), (2, 6, 4)]
)
@pytest.mark.parametrize(
    ("b", "threshold"), [(Fraction(1), 4), (Fraction(3), 5), (Fraction(1, 2), 8), (Fraction(5), 2)]
)
def test_threshold_delta_is_the_worst_spread(b: Fraction, threshold: int, l0: int, l1: int, linf: int) -> None:
    expected = brute_force(b, threshold, l0, l1, linf)
    assert math.isclose(float(threshold_delta(b, threshold, l0, l1, linf)), expected, rel_tol=1e-9)


@pytest.mark.parametrize("d", [1, 3, 20])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1), Fraction(4)])
@pytest.mark.parametrize("delta", ["1e-5", "1e-8"])
def test_smallest_threshold_matches_the_closed_form(d: int, epsilon: Fraction, delta: str) -> None:
    """T = 1 + ⌈b ln(1/((1+a)p))⌉, p = 1-(1-δ)^(1/d)."""
    b = d / epsilon
    with mpmath.workdps(50):
        a = mpmath.exp(-mpmath.mpf(b.denominator) / b.numerator)
        p = 1 - (1 - mpmath.mpf(delta)) ** (mpmath.mpf(1) / d)
        expected = 1 + int(mpmath.ceil(mpmath.mpf(b.numerator) / b.denominator * mpmath.log(1 / ((1 + a) * p))))
    found = smallest_threshold(b, Decimal(delta), d, d, 1)
    assert found == expected
    assert threshold_delta(b, found, d, d, 1) <= Decimal(delta) < threshold_delta(b, found - 1, d, d, 1)


def test_the_continuous_threshold_would_break_delta() -> None:
    """K = 1 + b ln(1/(2p)) with `>= ⌈K⌉`, as one library has it, exceeds δ: the mass at the threshold."""
    broken = 0
    for d, epsilon, delta in itertools.product((1, 5, 20), (0.5, 1.0, 2.0, 8.0), (1e-5, 1e-6, 1e-8)):
        b = Fraction(d / epsilon)
        p = 1 - (1 - delta) ** (1 / d)
        naive = math.ceil(1 + float(b) * math.log(1 / (2 * p)))
        broken += threshold_delta(b, naive, d, d, 1) > Decimal(delta)
    assert broken > 5


@pytest.mark.parametrize(
    ("b", "threshold", "l0", "l1", "linf"),
    [(Fraction(1), 1, 100, 100, 1), (Fraction(1, 50), 1, 20, 20, 20), (Fraction(1, 50), 1, 20, 20, 1)],
)
def test_a_low_threshold_costs_no_more_than_certainty(b: Fraction, threshold: int, l0: int, l1: int, linf: int) -> None:
    """Rounding up must not pass 1, and 0^0 is 1: nothing shows among no keys."""
    found = threshold_delta(b, threshold, l0, l1, linf)
    assert 1 - Decimal("1e-9") < found <= 1
    both = loss_of([step(scale=b, threshold=threshold, l0=l0, l1=l1, linf=linf)] * 2)
    assert both.delta == both.tv == 1.0


def test_deltas_add_without_rounding_down() -> None:
    """1e-5 and 1e-39 are more than 1e-5, in sixty digits and as a float."""
    steps = [step(scale=Fraction(1), threshold=t, l0=1, l1=1) for t in (12, 90)]
    with mpmath.workdps(80):
        a = mpmath.exp(-1)
        exact = (a**11 + a**89) / (1 + a)
        assert mpmath.mpf(loss_of(steps).delta) >= exact
        assert mpmath.mpf(str(total_delta(steps))) >= exact


def test_the_example_card() -> None:
    assert smallest_threshold(Fraction(10), Decimal("1e-7"), 20, 20, 1) == 186


def test_the_2017_papers_run_on_integers() -> None:
    """b = 1, K = 20: the integer rule "> 20" gives 4.29e-8 over two tables, ">= 20" 1.17e-7."""
    for threshold, expected in ((21, 4.29e-8), (20, 1.17e-7)):
        sessions = threshold_delta(Fraction(1), threshold, 4, 4, 3)
        clicks = threshold_delta(Fraction(1), threshold, 4, 4, 4)
        assert math.isclose(float(sessions + clicks), expected, rel_tol=0.02)


def step(**changes: object) -> Step:
    """A step to break."""
    facts: dict[str, object] = {
        "name": "queries",
        "scale": Fraction(10),
        "threshold": 186,
        "l0": 20,
        "l1": 20,
        "linf": 1,
        "domain": Domain.OPEN,
        "proof": "docs/proofs/korolova.md",
    }
    return Step(**(facts | changes))  # type: ignore[arg-type]


def test_a_step_survives_the_card() -> None:
    assert read_step(step(scale=Fraction(20, 3)).record()) == step(scale=Fraction(20, 3))


@pytest.mark.parametrize(
    "changes",
    [
        {"threshold": None},
        {"scale": Fraction(0)},
        {"l0": 0},
        {"l1": 21},
        {"noise": "gaussian-in-floats"},
    ],
)
def test_what_cannot_be_accounted_for_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(OurBug):
        step(**changes)


def test_a_mechanism_without_steps_has_no_guarantee() -> None:
    with pytest.raises(OurBug):
        loss_of([])


def test_delta_outside_its_range_is_refused() -> None:
    with pytest.raises(ParameterError):
        smallest_threshold(Fraction(1), Decimal(1), 1, 1, 1)


def test_rounding_goes_up() -> None:
    assert round_up(Fraction(1, 3)) >= 1 / 3
    assert Fraction(round_up(Fraction(1, 10) + Fraction(1, 10**30))) >= Fraction(1, 10)
    assert round_up(Fraction(1, 2)) == 0.5
