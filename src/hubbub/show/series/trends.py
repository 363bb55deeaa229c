"""Which queries rise, fall or burst: tests on published numbers alone, so that they cost nothing.

*What is compared.* Users in a period, never users to date, which can only grow. All queries may move together, because
more people search, because a period is longer, or because the users' allowance for counts runs out; that common level
is taken out first: it is the median, over the queries that came out in the first period and are far above the noise, of
a query's number by its own mean. Where fewer than eight such queries exist the level is taken to be constant.

*The null.* A query is asked as steadily as the others: its users in period t have the mean θ · level_t. What is
published adds noise of the stated noise_sd, and is missing below three of them. The variance is noise_sd², plus what a
number of users varies by chance (that of Poisson's law), plus the error of the level; and where the numbers of those
first queries scatter more widely than that, all variances are raised by as much.

*Rises and falls.* Against θ · level_t · (1 + b x_t), x from -1 at a query's first period to 1 at its last, b from -1 to
1: the signed root of the likelihood ratio, normal under the null. A missing number counts as what it is, a number below
its limit. *Bursts.* A shown number against the line through all other periods, whatever its slope; missing numbers
count as tests, because a number shows only where it is high.

Each list is cut by Benjamini and Hochberg's procedure: of the queries on it, at most the stated share is expected to be
there by chance. This holds for independent tests; the common level makes them depend a little on each other. What it
comes to is measured on made-up logs (bench/README.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from hubbub.show.series.censored import CensoredCells, Floats, Mask
from hubbub.show.series.published import SeriesNumbers

FALSE = 0.1
"""The share of each list that may be there by chance, in expectation."""
LEAST_FOR_LEVEL = 8
FAR = 6.0
"""A query is far above the noise if its mean is so many noise_sd."""
SLOPES = np.linspace(-1, 1, 41)
STEADY = len(SLOPES) // 2
LEAST_FOR_BURST = 4
"""Periods of a query, at least: a line takes two of them."""


@dataclass(frozen=True)
class QueryTrend:
    """A query that rises or falls: by which factor from its first period to its last, and how sure that is."""

    query: int
    factor: float | None  # None where the line begins at nobody
    adjusted: float  # the smallest share of false discoveries at which it is listed

    @property
    def rises(self) -> bool:
        """Whether more users ask it than at first."""
        return self.factor is None or self.factor > 1


@dataclass(frozen=True)
class QueryBurst:
    """A number far above the line through the other periods of its query."""

    query: int
    period: int
    expected: float
    adjusted: float


@dataclass(frozen=True)
class SeriesTrends:
    """What moved in a series: both lists of queries, bursts, and what the tests had to go on."""

    rising: list[QueryTrend]
    falling: list[QueryTrend]
    bursts: list[QueryBurst]
    level: Floats  # by period, 1 on average
    levelled: bool  # whether there were enough queries to know it
    tested: int


def find_trends(numbers: SeriesNumbers, false: float = FALSE) -> SeriesTrends:
    """Risers, fallers and bursts among the queries of a series."""
    level, error, excess = common_level(numbers)
    rows = np.flatnonzero((numbers.shown.sum(axis=1) >= 1) & (numbers.there.sum(axis=1) >= 2))
    cells = _cells(numbers, rows, level, error, excess)
    slope, root = _slopes(cells, level)
    adjusted = benjamini_hochberg(2 * ndtr(-np.abs(root)))
    listed = [
        QueryTrend(int(rows[n]), _factor(slope[n]), float(adjusted[n]))
        for n in np.lexsort((rows, -np.abs(root)))
        if adjusted[n] <= false and slope[n] != 0
    ]
    return SeriesTrends(
        rising=[trend for trend in listed if trend.rises],
        falling=[trend for trend in listed if not trend.rises],
        bursts=_bursts(cells, level, rows, false, tests=int(numbers.there[_enough(numbers.there)].sum())),
        level=level,
        levelled=error is not None,
        tested=len(rows),
    )


def common_level(numbers: SeriesNumbers) -> tuple[Floats, Floats | None, float]:
    """How all queries move together, the relative error of that, and how much wider than expected they scatter."""
    first = numbers.there.all(axis=1)
    sd = np.where(np.isnan(numbers.sd), np.inf, numbers.sd)
    means = np.where(numbers.shown, numbers.in_period, 0).sum(axis=1) / np.maximum(numbers.shown.sum(axis=1), 1)
    far = first & (numbers.shown.all(axis=1)) & (means >= FAR * sd.max(axis=1, initial=0))
    if far.sum() < LEAST_FOR_LEVEL or numbers.periods < 2:
        return np.ones(numbers.periods), None, 1.0
    value, mean = numbers.in_period[far], means[far][:, None]
    ratio = value / mean
    level = np.median(ratio, axis=0)
    level /= level.mean()
    expected = mean * level
    error = 1.2533 * 1.4826 * np.median(np.abs(ratio - np.median(ratio, axis=0)), axis=0) / np.sqrt(far.sum())
    sigma = np.sqrt(numbers.sd[far] ** 2 + expected) * np.sqrt(1 - 1 / numbers.periods)
    scatter = 1.4826 * float(np.median(np.abs((value - expected) / sigma)))
    return level, np.asarray(error), max(1.0, scatter**2)


def _cells(
    numbers: SeriesNumbers, rows: np.typing.NDArray[np.int64], level: Floats, error: Floats | None, excess: float
) -> CensoredCells:
    """The cells of these queries with the variance that each has if its query is steady."""
    there = numbers.there[rows]
    sd = np.where(there, numbers.sd[rows], 1.0)
    plain = CensoredCells(numbers.in_period[rows], sd**2, np.where(there, numbers.limit[rows], 0.0), there)
    mean = plain.level(np.broadcast_to(level, sd.shape))[:, None] * level
    doubt = np.zeros(len(level)) if error is None else error
    return CensoredCells(plain.value, excess * (sd**2 + mean) + (mean * doubt) ** 2, plain.limit, there)


def _line(there: Mask) -> Floats:
    """The time of each cell: from -1 at its query's first period to 1 at its last."""
    last = there.shape[1] - 1
    first, end = there.argmax(axis=1), last - there[:, ::-1].argmax(axis=1)
    reach = np.maximum(end - first, 1)[:, None]
    return np.asarray(np.clip(2 * (np.arange(last + 1) - first[:, None]) / reach - 1, -1, 1))


