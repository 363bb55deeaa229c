"""The problem all three goals share: how many rows of each pair may come out, so that every user stays within B.

User k holds pair j (a query and a clicked URL) c_jk times, everybody together c_j times. With x_j rows of pair j in
the output, user k's constraint (Equation 4 of the paper) is

    Σ_j x_j ln t_jk <= B,    t_jk = c_j / (c_j − c_jk),    B = min{ε, ln 1/(1−δ)}.

Pairs that only one user holds are left out first (Condition 1 of Theorem 1). Floats guide the search; whether a
constraint is broken is decided in integers, so that a tie (two users who share a pair equally, at δ = 1/2) is a tie.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy import sparse

if TYPE_CHECKING:
    from hubbub.engines import Engine
    from hubbub.log import SearchLog
    from hubbub.steps.mode import RunMode

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

TOLERANCE = 1e-9
"""Loads this close to B are compared in integers; floats add up to far less than this of error."""
LONG = 1 << 18


DIGITS = 12


def rounded_up(value: Fraction) -> Fraction:
    """The next number of 12 significant digits that is not below; what has no more digits stays as it is."""
    if value <= 0:
        return value
    exponent = len(str(value.numerator)) - len(str(value.denominator)) - DIGITS  # one digit more where that is unsure
    unit = Fraction(10) ** exponent
    up = math.ceil(value / unit)
    return up * unit if up < 10**DIGITS else math.ceil(value / unit / 10) * unit * 10


@dataclass(frozen=True)
class Limit:
    """B = min{ε, ln 1/(1−δ)}, kept as the two numbers it comes from."""

    epsilon: Fraction
    delta: Fraction

    @property
    def bound(self) -> float:
        """B, for the search."""
        odds = self.delta / (1 - self.delta)  # 1/(1−δ) = 1 + odds: no digit is lost, however small or large δ is
        return min(float(self.epsilon), math.log1p(odds) if odds < 1 else math.log(1 / (1 - self.delta)))

    def allows(self, whole: int, rest: int) -> bool:
        """Whether whole/rest <= e^B, exactly; a tie is allowed."""
        if whole * (self.delta.denominator - self.delta.numerator) > rest * self.delta.denominator:
            return False
        return _at_most_exp(whole, rest, self.epsilon)


def _at_most_exp(whole: int, rest: int, epsilon: Fraction) -> bool:
    """whole/rest <= e^ε for a rational ε > 0: e^ε is irrational, so enough digits always decide."""
    digits = 40
    while True:
        with localcontext(Context(prec=digits, Emin=MIN_EMIN, Emax=MAX_EMAX)):
            power = (Decimal(epsilon.numerator) / Decimal(epsilon.denominator)).exp()
            ratio = Decimal((whole << 4 * digits) // rest) / Decimal(1 << 4 * digits)  # long numbers, short quotient
            slack = max(power, ratio).scaleb(8 - digits)
            if abs(ratio - power) > slack:
                return ratio < power
        digits *= 2


@dataclass(frozen=True)
class Problem:
    """Who holds what, as integers: one entry per user and pair."""

    users: Integers
    pairs: Integers
    counts: Integers
    shape: tuple[int, int]
    """Users, pairs."""
    queries: Integers | None = None
    """The number of each pair's query, where somebody asks for it."""

    @classmethod
    def of(cls, users: Integers, pairs: Integers, counts: Integers, queries: Integers | None = None) -> Problem:
        """From entries in any order, ids from 0; pairs that only one user holds must be gone."""
        order = np.lexsort((users, pairs))
        shape = (int(users.max()) + 1, int(pairs.max()) + 1) if users.size else (0, 0)
        return cls(users[order], pairs[order], counts[order], shape, queries)

    @cached_property
    def totals(self) -> Integers:
        """c_j of every pair."""
        totals = np.zeros(self.shape[1], np.int64)
        np.add.at(totals, self.pairs, self.counts)
        return totals

    @property
    def size(self) -> int:
        """|D|, without unique pairs."""
        return int(self.counts.sum())

    @cached_property
    def matrix(self) -> sparse.csc_array:
        """ln t_jk = ln(1 + c_jk/(c_j − c_jk)), users by pairs."""
        odds = self.counts / (self.totals[self.pairs] - self.counts)
        starts = np.searchsorted(self.pairs, np.arange(self.shape[1] + 1))
        return sparse.csc_array((np.log1p(odds), self.users, starts), shape=self.shape)

    @cached_property
    def hardest(self) -> Floats:
        """The largest ln t_jk of every pair: above B, not one row of it can come out."""
        return _by_pair(self, self.matrix.data)

    @cached_property
    def largest_share(self) -> Floats:
        """The largest c_jk/c_j of every pair."""
        return _by_pair(self, self.counts / self.totals[self.pairs])

    def usable(self, limit: Limit) -> Integers:
        """Pairs of which at least one row may come out; close ones are decided in integers."""
        free = self.hardest <= limit.bound + TOLERANCE
        close = np.flatnonzero(np.abs(self.hardest - limit.bound) <= TOLERANCE)
        most = _by_pair(self, self.counts.astype(np.float64))[close].astype(np.int64)
        for j, c, total in zip(close.tolist(), most.tolist(), self.totals[close].tolist(), strict=True):
            free[j] = limit.allows(total, total - c)
        return np.flatnonzero(free)

    def broken(self, x: Integers, limit: Limit, *, every: bool = False) -> Integers:
        """Users whose constraint x breaks. `every` decides all of them in integers, not the close ones alone.

        Numbers of more than `LONG` bits are spared where the load is a thousand tolerances away from B.
        """
        load, bound = self.matrix @ x, limit.bound
        away = np.abs(load - bound)
        wrong = load > bound + TOLERANCE
        bits = np.bincount(self.users, x[self.pairs] * np.log2(self.totals[self.pairs]), self.shape[0])
        close = (away <= TOLERANCE) | (every & (load > 0) & ((bits <= LONG) | (away <= 1000 * TOLERANCE)))
        inside = np.flatnonzero(close[self.users] & (x[self.pairs] > 0))
        shown: dict[int, list[tuple[int, int, int]]] = {}
        for k, c, total, n in zip(
            self.users[inside].tolist(),
            self.counts[inside].tolist(),
            self.totals[self.pairs[inside]].tolist(),
            x[self.pairs[inside]].tolist(),
            strict=True,
        ):
            shown.setdefault(k, []).append((c, total, n))
        known: dict[tuple[tuple[int, int, int], ...], bool] = {}  # users who hold alike are decided once
        wrong[close] = False
        for k, held in shown.items():
            alike = tuple(sorted(held))
            if alike not in known:
                whole = math.prod(total**n for _, total, n in alike)
                known[alike] = limit.allows(whole, math.prod((total - c) ** n for c, total, n in alike))
            wrong[k] = not known[alike]
        return np.flatnonzero(wrong)


