"""Whole numbers of rows: fill the slack that is left, and give back what exact arithmetic does not allow.

The greedy rule looks at users, not at loads: with integers, a pair that needs more than half of what a user has left
uses her up. Pairs that use up few users, and users whom few other pairs could use, come first. Every user lets
through the best pair of hers, a pair is taken when all of its users let it through, and so on until nothing fits.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from hubbub.mechanisms.optimal.published.problem import TOLERANCE, Flags, Floats, Integers, Limit, Problem

SEED = 20120330
"""The search may roll dice, but the same ones every time: it is no noise, and nothing is hidden by it."""


def owners(matrix: sparse.csc_array) -> Integers:
    """The pair of every entry of the matrix."""
    return np.repeat(np.arange(matrix.shape[1]), np.diff(matrix.indptr))


def fits(matrix: sparse.csc_array, slack: Floats) -> Flags:
    """Pairs of which one more row leaves everybody within her slack."""
    free = np.ones(matrix.shape[1], np.bool_)
    free[owners(matrix)[matrix.data > slack[matrix.indices] + TOLERANCE]] = False
    return free


def room(matrix: sparse.csc_array, slack: Floats) -> Integers:
    """How many more rows of each pair its users' slack allows."""
    if not matrix.shape[1]:
        return np.zeros(0, np.int64)
    most = (slack[matrix.indices] + TOLERANCE) / matrix.data
    return np.floor(np.minimum.reduceat(most, matrix.indptr[:-1])).astype(np.int64)


def fill(matrix: sparse.csc_array, bound: float, x: Integers, top: Integers, prices: Floats | None = None) -> Integers:
    """Add rows until nothing fits; `prices` (one per user) replace the count of pairs that could use her."""
    x = x.copy()
    dice = np.random.default_rng(SEED)
    slack = bound - matrix @ x
    live = np.flatnonzero(fits(matrix, slack) & (x < top))
    while live.size:
        part = matrix[:, live]
        column = owners(part)
        left = np.maximum(slack[part.indices], TOLERANCE)
        used = np.where(2 * part.data > left + TOLERANCE, 1.0, part.data / left)
        wanted = np.bincount(part.indices, minlength=matrix.shape[0]) ** 2 if prices is None else prices
        score = np.bincount(column, used * wanted[part.indices], live.size) * dice.uniform(1, 1.05, live.size)
        rank = np.empty(live.size, np.int64)
        rank[np.argsort(score, kind="stable")] = np.arange(live.size)
        best = np.full(matrix.shape[0], live.size)
        np.minimum.at(best, part.indices, rank[column])
        refused = np.zeros(live.size, np.bool_)
        refused[column[best[part.indices] < rank[column]]] = True
        taken = live[~refused]
        more = np.minimum(np.maximum(1, room(matrix[:, taken], slack) // 8), top[taken] - x[taken])
        x[taken] += more  # one row, or an eighth of what is left where that is more
        slack -= matrix[:, taken] @ more
        live = live[fits(matrix[:, live], slack) & (x[live] < top[live])]
    return x


def give_back(problem: Problem, x: Integers, limit: Limit) -> Integers:
    """Take rows away from users whose constraint does not hold exactly, until every one does."""
    x = x.copy()
    by_user = problem.matrix.tocsr()
    while (broken := problem.broken(x, limit)).size:
        before = x.copy()
        for k in broken.tolist():
            held = by_user.indices[by_user.indptr[k] : by_user.indptr[k + 1]]
            if (x[held] == before[held]).all():  # else another user's row may have been enough: the next pass knows
                shown = held[x[held] > 0]
                x[shown[np.argmax(problem.hardest[shown])]] -= 1
    return x
