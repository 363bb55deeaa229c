"""What users hold, inside an engine, and counting released keys over all of it.

A user who holds many released keys is scaled, not cut, so that no user's vector is longer than a bound. Keys
that nobody's pool held may be released too (a closed domain): they are adopted, and counted with the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from hubbub.engines.base import Aggregate, of_key, of_user
from hubbub.errors import OurBug
from hubbub.log import SearchLog
from hubbub.steps.counts import Flags, Integers, texts
from hubbub.steps.keys import Keys
from hubbub.steps.roots import rooted

if TYPE_CHECKING:
    from hubbub.engines import Engine

MOST = 1 << 62


class Holdings:
    """Who holds which keys. `held` names the table (uid, key columns, …), `keys` that of (kid, key columns)."""

    def __init__(self, log: SearchLog, kind: Keys, held: str, keys: str, size: int) -> None:
        self.log, self.kind, self.held, self.keys, self.size = log, kind, held, keys, size

    def holds(self, rows: pa.Table) -> Flags:
        """Which of these keys, named by their text, have an id."""
        found, asked = np.zeros(rows.num_rows, bool), f"asked_{self.kind.name}"
        if rows.num_rows:
            engine, at = self.log.engine, pa.array(np.arange(rows.num_rows))
            engine.register(asked, rows.select(self.kind.columns).append_column("at", at))
            join = f"{self.keys} AS k JOIN {asked} AS a ON {self.kind.same('k', 'a')}"
            found[engine.fetch(of_key(f"SELECT a.at AS at FROM {join}")).column("at").to_numpy()] = True
        return found

    def text(self, engine: Engine, kind: Keys, ids: Integers) -> pa.Table:
        """The text of keys, in the order of `ids`."""
        return texts(engine, self.keys, kind, ids)

    def adopt(self, rows: pa.Table) -> Integers:
        """Give ids to keys that stand in no pool: the next ones, in the order of the rows."""
        ids = self.size + np.arange(rows.num_rows)
        if rows.num_rows:
            engine, name = self.log.engine, self.kind.name
            engine.register(f"adopted_{name}", rows.select(self.kind.columns).append_column("kid", pa.array(ids)))
            own = f"SELECT kid, {self.kind.list()} FROM"
            engine.view(f"all_{name}", f"{own} {self.keys} UNION ALL {own} adopted_{name}")
            self.keys, self.size = f"all_{name}", self.size + rows.num_rows
        return ids

    def _holding(self, ids: Integers, columns: dict[str, Integers]) -> str:
        """The engine's table of (uid, kid, …) for users who hold released keys."""
        engine, released = self.log.engine, f"recount_{self.kind.name}"
        engine.register("released_keys", pa.table({"kid": ids, **columns}))
        extra = "".join(f", r.{c} AS {c}" for c in columns)
        kept = "".join(f", k.{c} AS {c}" for c in columns)
        join = f"{self.keys} AS t JOIN released_keys AS r ON t.kid = r.kid"
        engine.save(released, of_key(f"SELECT t.kid AS kid, {self.kind.list('t')}{extra} FROM {join}"))
        return (
            f"SELECT h.uid AS uid, k.kid AS kid{kept} FROM {self.held} AS h "
            f"JOIN {released} AS k ON {self.kind.same('h', 'k')}"
        )

    def recount(self, ids: Integers, lam: Integers, cap2: int) -> Integers:
        """Users whose λ are too long are scaled down to length² <= cap2: isqrt(λ² cap2 // n2) for each key."""
        if ids.size and int(lam.max()) ** 2 * cap2 >= MOST:
            raise OurBug("the recount would overflow")
        engine, table = self.log.engine, f"holding_{self.kind.name}"
        engine.save(table, of_user(self._holding(ids, {"lam": lam})))
        users = f"SELECT uid, CAST(sum(lam * lam) AS BIGINT) AS n2 FROM {table} GROUP BY uid"
        scaled = (  # by cap2 // n2; not at all where n2 is no more than cap2
            f"SELECT r.kid AS kid, r.lam * r.lam * {cap2} AS top, greatest(u.n2, {cap2}) AS below "
            f"FROM {table} AS r JOIN ({users}) AS u ON r.uid = u.uid"
        )
        recounted = f"recounted_{self.kind.name}"
        engine.summed(recounted, of_user(rooted(scaled)), Aggregate.sum("root", "y"), self.keys)
        summed = engine.fetch(of_key(f"SELECT kid, y FROM {recounted}"))
        sums, order = np.zeros(ids.size, np.int64), np.argsort(ids)
        at = np.searchsorted(ids, summed.column("kid").to_numpy(), sorter=order)
        sums[order[at]] = summed.column("y").to_numpy()
        return checked(sums)

    def kept(self, ids: Integers, most: int) -> int:
        """Σ over users of min(most, released keys she holds)."""
        table = f"holding_{self.kind.name}"
        kept = (
            f"SELECT CAST(coalesce(sum(least(n, {most})), 0) AS BIGINT) AS total FROM "
            f"(SELECT uid, count(*) AS n FROM {table} GROUP BY uid) AS users"
        )
        return int(sum(self.log.engine.fetch(of_user(kept)).column("total").to_pylist()))


def checked(sums: Integers) -> Integers:
    """Sums that are exact in every number format on the way."""
    if sums.size and int(sums.max()) >= 1 << 56:
        raise OurBug("a sum of weights is too large for exact arithmetic")
    return sums
