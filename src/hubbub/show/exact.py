"""Exact facts about what was released and what was not, beside the release: for the owner's eyes only.

For each table every key of the log is looked at once: how many users hold it, how often, and whether it was released.
What is kept is small: a histogram by number of users, and a few points to draw.

Where counting every event would cost more than a few percent of a release, queries are counted from the pairs of user
and query that the release itself has made, if it has: every one of them, but in rows of the log, not in searches. What
has no such pairs is counted in part. The head is then counted whole: all that was
released, and all queries of many rows, because a few of them carry much of a log and no sample may miss one. Of the
other queries one in `one_in`, by a hash of its text, stands for the rest; how far that may be off is kept beside it.

Nothing here reaches `public/`: the release is finished before this is asked.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from hubbub.show.law import SurvivalLine, once_more, seen
from hubbub.steps.counts import EngineCounts, Integers, LocalCounts
from hubbub.steps.keys import QUERIES, Keys
from hubbub.steps.pools import EnginePools
from hubbub.steps.sessions import SEPARATOR

if TYPE_CHECKING:
    from hubbub.log import SearchLog
    from hubbub.mechanisms import Mechanism

Floats = npt.NDArray[np.float64]
WHOLE = 500_000
"""Rows of a log up to which a release counts every key of every table."""
CHEAP = ("queries", "clicks")
"""Tables that a release counts whatever the size of the log, on a sample of the queries."""
MANY = 50
"""Rows of a query from which it is counted, sample or not."""
COUNTED, SAMPLE, SHOWN = "exact_counted", "exact_sample", "exact_released"
HEAD, POINTS = 200, 1_200
"""The largest rows that are drawn, and how many in all."""
LONGEST = 200
"""Letters of a key that are shown."""
NEAR = 10
"""A count is close if it is off by at most one such part of the exact number."""


@dataclass(frozen=True)
class ErrorParts:
    """Mean squares of released minus exact over released rows; they add up. `bias` is the mean error itself.

    `bounding` is what users lost to their bound. Where users share weight instead of losing keys it is not known, and
    `threshold` is all that is not noise.
    """

    rows: int
    bounding: float | None
    noise: float
    threshold: float
    bias: float
    within_10: int | None = None
    """Rows whose value is within 10 % of the exact number; not in facts of older releases."""


@dataclass(frozen=True)
class Sampled:
    """One in `one_in` of the queries that were not released and have fewer than `below` rows stands for the others.

    `keys_sd` and `events_sd` are how far that puts the numbers of all keys and events off: one standard deviation.
    """

    one_in: int
    below: int
    keys_sd: float
    events_sd: float


@dataclass(frozen=True)
class UsersHistogram:
    """For each number of users: how many keys, their events (searches, clicks, …), and those of released keys."""

    users: Integers
    keys: Integers
    events: Integers
    released: Integers
    released_events: Integers


@dataclass(frozen=True)
class Exact:
    """One table: keys by the number of users who hold them, released or not, and points to draw."""

    table: str
    value: str
    """What the released number counts: users, count, or searches of a synthetic log."""
    sampled: Sampled | None
    """What in `held` stands on a sample; None where every key was counted."""
    held: UsersHistogram
    nobodys: int
    """Released keys that nobody holds."""
    error: ErrorParts | None
    points: pa.Table
    """key, exact, bounded (or null), released (or null), noise_sd (or null)."""
    by_rows: bool = False
    """Whether events are rows of the log: a search with several clicks is several."""


def gather(
    log: SearchLog,
    mechanism: Mechanism,
    public: Path,
    measured: Mapping[str, Any] | None = None,
    *,
    every: bool = False,
) -> tuple[list[Exact], dict[str, SurvivalLine]]:
    """The exact facts of every table, or of those that are cheap; `measured` is what the release counted, if known.

    With `measured` comes the chance of a key by its number of users, as one more run has it.
    """
    rows = log.ingested.kept
    one_in = 1 if every or rows <= WHOLE else -(-rows // WHOLE)
    kinds = {t: QUERIES if mechanism.offers[t].rows else mechanism.offers[t] for t in mechanism.tables}
    kinds = {t: keys for t, keys in kinds.items() if one_in == 1 or keys.name in CHEAP}
    released = {table: read_released(public, table, mechanism) for table in kinds}
    again = {} if measured is None else once_more(log, mechanism, measured)
    pairs = {table: _pairs(measured, keys, released[table].value) for table, keys in kinds.items() if one_in > 1}
    if one_in > 1 and not all(pairs.values()):
        whole = [table.rows for table in released.values()] + [again[table] for table in kinds if table in again]
        many = _many(log, next(filter(None, pairs.values()), ""))
        _sample(log, one_in, whole, many, clicks=any(keys.name == "clicks" for keys in kinds.values()))
    found, laws = [], {}
    for table, keys in kinds.items():
        counts = None if measured is None or mechanism.offers[table].rows else measured.get(table)
        hold = _Counted(log, keys, one_in, pairs.get(table, ""))
        hold.keep()
        found.append(_exact(hold, table, released[table], _bounded(counts)))
        if table in again and found[-1].held.users.size:
            laws[table] = seen(*(hold.by_users(again[table])[c] for c in ("users", "keys", "released")))
        log.engine.drop(hold.table)
    return found, laws


def _pairs(measured: Mapping[str, Any] | None, keys: Keys, value: str) -> str:
    """The engine's table of who holds which query, in how many rows, if that was measured and users are published."""
    every = () if measured is None or keys is not QUERIES or value != "users" else measured.values()
    return next((m.held for m in every if isinstance(m, EnginePools) and m.kind is QUERIES), "")


