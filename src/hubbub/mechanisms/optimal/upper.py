"""The proven upper bound, beside the search: relaxation, then rows for whole numbers, then branch and bound.

Runs in a thread of its own (the solver lets go of Python) and only ever lowers `value`. Where branch and bound would
not come to its end, the rest of the time goes to a second search.
"""

from __future__ import annotations

import math
import threading
import time
from typing import Self

import numpy as np
from scipy import sparse

from hubbub.mechanisms.optimal.facets import Facets
from hubbub.mechanisms.optimal.highs import solve
from hubbub.mechanisms.optimal.linear import Relaxed, relax
from hubbub.mechanisms.optimal.problem import TOLERANCE, Floats, Integers
from hubbub.mechanisms.optimal.rounding import SEED
from hubbub.mechanisms.optimal.search import Best, Search
from hubbub.mechanisms.optimal.strengthen import Conflicts, whole_rows

WORTH = 2e-4
"""A round of new rows that lowers the bound by less than this, relatively, is the last."""
CHEAP = 0.01
"""While a round gains more than this, cliques are enough; facets cost a small problem a user."""
TIGHT = 0.97
"""New rows that the relaxation fills less than this, at no price, are dropped again."""
BRANCHED = 10_000
CUT = 1_000_000
"""Entries up to which branch and bound, and rows for whole numbers, are tried."""


class Upper:
    """The largest Σ x that is not excluded yet."""

    def __init__(
        self, matrix: sparse.csc_array, bound: float, top: Integers, first: Relaxed, until: float, best: Best
    ) -> None:
        self.matrix, self.bound, self.top, self.until = matrix, bound, top, until
        self.value, self.first, self.best = whole(first.bound), first, best
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join()
        if self._failure is not None:
            raise self._failure

    def reached(self, objective: int) -> bool:
        """Whether nothing better is left."""
        return objective >= self.value

    def lower(self, bound: float) -> None:
        """A new bound; the old one if it is better."""
        if math.isfinite(bound):
            self.value = min(self.value, whole(bound))

    def _run(self) -> None:
        try:
            self._tighten()
            if self.matrix.nnz > BRANCHED:
                search = Search(self.matrix, self.bound, self.best, self.top, SEED + 1)
                search.run(self.until, self.reached, lambda _: None, self.lower)
        except BaseException as error:  # shown by whoever joins
            self._failure = error

    def _tighten(self) -> None:
        if not self.matrix.shape[1] or self.matrix.nnz > CUT:
            return
        always, top = whole_rows(self.matrix, self.bound), self.top.astype(np.float64)
        problem = self.matrix, self.bound, self.top
        conflicts, facets = Conflicts(*problem), Facets(*problem, self.until)
        rows, cuts = always, sparse.csr_array((0, self.top.size))
        more = np.zeros(always.shape[0] - self.matrix.shape[0])
        near = self.first.x, np.concatenate([self.first.prices * self.bound, more])
        before = math.inf
        while self._left() > 0:
            found = relax(rows, np.ones(rows.shape[0]), top, self._left(), near)
            self.lower(found.bound)
            gain, before = 1 - found.bound / before, found.bound
            if gain < WORTH or self._left() <= 0:
                break
            makers = (conflicts,) if gain > CHEAP else (conflicts, facets)
            new = [made for maker in makers if (made := maker.violated(found.x)) is not None]
            if not new:
                break
            filled, known, prices = np.asarray(cuts @ found.x), *np.split(found.prices, [always.shape[0]])
            tight = np.flatnonzero((filled > TIGHT) | (prices > 1 - TIGHT))
            cuts = sparse.vstack([cuts[tight], *new], format="csr")
            rows = sparse.vstack([always, cuts], format="csc")
            more = np.zeros(cuts.shape[0] - tight.size)
            near = found.x, np.concatenate([known, prices[tight], more])
        if self.matrix.nnz <= BRANCHED and self._left() > 0:
            self._branch(rows, top)

    def _branch(self, rows: sparse.csc_array, top: Floats) -> None:
        """Branch and bound; its own heuristics are off, the search beside it is better."""
        loose = np.full(rows.shape[0], 1 + TOLERANCE)
        self.lower(
            solve(
                *(rows, loose, np.ones(rows.shape[1])),
                top=top,
                integer=True,
                start=self.best.x.astype(np.float64),
                seconds=self._left(),
                mip_heuristic_effort=0.0,
                mip_rel_gap=0.0,
            ).bound
        )

    def _left(self) -> float:
        return max(0.0, self.until - time.monotonic())


def whole(bound: float) -> int:
    """Rows are whole numbers: a bound of 1.5 is a bound of 1."""
    return math.floor(bound + 1e-6)
