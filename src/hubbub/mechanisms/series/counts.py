"""The numbers beside the keys of a series: users to date, and users in a period. docs/proofs/series.md, section 5.

To date: every (user, key) is counted once. What was counted in run j stands in all later measurements of the key, with
the coefficients of the square root of the matrix of running sums, as integers; so a pair counted in run t has cost
Γ²_{longest − 1 − t} once the series is as long as it may become. In a period: one for each (user, key, period). Both
have a filter for each user over the whole series: what does not fit any more is not counted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import accumulate

import numpy as np

from hubbub.privacy.gaussian import TAU2
from hubbub.steps.counts import Integers

PAIRS = 12
"""A user's budget to date: so many pairs that were counted in the first run."""
SCALE = 1 << 10
SHOWN = 3
"""A number is shown from so many deviations of its noise on: a rule on the noisy value."""


def root(length: int) -> tuple[int, ...]:
    """C̃_j = ⌊2^10 c_j⌋, c_j = binomial(2j, j)/4^j: the first column of the square root of all ones."""
    found, middle = [], 1
    for j in range(length):
        found.append(SCALE * middle // 4**j)
        middle = middle * (2 * (2 * j + 1)) // (j + 1)
    return tuple(found)


@cache
def inverse(length: int) -> tuple[Fraction, ...]:
    """d with d * C̃ = (1, 1, …): running sums of what was counted, from the measurements.

    d_n = e_n/2^(10(n + 1)), and so 2^(10 n) = Σ_i e_i C̃_(n−i) 2^(10(n−1−i)) + e_n in integers.
    """
    c, e = root(length), list[int]()
    for n in range(length):
        known = 0
        for i in range(n):  # Horner's rule: the last e is shifted least
            known = known * SCALE + e[i] * c[n - i]
        e.append(SCALE**n - known)
    return tuple(Fraction(value, SCALE ** (n + 1)) for n, value in enumerate(e))


@dataclass(frozen=True)
class CountConstants:
    """The noise of both numbers, and what one user may add to them."""

    to_date: Fraction
    """μ² of users to date …"""
    in_period: Fraction
    """… and of users in a period."""
    longest: int
    entries: int
    """(key, period) entries of a user in a period's counts, over the whole series."""
    pairs: int = PAIRS
    """(key, user) pairs of a user to date, if all were counted in the first run."""

    @cached_property
    def column(self) -> tuple[int, ...]:
        """C̃ for as long as the series may become."""
        return root(self.longest)

    def price(self, t: int) -> int:
        """Γ²_{longest − 1 − t}: what a pair costs that is counted in run t."""
        return sum(c * c for c in self.column[: self.longest - t])

    @property
    def budget(self) -> int:
        """B_y, of one user."""
        return self.pairs * self.price(0)

    @property
    def to_date_variance(self) -> int:
        """S = ⌈B_y/μ²⌉ + 4."""
        return math.ceil(self.budget / self.to_date) + TAU2

    @property
    def in_period_variance(self) -> int:
        """S = ⌈entries/μ²⌉ + 4."""
        return math.ceil(self.entries / self.in_period) + TAU2

    def everything(self) -> dict[str, object]:
        """Every number that the counts run with: what a plan fixes."""
        return {
            "to_date_variance": self.to_date_variance,
            "in_period_variance": self.in_period_variance,
            "to_date_budget": self.budget,
            "entries": self.entries,
            "column": self.column,
            "shown": SHOWN,
        }

    def estimate(self, measured: list[Integers]) -> tuple[Integers, float]:
        """Users to date from all measurements of keys that came out together, and the deviation of their noise.

        A linear combination of noisy numbers: after the noise, so floats may do it.
        """
        d, last = inverse(self.longest), len(measured) - 1
        total = sum(float(d[last - j]) * y.astype(np.float64) for j, y in enumerate(measured))
        rounded: Integers = np.rint(np.asarray(total)).astype(np.int64)
        return rounded, math.sqrt(self.to_date_variance * self._squares[last])

    @cached_property
    def _squares(self) -> tuple[float, ...]:
        """d_0² + … + d_n² for every n: the variance of an estimate, by that of a measurement."""
        return tuple(float(total) for total in accumulate(x * x for x in inverse(self.longest)))

    @property
    def in_period_sd(self) -> float:
        """The deviation of the noise of users in a period."""
        return math.sqrt(self.in_period_variance)