def _by_pair(problem: Problem, values: Floats) -> Floats:
    starts = np.searchsorted(problem.pairs, np.arange(problem.shape[1]))
    return np.maximum.reduceat(values, starts) if problem.shape[1] else np.zeros(0)


PAIRS, USERS = "optimal_pairs", "optimal_users"


def uids(engine: Engine, users: Integers) -> pa.Table:
    """The ids of a problem's users, in the order of their numbers here."""
    engine.register("optimal_asked", pa.table({"holder": users, "at": np.arange(users.size)}))
    rows = engine.fetch(
        f"SELECT a.at AS at, u.uid AS uid FROM {USERS} AS u JOIN optimal_asked AS a ON a.holder = u.holder"
    )
    return rows.sort_by("at").drop_columns(["at"])


def read(log: SearchLog, mode: RunMode) -> Problem:
    """Count every user's clicks on every pair that at least two users hold; ids follow the text where it matters."""
    engine = log.engine
    engine.save(
        "optimal_held", "SELECT uid, query, url, count(*) AS n FROM log WHERE url IS NOT NULL GROUP BY uid, query, url"
    )
    shared = "SELECT query, url FROM optimal_held GROUP BY query, url HAVING count(*) >= 2"
    engine.number(PAIRS, shared, mode.order(("query", "url")), "kid")
    on = "p.query = h.query AND p.url = h.url"
    holders = f"SELECT DISTINCT h.uid AS uid FROM optimal_held AS h JOIN {PAIRS} AS p ON {on}"
    engine.number(USERS, holders, mode.order(("uid",)), "holder")
    rows = engine.fetch(
        f"SELECT u.holder AS holder, p.kid AS kid, h.n AS n FROM optimal_held AS h JOIN {PAIRS} AS p ON {on} "
        f"JOIN {USERS} AS u ON u.uid = h.uid"
    )
    engine.drop("optimal_held")
    holder, kid, n = (rows.column(name).to_numpy().astype(np.int64) for name in ("holder", "kid", "n"))
    texts = engine.fetch(f"SELECT kid, query FROM {PAIRS}").sort_by("kid").column("query").combine_chunks()
    return Problem.of(holder, kid, n, texts.dictionary_encode().indices.to_numpy().astype(np.int64))
