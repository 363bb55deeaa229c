"""Trends of a series: the likelihood of missing numbers, the common level, what is listed, and what never is."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import false_discovery_control, norm
from tests.made_up_series import as_published as published

from hubbub.show.series.censored import CensoredCells
from hubbub.show.series.trends import benjamini_hochberg, common_level, find_trends

SD = 10.0
Table = npt.NDArray[np.float64]


def steady(queries: int, periods: int, users: float, seed: int, sd: float = SD) -> Table:
    noise = np.random.default_rng(seed)
    return np.asarray(noise.poisson(users, (queries, periods)) + np.rint(noise.normal(0, sd, (queries, periods))))


def test_the_best_level_is_that_of_the_likelihood() -> None:
    """Against a search along the line, with the likelihood written out by another library."""
    value = np.array([[40.0, np.nan, 35.0, np.nan], [np.nan, np.nan, np.nan, 31.0], [300.0, 310.0, 280.0, 305.0]])
    there = np.array([[True, True, True, False], [True] * 4, [True] * 4])
    cells = CensoredCells(value, np.full((3, 4), 100.0), np.full((3, 4), 30.0), there)
    shape = np.array([1.0, 0.8, 1.2, 1.0])
    found = cells.level(np.broadcast_to(shape, (3, 4)))
    for n in range(3):

        def unlikely(theta: float, n: int = n) -> float:
            total = 0.0
            for t in np.flatnonzero(there[n]):
                law = norm(theta * shape[t], 10)
                total -= law.logcdf(30) if np.isnan(value[n, t]) else law.logpdf(value[n, t])
            return total

        best = minimize_scalar(unlikely, bounds=(0, 1000), method="bounded", options={"xatol": 1e-6})
        assert found[n] == pytest.approx(best.x, rel=1e-4)


def test_a_query_of_which_nothing_is_shown_has_few_users() -> None:
    cells = CensoredCells(np.full((1, 6), np.nan), np.full((1, 6), 100.0), np.full((1, 6), 30.0), np.full((1, 6), True))
    assert 0 <= cells.level(np.ones((1, 6)))[0] < 10


def test_what_rises_falls_and_bursts_is_listed() -> None:
    noisy = steady(40, 12, 300, seed=3)
    noisy[0] += np.arange(12) * 40
    noisy[1] = 700 - np.arange(12) * 50
    noisy[2, 5] += 400
    found = find_trends(published(noisy))
    assert [one.query for one in found.rising][:1] == [0] and found.rising[0].factor == pytest.approx(2.5, rel=0.15)
    assert [one.query for one in found.falling][:1] == [1] and found.falling[0].factor == pytest.approx(0.2, abs=0.08)
    assert [(one.query, one.period) for one in found.bursts][:1] == [(2, 5)]
    assert found.bursts[0].expected == pytest.approx(300, rel=0.1)
    assert found.levelled and found.tested == 40


def test_missing_numbers_count_as_what_they_are() -> None:
    """From below the limit to far above it is a rise, although only half of the numbers are known."""
    noisy = steady(20, 8, 300, seed=4)
    noisy[0] = [0, 5, -3, 2, 200, 210, 190, 205]
    noisy[1] = noisy[0][::-1]
    found = find_trends(published(noisy))
    assert [one.query for one in found.rising] == [0] and [one.query for one in found.falling] == [1]


def test_two_periods_are_enough_for_a_large_change_and_not_for_a_small_one() -> None:
    noisy = steady(30, 2, 400, seed=5)
    noisy[0], noisy[1] = (300, 600), (300, 312)
    found = find_trends(published(noisy))
    assert [one.query for one in found.rising] == [0] and found.bursts == []


def test_what_all_do_together_is_no_trend() -> None:
    """Twice as many users at the end as at the beginning, of every query: the level takes it, and nothing is listed."""
    growth = np.linspace(1, 2, 10)
    noise = np.random.default_rng(11)
    noisy = noise.poisson(400 * growth, (40, 10)) + np.rint(noise.normal(0, SD, (40, 10)))
    numbers = published(noisy)
    level, error, _ = common_level(numbers)
    assert error is not None and np.allclose(level, growth / growth.mean(), rtol=0.05)
    found = find_trends(numbers)
    assert found.rising == found.falling == []
    assert find_trends(published(noisy[:7])).levelled is False


def test_numbers_that_scatter_more_widely_are_trusted_less() -> None:
    noisy = steady(40, 12, 400, seed=7)
    wide = noisy + np.random.default_rng(8).normal(0, 60, noisy.shape)
    assert common_level(published(noisy))[2] < 1.5 < 4 < common_level(published(wide))[2]


@pytest.mark.parametrize("shape", [(0, 3), (5, 1), (1, 2), (5, 4)])
def test_a_series_of_little_or_nothing(shape: tuple[int, int]) -> None:
    found = find_trends(published(np.full(shape, 2.0)))
    assert found.rising == found.falling == [] and not found.bursts and found.tested == 0


def test_queries_of_one_period_are_not_tested() -> None:
    noisy = steady(12, 6, 300, seed=9)
    assert find_trends(published(noisy, came_out=[0] * 10 + [4, 5])).tested == 11


def test_adjusted_as_scipy_does() -> None:
    p = np.random.default_rng(10).random(200) ** 3
    assert np.allclose(benjamini_hochberg(p), false_discovery_control(p, method="bh"))
    assert benjamini_hochberg([]).tolist() == []
    some = np.sort(p)[:50]
    assert np.allclose(benjamini_hochberg(some, 200), false_discovery_control([*some, *[1.0] * 150], method="bh")[:50])


def test_a_number_that_shows_by_luck_is_no_burst() -> None:
    """Steady queries below the limit: of 200 × 12 cells some show by luck, and none of them stands out."""
    noisy = np.random.default_rng(13).normal(65, 31, (200, 12))
    found = find_trends(published(noisy, 31.0))
    assert found.tested > 100 and found.bursts == []