def _many(log: SearchLog, pairs: str) -> str:
    """SQL of the hashes of queries of many rows: by what users were found to hold, if that was measured."""
    code, rows = log.engine.shuffle("query"), "sum(n)" if pairs else "count(*)"
    return f"SELECT {code} AS code FROM {pairs or 'log'} GROUP BY {code} HAVING {rows} >= {MANY}"


def _sample(log: SearchLog, one_in: int, released: list[pa.Table], many: str, *, clicks: bool) -> None:
    """The log reduced to the queries that are counted whole and to one in `one_in` of the others, all by their hash.

    Should a rare query have the hash of one that is counted whole, it is counted whole, too, and nothing is wrong.
    """
    engine, known = log.engine, f"{COUNTED}_released"
    engine.register(known, pa.concat_tables([table.select(["query"]) for table in released]))
    code = engine.shuffle("query")
    engine.save(COUNTED, f"SELECT DISTINCT code FROM ({many} UNION ALL SELECT {code} AS code FROM {known}) AS counted")
    columns = ', l."rank" AS "rank", l.url AS url' if clicks else ""
    engine.save(
        SAMPLE,
        f'SELECT l.uid AS uid, l."time" AS "time", l.query AS query{columns} '
        f"FROM (SELECT *, {code} AS code FROM log) AS l "
        f"LEFT JOIN {COUNTED} AS c ON l.code = c.code WHERE c.code IS NOT NULL OR l.code % {one_in} = 0",
    )


# ------------------------------------------------------------------ what was released


@dataclass(frozen=True)
class ReleasedRows:
    """A released table: the columns of its keys as text, and the column of its values."""

    rows: pa.Table
    value: str


