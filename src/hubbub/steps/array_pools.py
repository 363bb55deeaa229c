"""Pools as arrays: what a round asks of pools that lie here, and pools without an engine, for audits."""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np

from hubbub.errors import OurBug
from hubbub.log import SearchLog
from hubbub.steps.counts import Integers
from hubbub.steps.holdings import checked
from hubbub.steps.mode import RunMode
from hubbub.steps.weights import LocalWeights, Running, Weights


def amount(bits: int, n: int) -> int:
    """A(n) = isqrt(4^k // n): n A(n)² <= 4^k, by integers alone."""
    return isqrt((1 << 2 * bits) // n)


class LocalPools:
    """Pools whose weights are brought here as arrays, round by round."""

    size: int

    def weights(self, live: Integers) -> Integers:
        """For each live key, its weight."""
        raise NotImplementedError

    def marks(self, table: str) -> Integers:
        """The mark of every key by a table of public lists, by id."""
        raise OurBug("these pools know no lists")

    def onward(self) -> tuple[SearchLog, RunMode] | None:
        """Nothing but these pools."""
        return None

    def known(self) -> Integers:
        """The ids of live keys that the prior knows; asked once, after the weights of the second round."""
        return np.zeros(0, np.int64)

    def weighed(self, running: Any, listed: str) -> Weights:
        """The weights of a round, as an array."""
        if running is None:
            running = Running.all(self.size, self.marks(listed) if listed else None)
            return LocalWeights(running, self.weights(running.ids))
        sums = self.weights(running.ids)
        return LocalWeights(running.knowing(self.known()), sums)


class ArrayPools(LocalPools):
    """Pools as arrays, for audits: the same integers without an engine. Rows are (user, key)."""

    keys = ""

    def __init__(self, pool: Integers, held: Integers, size: int, bits: int, said: Integers | None = None) -> None:
        """`said`: what a prior says of each key, its weight, whether it fits, whether it is known."""
        self.pool, self.held, self.size, self.bits, self.said = pool, held, size, bits, said
        self._people = int(held[:, 0].max(initial=-1)) + 1
        self._round = 0

    def tiled(self, copies: int) -> ArrayPools:
        """This many copies side by side: users and keys of copy r are numbered after those of copy r − 1."""
        shift = np.array([self._people, self.size], np.int64)
        offset = np.repeat(np.arange(copies, dtype=np.int64), self.pool.shape[0])[:, None] * shift
        wide = np.repeat(np.arange(copies, dtype=np.int64), self.held.shape[0])[:, None] * shift
        pool: Integers = np.tile(self.pool, (copies, 1)) + offset
        held: Integers = np.tile(self.held, (copies, 1)) + wide
        said = None if self.said is None else np.tile(self.said, (1, copies))
        return ArrayPools(pool, held, self.size * copies, self.bits, said)

    def known(self) -> Integers:
        """Keys that the prior knows."""
        return np.zeros(0, np.int64) if self.said is None else np.flatnonzero(self.said[2])

    def weighed(self, running: Any, listed: str) -> Weights:
        """The weights of a round; the first one starts over."""
        self._round = 0 if running is None else self._round
        return super().weighed(running, listed)

    def weights(self, live: Integers) -> Integers:
        """The weights of a round, by counting."""
        self._round += 1
        alive = np.zeros(self.size, bool)
        alive[live] = True
        users, keys = self.pool[alive[self.pool[:, 1]]].T
        n = np.bincount(users, minlength=self._people)
        if self.said is None or self._round == 1:
            amounts = np.array([0, *(amount(self.bits, i) for i in range(1, int(n.max(initial=0)) + 1))], np.int64)
            return checked(_sum(keys, amounts[n[users]], self.size)[live])
        g, fits = self.said[0][keys], _sum(users, self.said[1][keys], self._people)[users] >= 0
        top, below = np.where(fits, g, 1), np.where(fits, _sum(users, g, self._people)[users], n[users])
        added = [isqrt((int(a) << 2 * self.bits) // int(b)) for a, b in zip(top, below, strict=True)]
        return checked(_sum(keys, np.array(added, np.int64), self.size)[live])

    def recount(self, ids: Integers, lam: Integers, cap2: int) -> Integers:
        """The recount of released keys, by counting."""
        by_key = np.zeros(self.size, np.int64)
        by_key[ids] = lam
        users, keys = self.held[by_key[self.held[:, 1]] > 0].T
        square = by_key[keys] ** 2
        n2 = _sum(users, square, self._people)[users]
        x = np.where(n2 <= cap2, square, square * cap2 // np.maximum(n2, 1))
        return checked(_sum(keys, np.array([isqrt(int(v)) for v in x], np.int64), self.size)[ids])

    def kept(self, ids: Integers, most: int) -> int:
        """The kept total, by counting."""
        users = self.held[np.isin(self.held[:, 1], ids), 0]
        return int(np.minimum(np.bincount(users, minlength=1), most).sum())


def _sum(at: Integers, values: Integers, size: int) -> Integers:
    sums = np.zeros(size, np.int64)
    np.add.at(sums, at, values)
    return sums
