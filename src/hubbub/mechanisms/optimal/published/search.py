"""Local search for whole numbers of rows: take out what was chosen around one user, solve that small problem, go on.

A region is the chosen pairs that are reached from a random user through pairs that few users share. Without them some
pairs fit that did not, and the small problem chooses among these. Its weights are a little uneven, by chance, and what
it finds may be a few rows worse than the best so far (the noising method, Charon and Hudry 1993): so the next region
starts from somewhere else. Regions grow while they are solved to their end quickly and shrink when they are not.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from hubbub.mechanisms.optimal.published.highs import solve
from hubbub.mechanisms.optimal.published.problem import TOLERANCE, Integers
from hubbub.mechanisms.optimal.published.rounding import SEED, fits, owners

QUICK, SLOW = 0.15, 2.0
"""Seconds of solving below which a region may grow, and seconds after which it is given up."""
FEW_USERS = 30
"""Pairs of more users than this reach half the log: a region does not grow through them."""
NARROW = 10
"""A region grows through a tenth as many users at a time as it wants pairs, so that it is close together."""
UNEVEN, ENOUGH, WORSE = 0.2, 0.3, 3
"""By how much weights differ from 1 at most, how near to a region's optimum is enough, and how many rows a solution
may be worse than the best."""


def parts(matrix: sparse.csc_array) -> Integers:
    """Which part every pair is in: a user connects her pairs, and nothing else does."""
    users, pairs = matrix.shape
    edges = matrix.indices, users + owners(matrix)
    graph = sparse.coo_array((np.ones(matrix.nnz, np.int8), edges), (users + pairs, users + pairs))
    found: Integers = np.unique(connected_components(graph, directed=False)[1][users:], return_inverse=True)[1]
    return found.astype(np.int64)


class Best:
    """The best solution of every part that any search has found; searches in two threads may share it."""

    def __init__(
        self, x: Integers, part: Integers | None = None, allowed: Callable[[Integers], bool] = lambda _: True
    ) -> None:
        self.x, self.part, self._allowed = x.copy(), np.zeros(x.size, np.int64) if part is None else part, allowed
        self._lock = threading.Lock()

    @property
    def objective(self) -> int:
        """Σ x."""
        return int(self.x.sum())

    def offer(self, x: Integers) -> bool:
        """Keep the parts in which it is better; False if integers do not allow them."""
        with self._lock:
            better = np.bincount(self.part, x) > np.bincount(self.part, self.x)
            if better.any():
                other = np.where(better[self.part], x, self.x)
                if not self._allowed(other):
                    return False
                self.x = other
            return True


class Search:
    """A solution on its way, and the best one, which it may share with another search. Better is larger Σ x."""

    def __init__(
        self, matrix: sparse.csc_array, bound: float, best: Integers | Best, top: Integers, seed: int = SEED
    ) -> None:
        self.matrix, self.bound, self.top = matrix, bound, top
        self.best = best if isinstance(best, Best) else Best(best)
        self.by_user = matrix.tocsr()
        self.narrow = np.diff(matrix.indptr) <= FEW_USERS
        self.dice = np.random.default_rng(seed)
        self.size = 40.0
        self.x, self.load = self.best.x.copy(), matrix @ self.best.x

    @property
    def objective(self) -> int:
        """Σ x of the best."""
        return self.best.objective

    def run(self, until: float, done: Callable[[int], bool], say: Callable[[int], None]) -> Integers:
        """Improve until the clock says `until`, `done` is content, or a region was the whole problem and solved."""
        ended = False
        while self.matrix.shape[1] and time.monotonic() < until and not ended and not done(self.objective):
            ended = self.step(until)
            say(self.objective)
        return self.best.x

    def step(self, until: float) -> bool:
        """One region; whether it was the whole problem, solved to its end as the solver says (a proof is not its)."""
        if self.x.sum() < self.objective - WORSE:
            self.x, self.load = self.best.x.copy(), self.matrix @ self.best.x  # the other search is ahead
        out = self._region(int(self.size))
        whole = out.size == np.count_nonzero(self.x)
        stays = self.x.copy()
        stays[out] = 0
        slack = self.bound - self.load + self.matrix[:, out] @ self.x[out]
        near = np.arange(stays.size) if whole else self._of(np.unique(self.matrix[:, out].indices))
        free = near[fits(self.matrix[:, near], slack) & (stays[near] < self.top[near])]
        inside = self.matrix[:, free].tocsr()
        before, room = (self.x - stays)[free], (self.top - stays)[free].astype(np.float64)
        rows = np.flatnonzero(inside @ room > slack)  # the other users cannot have too much
        started = time.thread_time()
        found = solve(
            inside[rows].tocsc(),
            slack[rows] + TOLERANCE / 10,
            1 + (0.0 if whole else UNEVEN) * self.dice.random(free.size),
            top=room,
            integer=True,
            start=before.astype(np.float64),
            seconds=min(SLOW, until - time.monotonic()),
            mip_abs_gap=1e-6 if whole else ENOUGH,
        )
        if found.x is not None:
            after = np.rint(found.x).astype(np.int64)
            load = self.load + self.matrix[:, free] @ (after - before)
            better = self.x.sum() + after.sum() - before.sum() >= self.objective - WORSE
            if better and load.max(initial=0.0) <= self.bound + TOLERANCE:
                self.x, self.load = stays, load
                self.x[free] += after
                if not self.best.offer(self.x):  # a tie for floats, and too much for integers: keep away from it
                    self.bound -= 2 * TOLERANCE
                    self.x, self.load = self.best.x.copy(), self.matrix @ self.best.x
        quick = found.status == "Optimal" and time.thread_time() - started < QUICK
        self.size = max(8.0, self.size * (1.05 if quick else 0.92))
        return bool(whole) and found.status == "Optimal"

    def _of(self, users: Integers) -> Integers:
        return np.unique(self.by_user[users].indices)

    def _region(self, size: int) -> Integers:
        """About so many chosen pairs around a random user; all of them if that is few."""
        chosen = self.x > 0
        if size >= np.count_nonzero(chosen):
            return np.flatnonzero(chosen)
        out = np.zeros(chosen.size, np.bool_)
        users = self.dice.integers(self.matrix.shape[0], size=1)
        known = np.zeros(self.matrix.shape[0], np.bool_)
        while users.size:
            known[users] = True
            pairs = self._of(users)
            more = pairs[chosen[pairs] & ~out[pairs]]
            out[self.dice.permutation(more)[: size - np.count_nonzero(out)]] = True
            if np.count_nonzero(out) >= size:
                break
            users = np.unique(self.matrix[:, pairs[self.narrow[pairs]]].indices)
            users = self.dice.permutation(users[~known[users]])[: max(4, size // NARROW)]
        return np.flatnonzero(out)
