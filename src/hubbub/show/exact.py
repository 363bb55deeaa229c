"""Exact facts about what was released and what was not, beside the release: for the owner's eyes only.

For each table every key of the log is looked at once: how many users hold it, how often, and whether it was released.
What is kept is small: a histogram by number of users, and a few points to draw.

Where counting every key would cost more than a few percent of a release, the head is still counted whole: all that was
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
    if one_in > 1 and kinds:
        whole = [table.rows for table in released.values()] + [again[table] for table in kinds if table in again]
        many = _many(log, measured or {})
        _sample(log, one_in, whole, many, clicks=any(keys.name == "clicks" for keys in kinds.values()))
    found, laws = [], {}
    for table, keys in kinds.items():
        counts = None if measured is None or mechanism.offers[table].rows else measured.get(table)
        _hold(log, keys, one_in)
        found.append(_exact(log, table, keys, released[table], _bounded(counts), one_in))
        if table in again and found[-1].held.users.size:
            laws[table] = seen(*(_by_users(log, keys, again[table], one_in)[c] for c in ("users", "keys", "released")))
        log.engine.drop(_held(keys))
    return found, laws


def _many(log: SearchLog, measured: Mapping[str, Any]) -> str:
    """SQL of the hashes of queries of many rows: by what users were found to hold, if that was measured."""
    table, rows, code = "log", "count(*)", log.engine.shuffle("query")
    for counts in measured.values():
        if isinstance(counts, EnginePools) and counts.kind is QUERIES:
            table, rows = counts.held, "sum(n)"
    return f"SELECT {code} AS code FROM {table} GROUP BY {code} HAVING {rows} >= {MANY}"


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


def _exact(log: SearchLog, table: str, keys: Keys, released: ReleasedRows, bounded: str, one_in: int) -> Exact:
    histogram = UsersHistogram(**_by_users(log, keys, released.rows, one_in))
    own, with_bound = "", ""
    if bounded:
        own = ", coalesce(b.n, 0) AS bounded"
        with_bound = f" LEFT JOIN {bounded} AS b ON {keys.same('b', 'r')}"
    rows = log.engine.fetch(
        f"SELECT r.place AS place, coalesce(h.users, 0) AS users, coalesce(h.events, 0) AS events{own} "
        f"FROM {SHOWN} AS r LEFT JOIN {_held(keys)} AS h ON {keys.same('h', 'r')}{with_bound}"
    ).sort_by("place")
    sampled = None if one_in == 1 else _uncertain(log, keys, one_in)
    matched = released.rows.take(rows.column("place"))
    exact = rows.column("users" if released.value == "users" else "events").to_numpy().astype(np.int64)
    cut = rows.column("bounded").to_numpy().astype(np.int64) if bounded else None
    nobodys = int((rows.column("users").to_numpy() == 0).sum())
    points = _points(matched, keys, exact, cut)
    return Exact(table, released.value, sampled, histogram, nobodys, _error(matched, exact, cut), points)


def _by_users(log: SearchLog, keys: Keys, released: pa.Table, one_in: int) -> dict[str, Integers]:
    """The columns of a `UsersHistogram`; what was released stays in the engine as SHOWN, by its place."""
    log.engine.register(SHOWN, released.append_column("place", pa.array(np.arange(released.num_rows))))
    weight, counted = "1", ""
    if one_in > 1:  # what was released was counted, so that the weight of the others does not touch it
        weight = f"CASE WHEN c.code IS NULL THEN {one_in} ELSE 1 END"
        counted = f" LEFT JOIN {COUNTED} AS c ON {log.engine.shuffle('h.query')} = c.code"
    found = log.engine.fetch(
        f"SELECT h.users AS users, CAST(sum({weight}) AS BIGINT) AS keys, "
        f"CAST(sum(h.events * {weight}) AS BIGINT) AS events, count(r.place) AS released, "
        "CAST(sum(CASE WHEN r.place IS NULL THEN 0 ELSE h.events END) AS BIGINT) AS released_events "
        f"FROM {_held(keys)} AS h LEFT JOIN {SHOWN} AS r ON {keys.same('h', 'r')}{counted} GROUP BY h.users"
    ).sort_by("users")
    return {column: found.column(column).to_numpy().astype(np.int64) for column in found.column_names}


def _held(keys: Keys) -> str:
    return f"exact_{keys.name}"


def _hold(log: SearchLog, keys: Keys, one_in: int) -> None:
    """Count, in the engine, the users and events of every key, without bounding anybody."""
    keys.ready(log)
    columns = keys.list()
    events = keys.occurrences("log" if one_in == 1 else SAMPLE)
    each = f"SELECT uid, {columns}, count(*) AS n FROM ({events}) AS events GROUP BY uid, {columns}"
    log.engine.save(
        _held(keys),
        f"SELECT {columns}, count(*) AS users, CAST(sum(n) AS BIGINT) AS events FROM ({each}) AS each_user "
        f"GROUP BY {columns}",
    )


def _uncertain(log: SearchLog, keys: Keys, one_in: int) -> Sampled:
    """How far the sample puts totals off; for one query in m, taken with all its keys, Var = (m² − m) Σ (its part)²."""
    parts = (
        f"SELECT CAST(count(*) AS DOUBLE) AS n, CAST(sum(h.events) AS DOUBLE) AS events FROM {_held(keys)} AS h "
        f"LEFT JOIN {COUNTED} AS c ON {log.engine.shuffle('h.query')} = c.code WHERE c.code IS NULL GROUP BY h.query"
    )
    squares = log.engine.fetch(
        f"SELECT coalesce(sum(n * n), 0) AS n, coalesce(sum(events * events), 0) AS events FROM ({parts}) AS parts"
    ).to_pylist()[0]
    off = (math.sqrt(one_in * (one_in - 1) * float(squares[column])) for column in ("n", "events"))
    return Sampled(one_in, MANY, *off)


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
