"""Sessions: a user's searches cut where she paused for longer than a gap. One user at a time, in her own order.

A search is a distinct (user, time, query); ties in time are broken by the query's text. Searches without a time
belong to no session.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hubbub.errors import InputError
from hubbub.privacy.existence import Cause

if TYPE_CHECKING:
    from hubbub.log import SearchLog

GAP = 30 * 60
"""Seconds of silence after which a new session begins, unless a mechanism says otherwise."""
SEPARATOR = "\x1f"
"""Stands between the queries of a sequence; cleaning leaves it in no query."""


def searches(log: str = "log") -> str:
    """Every search that has a time: (uid, time, query)."""
    return f'SELECT DISTINCT uid, "time", query FROM {log} WHERE "time" IS NOT NULL'


def sessions(gap: int = GAP, log: str = "log") -> str:
    """Every search with the number of its session, from 1 for each user: (uid, time, query, session)."""
    window = 'PARTITION BY uid ORDER BY "time", query'
    starts = f'CASE WHEN "time" - lag("time") OVER ({window}) <= {gap} THEN 0 ELSE 1 END'
    return (
        f'SELECT uid, "time", query, '
        f"CAST(sum(starts) OVER ({window} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS BIGINT) AS session "
        f'FROM (SELECT uid, "time", query, {starts} AS starts FROM ({searches(log)}) AS searches) AS cut'
    )


def adjacent(gap: int = GAP, log: str = "log") -> str:
    """Two searches of one session, one right after the other, that differ: (uid, time, query, next_query)."""
    window = 'PARTITION BY uid ORDER BY "time", query'
    return (
        f'SELECT uid, "time", query, next_query FROM (SELECT uid, "time", query, '
        f'lead(query) OVER ({window}) AS next_query, lead("time") OVER ({window}) AS next_time '
        f'FROM ({searches(log)}) AS searches) AS pairs WHERE next_time - "time" <= {gap} AND next_query <> query'
    )


def require_times(log: SearchLog) -> None:
    """Without times there are no sessions: better an error than an empty table. A log of no rows lacks no times."""
    timed, any_row = (f"SELECT 1 AS one FROM log{only} LIMIT 1" for only in (' WHERE "time" IS NOT NULL', ""))
    if not log.engine.fetch(timed).num_rows and log.engine.fetch(any_row).num_rows:
        raise InputError(
            "This log has no times, so it has no sessions and no transitions.",
            given=f"format {log.ingested.format}, no time read",
            next="name the column of times with --columns time=…, or ask for other tables",
            because=Cause.TIMES,
        )
