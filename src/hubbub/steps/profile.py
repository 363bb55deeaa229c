"""What one user adds to the four histograms behind a synthetic log, and the sums over users: exact integers.

    activity            one bin: how many searches she made         1, 2, 3-4, 5-8, … 4097-8191, from 8192 on
    session length      her sessions, by number of searches         1 … 19, from 20 on
    clicks per search   her searches, by number of clicks           0, 1, 2, from 3 on
    hour of week        her searches, by hour since Monday 0:00     168

The bins are public. In the last three a user's counts n are shrunk together until their length is at most c:
g_j = isqrt(4^k n_j² c² // max(c², Σ n²)), so Σ g² <= 4^k c² whatever she did. Searches without a time are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from hubbub.log import SearchLog
from hubbub.steps.counts import Integers
from hubbub.steps.holdings import checked
from hubbub.steps.sessions import GAP, require_times
from hubbub.switches import switch

BUSIEST = 13
"""The last bin of activity starts at 2^13 searches."""
WEEK, HOUR = 7 * 86_400, 3_600
MONDAY = 3 * 86_400
"""From a Monday, 0:00 UTC, to the Thursday on which epoch seconds begin."""
MOST = switch(__name__, "MOST", 1 << 16, low=40)
"""A user's events in one bin beyond this many are not counted: 4^10 c² n² then fits a word."""


@dataclass(frozen=True)
class Shape:
    """One histogram: how many bins, and the length c of a user's share in it; None: she is in exactly one bin."""

    bins: int
    length: int | None
    column: str = ""
    """What of a user's events is counted, in `profiled`."""


SHAPES: Mapping[str, Shape] = {
    "activity": Shape(BUSIEST + 2, None),
    "session length": Shape(20, 4, "length"),
    "clicks per search": Shape(4, 8, "clicks"),
    "hour of week": Shape(168, 8, "hour"),
}


def profile(log: SearchLog, bits: Mapping[str, int]) -> dict[str, Integers]:
    """The sum of every histogram, bin by bin; `bits` is the grid k of each that is shrunk."""
    require_times(log)
    engine = log.engine
    week = f'(("time" + {MONDAY}) % {WEEK} + {WEEK}) % {WEEK}'
    mine = 'OVER (PARTITION BY uid ORDER BY "time")'
    engine.save(  # `first` is the place of a search that starts a session, else 0: searches of one second share a place
        "profiled",
        f"SELECT uid, clicks, CAST(floor(({week}) / {HOUR}) AS BIGINT) AS hour, "
        f'CASE WHEN "time" - before <= {GAP} THEN 0 ELSE place END AS first FROM (SELECT uid, "time", '
        f'least(clicks, 3) AS clicks, lag("time") {mine} AS before, rank() {mine} AS place FROM (SELECT uid, '
        '"time", query, count(url) AS clicks FROM log WHERE "time" IS NOT NULL GROUP BY uid, "time", query) AS s) AS t',
    )
    engine.save("profiled_users", "SELECT uid, count(*) AS n FROM profiled GROUP BY uid")
    lengths = (
        "(SELECT uid, least(coalesce(following, n + 1) - first, 20) - 1 AS length FROM (SELECT p.uid AS uid, p.first "
        "AS first, lead(p.first) OVER (PARTITION BY p.uid ORDER BY p.first) AS following, u.n AS n FROM profiled AS p "
        "JOIN profiled_users AS u ON p.uid = u.uid WHERE p.first > 0) AS starts) AS sessions"
    )
    tables = {"length": lengths, "clicks": "profiled", "hour": "profiled"}
    found = {}
    for name, shape in SHAPES.items():
        sql = _activity() if shape.length is None else shrunk(tables[shape.column], shape, bits[name])
        rows = engine.fetch(sql)
        sums = np.zeros(shape.bins, np.int64)
        sums[rows.column("bin").to_numpy()] = rows.column("y").to_numpy()
        found[name] = checked(sums)
    for table in ("profiled", "profiled_users"):
        engine.drop(table)
    return found


def _activity() -> str:
    """Users by number of searches."""
    bins = " ".join(f"WHEN n <= {1 << b} THEN {b}" for b in range(BUSIEST))
    last = f"WHEN n < {1 << BUSIEST} THEN {BUSIEST} ELSE {BUSIEST + 1}"
    return (
        f"SELECT bin, count(*) AS y FROM (SELECT CASE {bins} {last} END AS bin FROM profiled_users) AS binned "
        "GROUP BY bin"
    )


def shrunk(rows: str, shape: Shape, bits: int) -> str:
    """Σ over users of isqrt(4^k n² c² // max(c², Σ n²))."""
    top, c2 = (1 << 2 * bits) * (shape.length or 1) ** 2, (shape.length or 1) ** 2
    own = f"SELECT uid, {shape.column} AS bin, least(count(*), {MOST}) AS n FROM {rows} GROUP BY uid, {shape.column}"
    lengths = f"SELECT uid, bin, n, CAST(sum(n * n) OVER (PARTITION BY uid) AS BIGINT) AS n2 FROM ({own}) AS own"
    # Doubles only guess the quotient and the root; the corrections beside them are exact integers.
    guessed = (
        f"SELECT bin, n * n * {top} AS top, below, CAST(floor(CAST(n * n * {top} AS DOUBLE) / below) AS BIGINT) AS q "
        f"FROM (SELECT bin, n, greatest(n2, {c2}) AS below FROM ({lengths}) AS lengths) AS scaled"
    )
    x = "CASE WHEN q * below > top THEN q - 1 WHEN (q + 1) * below <= top THEN q + 1 ELSE q END"
    divided = f"SELECT bin, {x} AS x FROM ({guessed}) AS guessed"
    rooted = f"SELECT bin, x, CAST(floor(sqrt(CAST(x AS DOUBLE))) AS BIGINT) AS s FROM ({divided}) AS divided"
    root = "CASE WHEN s * s > x THEN s - 1 WHEN (s + 1) * (s + 1) <= x THEN s + 1 ELSE s END"
    return f"SELECT bin, CAST(sum({root}) AS BIGINT) AS y FROM ({rooted}) AS rooted GROUP BY bin"
