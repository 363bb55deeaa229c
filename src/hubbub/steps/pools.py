"""Pools: the keys each user brings to a selection in rounds, fixed before the first noise.

A user holds all her distinct keys; at most D of them, chosen at random by a keyed hash, are her pool (the same
on every engine where a run must repeat, else the engine's fastest). Each
round, a user with n live keys in her pool adds A(n) = ⌊2^k/√n⌋ to each of them: her vector has length at
most 2^k. Where there is a public prior, a full pool takes keys in the prior's order, and from the second round on a
live key of weight g gets ⌊2^k √(g/G)⌋ instead, G the sum over her live keys. After the selection the released keys are
counted again over everything she holds, not only her
pool. Integers throughout; SQL in the common subset; `Pools` is what a mechanism sees.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa

from hubbub.engines.base import Aggregate, of_key, of_user
from hubbub.errors import OurBug
from hubbub.log import SearchLog
from hubbub.steps.array_pools import ArrayPools, LocalPools, amount
from hubbub.steps.bound import hashed, seeded
from hubbub.steps.counts import Integers, by_id, size_of
from hubbub.steps.holdings import Holdings, checked
from hubbub.steps.keys import Keys
from hubbub.steps.keys.base import EVENTS
from hubbub.steps.live_rows import LiveRows, PriorSays
from hubbub.steps.mode import RunMode, Where
from hubbub.steps.roots import rooted
from hubbub.steps.weights import KNOWN, UNMARKED, EngineWeights, Weights
from hubbub.switches import switch

if TYPE_CHECKING:
    from hubbub.engines import Engine


WEIGHT = Aggregate.sum("a", "w")
ROWS = switch(__name__, "ROWS", 1 << 23, low=0)
"""Rows of pools up to which the rounds after the first are added up on arrays."""
TURN = 1 << 56
"""The turn that a list or a prior gives a key counts more than any hash below this."""


class PublicPrior(Protocol):
    """What anybody can say of a query beforehand, as SQL over a table of queries."""

    @property
    def at_once(self) -> bool:
        """Whether it weighs keys in the first round, too: only where every key of the pools is known."""
        ...

    def register(self, engine: Engine) -> None:
        """Put what is public into the engine."""
        ...

    def weighed(self, texts: str) -> str:
        """The rows of a table with their weight `g` from 1, with `fits`, and with whether they are `known`.

        A user whose live keys' `fits` sum up to less than 0 is none whom the prior is about.
        """
        ...

    def ordered(self, rows: str) -> str:
        """Rows of (uid, query) with `turn`: the order in which a full pool takes them, by chance within a turn."""
        ...


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
        names the engine's table of public lists, with the mark of each text, or is empty.
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


class EnginePools(Holdings, LocalPools):
    """Pools inside an engine. Asking for weights a second time restricts the pools to what is still live.

    `first` names a table of keys that enter a full pool before others: a public list. A `prior` is for queries only;
    keys that it knows have the mark `KNOWN` from the second round on.
    """

    def __init__(
        self,
        log: SearchLog,
        keys: Keys,
        limit: int,
        bits: int,
        mode: RunMode,
        first: str | None = None,
        prior: PublicPrior | None = None,
    ) -> None:
        self.limit, self.bits, self.mode, self.prior = limit, bits, mode, prior
        if prior is not None:
            prior.register(log.engine)
        keys.ready(log)
        engine, name, columns = log.engine, keys.name, keys.list()
        super().__init__(log, keys, f"held_{name}", f"pooled_{name}", 0)
        self._live = f"pool_{name}"
        self._amounts, self._degrees = f"amounts_{name}", f"degrees_{name}"
        self._round, self._most = 0, 0
        self._rows: LiveRows | None = None
        amounts = {"n": np.arange(1, limit + 1), "a": [amount(bits, n) for n in range(1, limit + 1)]}
        engine.register(self._amounts, pa.table(amounts))
        keys.hold(engine, self.held, EVENTS)
        engine.save(self._degrees, of_user(f"SELECT uid, count(*) AS n FROM {self.held} GROUP BY uid"))
        heavy = f"SELECT uid FROM {self._degrees} WHERE n > {limit}"
        theirs = f"SELECT uid, {columns} FROM {self.held} WHERE uid IN ({heavy})"
        rows, order = self._turns(theirs, first)
        engine.save(f"placed_{name}", of_user(f"SELECT uid, {columns}, {order} AS ahead FROM ({rows}) AS t"))
        engine.smallest(f"heavy_{name}", of_user(f"SELECT * FROM placed_{name}"), keys.columns, "ahead", limit)
        engine.drop(f"placed_{name}")
        engine.view(
            self._live,
            f"SELECT h.uid AS uid, {keys.list('h')} FROM {self.held} AS h WHERE NOT EXISTS "
            f"(SELECT 1 FROM {self._degrees} AS d WHERE d.uid = h.uid AND d.n > {limit}) "
            f"UNION ALL SELECT uid, {columns} FROM heavy_{name}",
        )
        added = (
            f"SELECT {keys.list('h')}, a.a AS a FROM {self.held} AS h "
            f"JOIN {self._degrees} AS d ON h.uid = d.uid JOIN {self._amounts} AS a ON a.n = d.n "
            f"UNION ALL SELECT {columns}, CAST({amount(bits, limit)} AS BIGINT) AS a FROM heavy_{name}"
        )
        if prior is not None and prior.at_once:
            added = self._weighed_at_once(prior)
        engine.total(self.keys, of_user(added), keys.columns, WEIGHT, mode.order(keys.columns), "kid")
        if prior is not None and prior.at_once:
            engine.drop(f"weighed_{name}")
        self.size = self._pooled = size_of(engine, self.keys)

    def _turns(self, theirs: str, first: str | None) -> tuple[str, str]:
        """Rows of users who hold too many keys, and the order in which a pool takes them."""
        keys, mode, engine = self.kind, self.mode, self.log.engine
        order, turns = hashed(keys, mode.secret), []
        if first is not None:  # keys of a public list come before the others
            flag = f"CASE WHEN l.{keys.columns[0]} IS NULL THEN 1 ELSE 0 END AS unlisted"
            theirs = f"SELECT t.*, {flag} FROM ({theirs}) AS t LEFT JOIN {first} AS l ON {keys.same('t', 'l')}"
            turns.append("unlisted")
        if self.prior is not None:
            theirs = self.prior.ordered(theirs)
            turns.append("turn")
        if mode.repeatable:
            return theirs, f"concat({', '.join([*turns, order])})" if turns else order
        order = engine.shuffle(seeded(keys, mode.secret))
        if turns:
            places = " + ".join(f"{10**i} * {turn}" for i, turn in enumerate(reversed(turns)))
            order = f"CAST({places} AS BIGINT) * {TURN} + CAST(({order}) % {TURN // 4} AS BIGINT)"  # of either sign
        return theirs, order

    def _weighed_at_once(self, prior: PublicPrior) -> str:
        """What each user adds to each of her keys in a first round in which the prior weighs them."""
        engine, kind, table = self.log.engine, self.kind, f"weighed_{self.kind.name}"
        engine.save(table, of_user(f"SELECT uid, {kind.list()}, g FROM ({prior.weighed(self._live)}) AS w"))
        own = f"SELECT uid, sum(g) AS total FROM {table} GROUP BY uid"
        shared = (
            f"SELECT {kind.list('p')}, p.g * CAST({4**self.bits} AS BIGINT) AS top, CAST(d.total AS BIGINT) AS below "
            f"FROM {table} AS p JOIN ({own}) AS d ON p.uid = d.uid"
        )
        return f"SELECT {kind.list()}, root AS a FROM ({rooted(shared, kind.list())}) AS r"

    @cached_property
    def _first(self) -> Integers:
        """The weights of the first round."""
        return by_id(self.log.engine.fetch(of_key(f"SELECT kid, w FROM pooled_{self.kind.name}")), "w")

    def onward(self) -> tuple[SearchLog, RunMode]:
        """The log that they are of, and how it was measured."""
        return self.log, self.mode

    def again(self) -> None:
        """Start over from the same pools: experiments draw noise many times, a release never does."""
        name = self.kind.name
        self._round, self._live, self.keys, self.size = 0, f"pool_{name}", f"pooled_{name}", self._pooled
        self._rows = None

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
        said = None
        if self.prior is not None:
            rows = engine.fetch(
                f"SELECT kid, g, fits, CAST(known AS INTEGER) AS known FROM ({self.prior.weighed(self.keys)}) AS w"
            )
            said = np.stack([by_id(rows, name) for name in ("g", "fits", "known")])
        return ArrayPools(found[0], found[1], self.size, self.bits, said)

    def marks(self, table: str) -> Integers:
        """The mark of every key by a table of texts, by id; only where the weights of all keys are brought, too."""
        found = np.full(self.size, UNMARKED)
        join = f"{self.keys} AS k JOIN {table} AS l ON {self.kind.same('k', 'l')}"
        rows = self.log.engine.fetch(of_key(f"SELECT k.kid AS kid, l.mark AS mark FROM {join}"))
        found[rows.column("kid").to_numpy()] = rows.column("mark").to_numpy()
        return found

    def known(self) -> Integers:
        """Live keys that the prior knows."""
        if self.prior is None or self._round != 2:
            return np.zeros(0, np.int64)
        known = of_key(f"SELECT kid FROM live_{self.kind.name} WHERE known")
        found: Integers = self.log.engine.fetch(known).column(0).to_numpy()
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
        if self._round == 1 and self._few():
            self._round, self._rows = 2, self._fetched(live)
            return self._rows.weights(live)
        if self._rows is not None:
            self._round += 1
            return self._rows.weights(live)
        self.log.engine.register("live_keys", pa.table({"kid": live}))
        summed = self.log.engine.fetch(of_key(self.summed("live_keys")))
        sums = np.zeros(self.size, np.int64)
        sums[summed.column("kid").to_numpy()] = summed.column("w").to_numpy()
        return checked(sums[live])

    def _few(self) -> bool:
        """Whether the pools are small enough for arrays."""
        rows = f"SELECT CAST(coalesce(sum(least(n, {self.limit})), 0) AS BIGINT) AS n FROM {self._degrees}"
        return int(sum(self.log.engine.fetch(of_user(rows)).column("n").to_pylist())) <= ROWS

    def _fetched(self, live: Integers) -> LiveRows:
        """The pools cut to what is live after the first round, as arrays."""
        engine = self.log.engine
        engine.register("live_keys", pa.table({"kid": live}))
        rows, said = engine.fetch(of_user(self._second("live_keys", ""))), None
        if self.prior is not None:
            said = PriorSays.of(engine.fetch(of_key(f"SELECT kid, g, fits FROM live_{self.kind.name}")), self.size)
        return LiveRows(rows, self.size, self.bits, said)

    def summed(self, live: str | None) -> str:
        """The next round as SQL, (kid, w): all keys, with their text, or those of `live`, to which pools are cut."""
        self._round += 1
        if live is None:
            return f"SELECT kid, w, {self.kind.list()} FROM {self.keys}"
        engine = self.log.engine
        pool = f"pool_{self.kind.name}_{self._round}"
        of_prior = "" if self.prior is None else ", {0}.g AS g, {0}.fits AS fits"
        if self._round == 2:
            rows = self._second(live, of_prior.format("k"))
        else:
            carried = of_prior.format("p")
            rows = (
                f"SELECT p.uid AS uid, p.kid AS kid{carried} FROM {self._live} AS p JOIN {live} AS l ON p.kid = l.kid"
            )
        engine.save(pool, of_user(rows))
        if self._round > 2:
            engine.drop(self._live)
        self._live = pool
        sums = f"weights_{self.kind.name}_{self._round}"
        engine.summed(sums, of_user(self._added(pool)), WEIGHT, self.keys)
        return f"SELECT kid, w FROM {sums}"

    def _added(self, pool: str) -> str:
        """SQL of what every user adds to the live keys of her pool, (kid, a)."""
        if self.prior is None:
            return (
                f"SELECT p.kid AS kid, a.a AS a FROM {pool} AS p "
                f"JOIN (SELECT uid, count(*) AS n FROM {pool} GROUP BY uid) AS d ON p.uid = d.uid "
                f"JOIN {self._amounts} AS a ON a.n = d.n"
            )
        own = f"SELECT uid, count(*) AS n, sum(g) AS total, sum(fits) AS fits FROM {pool} GROUP BY uid"
        shared = (
            f"SELECT p.kid AS kid, CASE WHEN d.fits < 0 THEN 1 ELSE p.g END * CAST({4**self.bits} AS BIGINT) AS top, "
            f"CAST(CASE WHEN d.fits < 0 THEN d.n ELSE d.total END AS BIGINT) AS below "
            f"FROM {pool} AS p JOIN ({own}) AS d ON p.uid = d.uid"
        )
        return f"SELECT kid, root AS a FROM ({rooted(shared)}) AS r"

    def _second(self, live: str, of_prior: str) -> str:
        """SQL of the pools cut to what is live after the first round, by id; what the prior says of it is kept."""
        engine, kind = self.log.engine, self.kind
        texts = f"live_{kind.name}"  # kept, so that the engine knows how few they are
        found = f"SELECT t.kid AS kid, {kind.list('t')} FROM {self.keys} AS t JOIN {live} AS l ON t.kid = l.kid"
        if self.prior is not None:
            found = f"SELECT kid, {kind.list()}, g, fits, known FROM ({self.prior.weighed(f'({found})')}) AS w"
        engine.save(texts, of_key(found))
        return (
            f"SELECT p.uid AS uid, k.kid AS kid{of_prior} FROM {self._live} AS p "
            f"JOIN {texts} AS k ON {kind.same('p', 'k')}"
        )


class DistributedPools(EnginePools):
    """Pools inside an engine whose weights stay there: a round is tested where they lie."""

    def weighed(self, running: Any, listed: str) -> Weights:
        """The weights of a round, in the engine; `running` names the view that the round before left."""
        kind, name, r = self.kind, self.kind.name, self._round
        mark, join = str(UNMARKED), ""
        if listed:
            mark, join = f"coalesce(l.mark, {UNMARKED})", f" LEFT JOIN {listed} AS l ON {kind.same('k', 'l')}"
        weights = self.summed(running)
        if running is None:
            sql = (
                "SELECT k.kid AS kid, k.w AS w, CAST(0 AS BIGINT) AS accumulator, "
                f"CAST({mark} AS BIGINT) AS mark FROM ({weights}) AS k{join}"
            )
        else:
            mark, join = "a.mark", ""
            if self.prior is not None and self._round == 2:
                mark = f"CASE WHEN k.known AND a.mark = 0 THEN {KNOWN} ELSE a.mark END"
                join = f" JOIN live_{name} AS k ON a.kid = k.kid"
            sql = (
                "SELECT a.kid AS kid, coalesce(s.w, 0) AS w, a.accumulator AS accumulator, "
                f"CAST({mark} AS BIGINT) AS mark FROM {running} AS a LEFT JOIN ({weights}) AS s ON a.kid = s.kid{join}"
            )
        return EngineWeights(self.log.engine, sql, f"tested_{name}_{r}", f"running_{name}_{r}")


def fixed(
    log: SearchLog,
    keys: Keys,
    limit: int,
    bits: int,
    mode: RunMode,
    first: str | None = None,
    prior: PublicPrior | None = None,
) -> EnginePools:
    """The pools of a log, fixed before the first noise; their weights live where the mode has them."""
    kind = DistributedPools if mode.where is Where.ENGINE else EnginePools
    return kind(log, keys, limit, bits, mode, first, prior)
