"""A profile of a raw log for its owner: exact, so never private, and never with the text of a query.

Numbers and distributions only, to see whether a log was read as meant and what a threshold would leave of it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np

from hubbub.look.estimate.curve import series
from hubbub.look.estimate.shape import held
from hubbub.plurals import counted
from hubbub.steps.keys import CLICKS, QUERIES, Keys

if TYPE_CHECKING:
    from hubbub.log import SearchLog

QUANTILES = (0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1)
BUSY = 100
"""Searches a day, over the whole period, above which a user looks like a machine …"""
BUSY_AT_LEAST = 1000
"""… if there are so many at all."""
DAY = 86_400


@dataclass(frozen=True)
class Quantiles:
    """How a number is distributed over users."""

    mean: float
    quantiles: dict[str, float]


@dataclass(frozen=True)
class HeldBy:
    """Keys held by at least so many users, and the share of all events that is theirs."""

    users: int
    keys: int
    share: float


@dataclass(frozen=True)
class Profile:
    """Everything `hubbub inspect` tells."""

    lines: int
    dropped: int
    rejected: int
    screened: int
    reasons: dict[str, int]
    rows: int
    outside_period: int
    users_left_out: int
    rows_left_out: int
    """Of users with too many searches on a day, where a rule leaves them out."""
    users: int
    searches: int
    clicked_searches: float
    first: str | None
    last: str | None
    distinct: dict[str, int]
    searches_per_user: Quantiles
    queries_per_user: Quantiles
    users_per_query: tuple[HeldBy, ...]
    users_per_click: tuple[HeldBy, ...]
    busy_users: int
    busy_share: float
    tables: dict[str, str]
    """What can be counted, or why not."""
    warnings: tuple[str, ...]

    def record(self) -> dict[str, object]:
        """The profile as it stands in the JSON document."""
        return asdict(self)


def profile(log: SearchLog, max_rejects: float = 0.05) -> Profile:
    """Look at everything once. The caller has told the ledger."""
    one = log.engine.fetch(
        'SELECT count(*) AS n, count("time") AS timed, min("time") AS first, max("time") AS last, '
        "count(url) AS clicks, count(DISTINCT url) AS urls, count(DISTINCT uid) AS users FROM log"
    ).to_pylist()[0]
    searches = (
        'SELECT uid, "time", query, max(CASE WHEN url IS NULL THEN 0 ELSE 1 END) AS clicked '
        'FROM log GROUP BY uid, "time", query'
    )
    people = log.engine.fetch(
        "SELECT count(*) AS searches, count(DISTINCT query) AS queries, CAST(sum(clicked) AS BIGINT) AS clicked "
        f"FROM ({searches}) AS searches GROUP BY uid"
    )
    searched, queries, clicked = (people.column(c).to_numpy() for c in ("searches", "queries", "clicked"))
    whole = int(searched.sum())
    days = (one["last"] - one["first"]) // DAY + 1 if one["timed"] else None
    busy = searched > max(BUSY_AT_LEAST, BUSY * (days or 0))
    ingested = log.ingested
    busy_out, rows_out = log.busy()
    asked, clicks = _held(log, QUERIES), _held(log, CLICKS)
    found = Profile(
        lines=ingested.read,
        dropped=ingested.dropped,
        rejected=ingested.rejected,
        screened=ingested.screened,
        reasons=dict(ingested.reasons),
        rows=one["n"],
        outside_period=ingested.kept - one["n"] - rows_out,
        users_left_out=busy_out,
        rows_left_out=rows_out,
        users=one["users"],
        searches=whole,
        clicked_searches=int(clicked.sum()) / max(whole, 1),
        first=_time(one["first"]),
        last=_time(one["last"]),
        distinct={"queries": _all(asked), "urls": one["urls"], "clicks": _all(clicks)},
        searches_per_user=_quantiles(searched),
        queries_per_user=_quantiles(queries),
        users_per_query=asked,
        users_per_click=clicks,
        busy_users=int(busy.sum()),
        busy_share=int(searched[busy].sum()) / max(whole, 1),
        tables=_tables(one["n"], one["timed"], one["clicks"]),
        warnings=(),
    )
    return replace(found, warnings=tuple(_warnings(found, searched, max_rejects)))


def _quantiles(values: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> Quantiles:
    if not values.size:
        return Quantiles(0.0, {})
    at = np.quantile(values, QUANTILES, method="inverted_cdf")
    return Quantiles(float(values.mean()), {f"{q:g}": float(v) for q, v in zip(QUANTILES, at, strict=True)})


def _held(log: SearchLog, keys: Keys) -> tuple[HeldBy, ...]:
    """Keys by the least number of users, at 1, 2, 5, 10, … as far as there are any."""
    rows = log.engine.fetch(
        f"SELECT users, count(*) AS n, CAST(sum(events) AS BIGINT) AS events FROM {held(log, keys)} GROUP BY users"
    )
    users, n, events = (rows.column(c).to_numpy() for c in ("users", "n", "events"))
    if not users.size:
        return ()
    whole = int(events.sum())
    return tuple(
        HeldBy(least, int(n[users >= least].sum()), int(events[users >= least].sum()) / whole)
        for least in series()
        if least <= users.max()
    )


def _all(rows: tuple[HeldBy, ...]) -> int:
    return rows[0].keys if rows else 0


def _tables(rows: int, timed: int, clicks: int) -> dict[str, str]:
    times = "yes" if timed == rows else "no: the log has no times" if not timed else "some rows have no time"
    return {
        "queries": "yes",
        "clicks": "yes" if clicks else "no: the log has no urls",
        "transitions": times,
        "sessions": times,
    }


def _warnings(found: Profile, searched: np.ndarray[tuple[int, ...], np.dtype[np.int64]], most: float) -> list[str]:
    warnings = []
    if found.rejected > most * found.lines:
        lines = counted(found.lines, "line")
        warnings.append(f"{found.rejected:,} of {lines} cannot be read: a release stops above {most:.3g}")
    if found.outside_period:
        warnings.append(f"{counted(found.outside_period, 'row')} outside the stated period, left out")
    if found.busy_users:
        alike = "a machine" if found.busy_users == 1 else "machines"
        warnings.append(
            f"{counted(found.busy_users, 'user')} searching like {alike} ({found.busy_share:.1%} of all searches, more "
            f"than {BUSY} a day): bounding keeps them from the counts, but a log is better without them "
            "(--max-searches-a-day)"
        )
    top = int(searched.max(initial=0))
    if found.users > 100 and top > 0.01 * found.searches:
        warnings.append(f"one user made {top / found.searches:.1%} of all searches: is it a user?")
    if found.users < 1000:
        warnings.append(f"{counted(found.users, 'user')} only: hardly anything passes a threshold")
    return warnings


def _time(seconds: int | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")