def read_released(public: Path, table: str, mechanism: Mechanism) -> ReleasedRows:
    """Read a released table: sequences as one text, a synthetic log as its queries with how often each was asked."""
    rows = pq.read_table(public / f"{table}.parquet")
    keys = mechanism.offers[table]
    if keys.rows:
        searches = rows.select(["user", "time", "query"]).group_by(["user", "time", "query"]).aggregate([])
        asked = searches.group_by("query").aggregate([([], "count_all")]).sort_by([("count_all", "descending")])
        columns = {"query": asked.column("query"), "n": asked.column("count_all")}
        return ReleasedRows(pa.table(columns | {"noise_sd": pa.nulls(asked.num_rows, pa.float64())}), "searches")
    columns = {c: rows.column(c) for c in keys.columns}
    if keys.sequence:
        columns = {keys.columns[0]: pc.binary_join(rows.column(keys.columns[0]), SEPARATOR)}
    columns = {c: values.cast(pa.string()) for c, values in columns.items()}
    value = mechanism.value_column
    return ReleasedRows(pa.table(columns | {"n": rows.column(value), "noise_sd": rows.column("noise_sd")}), value)


def _bounded(counts: object) -> str:
    """The engine's table of what was counted after bounding, as `n`, where users lose keys to their bound."""
    return counts.keys if isinstance(counts, LocalCounts | EngineCounts) else ""


# ------------------------------------------------------------------ what is there


@dataclass(frozen=True)
class _Counted:
    """The users and events of every key, counted in the engine without bounding anybody."""

    log: SearchLog
    keys: Keys
    one_in: int
    pairs: str
    """Pairs of user and query with their rows, from which a key is told by the hash of its text; or nothing."""

    @property
    def table(self) -> str:
        """The engine's table: the key's columns, or `code`, then users and events."""
        return f"exact_{self.keys.name}"

    @property
    def sampled(self) -> bool:
        """Whether some queries stand for others."""
        return self.one_in > 1 and not self.pairs

    @property
    def same(self) -> str:
        """That a row `h` of the table and a row `r` of what was released are of one key, as SQL."""
        return f"h.code = {self.log.engine.shuffle('r.query')}" if self.pairs else self.keys.same("h", "r")

    def keep(self) -> None:
        """Count."""
        columns, into = self.keys.list(), self.keys.list()
        if self.pairs:
            each, columns, into = self.pairs, self.log.engine.shuffle("query"), "code"
        else:
            self.keys.ready(self.log)
            events = self.keys.occurrences(SAMPLE if self.sampled else "log")
            each = f"(SELECT uid, {columns}, count(*) AS n FROM ({events}) AS events GROUP BY uid, {columns})"
        named = f"{columns} AS {into}" if self.pairs else columns
        self.log.engine.save(
            self.table,
            f"SELECT {named}, count(*) AS users, CAST(sum(n) AS BIGINT) AS events FROM {each} AS each_user "
            f"GROUP BY {columns}",
        )

    def by_users(self, released: pa.Table) -> dict[str, Integers]:
        """The columns of a `UsersHistogram`; what was released stays in the engine as SHOWN, by its place."""
        self.log.engine.register(SHOWN, released.append_column("place", pa.array(np.arange(released.num_rows))))
        weight, counted = "1", ""
        if self.sampled:  # what was released was counted, so that the weight of the others does not touch it
            weight = f"CASE WHEN c.code IS NULL THEN {self.one_in} ELSE 1 END"
            counted = f" LEFT JOIN {COUNTED} AS c ON {self.log.engine.shuffle('h.query')} = c.code"
        found = self.log.engine.fetch(
            f"SELECT h.users AS users, CAST(sum({weight}) AS BIGINT) AS keys, "
            f"CAST(sum(h.events * {weight}) AS BIGINT) AS events, count(r.place) AS released, "
            "CAST(sum(CASE WHEN r.place IS NULL THEN 0 ELSE h.events END) AS BIGINT) AS released_events "
            f"FROM {self.table} AS h LEFT JOIN {SHOWN} AS r ON {self.same}{counted} GROUP BY h.users"
        ).sort_by("users")
        return {column: found.column(column).to_numpy().astype(np.int64) for column in found.column_names}

    def uncertain(self) -> Sampled | None:
        """How far a sample puts totals off; of one query in m, with all its keys, Var = (m² − m) Σ (its part)²."""
        if not self.sampled:
            return None
        engine, m = self.log.engine, self.one_in
        parts = (
            f"SELECT CAST(count(*) AS DOUBLE) AS n, CAST(sum(h.events) AS DOUBLE) AS events FROM {self.table} AS h "
            f"LEFT JOIN {COUNTED} AS c ON {engine.shuffle('h.query')} = c.code WHERE c.code IS NULL GROUP BY h.query"
        )
        squares = engine.fetch(
            f"SELECT coalesce(sum(n * n), 0) AS n, coalesce(sum(events * events), 0) AS events FROM ({parts}) AS parts"
        ).to_pylist()[0]
        return Sampled(m, MANY, *(math.sqrt(m * (m - 1) * float(squares[column])) for column in ("n", "events")))


