"""Adar: User 4XXXXX9, Anonymizing Query Logs (2007): queries asked by fewer than k users are dropped.

In each session the user's id becomes a random number. Clicks are left out: the paper is about queries, and a clicked
address can be rarer than the query. `queries` is the histogram that Götz et al. take of such a log (their §8).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from hubbub.mechanisms.anonymity.base import Anonymity, as_log, at_least, by_text, fresh_numbers
from hubbub.mechanisms.base import Tables
from hubbub.steps.counts import Integers
from hubbub.steps.keys import LOG, QUERIES
from hubbub.steps.sessions import require_times, sessions

if TYPE_CHECKING:
    from hubbub.log import SearchLog
    from hubbub.noise import NoiseSource
    from hubbub.steps.mode import RunMode


@dataclass(frozen=True)
class Searches:
    """The searches that stay: the session of each, numbered from 0, its time and its query."""

    session: Integers
    rows: pa.Table


class KQuery(Anonymity, register=True):
    """Queries of k users or more, in sessions without names."""

    name = "k-query"
    paper = "Adar 2007"
    about = "queries asked by at least k users, exactly; sessions under random numbers (not private)"
    offers = {"queries": QUERIES, "log": LOG}  # noqa: RUF012
    default_tables = ("queries", "log")
    promise = "every published query was asked by at least {k} users"
    weakness = "some of these users may be accounts of one attacker, who then learns about the last one for certain"

    @property
    def needs_times(self) -> bool:
        """Searches of one session stay together."""
        return "log" in self.tables

    def measure(self, log: SearchLog, mode: RunMode) -> dict[str, Any]:
        """Users of each query; and the searches of those with enough of them, by session."""
        from hubbub.steps.count import count

        found: dict[str, Any] = {"queries": count(log, QUERIES, QUERIES.distinct(), mode)}
        if "log" in self.tables:
            require_times(log)
            rows = log.engine.fetch(
                f'SELECT s.uid AS uid, s.session AS session, s."time" AS "time", s.query AS query '
                f"FROM ({sessions()}) AS s JOIN {found['queries'].keys} AS c ON s.query = c.query WHERE c.n >= {self.k}"
            )
            found["log"] = Searches(together(rows), rows)
        return found

    def perturb(self, counts: Mapping[str, Any], noise: NoiseSource) -> Tables:
        """Exact counts from k on; a random number for every session."""
        released: Tables = {"queries": at_least(counts["queries"], self.k)}
        if "log" in self.tables:
            held: Searches = counts["log"]
            numbers = fresh_numbers(int(held.session.max(initial=-1)) + 1, "numbers of sessions", noise)
            columns = {name: held.rows.column(name) for name in ("time", "query")}
            released["log"] = as_log(numbers[held.session], columns)
        return {table: released[table] for table in self.tables}


def together(rows: pa.Table) -> Integers:
    """Which session each row belongs to, from 0: one for every (uid, session)."""
    number = rows.column("session").to_numpy()
    place = by_text(rows.column("uid")) * (int(number.max(initial=0)) + 1) + number
    return np.unique(place, return_inverse=True)[1].astype(np.int64)
