"""From a sample to N users, s = N/sample times as many.

A key that m users of the sample hold is taken to be held by m + (s − 1)(m − 1) of N: its own m, and among the others
m − 1 for every m, which is what a Zipf law leaves once the luck of being drawn is taken off (Good and Turing:
(m + 1) N_{m+1}/N_m = m − 1 where N_m falls as 1/m²). Popular keys so grow in proportion, a key of one user stays one
user's, and nothing changes at s = 1. Bounded counts grow by the same rule, weights and events by their key's factor.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hubbub.look.estimate.shape import LogShape
from hubbub.steps.array_pools import LocalPools
from hubbub.steps.counts import Flags, Integers, LocalCounts
from hubbub.steps.pools import DistributedPools, EnginePools

Floats = npt.NDArray[np.float64]


def factors(held: Integers | Floats, scale: float) -> Floats:
    """By how much the number of users of each key grows from the sample to N users."""
    m = np.maximum(held, 1).astype(float)
    return np.asarray((m + (scale - 1) * (m - 1)) / m)


def grown(shape: LogShape, scale: float) -> LogShape:
    """The shape at N users."""
    if scale == 1:
        return shape
    by = factors(shape.users, scale)
    return LogShape(shape.id, _whole(shape.users * by), _whole(shape.events * by))


def scalable(measured: Any) -> bool:
    """Whether this is a measure we know how to scale and to use again."""
    return isinstance(measured, LocalCounts | EnginePools) and not isinstance(measured, DistributedPools)


def start_over(measured: Mapping[str, Any]) -> None:
    """Pools that a run before this one used up are whole again."""
    for part in measured.values():
        if isinstance(part, EnginePools):
            part.again()


def follows(measured: Any) -> bool:
    """Whether it is for what others release: the histograms behind a synthetic log."""
    return isinstance(measured, dict)


def scaled(measured: Any, users: Integers, scale: float) -> Any:
    """What `measure` gave, at N users; `users` by key id. Pools start over."""
    if isinstance(measured, EnginePools):
        measured.again()
    if scale == 1:
        return measured
    if isinstance(measured, LocalCounts):
        return replace(measured, n=_whole(measured.n * factors(measured.n, scale)))
    return ScaledPools(measured, factors(users, scale))


class ScaledPools(LocalPools):
    """Pools in which every key has grown by its factor; a user still shares her weight as in the sample."""

    def __init__(self, pools: EnginePools, by: Floats) -> None:
        self.pools, self.by = pools, by
        self.keys, self.size = pools.keys, pools.size
        self._counted: tuple[Floats, Floats] | None = None

    def weights(self, live: Integers) -> Integers:
        """What each live key weighs at N users."""
        return _whole(self.pools.weights(live) * self.by[live])

    def known(self) -> Integers:
        """Live keys that the prior knows, as in the sample."""
        return self.pools.known()

    def holds(self, rows: pa.Table) -> Flags:
        """Which of these keys stand in a pool of the sample."""
        return self.pools.holds(rows)

    def adopt(self, rows: pa.Table) -> Integers:
        """Give ids to keys that stand in no pool; nobody's do not grow."""
        ids = self.pools.adopt(rows)
        self.keys, self.size, self.by = self.pools.keys, self.pools.size, np.append(self.by, np.ones(ids.size))
        return ids

    def recount(self, ids: Integers, lam: Integers, cap2: int) -> Integers:
        """What is counted again of released keys, at N users."""
        sums = self.pools.recount(ids, lam, cap2)
        self._counted = (sums / np.maximum(lam, 1), self.by[ids])
        return _whole(sums * self.by[ids])

    def kept(self, ids: Integers, most: int) -> int:
        """The kept total of the sample, grown in proportion to the released keys."""
        counts, by = self._counted or (np.ones(ids.size), self.by[ids])
        together = float((counts * by).sum() / max(float(counts.sum()), 1.0))
        return round(self.pools.kept(ids, most) * together)


def _whole(values: Floats) -> Integers:
    return np.rint(values).astype(np.int64)