def _exact(counted: _Counted, table: str, released: ReleasedRows, bounded: str) -> Exact:
    keys, histogram = counted.keys, UsersHistogram(**counted.by_users(released.rows))
    own, with_bound = "", ""
    if bounded:
        own = ", coalesce(b.n, 0) AS bounded"
        with_bound = f" LEFT JOIN {bounded} AS b ON {keys.same('b', 'r')}"
    rows = counted.log.engine.fetch(
        f"SELECT r.place AS place, coalesce(h.users, 0) AS users, coalesce(h.events, 0) AS events{own} "
        f"FROM {SHOWN} AS r LEFT JOIN {counted.table} AS h ON {counted.same}{with_bound}"
    ).sort_by("place")
    matched = released.rows.take(rows.column("place"))
    exact = rows.column("users" if released.value == "users" else "events").to_numpy().astype(np.int64)
    cut = rows.column("bounded").to_numpy().astype(np.int64) if bounded else None
    nobodys = int((rows.column("users").to_numpy() == 0).sum())
    points, error = _points(matched, keys, exact, cut), _error(matched, exact, cut)
    by_rows = bool(counted.pairs)
    return Exact(table, released.value, counted.uncertain(), histogram, nobodys, error, points, by_rows)


# ------------------------------------------------------------------ numbers


def _error(rows: pa.Table, exact: Integers, bounded: Integers | None) -> ErrorParts | None:
    """The parts of the error, over released rows that have a number and a stated noise."""
    has = pc.and_(rows.column("n").is_valid(), rows.column("noise_sd").is_valid()).to_numpy()
    if not has.any():
        return None
    off = rows.column("n").to_numpy()[has] - exact[has]
    square = float((off.astype(float) ** 2).mean())
    noise = float((rows.column("noise_sd").to_numpy()[has].astype(float) ** 2).mean())
    lost = None if bounded is None else float(((exact - bounded)[has].astype(float) ** 2).mean())
    close = int((NEAR * np.abs(off) <= exact[has]).sum())
    return ErrorParts(int(has.sum()), lost, noise, square - noise - (lost or 0.0), float(off.mean()), close)


def _points(rows: pa.Table, keys: Keys, exact: Integers, bounded: Integers | None) -> pa.Table:
    """The points to draw: the largest released rows, and others at equal steps of rank."""
    at = np.arange(rows.num_rows)
    if at.size > POINTS:
        at = np.unique(np.concatenate([at[:HEAD], np.linspace(HEAD, at.size - 1, POINTS - HEAD).astype(np.int64)]))
    shown = rows.take(pa.array(at))
    texts = [shown.column(c).cast(pa.string()) for c in keys.columns]
    text = texts[0] if len(texts) == 1 else pc.binary_join_element_wise(*texts, " → ")
    return pa.table(
        {
            "key": pc.utf8_slice_codeunits(pc.replace_substring(text, SEPARATOR, " → "), 0, LONGEST),
            "exact": exact[at],
            "bounded": pa.nulls(at.size, pa.int64()) if bounded is None else pa.array(bounded[at], pa.int64()),
            "released": shown.column("n").cast(pa.int64()),
            "noise_sd": shown.column("noise_sd").cast(pa.float64()),
        }
    )
