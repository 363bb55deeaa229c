"""The linear relaxation, max Σ x subject to A x <= 1 and 0 <= x <= top: an interior point, or first-order steps.

HiGHS's interior point is exact and slow on large problems; primal-dual steps with one step length per row and column
(Pock and Chambolle 2011) are rough and fast. Either way the upper bound is computed from the prices alone (`exact`).
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from hubbub.mechanisms.optimal.published.exact import grained, left_over, proven
from hubbub.mechanisms.optimal.published.highs import solve
from hubbub.mechanisms.optimal.published.problem import Floats

INTERIOR = 100_000
"""Entries of a matrix up to which the interior point is used."""
ROUND = 50
ENOUGH = 2e-3
"""A relative gap at which first-order steps stop."""


@dataclass(frozen=True)
class Relaxed:
    """A feasible x, the prices y of the rows, and the bound they prove."""

    x: Floats
    prices: Floats
    bound: float

    @property
    def value(self) -> float:
        """Σ x."""
        return float(self.x.sum())


def relax(matrix: sparse.csc_array, top: Floats, seconds: float, near: tuple[Floats, Floats] | None = None) -> Relaxed:
    """Solve the relaxation as well as time allows; the bound holds whenever it ends. Rows as `exact` makes them.

    `near` is an x and prices from which first-order steps start.
    """
    until = time.monotonic() + seconds
    rows, columns = matrix.shape
    best: Relaxed | None = None
    for presolve in ("on", "off") if matrix.nnz <= INTERIOR else ():  # with it, prices may be those of another problem
        model, left = (matrix, np.ones(rows), np.ones(columns)), until - time.monotonic()
        found = solve(*model, top=top, seconds=left, solver="ipm", run_crossover="off", presolve=presolve)
        if found.x is not None and found.duals is not None:
            seen = _certified(matrix, top, found.x, np.abs(found.duals))
            best = seen if best is None or seen.bound < best.bound else best
            if best.bound - best.value <= ENOUGH * best.bound or until < time.monotonic():
                break
    if best is not None:
        return best
    start = (np.zeros(columns), np.full(rows, 0.5)) if near is None else near
    return _steps(matrix, top, until - time.monotonic(), *start)


def feasible(matrix: sparse.csc_array, top: Floats, x: Floats) -> Floats:
    """Shrink every column by the worst of its rows."""
    x = np.clip(x, 0.0, top)
    share = np.minimum(1.0, 1.0 / np.maximum(matrix @ x, 1e-300))
    filled = np.flatnonzero(np.diff(matrix.indptr))
    if filled.size:
        x[filled] *= np.minimum.reduceat(share[matrix.indices], matrix.indptr[filled])
    return x


def _certified(matrix: sparse.csc_array, top: Floats, x: Floats, prices: Floats) -> Relaxed:
    prices = grained(prices)
    left = left_over(matrix, prices)
    bound = proven(prices, left, top)
    if left.size and 0 < left.max() < 0.5:  # raising all prices together may cost less than the columns left over
        raised = grained(prices / (1 - float(left.max())))
        if (other := proven(raised, left_over(matrix, raised), top)) < bound:
            prices, bound = raised, other
    return Relaxed(feasible(matrix, top, x), prices, bound)


def _steps(matrix: sparse.csc_array, top: Floats, seconds: float, x: Floats, y: Floats) -> Relaxed:
    """Primal-dual steps, averaged and restarted; the best bound and the best x are kept."""
    until = time.monotonic() + seconds
    by_row, transposed = matrix.tocsr(), matrix.T.tocsr()
    rows, columns = matrix.shape
    tau = 1.0 / np.maximum(np.asarray(abs(matrix).sum(axis=0)).ravel(), 1e-12)
    sigma = 1.0 / np.maximum(np.asarray(abs(by_row).sum(axis=1)).ravel(), 1e-12)
    best = _certified(matrix, top, x, y)
    value = best.value
    length = 2 * ROUND
    while time.monotonic() < until and best.bound - value > ENOUGH * best.bound:
        sum_x, sum_y = np.zeros(columns), np.zeros(rows)
        for done in range(1, length + 1):
            new = np.clip(x + tau * (1.0 - transposed @ y), 0.0, top)
            y = np.maximum(0.0, y + sigma * (by_row @ (2 * new - x) - 1.0))
            x = new
            sum_x += x
            sum_y += y
            if done % ROUND == 0 and time.monotonic() > until:
                break
        average = sum_x / done, sum_y / done
        for one, two in ((x, y), average):
            seen = _certified(matrix, top, one, two)
            if seen.bound < best.bound:
                best = Relaxed(best.x, seen.prices, seen.bound)
            if seen.value > value:
                best, value = Relaxed(seen.x, best.prices, best.bound), seen.value
        x, y = average  # restart from it
        length = min(2 * length, 3200)
    return best
