"""optimal: what holds for any problem, and for any limits of uniform integers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.mechanisms.optimal.published import exact, linear
from hubbub.mechanisms.optimal.published.problem import Limit, Problem
from hubbub.mechanisms.optimal.published.rounding import fill, give_back
from hubbub.mechanisms.optimal.published.size import optimum
from hubbub.mechanisms.optimal.sample import sample_users
from hubbub.noise import SeededNoise

LIMITS = st.builds(
    Limit, st.fractions(Fraction(1, 100), 3, max_denominator=100), st.fractions(Fraction(1, 100), Fraction(99, 100))
)


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """Up to six users and six pairs; every pair is held by at least two."""
    entries: list[tuple[int, int, int]] = []
    for j in range(draw(st.integers(1, 6))):
        holders = draw(st.lists(st.integers(0, 5), min_size=2, max_size=5, unique=True))
        entries += [(k, j, draw(st.integers(1, 6))) for k in holders]
    users, pairs, counts = (np.array(column) for column in zip(*entries, strict=True))
    return Problem.of(np.unique(users, return_inverse=True)[1], pairs, counts)


@settings(deadline=None, max_examples=60)
@given(problems(), LIMITS)
def test_no_constraint_is_broken_and_no_bound_passed(problem: Problem, limit: Limit) -> None:
    usable = problem.usable(limit)
    top = np.full(usable.size, 50)
    x = np.zeros(problem.shape[1], np.int64)
    x[usable] = fill(problem.matrix[:, usable], limit.bound, np.zeros(usable.size, np.int64), top)
    x = give_back(problem, x, limit)
    assert problem.broken(x, limit, every=True).size == 0
    assert (
        x.sum() <= limit.bound * optimum(problem, 5).bound * (1 + 1e-6) <= limit.bound * problem.shape[0] * (1 + 1e-6)
    )


@settings(deadline=None, max_examples=40)
@given(problems(), st.lists(st.floats(0, 5), min_size=6, max_size=6))
def test_any_prices_prove_a_bound(problem: Problem, prices: list[float]) -> None:
    rows, top = exact.shares(problem.matrix, 1.0), np.full(problem.shape[1], 3.0)
    grained = exact.grained(np.array(prices[: problem.shape[0]]))
    bound = exact.proven(grained, exact.left_over(rows, grained), top)
    assert linear.relax(rows, top, 5).value <= bound * (1 + 1e-9)
    left = [Fraction(1)] * problem.shape[1]
    for k, j, share in zip(problem.users.tolist(), problem.pairs.tolist(), rows.data.tolist(), strict=True):
        left[j] -= Fraction(share) * Fraction(float(grained[k]))
    true = sum(map(Fraction, grained.tolist())) + sum(3 * max(Fraction(0), rest) for rest in left)
    assert 0 <= Fraction(bound) - true <= true * Fraction(1, 2**48)  # rounded up, and hardly


@settings(deadline=None, max_examples=60)
@given(problems(), st.lists(st.integers(0, 4), min_size=6, max_size=6), st.integers(0, 2**32))
def test_rows_go_to_holders_of_the_pair(problem: Problem, rows: list[int], seed: int) -> None:
    x = np.array(rows[: problem.shape[1]] + [0] * (problem.shape[1] - len(rows)))
    pairs, users = sample_users(problem, x, SeededNoise(seed))
    held = set(zip(problem.pairs.tolist(), problem.users.tolist(), strict=True))
    assert np.bincount(pairs, minlength=x.size).tolist() == x.tolist()
    assert set(zip(pairs.tolist(), users.tolist(), strict=True)) <= held


@settings(max_examples=80)
@given(st.lists(st.integers(1, 2**62), min_size=0, max_size=30), st.integers(0, 2**32))
def test_uniform_integers_stay_below_their_limits(limits: list[int], seed: int) -> None:
    drawn = SeededNoise(seed).below("x", np.array(limits, np.int64))
    assert drawn.size == len(limits) and all(0 <= n < limit for n, limit in zip(drawn.tolist(), limits, strict=True))


def test_uniform_integers_are_uniform() -> None:
    """Chi-square with 6 degrees of freedom; above 40 less than once in a million seeds."""
    counts = np.bincount(SeededNoise(11).below("x", np.full(70_000, 7)), minlength=7)
    assert ((counts - 10_000) ** 2 / 10_000).sum() < 40
