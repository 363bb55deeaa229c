"""The selection of a series on a made-up log: its own rounds, with numbers as large as those of N users.

Scores, spending and thresholds are the mechanism's (`mechanisms.series.rounds`). What a key gathers in the sample is
grown by the factor of `estimate.scale`, and noise is normal and rounded: nothing here could serve a release.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hubbub.look.estimate.scale import Floats, factors
from hubbub.mechanisms.series.rounds import ArraySeriesPools, SeriesSums, passing, scores, spend
from hubbub.steps.chosen import words_of
from hubbub.steps.counts import Flags, Integers
from hubbub.steps.sessions import GAP

if TYPE_CHECKING:
    from hubbub.mechanisms.series import Series
    from hubbub.mechanisms.series.constants import SeriesConstants


def out_after(series: Series, rows: pa.Table, ends: Integers, scale: float, seed: int = 0) -> dict[str, list[int]]:
    """By table: how many keys are out after each period; `ends` are the first seconds after them."""
    user, query = (rows.column(name).combine_chunks().dictionary_encode() for name in ("user", "query"))
    who, what = (column.indices.to_numpy().astype(np.int64) for column in (user, query))
    users, time = len(user.dictionary), rows.column("time").to_numpy()
    period = np.searchsorted(ends, time, side="right")
    chance = np.random.default_rng(seed)
    asked = HeldKeys.of(who, what, period)
    first = MadeUpSeries(series.constants, users, asked.keys, asked.growth(scale), chance)
    events = {"clicks": _clicks(rows, what), "transitions": _steps(who, what, time)}
    further = {}
    for table in (name for name in series.table_constants if name in events):
        at, parts = events[table]
        code, where = np.unique(parts, axis=0, return_inverse=True)
        held = HeldKeys.of(who[at], where.reshape(-1), period[at])
        queries = code if table == "transitions" else code[:, :1]
        made = MadeUpSeries(series.table_constants[table], users, held.keys, held.growth(scale), chance)
        further[table] = (held, queries, made)
    found: dict[str, list[int]] = {table: [] for table in series.tables}
    for t in range(series.constants.periods):
        found["queries"].append(first.run(t, asked.within(period == t)))
        for table, (held, queries, made) in further.items():
            found[table].append(made.run(t, held.ready(t, np.asarray(first.out[queries].all(axis=1)))))
        if "keywords" in found:
            out = query.dictionary.filter(pa.array(first.out))
            found["keywords"].append(len(words_of(out.cast(pa.string()))) if len(out) else 0)
    return found


def _clicks(rows: pa.Table, what: Integers) -> tuple[Integers, Integers]:
    """Rows with a page, and their (query, page)."""
    url = rows.column("url").combine_chunks().dictionary_encode()
    at = np.flatnonzero(url.is_valid().to_numpy(zero_copy_only=False))
    page = url.indices.fill_null(0).to_numpy().astype(np.int64)
    return at, np.stack([what[at], page[at]], axis=1)


def _steps(who: Integers, what: Integers, time: Integers) -> tuple[Integers, Integers]:
    """Rows that another query of the same user follows in the same session, and their (query, next query)."""
    order = np.lexsort((what, time, who))
    one, other = order[:-1], order[1:]
    follows = (who[one] == who[other]) & (time[other] - time[one] <= GAP) & (what[one] != what[other])
    return one[follows], np.stack([what[one], what[other]], axis=1)[follows]


@dataclass(frozen=True)
class HeldKeys:
    """Who holds which key from which period on: each pair (user · keys + key) of every row, with its period."""

    pair: Integers
    period: Integers
    keys: int

    @staticmethod
    def of(who: Integers, key: Integers, period: Integers) -> HeldKeys:
        """From the rows of a log."""
        keys = int(key.max(initial=0)) + 1
        return HeldKeys(who * keys + key, period, keys)

    def growth(self, scale: float) -> Floats:
        """By how much the users of each key grow when the sample stands for all."""
        return factors(np.bincount(np.unique(self.pair) % self.keys, minlength=self.keys), scale)

    def within(self, rows: Flags) -> Integers:
        """The pairs of some rows, each once."""
        return np.unique(self.pair[rows])

    def ready(self, t: int, allowed: Flags) -> Integers:
        """Pairs held by period t of which the queries are out."""
        return np.unique(self.pair[(self.period <= t) & allowed[self.pair % self.keys]])


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
