"""F-UMP: frequent pairs keep their share of the log, with |O| rows in all (Section 5.2), as it is printed.

A pair is frequent if c_j/|D| >= s; its target is τ_j = |O| c_j/|D| rows. −|x_j − τ_j| is concave in whole numbers, so a
pair is three columns: rows below the target are worth +1, the row across it 2(τ_j − ⌊τ_j⌋) − 1, rows above it −1, and
rows of other pairs 0. The objective is 1 − ½ Σ |x_j/|O| − c_j/|D||, at most 1; the sum is the paper's Equation 5.

`cap`: other pairs stay below s·|O|, so that no pair is frequent in the output that was not in the input (precision 1).
The paper observes that but its problem does not imply it. What the cap costs is said beside the result.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from scipy import sparse

from hubbub.errors import ParameterError
from hubbub.mechanisms.optimal.published.branch import STEEPEST, Packing, Tree
from hubbub.mechanisms.optimal.published.certificate import certify
from hubbub.mechanisms.optimal.published.cuts import tighten
from hubbub.mechanisms.optimal.published.exact import GRAIN, PRICE, grained, left_over, proven, shares
from hubbub.mechanisms.optimal.published.highs import solve
from hubbub.mechanisms.optimal.published.linear import ENOUGH, Relaxed
from hubbub.mechanisms.optimal.published.pack import Say, Solved, pack, tops
from hubbub.mechanisms.optimal.published.problem import Floats, Integers, Limit, Problem
from hubbub.mechanisms.optimal.published.rounding import fill, give_back
from hubbub.privacy.existence import Cause

BRANCHED = 300_000
"""Entries up to which whole numbers are searched for beyond rounding."""
FINE = 1e-7
"""Values of the objective that differ by less than this are one."""


@dataclass(frozen=True)
class Columns:
    """The model's columns: pairs below, across and above their target; then pairs that are not frequent."""

    pair: Integers
    worth: Floats
    top: Integers


def frequent(problem: Problem, support: Fraction) -> Integers:
    """The pairs with c_j/|D| >= s."""
    return np.flatnonzero(problem.totals * support.denominator >= problem.size * support.numerator)


def columns_of(problem: Problem, limit: Limit, size: int, support: Fraction, *, cap: bool = False) -> Columns:
    """Every usable pair's columns; worths rounded up."""
    usable = problem.usable(limit)
    often = np.isin(usable, frequent(problem, support))
    pairs, room, whole = usable[often], np.minimum(tops(problem, limit, usable), size), problem.size
    low = size * problem.totals[pairs] // whole
    parts = [Fraction(size * int(c) % whole, whole) for c in problem.totals[pairs]]
    across = np.array([math.ceil((2 * part - 1) / Fraction(GRAIN)) * GRAIN for part in parts])
    rest = np.minimum(room[~often], math.ceil(support * size) - 1) if cap else room[~often]
    kinds = (
        (pairs, np.ones(pairs.size), np.minimum(low, room[often])),
        (pairs, across, np.clip(room[often] - low, 0, 1)),
        (pairs, -np.ones(pairs.size), np.maximum(room[often] - low - 1, 0)),
        (usable[~often], np.zeros(rest.size), rest),
    )
    pair, worth, top = (np.concatenate(column) for column in zip(*kinds, strict=True))
    return Columns(pair[top > 0], worth[top > 0], top[top > 0].astype(np.int64))


def keep_frequent(
    problem: Problem, limit: Limit, size: int, support: Fraction, seconds: float, say: Say, *, cap: bool = False
) -> Solved:
    """|O| = `size` rows whose frequent pairs have the shares they had, as nearly as the constraints allow."""
    if not cap:
        return _Model(problem, limit, size, support, seconds, say, cap=False).solve()
    printed = _Model(problem, limit, size, support, seconds / 2, say, cap=False).solve()
    capped = _Model(problem, limit, size, support, seconds / 2, say, cap=True).solve()
    cost = f"without the cap {printed.certificate.objective:.6g} is reached ({printed.certificate.note})"
    return Solved(capped.x, replace(capped.certificate, note=f"{capped.certificate.note}; {cost}"))


