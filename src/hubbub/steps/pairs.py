"""Exact counts of ordered pairs of other keys, as arrays or in a table of the engine.

A pair's id is both ids in one word, so that a pair nobody holds has one, too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from hubbub.steps.counts import Counts, EngineCounts, Integers, LocalCounts, texts
from hubbub.steps.keys import Keys

if TYPE_CHECKING:
    from hubbub.engines import Engine


class PairCounts(ABC):
    """What a mechanism may ask of the counts of pairs, wherever they lie."""

    keys_of: str
    """The engine's table that holds the text of the keys that make a pair, by `kid`."""

    @abstractmethod
    def among(self, keys: Integers) -> Counts:
        """The held pairs of these keys, of all ordered pairs of different ones."""

    @staticmethod
    def ids(first: Integers, second: Integers) -> Integers:
        """The id of each pair."""
        return (first << 32) | second

    @staticmethod
    def at(places: Integers, keys: Integers) -> Integers:
        """The ids at these places of all ordered pairs of different keys; they rise with the place if the keys do."""
        first, rest = np.divmod(places, max(keys.size - 1, 1))
        return PairCounts.ids(keys[first], keys[rest + (rest >= first)])

    def text(self, engine: Engine, kind: Keys, ids: Integers) -> pa.Table:
        """The text of pairs, in the order of `ids`."""
        single = Keys("single", kind.columns[:1], "", ())
        sides = dict(zip(kind.columns, (ids >> 32, ids & 0xFFFFFFFF), strict=True))
        known = np.unique(np.concatenate(list(sides.values())))
        found = texts(engine, self.keys_of, single, known).column(0).combine_chunks()
        return pa.table({c: found.take(pa.array(np.searchsorted(known, side))) for c, side in sides.items()})


@dataclass(frozen=True)
class LocalPairs(PairCounts):
    """Only the pairs that somebody holds, sorted."""

    n: Integers
    first: Integers
    second: Integers
    keys_of: str

    def among(self, keys: Integers) -> LocalCounts:
        """The held pairs of these keys, of all ordered pairs of different ones."""
        both = np.isin(self.first, keys) & np.isin(self.second, keys)
        ids = self.ids(self.first[both], self.second[both])
        return LocalCounts(self.n[both], ids=ids, domain=keys.size * (keys.size - 1))


@dataclass(frozen=True)
class EnginePairs(PairCounts):
    """The same, in the engine: its table `pairs` holds their counts as `n`, by `one` and `two`."""

    pairs: str
    keys_of: str
    engine: Engine = field(repr=False, compare=False)

    def among(self, keys: Integers) -> EngineCounts:
        """The held pairs of these keys, of all ordered pairs of different ones."""
        table = f"{self.pairs}_among"
        self.engine.register("chosen_sides", pa.table({"kid": keys}))
        self.engine.save(
            table,
            f"SELECT p.one * {1 << 32} + p.two AS kid, p.n AS n FROM {self.pairs} AS p "
            "JOIN chosen_sides AS a ON a.kid = p.one JOIN chosen_sides AS b ON b.kid = p.two",
        )
        return EngineCounts(table, self.engine, keys.size * (keys.size - 1))
