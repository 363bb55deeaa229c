"""Linkage: whoever knows a few searches of somebody finds the record that holds them all, and reads the rest.

This is what became of the AOL release: a number is as good as a name once one search under it is known.
"""

from __future__ import annotations

from collections import defaultdict

import pyarrow as pa

from hubbub.steps.bound import hashed
from hubbub.steps.keys import QUERIES, Keys
from hubbub.worth.attacks.base import Attack, AttackSetup, NotAttackable, Outcome, Rate

KNOWN, ENOUGH = 3, 5
"""How many queries of a target are known, and how many she has at least."""


class Linkage(Attack):
    """A few known searches find a whole history."""

    name = "linkage"
    about = f"which record is the target's? {KNOWN} of her queries find it, and the rest is read"
    paper = "the AOL release of 2006"

    def run(self, setup: AttackSetup) -> Outcome:
        """Join what is known with the records of the released log."""
        if setup.released.log is None:
            raise NotAttackable("the release holds no records of users: nothing to join")
        histories = self.histories(setup)
        known = [(user, query) for user, queries in histories.items() for query in queries[:KNOWN]]
        engine = setup.released.log.engine
        engine.register("known", pa.table({"target": [u for u, _ in known], "query": [q for _, q in known]}))
        candidates = (
            "SELECT k.target AS target, l.uid AS uid, count(DISTINCT k.query) AS n FROM known AS k "
            "JOIN log AS l ON k.query = l.query GROUP BY k.target, l.uid"
        )
        one = (
            f"SELECT target, min(uid) AS uid FROM ({candidates}) AS c WHERE n = {KNOWN} "
            f"GROUP BY target HAVING count(*) = 1"
        )
        rows = engine.fetch(
            f"SELECT DISTINCT o.target AS target, l.query AS query FROM ({one}) AS o JOIN log AS l ON o.uid = l.uid"
        )
        records: dict[str, set[str]] = defaultdict(set)
        for row in rows.to_pylist():
            records[row["target"]].add(row["query"])
        right = sum(self.hers(records[user], queries) for user, queries in histories.items() if user in records)
        return Outcome(
            Rate(right, len(histories)),
            Rate(len(records) - right, len(histories)),
            f"{len(histories)} targets, {KNOWN} queries known of each; a success is the only record that holds them "
            "all, most of whose other queries are truly hers; a false alarm is the only record, and not hers",
        )

    @staticmethod
    def hers(record: set[str], queries: list[str]) -> bool:
        """Whether most of what the record tells besides is true of her."""
        more = record - set(queries[:KNOWN])
        return bool(more) and 2 * len(more & set(queries)) > len(more)

    def histories(self, setup: AttackSetup) -> dict[str, list[str]]:
        """The distinct queries of every target, in a random order: canary users where there are any."""
        log = setup.log
        canaries = ""
        if setup.canaries is not None:
            log.engine.register("canaries", setup.canaries.select(["user"]).rename_columns(["uid"]))
            canaries = " AND uid IN (SELECT uid FROM canaries)"
        held, order = QUERIES.distinct(), hashed(QUERIES, setup.secret)
        users = hashed(Keys("users", ("uid",), "", ()), setup.secret)
        some = (
            f"SELECT uid FROM (SELECT uid, count(*) AS n FROM ({held}) AS h GROUP BY uid) AS sized "
            f"WHERE n >= {ENOUGH}{canaries} ORDER BY {users} LIMIT {setup.targets}"
        )
        rows = log.engine.fetch(
            f"SELECT uid, query FROM ({held}) AS h WHERE uid IN (SELECT uid FROM ({some}) AS s) ORDER BY uid, {order}"
        )
        found: dict[str, list[str]] = defaultdict(list)
        for row in rows.to_pylist():
            found[row["uid"]].append(row["query"])
        if not found:
            raise NotAttackable(f"no target has {ENOUGH} queries")
        return found