def distance(problem: Problem, x: Integers, size: int, support: Fraction) -> Fraction:
    """Σ |x_j/|O| − c_j/|D|| over frequent pairs (Equation 5)."""
    pairs = frequent(problem, support)
    ratios = zip(x[pairs].tolist(), problem.totals[pairs].tolist(), strict=True)
    return sum((abs(Fraction(n, size) - Fraction(c, problem.size)) for n, c in ratios), Fraction(0))


class _Model:
    """One problem on its way: relaxation, rounding, whole numbers, proof."""

    def __init__(
        self, problem: Problem, limit: Limit, size: int, support: Fraction, seconds: float, say: Say, *, cap: bool
    ) -> None:
        self.problem, self.limit, self.size, self.support, self.say = problem, limit, size, support, say
        self.until, self.seconds, self.cap = time.monotonic() + seconds, seconds, cap
        self.columns = columns_of(problem, limit, size, support, cap=cap)
        if not self.columns.pair.size:
            given = f"B = {limit.bound:.4g}"
            what = "No pair can come out at this (ε, δ)."
            raise ParameterError(what, given=given, next="raise ε and δ", because=Cause.SOLVED)
        self.pairs, self.pair = np.unique(self.columns.pair, return_inverse=True)
        self.rows = shares(problem.matrix[:, self.columns.pair], limit.bound)
        self.targets = sum(
            (Fraction(size * int(c), problem.size) for c in problem.totals[frequent(problem, support)]), Fraction(0)
        )

    def solve(self) -> Solved:
        """x, and what it is worth; not certified if not all rows could be placed."""
        found, columns = self._relaxed(self.rows)
        bound = found.bound
        self.best = self._whole(columns)
        if self.best.sum() == self.size and self.rows.nnz <= BRANCHED:
            self._search()
            bound = self._branch(found)
        x = self._x_of(self.best)
        short = self.size - int(x.sum())
        far = distance(self.problem, x, self.size, self.support)
        note = f"sum of support distances {float(far):.6g}"
        if short:
            note = f"{short} of the {self.size} rows asked for could not be placed in this time; {note}"
        objective = math.nextafter(float(1 - far / 2), -math.inf)
        upper = min(1.0, math.nextafter(float(1 - (self.targets - Fraction(bound)) / (2 * self.size)), math.inf))
        return Solved(
            x,
            certify(
                *(self.problem, x, self.limit, "frequent", objective, max(upper, objective) if short else upper, note),
                certified=not short,
            ),
        )

    def _relaxed(self, rows: sparse.csc_array) -> tuple[Relaxed, Floats]:
        """Of rows over the columns: x by pairs, prices, and the bound that these prove; and x by columns."""
        height, width = rows.shape
        top = self.columns.top.astype(np.float64)
        best: tuple[Relaxed, Floats] | None = None
        for presolve in ("on", "off"):  # with it, prices may be those of another problem
            found = solve(
                *(_with_size(rows), np.append(np.ones(height), self.size), self.columns.worth),
                top=top,
                lower=np.append(np.full(height, -math.inf), self.size),
                seconds=min(self._left(), self.seconds / 3),
                solver="ipm",
                run_crossover="off",
                presolve=presolve,
            )
            x = np.zeros(width) if found.x is None else found.x
            duals = np.zeros(height + 1) if found.duals is None else found.duals
            for sign in (1.0, -1.0):
                free = float(np.clip(np.rint(sign * duals[-1] / PRICE) * PRICE, -STEEPEST, STEEPEST))
                prices = grained(sign * duals[:-1])
                left = left_over(rows, prices, self.columns.worth - free)
                bound = proven(prices, left, top, 0.0, free * self.size)
                if best is None or bound < best[0].bound:
                    best = Relaxed(np.bincount(self.pair, x).astype(np.float64), prices, bound), x
            if best is not None and best[0].bound - self.columns.worth @ best[1] <= ENOUGH * self.size:
                break
        assert best is not None
        return best

    def _whole(self, found: Floats) -> Integers:
        """The relaxation rounded; if that has too few rows, the largest output cut down."""
        chosen = self._within(targeted(self.rows, self.columns, found, self.size))
        self.say(f"frequent: {int(chosen.sum())} of {self.size} rows after rounding")
        if chosen.sum() == self.size or self.cap:
            return chosen
        largest = pack(self.problem, self.limit, "size", self._left() / 2, lambda _: None, enough=self.size)
        if largest.certificate.upper_bound < self.size:
            raise no_such_size(self.size, int(largest.certificate.upper_bound), self.problem, self.limit)
        return max(chosen, self._of(largest.x), key=np.sum)

    def _search(self) -> None:
        """What the solver finds in a third of the time that is left; checked, never believed."""
        height = self.rows.shape[0]
        found = solve(
            _with_size(self.rows),
            np.append(np.ones(height), self.size),
            self.columns.worth,
            top=self.columns.top.astype(np.float64),
            lower=np.append(np.full(height, -math.inf), self.size),
            integer=True,
            start=self.best.astype(np.float64),
            seconds=self._left() / 3,
            mip_rel_gap=0.0,
        )
        if found.x is not None:
            self._offer(self._within(np.rint(found.x).astype(np.int64)))

    def _branch(self, first: Relaxed) -> float:
        """Rows for whole numbers, then branch and bound, in the rest of the time: the bound they prove."""
        bounds = [first.bound]

        def relaxed(rows: sparse.csc_array, _: object) -> Relaxed:
            bounds.append((found := self._relaxed(rows[:, self.pair])[0]).bound)
            return found

        top = np.bincount(self.pair, self.columns.top).astype(np.int64)
        by_pair = shares(self.problem.matrix[:, self.pairs], self.limit.bound)
        rows, _ = tighten(by_pair, top, first, relaxed, lambda: self._left() / 2)
        packing = Packing(rows[:, self.pair], self.columns.top, self.columns.worth, self._allowed, self.size)
        tree = Tree(packing, 2 * FINE * self.size)
        return tree.run(self._left, lambda: float(self.columns.worth @ self.best), self._offer, min(bounds))

    def _offer(self, x: Integers) -> None:
        if x.sum() == self.size and self.columns.worth @ x > self.columns.worth @ self.best:
            self.best = x

    def _left(self) -> float:
        return max(0.0, self.until - time.monotonic())

    def _x_of(self, chosen: Integers) -> Integers:
        x = np.zeros(self.problem.shape[1], np.int64)
        np.add.at(x, self.columns.pair, chosen)
        return x

    def _of(self, x: Integers) -> Integers:
        """Rows of pairs as columns: those worth most first, and no more than |O| of them."""
        chosen, rest, left = np.zeros_like(self.columns.top), x.copy(), self.size
        for j in np.argsort(-self.columns.worth, kind="stable").tolist():
            chosen[j] = min(int(rest[self.columns.pair[j]]), int(self.columns.top[j]), left)
            rest[self.columns.pair[j]] -= chosen[j]
            left -= int(chosen[j])
        return chosen

    def _within(self, chosen: Integers) -> Integers:
        """The same, without rows that break a constraint in integers."""
        return self._of(give_back(self.problem, self._x_of(chosen), self.limit))

    def _allowed(self, chosen: Integers) -> bool:
        return not self.problem.broken(self._x_of(chosen), self.limit).size


