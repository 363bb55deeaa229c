"""How often a trend is listed that is none: on numbers of which the truth is known.

The tests draw with fixed seeds; the bounds are far enough from what is expected that other seeds would pass too.
"""

from __future__ import annotations

import numpy as np
import pytest
from tests.made_up_series import as_published

from hubbub.show.series.published import SeriesNumbers
from hubbub.show.series.trends import FALSE, find_trends

PERIODS, QUERIES, SD = 12, 250, 31.0


def drawn(seed: int, changed: float) -> tuple[SeriesNumbers, np.typing.NDArray[np.float64]]:
    """Queries of 5 to 1,500 users, a share of which rises or falls by a factor of nine; small ones come out late."""
    noise = np.random.default_rng(seed)
    users = np.exp(noise.uniform(np.log(5), np.log(1500), QUERIES))
    slope = np.where(noise.random(QUERIES) < changed, noise.choice([-0.8, 0.8], QUERIES), 0.0)
    level = np.linspace(0.85, 1.15, PERIODS)
    mean = users[:, None] * level * (1 + slope[:, None] * np.linspace(-1, 1, PERIODS))
    noisy = noise.poisson(mean) + np.rint(noise.normal(0, SD, mean.shape))
    rank = np.argsort(np.argsort(-users))
    came_out = np.where(rank < 40, 0, noise.integers(0, PERIODS, QUERIES))
    return as_published(noisy, SD, came_out.tolist()), slope


def test_steady_queries_are_hardly_ever_listed() -> None:
    """Where nothing changes, a list that is not empty is a false discovery: in at most a tenth of all series, each."""
    found = [find_trends(drawn(seed, 0.0)[0]) for seed in range(20)]
    assert sum(bool(one.rising or one.falling) for one in found) <= 7  # 20 × 0.1 = 2; 8 or more: once in 2,000
    assert sum(bool(one.bursts) for one in found) <= 7


@pytest.mark.parametrize("changed", [0.05, 0.3])
def test_false_discoveries_are_few_and_most_changes_are_found(changed: float) -> None:
    false, listed, could, right = [], 0, 0, 0
    for seed in range(6):
        numbers, slope = drawn(100 + seed, changed)
        found = find_trends(numbers)
        signs = [(one.query, 1.0) for one in found.rising] + [(one.query, -1.0) for one in found.falling]
        wrong = sum(slope[query] * sign <= 0 for query, sign in signs)
        false.append(wrong / max(1, len(signs)))
        listed, right = listed + len(signs), right + len(signs) - wrong
        large = numbers.shown.sum(axis=1) >= 4
        could += int(((slope != 0) & large).sum())
    assert np.mean(false) <= FALSE
    assert right >= 0.6 * could and listed > 15
