"""Pools after the first round as arrays: by then few enough rows are live that adding them here costs less than SQL.

The integers are those of `EnginePools.summed`: A(n) = isqrt(4^k // n) for each of a user's n live keys, or
isqrt(g 4^k // G) where a prior says g of a key and her live keys' g sum up to G.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from hubbub.steps.array_pools import amount
from hubbub.steps.counts import Integers
from hubbub.steps.holdings import checked


@dataclass(frozen=True)
class PriorSays:
    """What a prior says of every key, by id: its weight, and how it counts for whether the prior is about a user."""

    g: Integers
    fits: Integers

    @staticmethod
    def of(rows: pa.Table, size: int) -> PriorSays:
        """From rows of (kid, g, fits); nothing is said of other keys, nor asked."""
        found, at = np.zeros((2, size), np.int64), rows.column("kid").to_numpy()
        found[0, at], found[1, at] = rows.column("g").to_numpy(), rows.column("fits").to_numpy()
        return PriorSays(found[0], found[1])


class LiveRows:
    """Who holds which live key in her pool. Rows of keys that are no longer live are dropped, and do not come back."""

    def __init__(self, rows: pa.Table, size: int, bits: int, said: PriorSays | None) -> None:
        """`rows` are (uid, kid), each once."""
        uids = rows.column("uid").dictionary_encode().combine_chunks()  # the texts of all rows may be too long for one
        self.users: Integers = uids.indices.to_numpy().astype(np.int64)
        self.keys: Integers = rows.column("kid").to_numpy().astype(np.int64)
        self.people, self.size, self.bits, self.said = len(uids.dictionary), size, bits, said

    def weights(self, live: Integers) -> Integers:
        """For each live key, the sum of what its holders add."""
        alive = np.zeros(self.size, bool)
        alive[live] = True
        still = alive[self.keys]
        self.users, self.keys = self.users[still], self.keys[still]
        return checked(_sum(self.keys, self.added(), self.size)[live])

    def added(self) -> Integers:
        """What each row adds: a user's own rows alone decide it."""
        n = np.bincount(self.users, minlength=self.people)
        if self.said is None:
            amounts = [0, *(amount(self.bits, i) for i in range(1, int(n.max(initial=0)) + 1))]
            shared: Integers = np.array(amounts, np.int64)[n[self.users]]
            return shared
        g = self.said.g[self.keys]
        about = _sum(self.users, self.said.fits[self.keys], self.people) >= 0
        below = np.where(about, _sum(self.users, g, self.people), n)
        top = np.where(about[self.users], g, 1) << (2 * self.bits)
        return roots(top // below[self.users])


def roots(x: Integers) -> Integers:
    """isqrt of whole numbers below 2^62: floating point only guesses, exact integers correct it."""
    s = np.floor(np.sqrt(x.astype(np.float64))).astype(np.int64)
    s -= s * s > x
    s += (s + 1) * (s + 1) <= x
    return s


def _sum(at: Integers, values: Integers, size: int) -> Integers:
    sums = np.zeros(size, np.int64)
    np.add.at(sums, at, values)
    return sums