def targeted(rows: sparse.csc_array, columns: Columns, solution: Floats, size: int) -> Integers:
    """Floor, then give the lost rows back: first below the targets, then across them, then to other pairs."""
    chosen = np.minimum(np.floor(np.maximum(solution, 0.0) + 1e-9).astype(np.int64), columns.top)
    for wanted in (columns.worth > 0, columns.worth == 0, columns.worth < 0):
        filled = fill(rows, 1.0, chosen, np.where(wanted, columns.top, chosen))
        extra = int(filled.sum()) - size
        if extra > 0:  # more than asked for: the last ones go
            added = np.cumsum(filled - chosen)
            filled = chosen + np.diff(np.minimum(added, added[-1] - extra), prepend=0)
        chosen = filled
        if chosen.sum() == size:
            break
    return chosen


def no_such_size(size: int, most: int, problem: Problem, limit: Limit) -> ParameterError:
    """|O| is above what is proven to be possible."""
    users = problem.shape[0]
    return ParameterError(
        "No output of this size satisfies the constraints.",
        given=f"O = {size}",
        allowed=f"at most {most} rows, as is proven for these {users} users and B = {limit.bound:.4g} "
        f"(on any data at most users·B = {users * limit.bound:.4g})",
        next="lower O, or raise ε and δ",
        because=Cause.SOLVED,
    )


def _with_size(rows: sparse.csc_array) -> sparse.csc_array:
    return sparse.vstack([rows, sparse.csc_array(np.ones((1, rows.shape[1])))]).tocsc()
