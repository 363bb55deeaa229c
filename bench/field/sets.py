"""Who holds which keys, as arrays: what every rule of the field works on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hubbub.log import SearchLog

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Generator = np.random.Generator


@dataclass(frozen=True)
class Sets:
    """One row per (user, key), by user; `times` is how often the user has the key. Keys and users count from 0."""

    users: Ints
    keys: Ints
    times: Ints
    size: int
    """How many keys there are in all, held here or not."""

    @staticmethod
    def of(log: SearchLog) -> Sets:
        """The queries of a log; a user who asks one twice holds it once."""
        rows = log.engine.fetch(
            "SELECT dense_rank() OVER (ORDER BY uid) - 1 AS u, dense_rank() OVER (ORDER BY query) - 1 AS k, n "
            "FROM (SELECT uid, query, count(*) AS n FROM log GROUP BY uid, query) AS held ORDER BY u, k"
        )
        users, keys, times = (rows.column(c).to_numpy().astype(np.int64) for c in ("u", "k", "n"))
        return Sets(users, keys, times, int(keys.max(initial=-1)) + 1)

    def counts(self) -> Ints:
        """Users of every key."""
        return np.bincount(self.keys, minlength=self.size)

    def weighed(self, each: Floats) -> Floats:
        """The weight of every key, each row bringing its own."""
        return np.bincount(self.keys, weights=each, minlength=self.size).astype(np.float64)

    def held(self) -> Ints:
        """For every row: how many keys its user holds."""
        return np.bincount(self.users)[self.users] if self.users.size else self.users

    def only(self, rows: npt.NDArray[np.bool_]) -> Sets:
        """Some of the rows."""
        return Sets(self.users[rows], self.keys[rows], self.times[rows], self.size)

    def bounded(self, most: int, rng: Generator) -> Sets:
        """At most so many keys of a user, at random."""
        many = np.flatnonzero(self.held() > most)
        if not many.size:
            return self
        users = self.users[many]
        order = np.lexsort((rng.random(many.size), users))
        first = np.flatnonzero(np.r_[True, users[1:] != users[:-1]])  # the order keeps the users where they were
        place = np.arange(many.size) - np.repeat(first, np.diff(np.r_[first, many.size]))
        kept = np.ones(self.users.size, bool)
        kept[many[order[place >= most]]] = False
        return self.only(kept)

    def among(self, keys: Ints) -> npt.NDArray[np.bool_]:
        """Which rows are of these keys."""
        chosen = np.zeros(self.size, bool)
        chosen[keys] = True
        return chosen[self.keys]
