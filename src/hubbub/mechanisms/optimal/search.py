"""Local search for whole numbers of rows: free the pairs around one user, solve that small problem exactly, go on.

A region is what can be reached from a random user through pairs that few users share. Everything outside stays, so
the small problem has the slack that is left there; its optimum is at least as good as what it replaces. Regions grow
while they are solved to their end quickly and shrink when they are not.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np
from scipy import sparse

from hubbub.mechanisms.optimal.highs import solve
from hubbub.mechanisms.optimal.problem import TOLERANCE, Flags, Integers
from hubbub.mechanisms.optimal.rounding import SEED, fits

QUICK, SLOW = 0.1, 2.0
"""Seconds of computing below which a region may grow, and seconds after which it is given up."""
FEW_USERS = 30
"""Pairs of more users than this reach half the log: a region does not grow through them."""


class Search:
    """The best solution so far, and its regions. Better is larger Σ x."""

    def __init__(self, matrix: sparse.csc_array, bound: float, x: Integers, top: Integers) -> None:
        self.matrix, self.bound, self.x, self.top = matrix, bound, x.copy(), top
        self.by_user = matrix.tocsr()
        self.load = matrix @ x
        self.narrow = np.diff(matrix.indptr) <= FEW_USERS
        self.dice = np.random.default_rng(SEED)
        self.size = 400.0
        self.rounds = 0

    @property
    def objective(self) -> int:
        """Σ x."""
        return int(self.x.sum())

    def run(
        self,
        until: float,
        done: Callable[[int], bool],
        say: Callable[[int], None],
        proven: Callable[[float], None] = lambda _: None,
    ) -> Integers:
        """Improve until the clock says `until`, or `done` is content with the objective.

        A region that is the whole problem, solved to its end, is an upper bound, too: `proven` is told.
        """
        while self.matrix.shape[1] and time.monotonic() < until and not done(self.objective):
            proven(self.step(until))
            self.rounds += 1
            say(self.objective)
            if self.rounds > 3 and self.size >= 4 * self.matrix.shape[1]:
                break  # the whole problem was a region, more than once
        return self.x

    def step(self, until: float) -> float:
        """One region; an upper bound of the whole problem if it was all of it, else infinity."""
        started, computed = time.monotonic(), time.thread_time()
        region = self._region(int(self.size))
        part = self.matrix[:, region]
        slack = self.bound - self.load + part @ self.x[region]
        free = fits(part, slack)
        inside = part[:, free].tocsr()
        rows = np.flatnonzero(np.diff(inside.indptr))
        found = solve(
            inside[rows].tocsc(),
            slack[rows] + TOLERANCE / 10,
            np.ones(inside.shape[1]),
            top=self.top[region[free]].astype(np.float64),
            integer=True,
            start=self.x[region[free]].astype(np.float64),
            seconds=min(SLOW, until - started),
        )
        if found.x is not None:
            self._accept(region, free, part, np.rint(found.x).astype(np.int64))
        quick = found.status == "Optimal" and time.thread_time() - computed < QUICK
        self.size = max(50.0, self.size * (1.05 if quick else 0.92))
        whole = region.size == self.matrix.shape[1] and found.status == "Optimal"
        return found.bound if whole else math.inf

    def _accept(self, region: Integers, free: Flags, part: sparse.csc_array, found: Integers) -> None:
        new = np.zeros(region.size, np.int64)
        new[free] = found
        load = self.load + part @ (new - self.x[region])
        if new.sum() >= self.x[region].sum() and load.max(initial=0.0) <= self.bound + TOLERANCE:
            self.x[region], self.load = new, load

    def _region(self, size: int) -> Integers:
        """About so many pairs around a random user."""
        if size >= self.matrix.shape[1]:
            return np.arange(self.matrix.shape[1])
        reached = np.zeros(self.matrix.shape[1], np.bool_)
        users = self.dice.integers(self.matrix.shape[0], size=1)
        known = users
        while users.size:
            pairs = np.unique(self.by_user[users].indices)
            pairs = pairs[~reached[pairs]]
            room = size - int(reached.sum())
            if pairs.size >= room:
                reached[self.dice.permutation(pairs)[:room]] = True
                break
            reached[pairs] = True
            users = np.setdiff1d(self.matrix[:, pairs[self.narrow[pairs]]].indices, known)
            known = np.union1d(known, users)
        return np.flatnonzero(reached)
