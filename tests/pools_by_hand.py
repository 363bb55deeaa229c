"""Pools of users in plain Python, and the engine's beside them: dictionaries, sets and integers of any size."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from math import isqrt
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from hubbub.audit.protocols import Event
from hubbub.audit.tiny import MODE
from hubbub.engines.duckdb import DuckDB
from hubbub.ingest import SCHEMA
from hubbub.log import SearchLog
from hubbub.steps.array_pools import ArrayPools
from hubbub.steps.keys import QUERIES
from hubbub.steps.pools import EnginePools
from hubbub.testing import kept_by_hand

Sums = dict[str, int]


def asks(held: Mapping[str, Iterable[str]]) -> list[Event]:
    """A log in which each user asks these queries."""
    return [(user, at, query, None) for user, queries in held.items() for at, query in enumerate(queries)]


class ByHand:
    """What the users hold and what stands in their pools."""

    def __init__(self, events: list[Event], limit: int, bits: int) -> None:
        self.bits = bits
        self.pool: dict[str, set[str]] = defaultdict(set)
        self.held: dict[str, set[str]] = defaultdict(set)
        for where, most in ((self.pool, limit), (self.held, 10**9)):
            for user, key in kept_by_hand(events, QUERIES, most, "random"):
                where[str(user)].add(str(key))

    @property
    def keys(self) -> set[str]:
        """Keys that stand in some pool."""
        return set().union(*self.pool.values())

    def weights(self, live: set[str]) -> Sums:
        """⌊2^k/√n⌋ on each of a user's n live keys."""
        sums = dict.fromkeys(live, 0)
        for keys in self.pool.values():
            mine = keys & live
            for key in mine:
                sums[key] += isqrt(4**self.bits // len(mine))
        return sums

    def recount(self, lam: Mapping[str, int], cap2: int) -> Sums:
        """λ on each released key a user holds, or isqrt(λ² C² // n2) where her length² n2 is above C²."""
        sums = dict.fromkeys(lam, 0)
        for keys in self.held.values():
            mine = keys & lam.keys()
            n2 = sum(lam[key] ** 2 for key in mine)
            for key in mine:
                sums[key] += lam[key] if n2 <= cap2 else isqrt(lam[key] ** 2 * cap2 // n2)
        return sums

    def kept(self, ids: set[str], most: int) -> int:
        """Released keys a user holds, at most so many."""
        return sum(min(most, len(keys & ids)) for keys in self.held.values())


class Named:
    """Pools of an engine or of arrays, asked by the text of the keys."""

    def __init__(self, pools: EnginePools | ArrayPools, keys: list[str]) -> None:
        self.pools, self.keys, self.at = pools, keys, {key: i for i, key in enumerate(keys)}

    def ids(self, keys: Iterable[str]) -> npt.NDArray[np.int64]:
        """Sorted, as a mechanism has them."""
        return np.array(sorted(self.at[key] for key in keys), np.int64)

    def _by_key(self, ids: npt.NDArray[np.int64], sums: npt.NDArray[np.int64]) -> Sums:
        assert sums.dtype == np.int64
        return {self.keys[i]: s for i, s in zip(ids.tolist(), sums.tolist(), strict=True)}

    def weights(self, live: set[str]) -> Sums:
        """By key."""
        ids = self.ids(live)
        return self._by_key(ids, self.pools.weights(ids))

    def recount(self, lam: Mapping[str, int], cap2: int) -> Sums:
        """By key."""
        ids = self.ids(lam)
        return self._by_key(ids, self.pools.recount(ids, np.array([lam[self.keys[i]] for i in ids], np.int64), cap2))

    def kept(self, ids: set[str], most: int) -> int:
        """The total."""
        return self.pools.kept(self.ids(ids), most)


@contextmanager
def measured_pools(
    events: list[Event], limit: int, bits: int, *, threads: int = 1, ordered: bool = True
) -> Iterator[tuple[Named, Named]]:
    """The engine's pools of this log, and the same as arrays."""
    rows = [{"user": u, "time": t, "query": q, "rank": None, "url": None} for u, t, q, _ in events]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.parquet"
        pq.write_table(pa.Table.from_pylist(rows, schema=SCHEMA), path)
        with SearchLog.over(path, DuckDB(Path(folder), threads=threads), Path(folder)) as log:
            pools = EnginePools(log, QUERIES, limit, bits, replace(MODE, repeatable=ordered))
            keys = log.engine.fetch(f"SELECT query FROM {pools.keys} ORDER BY kid").column("query").to_pylist()
            yield Named(pools, keys), Named(pools.arrays(), keys)
