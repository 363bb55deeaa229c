"""Facets of one user's constraint: the strongest rows that it alone gives for whole numbers.

Of the pairs that a fractional x uses, every whole-numbered v that this user's B allows is written down. A linear
problem finds the π >= 0 with π·v <= 1 for all of them and π·x largest (the polar of their hull): above 1, the row
Σ π_j x_j <= 1 cuts x off, and no solution. Her other pairs are lifted in one by one, each with the largest coefficient
that keeps the row valid. Shares of B are multiples of 2^-26 and π of 2^-20, so that every sum and comparison is exact.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from hubbub.mechanisms.optimal.published.highs import solve
from hubbub.mechanisms.optimal.published.problem import Floats, Integers

USED = 1e-4
VIOLATED = 1.005
MOST = 2000
"""Ways to fill a user's B that are written down; pairs beyond that are lifted."""
GRID = 2.0**-20
"""Coefficients are multiples of this."""


class Facets:
    """The rows that x violates, at most one per user."""

    def __init__(self, shares: sparse.csc_array, top: Integers, left: Callable[[], float]) -> None:
        self.by_user, self.top, self.left = shares.tocsr(), top, left

    def violated(self, x: Floats) -> sparse.csr_array | None:
        """Rows with right-hand side 1; None if x is in everybody's hull. Ends early when time is up."""
        shares = self.by_user.copy()
        shares.data = (x / self.top)[shares.indices]
        crowded = np.flatnonzero(shares.sum(axis=1) > 1 + GRID)  # at most 1: a mixture of single pairs, so inside
        pairs, weights = [], []
        for k in crowded.tolist():
            if self.left() <= 0:
                break
            span = slice(self.by_user.indptr[k], self.by_user.indptr[k + 1])
            held = self.by_user.indices[span]
            row = facet(self.by_user.data[span], self.top[held], x[held])
            if row is not None:
                pairs.append(held[row > 0])
                weights.append(row[row > 0])
        if not pairs:
            return None
        starts = np.cumsum([0, *(p.size for p in pairs)])
        return sparse.csr_array((np.concatenate(weights), np.concatenate(pairs), starts), (len(pairs), x.size))


def facet(need: Floats, top: Integers, x: Floats) -> Floats | None:
    """The π of the facet that x violates most, for all of a user's pairs; None if x is in the hull."""
    used = np.flatnonzero(x > USED)
    used = used[np.argsort(-need[used] * x[used], kind="stable")]
    ways, load, chosen = _ways(need, top, used)
    more = (ways < top[chosen]) & (1 - load[:, None] >= need[chosen])
    full = ways[~more.any(axis=1)]
    found = solve(sparse.csc_array(full), np.ones(full.shape[0]), x[chosen], seconds=5.0, presolve="off")
    if found.x is None:
        return None
    weights = np.maximum(0.0, found.x)
    weights /= max(1.0, float((full @ weights).max()))
    if float(weights @ x[chosen]) <= VIOLATED:
        return None
    row = np.zeros(need.size)
    near = np.rint(weights / GRID) * GRID
    row[chosen] = near if float((full @ near).max()) <= 1 else _down(weights)
    if float((full @ row[chosen]).max()) > 1:
        return None
    front = _front(load, ways @ row[chosen])
    rest = np.setdiff1d(np.arange(need.size), chosen)
    for j in rest[np.lexsort((-need[rest], -x[rest]))].tolist():
        times = np.arange(1, int(top[j]) + 1)
        times = times[times * need[j] <= 1]
        beside = front[1][np.searchsorted(front[0], 1 - times * need[j], side="right") - 1]
        row[j] = _down(((1.0 - beside) / times).min())
        if row[j] > 0:
            load = np.concatenate([front[0], *(front[0] + n * need[j] for n in times)])
            value = np.concatenate([front[1], *(front[1] + n * row[j] for n in times)])
            front = _front(load[load <= 1], value[load <= 1])
    return row


def _down(weights: Floats) -> Floats:
    return np.floor(np.maximum(0.0, weights) / GRID) * GRID


def _ways(need: Floats, top: Integers, order: Integers) -> tuple[Floats, Floats, Integers]:
    """Every way to take whole numbers of rows within B, of as many of these pairs as there is space for."""
    ways, load = np.zeros((1, 0)), np.zeros(1)
    chosen: list[int] = []
    for j in order.tolist():
        times = np.arange(int(top[j]) + 1)
        loads = load[:, None] + times * need[j]
        old, n = np.nonzero(loads <= 1)
        if old.size > MOST:
            continue
        ways, load = np.column_stack([ways[old], times[n]]), loads[old, n]
        chosen.append(j)
    return ways, load, np.array(chosen, np.int64)


def _front(load: Floats, value: Floats) -> tuple[Floats, Floats]:
    """The most value for every load: by load, values strictly rising."""
    order = np.lexsort((-value, load))
    load, value = load[order], value[order]
    best = np.maximum.accumulate(value)
    rises = np.concatenate([[True], value[1:] > best[:-1]])
    return load[rises], value[rises]
