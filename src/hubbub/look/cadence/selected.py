"""The selection of a series on a made-up log: its own rounds, with numbers as large as those of N users.

Scores, spending and thresholds are the mechanism's (`mechanisms.series.rounds`). What a key gathers in the sample is
grown by the factor of `estimate.scale`, and noise is normal and rounded: nothing here could serve a release.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hubbub.look.estimate.scale import Floats, factors
from hubbub.mechanisms.series.rounds import ArraySeriesPools, SeriesSums, passing, scores, spend
from hubbub.steps.counts import Flags, Integers

if TYPE_CHECKING:
    from hubbub.mechanisms.series.constants import SeriesConstants


def out_after(plan: SeriesConstants, rows: pa.Table, ends: Integers, scale: float, seed: int = 0) -> list[int]:
    """How many queries are out after each period; `ends` are the first seconds after them."""
    user, key = (rows.column(name).combine_chunks().dictionary_encode() for name in ("user", "query"))
    users, keys = len(user.dictionary), len(key.dictionary)
    pair = user.indices.to_numpy().astype(np.int64) * keys + key.indices.to_numpy()
    period = np.searchsorted(ends, rows.column("time").to_numpy(), side="right")
    held = np.unique(pair)
    by = factors(np.bincount(held % keys, minlength=keys), scale)
    chance = np.random.default_rng(seed)
    state = MadeUpSeries(plan, users, keys, by, chance)
    return [state.run(t, np.unique(pair[period == t])) for t in range(plan.periods)]


class MadeUpSeries:
    """Pools, what users have left and what keys have gathered, from period to period."""

    def __init__(self, plan: SeriesConstants, users: int, keys: int, by: Floats, chance: np.random.Generator) -> None:
        self.plan, self.users, self.keys, self.by, self.chance = plan, users, keys, by, chance
        self.pool = np.zeros(0, np.int64)  # user · keys + key
        self.left = np.full(users, plan.budget, np.int64)
        self.out: Flags = np.zeros(keys, np.bool_)
        self.seen: Flags = np.zeros(keys, np.bool_)
        self.gathered = SeriesSums.nothing(keys)

    def run(self, t: int, held: npt.NDArray[np.int64]) -> int:
        """Period t, in which these pairs were held; how many keys are out after it."""
        new = self._entering(held)
        pool = np.concatenate([self.pool, new])
        entered = np.arange(len(pool)) >= len(self.pool)
        pools = ArraySeriesPools(pool // self.keys, pool % self.keys, entered, self.users, self.keys)
        self.pool = pool
        self.seen[new % self.keys] = True
        for j, multiple in enumerate(self.plan.multiples(t)):
            n2 = pools.squares(*scores(self.plan, t, j, self.gathered, self.out))
            units, self.left = spend(self.plan, t, j, self.left, n2)
            noise = self.chance.normal(0, float(multiple * self.plan.variance) ** 0.5, self.keys)
            self.gathered = self.gathered.plus(np.rint(pools.sums(units) * self.by + noise).astype(np.int64))
        self.out |= passing(self.plan, t, self.gathered) & self.seen
        self.gathered = self.gathered.next_run()
        return int(self.out.sum())

    def _entering(self, held: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Pairs that enter the pools: for each user as many as the plan allows, by chance."""
        fresh = held[~np.isin(held, self.pool, assume_unique=True) & ~self.out[held % self.keys]]
        fresh = self.chance.permutation(fresh)
        fresh = fresh[np.argsort(fresh // self.keys, kind="stable")]
        user = fresh // self.keys
        first = np.searchsorted(user, user)
        return np.asarray(fresh[np.arange(len(fresh)) - first < self.plan.limit])
