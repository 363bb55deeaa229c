"""The proven upper bound, beside the search: relaxation, then rows for whole numbers, then branch and bound.

Runs in a thread of its own (the solver lets go of Python) and only ever lowers `value`, each time by prices that prove
it (`exact`): what the solver says of a bound is never used. Pairs that no user connects are parts with bounds of their
own, each a whole number. Where branch and bound would not end, the rest of the time goes to a second search.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from typing import Self

import numpy as np
from scipy import sparse

from hubbub.mechanisms.optimal.published.branch import Packing, Tree
from hubbub.mechanisms.optimal.published.cuts import tighten
from hubbub.mechanisms.optimal.published.exact import by_part, grained, left_over, shares
from hubbub.mechanisms.optimal.published.linear import Relaxed, relax
from hubbub.mechanisms.optimal.published.problem import Floats, Integers
from hubbub.mechanisms.optimal.published.rounding import SEED
from hubbub.mechanisms.optimal.published.search import Best, Search

BRANCHED = 10_000
CUT = 1_000_000
"""Entries up to which branch and bound, and rows for whole numbers, are tried."""
Allowed = Callable[[Integers], bool]


class Upper:
    """The largest Σ x that is not excluded yet."""

    def __init__(
        self,
        matrix: sparse.csc_array,
        bound: float,
        top: Integers,
        first: Relaxed,
        until: float,
        best: Best,
        allowed: Allowed,
    ) -> None:
        self.matrix, self.bound, self.top, self.until = matrix, bound, top, until
        self.best, self.allowed = best, allowed
        self.rows, self.first = shares(matrix, bound), first
        self.part, self.parts = best.part, int(best.part.max(initial=-1)) + 1
        self.of = np.full(self.parts, np.iinfo(np.int64).max)
        self.value = whole(first.bound)
        self.lower(self.rows, first.prices)
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join()
        if self._failure is not None:
            raise self._failure

    def stop(self) -> None:
        """What is proven is enough."""
        self.until = 0.0

    @property
    def busy(self) -> bool:
        """Whether it may still be lowered."""
        return self._thread.is_alive()

    def reached(self, objective: int) -> bool:
        """Whether nothing better is left."""
        return objective >= self.value

    def lower(self, rows: sparse.csc_array, prices: Floats) -> None:
        """The bounds that these prices prove, of every part; the old ones where they are better."""
        self._note(np.floor(self._bounds(rows, prices)[0]).astype(np.int64))

    def _note(self, of: Integers) -> None:
        self.of = np.minimum(self.of, of)
        self.value = min(self.value, int(self.of.sum()))

    def _bounds(self, rows: sparse.csc_array, prices: Floats) -> tuple[Floats, Floats]:
        """A bound for every part, and what is left over of every column."""
        prices, by_row = grained(prices), rows.tocsr()
        left = left_over(rows, prices)
        filled = np.flatnonzero(np.diff(by_row.indptr))
        row_part = self.part[by_row.indices[by_row.indptr[filled]]]
        most = np.nextafter(np.maximum(0.0, left) * self.top, math.inf)
        return by_part(row_part, prices[filled], self.parts) + by_part(self.part, most, self.parts), left

    def _run(self) -> None:
        try:
            if self._tighten() and not self.reached(self.best.objective):
                search = Search(self.matrix, self.bound, self.best, self.top, SEED + 1)
                search.run(self.until, lambda n: self.reached(n) or self._left() <= 0, lambda _: None)
        except BaseException as error:  # shown by whoever joins
            self._failure = error

    def _tighten(self) -> bool:
        """Rows, then branches; whether parts are left that are too large for branches."""
        if not self.matrix.shape[1] or self.matrix.nnz > CUT:
            return True
        top = self.top.astype(np.float64)

        def relaxed(rows: sparse.csc_array, near: tuple[Floats, Floats]) -> Relaxed:
            found = relax(rows, top, self._left(), near)
            self.lower(rows, found.prices)
            return found

        def left() -> float:
            return 0.0 if self.reached(self.best.objective) else self._left()

        rows, found = tighten(self.rows, self.top, self.first, relaxed, left)
        return self._branch(rows, found.prices)

    def _branch(self, rows: sparse.csc_array, prices: Floats) -> bool:
        """Branch and bound, part by part, smallest first; whether there were parts too large for it."""
        bounds, left = self._bounds(rows, prices)
        sizes = np.bincount(self.part, np.diff(self.rows.indptr), self.parts)
        columns = np.argsort(self.part, kind="stable")
        starts = np.searchsorted(self.part[columns], np.arange(self.parts + 1))
        large = False
        for p in np.argsort(sizes, kind="stable").tolist():
            held = columns[starts[p] : starts[p + 1]]
            if self.of[p] <= self.best.x[held].sum():
                continue
            if sizes[p] > BRANCHED:
                large = True
                continue
            if self._left() <= 0:
                break
            better = bounds[p] + left[held] >= self.best.x[held].sum() + 1  # no other column is in a better solution
            self._settle(p, held[better], rows, min(float(bounds[p]), float(self.of[p])))
        return large

    def _settle(self, p: int, held: Integers, rows: sparse.csc_array, bound: float) -> None:
        mine = np.flatnonzero(self.part == p)

        def best() -> float:
            return float(self.best.x[mine].sum())

        def full(x: Integers) -> Integers:
            everything = np.zeros(self.top.size, np.int64)
            everything[held] = x
            return everything

        mixed = rows[:, held].tocsr()
        inside = mixed[np.flatnonzero(np.diff(mixed.indptr))].tocsc()
        packing = Packing(inside, self.top[held], np.ones(held.size), lambda x: self.allowed(full(x)))
        found = Tree(packing, 1.0).run(self._left, best, lambda x: self.best.offer(full(x)), bound)
        of = self.of.copy()
        of[p] = min(of[p], math.floor(found))
        self._note(of)

    def _left(self) -> float:
        return max(0.0, self.until - time.monotonic())


def whole(bound: float) -> int:
    """Rows are whole numbers: a bound of 1.5 is a bound of 1."""
    return math.floor(bound)
