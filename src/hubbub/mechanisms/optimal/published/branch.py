"""Branch and bound that trusts no solver: a node is given up only for a bound that its prices prove (`exact`).

The solver proposes prices and places to branch. What it says about bounds, optima and infeasible nodes is not used: all
entries are >= 0, so a node fits nobody exactly if its least x breaks a row or, in integers, somebody's constraint.
With `size` the rows of the output are given: Σ x = size, by a price μ of either sign; a column that nobody counts
fills what is missing, at a penalty, so that every node's relaxation has a solution.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from hubbub.mechanisms.optimal.published.exact import PRICE, grained, left_over, proven
from hubbub.mechanisms.optimal.published.highs import Warm
from hubbub.mechanisms.optimal.published.problem import Floats, Integers
from hubbub.mechanisms.optimal.published.rounding import owners

WHOLE = 1e-6
PENALTY = 16.0
STEEPEST = 2.0
"""The largest |μ|: with it, what is left over of a column is exact."""


@dataclass(frozen=True)
class Packing:
    """Maximise Σ w x over whole numbers x with rows·x <= 1, 0 <= x <= top and, where it is given, Σ x = size."""

    rows: sparse.csc_array
    top: Integers
    worth: Floats
    allowed: Callable[[Integers], bool]
    """Whether x breaks nobody's constraint, in integers."""
    size: int | None = None


class Tree:
    """The nodes that are still open; one is closed if it is not a step better than the best (whole numbers: 1)."""

    def __init__(self, problem: Packing, step: float) -> None:
        self.problem, self.step = problem, step
        rows, worth = problem.rows, problem.worth
        height, width = rows.shape
        upper, lower = np.ones(height), np.full(height, -math.inf)
        if problem.size is not None:
            rows = sparse.vstack([rows, sparse.csc_array(np.ones((1, width)))])
            rows = sparse.hstack([rows, sparse.csc_array(([1.0], ([height], [0])), (height + 1, 1))]).tocsc()
            worth, upper, lower = (
                np.append(worth, -PENALTY),
                np.append(upper, problem.size),
                np.append(lower, problem.size),
            )
        self._relaxed = Warm(rows, upper, worth, lower)
        self._counter = itertools.count()
        self._ones = problem.rows.copy()
        self._ones.data = np.ones(problem.rows.nnz)
        column, held = owners(problem.rows), problem.rows.data > 0
        self._entries = problem.rows.indices[held], column[held], problem.rows.data[held]

    def run(
        self, left: Callable[[], float], best: Callable[[], float], offer: Callable[[Integers], object], bound: float
    ) -> float:
        """A bound of Σ w x, proven by the end: the best, or less than a step more, if the seconds that are left do."""
        top = self.problem.top.astype(np.float64)
        nodes = [(-bound, 0, next(self._counter), np.zeros(top.size), top)]
        while nodes and not self._closed(-nodes[0][0], best()):
            if left() <= 0:
                return -nodes[0][0]
            before, depth, _, low, top = heapq.heappop(nodes)
            seen = self._bounded(low, top, best, offer, left())
            if seen is None:
                continue
            value, x, low, top = seen
            value = min(value, -before)
            if self._closed(value, best()):
                continue
            for one, other in self._split(x, low, top):
                key = -value if self.step < 1 else -math.floor(value)
                heapq.heappush(nodes, (key, depth - 1, next(self._counter), one, other))
        return best() + (0.0 if self.step >= 1 else self.step)

    def _closed(self, bound: float, best: float) -> bool:
        return bound < best + self.step

    def _bounded(
        self, low: Floats, top: Floats, best: Callable[[], float], offer: Callable[[Integers], object], seconds: float
    ) -> tuple[float, Floats, Floats, Floats] | None:
        """The node's bound, the relaxation's x, and the node without columns that cannot help; None if it is done."""
        problem = self.problem
        load = problem.rows @ low
        if load.max(initial=0.0) > 1 or (problem.size is not None and not low.sum() <= problem.size <= top.sum()):
            return None
        top = np.minimum(top, low + self._room(1 - load))
        x, duals = self._relaxed.at(low, top, seconds)
        size = 0 if problem.size is None else problem.size
        free = 0.0
        if problem.size is not None:
            free = float(np.clip(np.rint(duals[-1] / PRICE) * PRICE, -STEEPEST, STEEPEST))
            duals, x = duals[:-1], x[:-1]
        prices = grained(duals)
        left = left_over(problem.rows, prices, problem.worth - free)
        value = proven(prices, left, top, low, free * size)
        wanted = best() + self.step - 1e-9
        stays = value + left < wanted  # one row more than the least of this column is one too many
        needed = value - left < wanted
        top, low = np.where(stays, low, top), np.where(needed & ~stays, top, low)
        one = bool((low == top).all())
        whole = low if one else np.rint(x)
        if (one or np.abs(x - whole).max(initial=0.0) < WHOLE) and problem.size in (None, int(whole.sum())):
            if problem.allowed(whole.astype(np.int64)):
                offer(whole.astype(np.int64))
            elif (whole <= low).all():
                return None
        return None if one else (value, np.clip(x, low, top), low, top)

    def _room(self, slack: Floats) -> Floats:
        """How many more of each column its rows have room for, or more than that."""
        row, column, share = self._entries
        most = np.full(self.problem.top.size, math.inf)
        np.minimum.at(most, column, slack[row] / share)
        return np.floor(most * (1 + 1e-12) + 1e-12)

    def _split(self, x: Floats, low: Floats, top: Floats) -> list[tuple[Floats, Floats]]:
        """Two nodes that leave no whole number between low and top out: x_j <= at, and x_j > at."""
        part = np.maximum(0.0, x - np.floor(x + WHOLE))
        if part.max() > WHOLE:
            far = np.minimum(part, 1 - part)
            far[(far < WHOLE) & (low == 0) & (top > 1) & (x > WHOLE)] = (
                0.5  # none at all, or some: others then have no room
            )
            beside = self._ones.T @ (self._ones @ np.where(part > WHOLE, x, 0.0))
            j = int(np.argmax((1 + np.diff(self.problem.rows.indptr) + beside) * far))
            at = math.floor(x[j]) if part[j] > WHOLE else 0
        else:  # whole already, and yet not allowed or not good enough: the next best place
            j = int(np.argmax(2 * (x > low + WHOLE) + (top > low)))
            at = round(x[j]) - (x[j] > low[j] + WHOLE)
        below, above = top.copy(), low.copy()
        below[j], above[j] = at, at + 1
        return [(low, below), (above, top)]