def _slopes(cells: CensoredCells, level: Floats) -> tuple[Floats, Floats]:
    """The most likely slope of each query, and the signed root of the likelihood ratio against none."""
    fits, _ = _fits(cells, level)
    best = fits.argmax(axis=0)
    gain = np.maximum(fits.max(axis=0) - fits[STEADY], 0.0)
    slope = SLOPES[best]
    return np.asarray(slope), np.asarray(np.sign(slope) * np.sqrt(2 * gain))


def _fits(cells: CensoredCells, level: Floats) -> tuple[Floats, Floats]:
    """Slopes × queries: the log-likelihood of the best line of each slope, and (× periods) its means."""
    line = _line(cells.there)
    fits, means = [], []
    for slope in SLOPES:
        shape = level * (1 + slope * line)
        means.append(cells.level(shape)[:, None] * shape)
        fits.append(cells.likelihood(means[-1]))
    return np.array(fits), np.array(means)


def _bursts(
    cells: CensoredCells, level: Floats, rows: np.typing.NDArray[np.int64], false: float, tests: int
) -> list[QueryBurst]:
    """Shown numbers that stand out above the line through the other periods of their query.

    A number shows because it is high, so all cells count as tests that could have shown one, also the missing ones.
    """
    found: list[tuple[float, int, int, float]] = []
    enough = _enough(cells.there)
    steadily = _fits(cells, level)[0].max(axis=0)
    for period in range(cells.there.shape[1]):
        some = np.flatnonzero(enough & cells.shown[:, period])
        if not len(some):
            continue
        mine = CensoredCells(cells.value[some], cells.variance[some], cells.limit[some], cells.there[some])
        others, means = _fits(mine.without(period), level)
        best = others.argmax(axis=0)
        expected = means[best, np.arange(len(some)), period]
        gain = np.maximum(others.max(axis=0) - steadily[some], 0.0)
        root = np.where(mine.value[:, period] > expected, 1, -1) * np.sqrt(2 * gain)
        found += zip(ndtr(-root).tolist(), rows[some].tolist(), [period] * len(some), expected.tolist(), strict=True)
    adjusted = benjamini_hochberg(np.array([p for p, *_ in found]), tests)
    listed = [QueryBurst(key, t, m, float(q)) for (_, key, t, m), q in zip(found, adjusted, strict=True) if q <= false]
    return sorted(listed, key=lambda burst: (-burst.period, burst.adjusted, burst.query))


def _enough(there: Mask) -> Mask:
    """Queries with so many periods that one of them can stand out from a line through the others."""
    return np.asarray(there.sum(axis=1) >= LEAST_FOR_BURST)


def _factor(slope: float) -> float | None:
    return None if slope == 1 else float((1 + slope) / (1 - slope))


def benjamini_hochberg(p: Floats | Sequence[float], tests: int | None = None) -> Floats:
    """Adjusted p-values: whoever lists those up to q expects at most a share q of the list to be there by chance.

    `tests` is how many there were, if those that are not given had a p-value of 1.
    """
    given = np.asarray(p, float)
    order = np.argsort(given)
    ranks = np.arange(1, len(given) + 1)
    scaled = np.minimum.accumulate((given[order] * max(tests or 0, len(given)) / ranks)[::-1])[::-1]
    adjusted = np.empty_like(given)
    adjusted[order] = np.minimum(scaled, 1.0)
    return adjusted
