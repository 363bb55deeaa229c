"""SeriesNumbers that are published only from three noise_sd on: what they say about the users behind them.

A cell is a number y, or nothing, which says that y was below a limit. Its law is normal with a known variance around a
mean m: a shown cell has the density of y, a missing one the probability of a number below the limit. The
log-likelihood of both is concave in m, so the best level of a query, m_t = θ · shape_t, is found by Newton's method,
for all queries at once. A query has no negative number of users: θ ≥ 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import log_ndtr

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
STEPS = 25
"""Newton steps at most; five to ten are enough where noise is not everything."""
CLOSE = 1e-6


@dataclass(frozen=True)
class CensoredCells:
    """The cells of some queries, queries × periods: shown, missing below a limit, or not there at all."""

    value: Floats  # nan where nothing is shown
    variance: Floats
    limit: Floats  # a number below it is not shown
    there: Mask  # whether the query was out, and the limit is known

    @property
    def shown(self) -> Mask:
        """CensoredCells with a number."""
        return self.there & ~np.isnan(self.value)

    def without(self, period: int) -> CensoredCells:
        """The same cells but those of one period."""
        there = self.there.copy()
        there[:, period] = False
        return CensoredCells(self.value, self.variance, self.limit, there)

    def likelihood(self, mean: Floats) -> Floats:
        """The log-likelihood of every query if these are the means; constants are left out."""
        return np.asarray(np.where(self.there, self._each(mean), 0.0).sum(axis=1))

    def _each(self, mean: Floats) -> Floats:
        sd = np.sqrt(self.variance)
        hidden = log_ndtr((self.limit - mean) / sd)
        return np.asarray(np.where(self.shown, -0.5 * ((np.nan_to_num(self.value) - mean) / sd) ** 2, hidden))

    def level(self, shape: Floats) -> Floats:
        """The θ ≥ 0 of every query under which its cells are most likely, with means θ · shape."""
        sd = np.sqrt(self.variance)
        shown, hidden, value = self.shown, self.there & ~self.shown, np.nan_to_num(self.value)
        weight = np.where(self.there, shape, 0.0)
        start = np.where(shown, value, np.where(hidden, self.limit / 2, 0.0))
        theta = (start * weight).sum(axis=1) / np.maximum((weight**2).sum(axis=1), CLOSE)
        for _ in range(STEPS):
            mean = theta[:, None] * shape
            at = (self.limit - mean) / sd
            pull = np.exp(-0.5 * at**2 - log_ndtr(at)) / np.sqrt(2 * np.pi)  # the inverse Mills ratio
            slope = np.where(shown, (value - mean) / sd, np.where(hidden, -pull, 0.0)) / sd
            bend = np.where(shown, 1.0, np.where(hidden, pull * (pull + at), 0.0)) / self.variance
            step = (slope * shape).sum(axis=1) / np.maximum((bend * shape**2).sum(axis=1), CLOSE / 1e6)
            before, theta = theta, np.maximum(theta + np.clip(step, -0.7 * theta - 1, 2 * theta + 1), 0.0)
            if (np.abs(theta - before) <= CLOSE * (1 + theta)).all():
                break
        return np.asarray(theta)
