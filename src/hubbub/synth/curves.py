"""Distributions as tables: equal steps of probability, straight lines between.

A draw costs one look-up, and it takes only additions and multiplications, which every processor rounds alike.
Table entries are rounded to 9 digits, so that the last bit of another machine's `exp` does not change a log.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from statistics import NormalDist

import numpy as np

from hubbub.synth.hashing import Floats, Ints

CELLS = 1 << 14


class QuantileTable:
    """The inverse of a distribution function at 0, 1/CELLS, …, 1."""

    def __init__(self, quantiles: Floats) -> None:
        self._low = np.array([float(f"{value:.9g}") for value in quantiles[:-1].tolist()])
        self._step = np.append(self._low[1:], float(f"{quantiles[-1]:.9g}")) - self._low

    def __call__(self, uniform: Floats) -> Floats:
        """The quantiles of these probabilities."""
        at = uniform * CELLS
        cell = at.astype(np.int32)
        at -= cell
        at *= self._step[cell]
        at += self._low[cell]
        return np.asarray(at)


class Ranks:
    """Ranks 1, 2, …, drawn with a density that is piecewise linear in ln(rank). Flat is Zipf's law."""

    def __init__(self, knots: Sequence[float], density: Sequence[float], split: float | None = None) -> None:
        grid = np.linspace(knots[0], knots[-1], 4096)
        total = _integral(grid, np.interp(grid, knots, density))
        self._table = QuantileTable(np.exp(np.interp(np.linspace(0, 1, CELLS + 1), total, grid)))
        self.head = 0.0 if split is None else float(np.interp(split, grid, total))

    def __call__(self, uniform: Floats) -> Ints:
        """The ranks at these probabilities."""
        return self._table(uniform).astype(np.int64)

    def tilted(self, uniform: Floats, head: Floats) -> Ints:
        """The same distribution, but with probability `head` in all for the ranks below the split."""
        low = uniform * (self.head / head)
        high = self.head + (uniform - head) * ((1 - self.head) / (1 - head))
        return self(np.where(uniform < head, low, high))


@cache
def lognormal(mu: float, sigma: float) -> QuantileTable:
    """The lognormal distribution, without its outermost 1/CELLS."""
    law = NormalDist(mu, sigma)
    inner = np.clip(np.arange(CELLS + 1) / CELLS, 0.5 / CELLS, 1 - 0.5 / CELLS)
    return QuantileTable(np.exp(np.array([law.inv_cdf(p) for p in inner.tolist()])))


@cache
def beta(concentration: float) -> QuantileTable:
    """The symmetric beta distribution."""
    grid = np.linspace(0, 1, 4097)
    total = _integral(grid, (grid * (1 - grid)) ** (concentration - 1))
    return QuantileTable(np.interp(np.linspace(0, 1, CELLS + 1), total, grid))


def cumulative(weights: Sequence[float]) -> Floats:
    """Cumulative probabilities: choice i takes the interval of [0, 1) that ends at the i-th number."""
    total = np.cumsum(np.asarray(weights, float))
    return np.asarray(total / total[-1])


def choose(ends: Floats, uniform: Floats) -> Ints:
    """Which choice each number of [0, 1) falls into; a number past the last end gives one choice more."""
    return np.searchsorted(ends, uniform, side="right").astype(np.int64)


def _integral(grid: Floats, density: Floats) -> Floats:
    """The distribution function of a density on a grid."""
    total = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2 * np.diff(grid))])
    return np.asarray(total / total[-1])
