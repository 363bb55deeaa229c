"""Subsequences of sessions: every way to leave out queries of a session and keep the order of the rest.

    log ─ cut at pauses ─▶ each user's first sessions of two queries or more ─▶ their first l_q queries ─▶ subsequences

Trimming comes before mining. A session of l queries has 2^l − 1 − l subsequences of two queries or more, so a user
whose sessions were mined first and trimmed afterwards could add thousands of counts where a handful was promised.
One user at a time throughout: windows are partitioned by user, and a row of the trimmed sessions is one session.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from hubbub.steps.sessions import SEPARATOR, require_times, searches
from hubbub.switches import switch

if TYPE_CHECKING:
    from hubbub.log import SearchLog

MINED = pa.schema([("uid", pa.string()), ("time", pa.int64()), ("queries", pa.string())])
TABLE = "subsequences"
AT_ONCE = switch(__name__, "AT_ONCE", 1 << 26, low=64)
"""Bytes of mined text held at once; a session's queries stand in at most 2^(l_q − 1) subsequences each."""


def per_session(l_q: int) -> int:
    """How many subsequences, of at least two queries, are in a session of l_q queries."""
    return int(2**l_q) - 1 - l_q


def trimmed(gap: int, l_q: int, l_s: int | None, each: bool = True, log: str = "log") -> str:
    """One row per kept session: (uid, time, q1 … q_l_q), NULL after its end; the first l_s sessions, or all.

    A session begins at a search whose pause before it is longer than the gap; what follows is read off by `lead`, as
    long as no pause is. Sessions of one search are none (section 3.2.1, step 1). Unless `each` search counts, a query
    asked again at once (a next page, a second click) stands once; the pause before the next one is counted from its
    last search.
    """
    window = 'OVER (PARTITION BY uid ORDER BY "time", query)'
    rows = searches(log) if each else f'SELECT uid, "time", query FROM {log} WHERE "time" IS NOT NULL'
    asked = (
        f'SELECT uid, "time", query, "time" - lag("time") {window} AS pause, lag(query) {window} AS before '
        f"FROM ({rows}) AS searched"
    )
    if not each:
        asked = f"SELECT * FROM ({asked}) AS every WHERE before IS NULL OR before <> query OR pause > {gap}"
    ahead = ", ".join(
        f"lead(query, {i}) {window} AS a{i + 1}, lead(pause, {i}) {window} AS p{i + 1}" for i in range(1, l_q)
    )
    seen = f'SELECT uid, "time", query AS q1, pause AS p1, {ahead} FROM ({asked}) AS asked'
    kept = ["q1"]
    for i in range(2, l_q + 1):
        unbroken = " AND ".join(f"p{j} <= {gap}" for j in range(2, i + 1))
        kept.append(f"CASE WHEN {unbroken} THEN a{i} END AS q{i}")
    begun = (
        f'SELECT uid, "time", {", ".join(kept)} FROM ({seen}) AS seen WHERE p2 <= {gap} AND (p1 IS NULL OR p1 > {gap})'
    )
    if l_s is None:
        return begun
    columns = ", ".join(f"q{i}" for i in range(1, l_q + 1))
    return (
        f'SELECT uid, "time", {columns} FROM (SELECT uid, "time", {columns}, '
        f'row_number() OVER (PARTITION BY uid ORDER BY "time") AS nth FROM ({begun}) AS begun) AS numbered '
        f"WHERE nth <= {l_s}"
    )


def mine(batches: Iterator[pa.RecordBatch], l_q: int) -> Iterator[pa.RecordBatch]:
    """One row per trimmed session and subsequence of it (equation 5), repeats included."""
    for batch in batches:
        for piece in _pieces(batch, l_q):
            yield from _mined(piece, l_q)


def _pieces(batch: pa.RecordBatch, l_q: int) -> Iterator[pa.RecordBatch]:
    """The sessions of a batch, so few at a time that what is mined of them fits in memory."""
    if batch.nbytes << (l_q - 1) <= AT_ONCE or batch.num_rows <= 1:
        yield batch
        return
    half = batch.num_rows // 2
    yield from _pieces(batch.slice(0, half), l_q)
    yield from _pieces(batch.slice(half), l_q)


def _mined(sessions: pa.RecordBatch, l_q: int) -> Iterator[pa.RecordBatch]:
    """Each further query is appended to every subsequence of the queries before it, where the session has it."""
    begun: list[pa.Array] = []
    for i in range(1, l_q + 1):
        there = sessions.column(f"q{i}").is_valid()
        sessions = sessions.filter(there)
        if not sessions.num_rows:
            return
        query = sessions.column(f"q{i}").cast(pa.string())
        begun = [each.filter(there) for each in begun]
        longer = [pc.binary_join_element_wise(each, query, SEPARATOR) for each in begun]
        if longer:
            uid, time = (sessions.column(name).cast(MINED.field(name).type) for name in ("uid", "time"))
            columns = [[uid] * len(longer), [time] * len(longer), longer]
            yield pa.RecordBatch.from_arrays([pa.concat_arrays(each) for each in columns], schema=MINED)
        begun += [query, *longer]


def mined(log: SearchLog, gap: int, l_q: int, l_s: int | None, each: bool) -> None:
    """Keep the subsequences of the trimmed sessions under the name `subsequences`."""
    require_times(log)
    log.engine.map_batches(TABLE, trimmed(gap, l_q, l_s, each), partial(mine, l_q=l_q), MINED)
