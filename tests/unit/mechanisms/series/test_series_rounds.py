"""Rounds of a series: nobody spends more than she has, whatever levels the noise makes; tests are key by key."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from hubbub.errors import OurBug
from hubbub.mechanisms.series.constants import FOREVER, SeriesConstants, selection_constants
from hubbub.mechanisms.series.rounds import (
    ArraySeriesPools,
    SeriesRound,
    SeriesSums,
    late,
    levels,
    passing,
    play,
    roots,
    run_rounds,
    scores,
    spend,
)
from hubbub.noise import SeededNoise
from hubbub.steps.counts import Flags, Integers


class Silent(SeededNoise):
    """No noise at all, and a record of what was asked for."""

    def __init__(self) -> None:
        super().__init__(0)
        self.asked: list[tuple[str, int, int]] = []

    def gaussian(self, step: str, variance: Fraction | int, size: int) -> Integers:
        self.asked.append((step, int(variance), size))
        return np.zeros(size, np.int64)


def plan(greed: Fraction = Fraction(1), periods: int = 4, longest: int = 6) -> SeriesConstants:
    return selection_constants(Fraction(2), Fraction(1, 100), (1,) * periods, longest, greed, 5, Fraction(1))


def none(size: int) -> Flags:
    return np.zeros(size, np.bool_)


@pytest.mark.parametrize("greed", [Fraction(1), Fraction(3, 2), Fraction(2)])
def test_a_user_never_spends_more_than_her_budget_and_all_that_a_round_allows(greed: Fraction) -> None:
    rng, plan_ = np.random.default_rng(1), plan(greed)
    left = np.full(200, plan_.budget, np.int64)
    spent = np.zeros(200, object)
    for t in range(plan_.longest):
        for j, m in enumerate(plan_.multiples(t)):
            n2 = rng.integers(0, 5000, 200) * rng.integers(0, 2, 200)
            unit, after = spend(plan_, t, j, left, n2)
            may = [min(int(x), int(x) * greed.numerator * m // (greed.denominator * plan_.rest(t, j))) for x in left]
            for u, e, n in zip(unit.tolist(), may, n2.tolist(), strict=True):
                if n:
                    assert n * u * u * plan_.common <= e * m < n * (u + 1) ** 2 * plan_.common + plan_.common * n
                else:
                    assert u == 0
            spent += (unit.astype(object) ** 2) * n2.astype(object) * (plan_.common // m)
            assert (after >= 0).all() and ((left - after) >= 0).all()
            left = after
        assert all(Fraction(int(x), plan_.budget) <= plan_.spent(t) for x in spent)
    assert all(x <= plan_.budget for x in spent)


@pytest.mark.parametrize("greed", [Fraction(1), Fraction(2)])
def test_a_key_of_one_user_never_gathers_more_than_its_threshold_counts_for(greed: Fraction) -> None:
    """Without noise, for scores that an adversary chose round by round, over every window."""
    rng, plan_ = np.random.default_rng(2), plan(greed)
    keys, users = 60, 60
    left, gathered = np.full(users, plan_.budget, np.int64), SeriesSums.nothing(keys)
    largest = 0.0
    for t in range(plan_.longest):
        for j in range(len(plan_.multiples(t))):
            score = rng.integers(0, 21, users) * rng.integers(0, 2, users)
            score[0] = 20  # and one who never sits out
            unit, left = spend(plan_, t, j, left, score**2)
            gathered = gathered.plus(score * unit)
        for window in plan_.windows(t):
            bound = plan_.mean(t, plan_.window_mass(t, window, 5))
            largest = max(largest, int(gathered.window(window).max()) / bound)
            assert int(gathered.window(window).max()) <= bound
        assert not passing(plan_, t, gathered).any()
        gathered = gathered.next_run()
    assert largest > 0.99  # the bound is nearly reached


def test_a_test_is_at_or_above_the_threshold() -> None:
    plan_ = plan()
    at = plan_.threshold(2, plan_.window_mass(2, 1, 5))
    zero = np.zeros(3, np.int64)
    gathered = SeriesSums(zero - 10**9, (zero, zero), np.array([at - 1, at, at + 1]))
    assert passing(plan_, 2, gathered).tolist() == [False, True, True]


def test_every_window_is_the_sum_of_its_runs() -> None:
    runs = [np.array([10**k]) for k in range(12)]
    gathered = SeriesSums.nothing(1)
    for y in runs[:-1]:
        gathered = gathered.plus(y).next_run()
    gathered = gathered.plus(runs[-1])
    for window in (1, 2, 3, 4, 6, 8):
        assert gathered.window(window) == sum(runs[-window:])
    assert gathered.window(FOREVER) == sum(runs)


def test_late_noise_is_the_noise_of_every_earlier_round() -> None:
    """The same laws in the same runs as for a key that was there from the start, and nothing else."""
    plan_, asked, early = plan(), Silent(), Silent()
    found = late(plan_, 3, 7, asked)
    pools = ArraySeriesPools(np.zeros(0, np.int64), np.zeros(0, np.int64), none(0), 1, 7)
    start = SeriesRound(SeriesSums.nothing(7), np.full(1, plan_.budget, np.int64))
    for t in range(3):
        *_, start = run_rounds(plan_, t, pools, start, none(7), early)
        start = SeriesRound(start.gathered.next_run(), start.left)
    assert [(v, n) for _, v, n in asked.asked] == [(v, n) for _, v, n in early.asked]
    assert len(found.recent) == len(start.gathered.recent) == 3
    assert len({name for name, _, _ in asked.asked}) == 15  # a stream of its own for each


def test_late_sums_of_a_run_have_the_variance_of_its_rounds() -> None:
    plan_ = plan()
    found = late(plan_, 2, 20_000, SeededNoise(3))
    for run in found.recent:
        assert np.var(run) == pytest.approx(20 * plan_.variance, rel=0.05)  # five deviations of the estimate
    assert abs(np.corrcoef(found.recent[0], found.recent[1])[0, 1]) < 0.04
    assert (found.before == found.recent[0] + found.recent[1]).all()


def test_noise_falls_on_every_known_key_in_every_round() -> None:
    plan_, noise = plan(), Silent()
    pools = ArraySeriesPools(np.array([0]), np.array([0]), np.array([True]), 1, 9)
    out = none(9)
    out[3] = True
    start = SeriesRound(SeriesSums.nothing(9), np.full(1, plan_.budget, np.int64))
    list(run_rounds(plan_, 0, pools, start, out, noise))
    assert noise.asked == [(f"run 0 round {j}", m * plan_.variance, 9) for j, m in enumerate(plan_.multiples(0))]


def test_keys_that_are_out_count_for_nothing() -> None:
    plan_ = plan()
    gathered = SeriesSums.nothing(2).plus(np.array([10**7, 10**7]))
    for j in range(5):
        old, new = scores(plan_, 1, j, gathered.next_run() if j == 0 else gathered, np.array([False, True]))
        assert old[1] == new[1] == 0
        assert j or (old[0] > 0 and new[0] > 0)


def test_levels_follow_from_sums_alone() -> None:
    """Neither the order of keys nor when they were first seen enters."""
    plan_, rng = plan(), np.random.default_rng(4)
    parts = [rng.normal(0, 10**6, 50).astype(np.int64) for _ in range(4)]
    gathered = SeriesSums(parts[0] + parts[1], (parts[1], parts[0]), parts[2])
    order = rng.permutation(50)
    turned = SeriesSums(gathered.before[order], tuple(x[order] for x in gathered.recent), gathered.now[order])
    assert (levels(plan_, 2, 3, gathered)[order] == levels(plan_, 2, 3, turned)).all()


def test_others_see_a_user_through_sums_only() -> None:
    """With noise fixed for each key and round, one user more changes no other user's spending while sums are equal."""
    plan_ = plan()
    user, key = np.array([0, 0, 1, 2, 2]), np.array([0, 1, 1, 2, 3])
    with_v = ArraySeriesPools(user, key, np.ones(5, np.bool_), 3, 4)
    without = ArraySeriesPools(user[:3], key[:3], np.ones(3, np.bool_), 3, 4)
    start = SeriesRound(SeriesSums.nothing(4), np.full(3, plan_.budget, np.int64))
    one, other = (play(plan_, 0, 0, pools, start, none(4), SeededNoise(5)) for pools in (with_v, without))
    assert (one.left[:2] == other.left[:2]).all() and one.left[2] < other.left[2]
    assert (one.gathered.now[:2] == other.gathered.now[:2]).all()


def test_a_purse_below_zero_is_a_bug() -> None:
    plan_ = plan()
    with pytest.raises(OurBug, match="more than she had"):
        spend(plan_, 0, 0, np.array([-5]), np.array([0]))


def test_roots_are_exact() -> None:
    x = np.array([0, 1, 2, 3, 4, 2**52 - 1, 2**52, (2**30 + 1) ** 2 - 1, (2**30 + 1) ** 2], np.int64)
    assert roots(x).tolist() == [0, 1, 1, 1, 2, 2**26 - 1, 2**26, 2**30, 2**30 + 1]
