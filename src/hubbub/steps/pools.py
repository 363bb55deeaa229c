"""Pools: the keys each user brings to a selection in rounds, fixed before the first noise.

A user holds all her distinct keys; at most D of them, chosen at random by a keyed hash, are her pool (the same
on every engine where a run must repeat, else the engine's fastest). Each
round, a user with n live keys in her pool adds A(n) = ⌊2^k/√n⌋ to each of them: her vector has length at
most 2^k. After the selection the released keys are counted again over everything she holds, not only her
pool. Integers throughout; SQL in the common subset; `Pools` is what a mechanism sees.
"""

from __future__ import annotations

from functools import cached_property
from math import isqrt
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from hubbub.errors import OurBug
from hubbub.log import SearchLog
from hubbub.steps.bound import hashed, seeded
from hubbub.steps.counts import Flags, Integers, by_id
from hubbub.steps.holdings import Holdings, checked
from hubbub.steps.keys import Keys
from hubbub.steps.mode import RunMode, Where
from hubbub.steps.weights import EngineWeights, LocalWeights, Running, Weights


def amount(bits: int, n: int) -> int:
    """A(n) = isqrt(4^k // n): n A(n)² <= 4^k, by integers alone."""
    return isqrt((1 << 2 * bits) // n)


class Pools(Protocol):
    """What a selection in rounds may ask of the users' pools. Key ids count from 0."""

    @property
    def keys(self) -> str:
        """The engine's table that holds the keys' text, by `kid`."""
        ...

    @property
    def size(self) -> int:
        """How many keys stand in some pool."""
        ...

    def weighed(self, running: Any, listed: str) -> Weights:
        """The weights of a round: of every key if `running` is None, else of those that stayed after the one before.

        A key's weight is the sum of A(n) over the pools it stands in; n counts a user's keys in the running. `listed`
        names the engine's table of a public list, or is empty.
        """
        ...

    def onward(self) -> tuple[SearchLog, RunMode] | None:
        """The log and the mode that later stages measure with; None where there is nothing but these pools."""
        ...

    def recount(self, ids: Integers, lam: Integers, cap2: int) -> Integers:
        """For each released key, the sum over all its holders of λ, scaled so that no user's length² exceeds cap2."""
        ...

    def kept(self, ids: Integers, most: int) -> int:
        """How many released keys the users hold, each user counted for at most `most`."""
        ...


class LocalPools:
    """Pools whose weights are brought here as arrays, round by round."""

    size: int

    def weights(self, live: Integers) -> Integers:
        """For each live key, its weight."""
        raise NotImplementedError

    def listed(self, table: str) -> Flags:
        """Which keys stand in a public list, by id."""
        raise OurBug("these pools know no lists")

    def onward(self) -> tuple[SearchLog, RunMode] | None:
        """Nothing but these pools."""
        return None

    def weighed(self, running: Any, listed: str) -> Weights:
        """The weights of a round, as an array."""
        if running is None:
            running = Running.all(self.size, self.listed(listed) if listed else None)
        return LocalWeights(running, self.weights(running.ids))


class EnginePools(Holdings, LocalPools):
    """Pools inside an engine. Asking for weights a second time restricts the pools to what is still live.

    `first` names a table of keys that enter a full pool before others: a public list.
    """

    def __init__(
        self, log: SearchLog, keys: Keys, limit: int, bits: int, mode: RunMode, first: str | None = None
    ) -> None:
        self.bits, self.mode = bits, mode
        keys.ready(log)
        engine, name, columns = log.engine, keys.name, keys.list()
        super().__init__(log, keys, f"held_{name}", f"pooled_{name}", 0)
        self._live = f"pool_{name}"
        self._amounts, self._degrees = f"amounts_{name}", f"degrees_{name}"
        self._round, self._most = 0, 0
        amounts = {"n": np.arange(1, limit + 1), "a": [amount(bits, n) for n in range(1, limit + 1)]}
        engine.register(self._amounts, pa.table(amounts))
        engine.save(self.held, f"SELECT DISTINCT uid, {columns} FROM ({keys.events.format(log='log')}) AS events")
        engine.save(self._degrees, f"SELECT uid, count(*) AS n FROM {self.held} GROUP BY uid")
        heavy = f"SELECT uid FROM {self._degrees} WHERE n > {limit}"
        theirs, order = f"SELECT uid, {columns} FROM {self.held} WHERE uid IN ({heavy})", hashed(keys, mode.secret)
        if not mode.repeatable and first is None:
            order = engine.shuffle(seeded(keys, mode.secret))
        if first is not None:  # keys of a public list come before the others
            flag = f"CASE WHEN l.{keys.columns[0]} IS NULL THEN '1' ELSE '0' END AS unlisted"
            theirs = (
                f"SELECT h.uid AS uid, {keys.list('h')}, {flag} FROM {self.held} AS h "
                f"LEFT JOIN {first} AS l ON {keys.same('h', 'l')} WHERE h.uid IN ({heavy})"
            )
            order = f"concat(unlisted, {order})"
        engine.smallest(f"heavy_{name}", theirs, keys.columns, order, limit)
        engine.view(
            self._live,
            f"SELECT h.uid AS uid, {keys.list('h')} FROM {self.held} AS h WHERE NOT EXISTS "
            f"(SELECT 1 FROM {self._degrees} AS d WHERE d.uid = h.uid AND d.n > {limit}) "
            f"UNION ALL SELECT uid, {columns} FROM heavy_{name}",
        )
        engine.number(
            self.keys,
            f"SELECT {columns}, CAST(sum(a) AS BIGINT) AS w "
            f"FROM (SELECT {keys.list('h')}, a.a AS a FROM {self.held} AS h "
            f"JOIN {self._degrees} AS d ON h.uid = d.uid JOIN {self._amounts} AS a ON a.n = d.n "
            f"UNION ALL SELECT {columns}, CAST({amount(bits, limit)} AS BIGINT) AS a FROM heavy_{name}) AS added "
            f"GROUP BY {columns}",
            mode.order(keys.columns),
            "kid",
        )
        self.size = self._pooled = int(engine.fetch(f"SELECT count(*) AS n FROM {self.keys}").column("n")[0].as_py())

    @cached_property
    def _first(self) -> Integers:
        """The weights of the first round."""
        return by_id(self.log.engine.fetch(f"SELECT kid, w FROM pooled_{self.kind.name}"), "w")

    def onward(self) -> tuple[SearchLog, RunMode]:
        """The log that they are of, and how it was measured."""
        return self.log, self.mode

    def again(self) -> None:
        """Start over from the same pools: experiments draw noise many times, a release never does."""
        name = self.kind.name
        self._round, self._live, self.keys, self.size = 0, f"pool_{name}", f"pooled_{name}", self._pooled

    def arrays(self) -> ArrayPools:
        """The same pools as arrays; only for logs made for tests and audits."""
        engine = self.log.engine
        on = self.kind.same("p", "k")
        users: dict[str, int] = {}
        found = []
        for table in (f"pool_{self.kind.name}", self.held):
            rows = engine.fetch(f"SELECT p.uid AS uid, k.kid AS kid FROM {table} AS p JOIN {self.keys} AS k ON {on}")
            ids = [users.setdefault(u, len(users)) for u in rows.column("uid").to_pylist()]
            found.append(np.array([ids, rows.column("kid").to_pylist()], np.int64).T.reshape(-1, 2))
        return ArrayPools(found[0], found[1], self.size, self.bits)

    def listed(self, table: str) -> Flags:
        """Which keys stand in a table of texts, by id; only where the weights of all keys are brought, too."""
        found = np.zeros(self.size, bool)
        join = f"{self.keys} AS k JOIN {table} AS l ON {self.kind.same('k', 'l')}"
        found[self.log.engine.fetch(f"SELECT k.kid AS kid FROM {join}").column("kid").to_numpy()] = True
        return found

    def weights(self, live: Integers) -> Integers:
        """Round 1 was summed with the pools; later rounds restrict the pools to the live keys first."""
        if self._round == 0:
            if live.size != self.size:
                raise OurBug("the first round sees every key of the pools")
            self._round, self._most = 1, live.size
            return checked(self._first)
        if live.size > self._most:
            raise OurBug("a key that left the pools cannot come back")
        self._most = live.size
        self.log.engine.register("live_keys", pa.table({"kid": live}))
        summed = self.log.engine.fetch(self.summed("live_keys"))
        sums = np.zeros(self.size, np.int64)
        sums[summed.column("kid").to_numpy()] = summed.column("w").to_numpy()
        return checked(sums[live])

    def summed(self, live: str | None) -> str:
        """The next round as SQL, (kid, w): all keys, with their text, or those of `live`, to which pools are cut."""
        self._round += 1
        if live is None:
            return f"SELECT kid, w, {self.kind.list()} FROM {self.keys}"
        engine = self.log.engine
        pool = f"pool_{self.kind.name}_{self._round}"
        if self._round == 2:
            texts = f"live_{self.kind.name}"  # kept, so that the engine knows how few they are
            engine.save(
                texts,
                f"SELECT t.kid AS kid, {self.kind.list('t')} FROM {self.keys} AS t JOIN {live} AS l ON t.kid = l.kid",
            )
            on = self.kind.same("p", "k")
            rows = f"SELECT p.uid AS uid, k.kid AS kid FROM {self._live} AS p JOIN {texts} AS k ON {on}"
        else:
            rows = f"SELECT p.uid AS uid, p.kid AS kid FROM {self._live} AS p JOIN {live} AS l ON p.kid = l.kid"
        engine.save(pool, rows)
        if self._round > 2:
            engine.drop(self._live)
        self._live = pool
        return (
            f"SELECT p.kid AS kid, CAST(sum(a.a) AS BIGINT) AS w FROM {pool} AS p "
            f"JOIN (SELECT uid, count(*) AS n FROM {pool} GROUP BY uid) AS d ON p.uid = d.uid "
            f"JOIN {self._amounts} AS a ON a.n = d.n GROUP BY p.kid"
        )


class DistributedPools(EnginePools):
    """Pools inside an engine whose weights stay there: a round is tested where they lie."""

    def weighed(self, running: Any, listed: str) -> Weights:
        """The weights of a round, in the engine; `running` names the view that the round before left."""
        kind, name, r = self.kind, self.kind.name, self._round
        member, join = "false", ""
        if listed:
            member, join = f"l.{kind.columns[0]} IS NOT NULL", f" LEFT JOIN {listed} AS l ON {kind.same('k', 'l')}"
        weights = self.summed(running)
        if running is None:
            sql = (
                f"SELECT k.kid AS kid, k.w AS w, CAST(0 AS BIGINT) AS accumulator, {member} AS listed "
                f"FROM ({weights}) AS k{join}"
            )
        else:
            sql = (
                "SELECT a.kid AS kid, coalesce(s.w, 0) AS w, a.accumulator AS accumulator, a.listed AS listed "
                f"FROM {running} AS a LEFT JOIN ({weights}) AS s ON a.kid = s.kid"
            )
        return EngineWeights(self.log.engine, sql, f"tested_{name}_{r}", f"running_{name}_{r}")


def fixed(log: SearchLog, keys: Keys, limit: int, bits: int, mode: RunMode, first: str | None = None) -> EnginePools:
    """The pools of a log, fixed before the first noise; their weights live where the mode has them."""
    kind = DistributedPools if mode.where is Where.ENGINE else EnginePools
    return kind(log, keys, limit, bits, mode, first)


class ArrayPools(LocalPools):
    """Pools as arrays, for audits: the same integers without an engine. Rows are (user, key)."""

    keys = ""

    def __init__(self, pool: Integers, held: Integers, size: int, bits: int) -> None:
        self.pool, self.held, self.size, self.bits = pool, held, size, bits
        self._people = int(held[:, 0].max(initial=-1)) + 1

    def tiled(self, copies: int) -> ArrayPools:
        """This many copies side by side: users and keys of copy r are numbered after those of copy r − 1."""
        shift = np.array([self._people, self.size], np.int64)
        offset = np.repeat(np.arange(copies, dtype=np.int64), self.pool.shape[0])[:, None] * shift
        wide = np.repeat(np.arange(copies, dtype=np.int64), self.held.shape[0])[:, None] * shift
        pool: Integers = np.tile(self.pool, (copies, 1)) + offset
        held: Integers = np.tile(self.held, (copies, 1)) + wide
        return ArrayPools(pool, held, self.size * copies, self.bits)

    def weights(self, live: Integers) -> Integers:
        """The weights of a round, by counting."""
        alive = np.zeros(self.size, bool)
        alive[live] = True
        users, keys = self.pool[alive[self.pool[:, 1]]].T
        n = np.bincount(users, minlength=self._people)
        amounts = np.array([0, *(amount(self.bits, i) for i in range(1, int(n.max(initial=0)) + 1))], np.int64)
        return checked(_sum(keys, amounts[n[users]], self.size)[live])

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
