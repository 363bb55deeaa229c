"""Ballots: each user has one vote for one of the keys she holds, in passes until every vote that can has found a seat.

A key has a limited number of seats. In pass s every user without a seat asks for the s-th key of her ballot; a key with
fewer seats left than askers takes those who come first by a keyed hash, and the others go on. A seat that was given
is never taken back. Who has none after the last pass counts at the first key of her ballot. So one user more raises one
number by one, and no other (docs/proofs/crowd.md, section 17). Before that, the keys are looked at: a user shares up to
`most` among all she holds, and the noisy sums order every user's ballot. Integers throughout; SQL in the common subset.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from hubbub.log import SearchLog
from hubbub.steps.bound import lot
from hubbub.steps.counts import Integers, by_id
from hubbub.steps.holdings import Holdings
from hubbub.steps.keys import Keys
from hubbub.steps.mode import RunMode, Where
from hubbub.steps.weights import EngineWeights, LocalWeights, Running, Weights

LAST = 1 << 60
"""Keys that have no prospect come after this in a ballot."""


def share(unit: int, most: int, held: int) -> int:
    """What a user adds to each of the keys she holds when they are looked at: together at most `most` units."""
    return min(unit, most * unit // held)


class Ballots(Holdings):
    """What users hold, and their votes, inside an engine."""

    def __init__(self, log: SearchLog, keys: Keys, unit: int, most: int, mode: RunMode) -> None:
        keys.ready(log)
        super().__init__(log, keys, f"held_{keys.name}", f"voted_{keys.name}", 0)
        self.mode = mode
        engine, columns, shares = log.engine, keys.list(), f"shares_{keys.name}"
        held = np.arange(1, unit * most + 1)
        engine.register(shares, pa.table({"n": held, "a": [share(unit, most, int(n)) for n in held]}))
        engine.save(self.held, f"SELECT DISTINCT uid, {columns} FROM ({keys.events.format(log='log')}) AS events")
        engine.number(
            self.keys,
            f"SELECT {keys.list('h')}, CAST(sum(coalesce(a.a, 0)) AS BIGINT) AS w FROM {self.held} AS h "
            f"JOIN (SELECT uid, count(*) AS n FROM {self.held} GROUP BY uid) AS d ON h.uid = d.uid "
            f"LEFT JOIN {shares} AS a ON a.n = d.n GROUP BY {keys.list('h')}",
            mode.order(keys.columns),
            "kid",
        )
        self.size = int(engine.fetch(f"SELECT count(*) AS n FROM {self.keys}").column("n")[0].as_py())

    def again(self) -> None:
        """Nothing is used up: experiments draw noise many times, a release never does."""

    def looked(self) -> Weights:
        """The sum of what users add to each key."""
        name = self.kind.name
        sql = f"SELECT kid, w, CAST(0 AS BIGINT) AS accumulator, CAST(0 AS BIGINT) AS mark FROM {self.keys}"
        if self.mode.where is Where.ENGINE:
            return EngineWeights(self.log.engine, sql, f"looked_{name}", f"prospects_{name}")
        return LocalWeights(Running.all(self.size), by_id(self.log.engine.fetch(sql), "w"))

    def voted(self, looks: Any, level: int, seats: int, passes: int) -> Weights:
        """The votes of each key: by the noisy looks, the rarest key that reaches the level first."""
        engine, name = self.log.engine, self.kind.name
        if isinstance(looks, str):
            prospects = f"SELECT kid, accumulator AS z FROM {looks}"
        else:
            engine.register(f"prospects_{name}", pa.table({"kid": looks.ids, "z": looks.gathered}))
            prospects = f"SELECT kid, z FROM prospects_{name}"
        counted = self._count(self._ballots(prospects, level, passes), seats, passes)
        if isinstance(looks, str):
            sql = (
                "SELECT k.kid AS kid, coalesce(v.w, 0) AS w, k.accumulator AS accumulator, k.mark AS mark "
                f"FROM {looks} AS k LEFT JOIN ({counted}) AS v ON k.kid = v.kid"
            )
            return EngineWeights(engine, sql, f"elected_{name}", f"lost_{name}")
        votes, found = np.zeros(self.size, np.int64), engine.fetch(counted)
        votes[found.column("kid").to_numpy()] = found.column("w").to_numpy()
        return LocalWeights(looks, votes)

    def _ballots(self, prospects: str, level: int, passes: int) -> str:
        """The table of ballots, (uid, kid, place, lot); who holds more keys than there are passes lists the first."""
        kind, table = self.kind, f"ballots_{self.kind.name}"
        turn = f"CASE WHEN z.z >= {level} THEN z.z ELSE CAST({LAST} AS BIGINT) - z.z END"
        rows = (
            f"SELECT h.uid AS uid, k.kid AS kid, row_number() OVER (PARTITION BY h.uid ORDER BY {turn}, "
            f"{kind.list('h')}) AS place FROM {self.held} AS h JOIN {self.keys} AS k ON {kind.same('h', 'k')} "
            f"JOIN ({prospects}) AS z ON z.kid = k.kid"
        )
        hashed = lot(self.mode.secret)
        self.log.engine.save(
            table, f"SELECT uid, kid, place, {hashed} AS lot FROM ({rows}) AS listed WHERE place <= {passes}"
        )
        return table

    def _count(self, ballots: str, seats: int, passes: int) -> str:
        """SQL of the votes, (kid, w), after all passes."""
        engine, name = self.log.engine, self.kind.name
        seated = ""
        waiting = ballots
        for s in range(1, passes + 1):
            full = f"SELECT kid, count(*) AS n FROM ({seated}) AS seated GROUP BY kid"
            taken = f"LEFT JOIN ({full}) AS t ON t.kid = v.kid" if seated else ""
            left = f"{seats} - coalesce(t.n, 0)" if seated else f"{seats}"
            asking = (
                f"SELECT v.uid AS uid, v.kid AS kid, {left} AS room, "
                "row_number() OVER (PARTITION BY v.kid ORDER BY v.lot, v.uid) AS seat "
                f"FROM {waiting} AS v {taken} WHERE v.place = {s}"
            )
            given, still = f"seated_{name}_{s}", f"waiting_{name}_{s}"
            engine.save(given, f"SELECT uid, kid FROM ({asking}) AS asking WHERE seat <= room")
            if s < passes:
                engine.save(
                    still,
                    f"SELECT w.uid AS uid, w.kid AS kid, w.place AS place, w.lot AS lot FROM {waiting} AS w WHERE "
                    f"w.place > {s} AND NOT EXISTS (SELECT 1 FROM {given} AS g WHERE g.uid = w.uid)",
                )
            seated = f"{seated} UNION ALL SELECT uid, kid FROM {given}" if seated else f"SELECT uid, kid FROM {given}"
            waiting = still
        home = (
            f"SELECT b.uid AS uid, b.kid AS kid FROM {ballots} AS b WHERE b.place = 1 "
            f"AND NOT EXISTS (SELECT 1 FROM ({seated}) AS s WHERE s.uid = b.uid)"
        )
        return f"SELECT kid, count(*) AS w FROM ({seated} UNION ALL {home}) AS votes GROUP BY kid"

    def noisy(self, looks: Any, ids: Integers) -> Integers:
        """What the look said of these keys, in their order."""
        if not isinstance(looks, str):
            gathered: Integers = looks.gathered[np.searchsorted(looks.ids, ids)]
            return gathered
        engine = self.log.engine
        engine.register("released_ids", pa.table({"kid": ids, "at": np.arange(ids.size)}))
        found = engine.fetch(
            f"SELECT r.at AS at, k.accumulator AS z FROM {looks} AS k JOIN released_ids AS r ON r.kid = k.kid"
        )
        noisy: Integers = found.sort_by("at").column("z").to_numpy()
        return noisy

    def kept(self, ids: Integers, most: int) -> int:
        """Σ over users of min(most, released keys she holds)."""
        self.log.engine.save(f"holding_{self.kind.name}", self._holding(ids, {}))
        return super().kept(ids, most)
