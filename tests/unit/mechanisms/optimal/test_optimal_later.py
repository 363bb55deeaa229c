"""optimal: what the paper leaves for later, against brute force; and how ε and δ are read."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from tests.unit.mechanisms.optimal.test_optimal import SILENT, edges, everything, made_up

from hubbub.errors import ParameterError
from hubbub.mechanisms import build
from hubbub.mechanisms.optimal.published import frontier
from hubbub.mechanisms.optimal.published.diverse import most_pairs
from hubbub.mechanisms.optimal.published.pack import pack
from hubbub.mechanisms.optimal.published.problem import Limit, rounded_up
from hubbub.mechanisms.optimal.published.size import largest


@pytest.mark.parametrize("goal", ["size", "diverse"])
@pytest.mark.parametrize("seed", range(4))
def test_the_least_b_is_the_least_of_all_solutions(seed: int, goal: str) -> None:
    """Every x of up to two rows per pair is written down; the least B of those that reach the target is found."""
    problem, target = made_up(40 + seed, 9, 8), 4
    ways = np.array(np.meshgrid(*[range(3 if goal == "size" else 2)] * 8)).reshape(8, -1).T
    ways = ways[ways.sum(axis=1) >= target]
    true = float((problem.matrix @ ways.T).max(axis=0).min())
    least = frontier.least_loss(problem, goal, target, 8)
    assert true * (1 - 1e-9) <= least.bound <= true * (1 + frontier.FINEST)
    assert true * (1 - 2 * frontier.FINEST) <= least.none_below <= least.bound
    again = pack(problem, frontier.limit_of(least.bound), goal, 2, SILENT, start=least.x)
    assert again.certificate.objective >= target


def test_least_loss_reaches_its_target_and_nothing_below_can() -> None:
    problem = made_up(3, 30, 40)
    for goal in ("size", "diverse"):
        least = frontier.least_loss(problem, goal, 8, 5)
        assert problem.broken(least.x, frontier.limit_of(least.bound), every=True).size == 0
        assert least.x.sum() >= 8 and 0 < least.none_below <= least.bound
        below = frontier.limit_of(least.none_below * 0.98)
        assert (largest if goal == "size" else most_pairs)(problem, below, 3, SILENT).certificate.objective < 8
    with pytest.raises(ParameterError, match="No B reaches"):
        frontier.least_loss(problem, "diverse", 41, 5)


@pytest.mark.parametrize("seed", range(6))
def test_the_frontier_is_the_frontier_of_all_solutions(seed: int) -> None:
    """No point twice, none that another beats, and with points enough every one there is."""
    problem = made_up(60 + seed, 7, 6, most=2)
    limit = Limit(Fraction(11, 10), Fraction(9, 10))
    all_ = {(sum(x), sum(n > 0 for n in x)) for x in everything(problem, limit)}
    true = sorted(p for p in all_ if not any(q != p and q[0] >= p[0] and q[1] >= p[1] for q in all_))
    found = [(p.rows, p.pairs) for p in frontier.frontier(problem, limit, 8, 4)]
    assert found == true


@pytest.mark.slow
def test_the_frontier_is_all_of_it_where_there_is_a_choice() -> None:
    """One pair of many users, of which many rows fit, beside pairs that use the same users up."""
    problem = made_up(5, 40, 16, most=2)
    limit = Limit(Fraction(3), Fraction(9, 10))
    points = [(p.rows, p.pairs) for p in frontier.frontier(problem, limit, 6, 6)]
    assert len(points) == len(set(points)) > 1
    assert points == sorted(points) and [p[1] for p in points] == sorted((p[1] for p in points), reverse=True)
    assert points[-1][0] == largest(problem, limit, 5, SILENT).certificate.objective
    assert points[0][1] == most_pairs(problem, limit, 5, SILENT).certificate.objective


def test_a_tie_is_not_decided_by_the_last_digit_that_python_prints() -> None:
    """0.6931471805599453 is below ln 2 by 1e-17; as a parameter it is rounded up to 12 digits, and stated so."""
    printed = {"epsilon": repr(math.log(2)), "delta": "0.9", "goal": "diverse"}
    mechanism = build("optimal", printed, variant="published")
    limit = mechanism.limit()  # type: ignore[attr-defined]
    assert most_pairs(edges((0, 1)), limit, 2, SILENT).certificate.objective == 1
    stated = mechanism.claimed().epsilon
    assert stated == 0.693147180560 and limit.epsilon == Fraction("0.693147180560") > math.log(2)
    again = build("optimal", dict(mechanism.settings), variant="published")
    assert again.settings == mechanism.settings  # as a card's check reads it
    third = build("optimal", printed | {"epsilon": 1, "delta": repr(1 / 3)}, variant="published")
    assert third.settings["delta"] == Fraction("0.333333333334")


@pytest.mark.parametrize("text", ["0.7", "1", "1000", "1e-9", "0.999999999999", "123456789012", "1.00000000001e-30"])
def test_twelve_digits_stay_as_they_are(text: str) -> None:
    assert rounded_up(Fraction(text)) == Fraction(text)


def test_more_digits_are_rounded_up_and_once_only() -> None:
    dice = np.random.default_rng(1)
    for _ in range(300):
        value = Fraction(float(dice.lognormal(0, 20)))
        up = rounded_up(value)
        assert 0 <= (up - value) / value < Fraction(1, 10**11) and rounded_up(up) == up
    nines = build("optimal", {"epsilon": 1, "delta": "0." + 15 * "9"}, variant="published").settings["delta"]
    assert isinstance(nines, Fraction) and nines < 1
