"""Exact facts about what was released and what was not, beside the release: for the owner's eyes only.

For each table every key of the log is looked at once: how many users hold it, how often, and whether it was released.
What is kept is small: a histogram by number of users, and a few points to draw. Where counting every key would cost
more than a few percent of a release, keys of every `one_in`-th query, by a hash of its text, stand for the others.

Nothing here reaches `public/`: the release is finished before this is asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from hubbub.steps.count import Counts, Integers, Spread
from hubbub.steps.keys import QUERIES, Keys
from hubbub.steps.sessions import SEPARATOR

if TYPE_CHECKING:
    from hubbub.log import SearchLog
    from hubbub.mechanisms import Mechanism

Floats = npt.NDArray[np.float64]
WHOLE = 500_000
"""Rows of a log up to which a release counts every key of every table."""
CHEAP = ("queries", "clicks")
"""Tables that a release counts whatever the size of the log, on a sample of the queries."""
SAMPLE = "exact_sample"
HEAD, POINTS = 200, 1_200
"""The largest rows that are drawn, and how many in all."""
LONGEST = 200
"""Letters of a key that are shown."""


@dataclass(frozen=True)
class Error:
    """Mean squares of released minus exact over released rows; they add up. `bias` is the mean error itself.

    `bounding` is what users lost to their bound. Where users share weight instead of losing keys it is not known, and
    `threshold` is all that is not noise.
    """

    rows: int
    bounding: float | None
    noise: float
    threshold: float
    bias: float


@dataclass(frozen=True)
class Histogram:
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
    one_in: int
    held: Histogram
    nobodys: int
    """Released keys that nobody holds."""
    error: Error | None
    points: pa.Table
    """key, exact, bounded (or null), released (or null), noise_sd (or null)."""


def gather(
    log: SearchLog,
    mechanism: Mechanism,
    public: Path,
    measured: Mapping[str, Any] | None = None,
    *,
    every: bool = False,
) -> list[Exact]:
    """Every table, or those that are cheap; `measured` is what a release counted, while it is known."""
    rows = log.ingested.kept
    one_in = 1 if every or rows <= WHOLE else -(-rows // WHOLE)
    kinds = {t: QUERIES if mechanism.offers[t].rows else mechanism.offers[t] for t in mechanism.tables}
    kinds = {t: keys for t, keys in kinds.items() if one_in == 1 or keys.name in CHEAP}
    if one_in > 1 and kinds:
        columns = ', "rank", url' if any(keys.name == "clicks" for keys in kinds.values()) else ""
        log.engine.save(SAMPLE, f'SELECT uid, "time", query{columns} FROM log{_sampled(log, one_in)}')
    found = []
    for table, keys in kinds.items():
        released = read_released(public, table, mechanism)
        counts = None if measured is None or mechanism.offers[table].rows else measured.get(table)
        found.append(_exact(log, table, keys, released, _bounded(counts), one_in))
    return found


# ------------------------------------------------------------------ what was released


@dataclass(frozen=True)
class ReleasedRows:
    """A released table as text and numbers: its keys' columns, and the column of its values."""

    rows: pa.Table
    value: str


def read_released(public: Path, table: str, mechanism: Mechanism) -> ReleasedRows:
    """Sequences as one text; the queries of a synthetic log with how often they were asked there."""
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
    return counts.keys if isinstance(counts, Counts | Spread) else ""


# ------------------------------------------------------------------ what is there


def _exact(log: SearchLog, table: str, keys: Keys, released: ReleasedRows, bounded: str, one_in: int) -> Exact:
    engine, held, shown = log.engine, f"exact_{keys.name}", "exact_released"
    _hold(log, keys, held, one_in)
    engine.register(shown, released.rows.append_column("place", pa.array(np.arange(released.rows.num_rows))))
    on = " AND ".join(f"h.{c} = r.{c}" for c in keys.columns)
    histogram = engine.fetch(
        "SELECT h.users AS users, count(*) AS n, CAST(sum(h.events) AS BIGINT) AS events, "
        "count(r.place) AS released, "
        "CAST(sum(CASE WHEN r.place IS NULL THEN 0 ELSE h.events END) AS BIGINT) AS released_events "
        f"FROM {held} AS h LEFT JOIN {shown} AS r ON {on} GROUP BY h.users"
    ).sort_by("users")
    own, with_bound = "", ""
    if bounded:
        own = ", coalesce(b.n, 0) AS bounded"
        with_bound = f" LEFT JOIN {bounded} AS b ON " + " AND ".join(f"b.{c} = r.{c}" for c in keys.columns)
    rows = engine.fetch(
        f"SELECT r.place AS place, coalesce(h.users, 0) AS users, coalesce(h.events, 0) AS events{own} "
        f"FROM {shown} AS r LEFT JOIN {held} AS h ON {on}{with_bound}{_sampled(log, one_in, 'r.query')}"
    ).sort_by("place")
    engine.drop(held)
    matched = released.rows.take(rows.column("place"))
    exact = rows.column("users" if released.value == "users" else "events").to_numpy().astype(np.int64)
    cut = rows.column("bounded").to_numpy().astype(np.int64) if bounded else None
    by_users = Histogram(*(histogram.column(c).to_numpy().astype(np.int64) for c in histogram.column_names))
    nobodys = int((rows.column("users").to_numpy() == 0).sum())
    points = _points(matched, keys, exact, cut)
    return Exact(table, released.value, one_in, by_users, nobodys, _error(matched, exact, cut), points)


def _hold(log: SearchLog, keys: Keys, name: str, one_in: int) -> None:
    """Every key with its users and events, unbounded."""
    keys.ready(log)
    columns = keys.list()
    events = keys.occurrences("log" if one_in == 1 else SAMPLE)
    each = f"SELECT uid, {columns}, count(*) AS n FROM ({events}) AS events GROUP BY uid, {columns}"
    log.engine.save(
        name,
        f"SELECT {columns}, count(*) AS users, CAST(sum(n) AS BIGINT) AS events FROM ({each}) AS each_user "
        f"GROUP BY {columns}",
    )


def _sampled(log: SearchLog, one_in: int, query: str = "query") -> str:
    return "" if one_in == 1 else f" WHERE {log.engine.shuffle(query)} % {one_in} = 0"


# ------------------------------------------------------------------ numbers


def _error(rows: pa.Table, exact: Integers, bounded: Integers | None) -> Error | None:
    """Over rows with a number and a stated noise."""
    has = pc.and_(rows.column("n").is_valid(), rows.column("noise_sd").is_valid()).to_numpy()
    if not has.any():
        return None
    off = rows.column("n").to_numpy()[has] - exact[has]
    square = float((off.astype(float) ** 2).mean())
    noise = float((rows.column("noise_sd").to_numpy()[has].astype(float) ** 2).mean())
    lost = None if bounded is None else float(((exact - bounded)[has].astype(float) ** 2).mean())
    return Error(int(has.sum()), lost, noise, square - noise - (lost or 0.0), float(off.mean()))


def _points(rows: pa.Table, keys: Keys, exact: Integers, bounded: Integers | None) -> pa.Table:
    """The first rows (the largest), and others at equal steps."""
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
