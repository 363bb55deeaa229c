"""P(released) by the number of users who hold a key: what happened, and the law of the noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hubbub.show.charts.chart import Chart
from hubbub.show.charts.parts import series, share, wide
from hubbub.show.exact import Exact
from hubbub.show.law import SurvivalLine

EACH = 10
"""Up to here every number of users stands alone …"""
PER_DECADE = 8
"""… from here on so many together have one point for each factor of ten."""


def binned(exact: Exact) -> list[dict[str, Any]]:
    """Keys and released keys in bins of close numbers of users; `users` is the mean number of users of a bin's keys.

    `counted` says whether all keys of the bin were counted, or one in how many.
    """
    held, sampled = exact.held, exact.sampled
    users = held.users.astype(float)
    place = np.where(users <= EACH, users, EACH + np.ceil(PER_DECADE * np.log10(np.maximum(users / EACH, 1)) - 1e-9))
    rows = []
    for bin in np.unique(place):
        inside = place == bin
        keys = int(held.keys[inside].sum())
        mean = float((users[inside] * held.keys[inside]).sum() / keys)
        counted = "all" if sampled is None or users[inside].min() >= sampled.below else f"one in {sampled.one_in}"
        released = float(held.released[inside].sum() / keys)
        rows.append({"users": mean, "keys": keys, "released": released, "counted": counted})
    return rows


def survival(tables: Sequence[Exact], laws: Mapping[str, SurvivalLine]) -> Chart | None:
    """The chart: points for what happened, a line for the law where it is known."""
    bins = {exact.table: binned(exact) for exact in tables}
    points = [{"table": table, **row} for table, rows in bins.items() for row in rows]
    if not points:
        return None
    order = list(bins)
    at = [row["users"] for rows in bins.values() for row in rows]
    curves = [
        {"table": table, "users": n, "released": chance}
        for table, law in laws.items()
        if table in order
        for n, chance in zip(law.users, law.chance, strict=True)
        if n <= max(at)
    ]
    x = {"field": "users", "type": "quantitative"} | wide("users who hold the key", at)
    y = {"field": "released", "type": "quantitative"} | share("released")
    both = series("table", order)
    tips = [{"field": name, "format": form} for name, form in (("users", ",.1f"), ("keys", ","), ("released", ".1%"))]
    layers = [
        {
            "data": {"values": points},
            "mark": {"type": "point", "size": 40},
            "encoding": {"x": x, "y": y, **both, "tooltip": [{"field": "table"}, *tips, {"field": "counted"}]},
        }
    ]
    if curves:
        line = {"x": x, "y": y, "color": both["color"]}
        layers.insert(0, {"data": {"values": curves}, "mark": {"type": "line", "clip": True}, "encoding": line})
    return Chart("Who survives", _sentence(tables, laws), {"layer": layers}, points)


def _sentence(tables: Sequence[Exact], laws: Mapping[str, SurvivalLine]) -> str:
    reached = []
    for exact in tables:
        half = [row["users"] for row in binned(exact) if row["released"] >= 0.5]
        if half:
            reached.append(f"{exact.table} from {half[0]:,.0f} users")
    text = "Share of keys that were released, by the number of users who hold them"
    text += f"; half of them and more: {', '.join(reached)}." if reached else "; nowhere half of them."
    if sampled := next((exact.sampled for exact in tables if exact.sampled), None):
        text += f" Below {sampled.below} users, keys of one query in {sampled.one_in} stand for those not released."
    known = {exact.table: laws[exact.table] for exact in tables if exact.table in laws}
    if not known:
        return text
    even = [f"{table} from {law.even:,} users" for table, law in known.items() if law.even is not None]
    text += f" Lines: what to expect, {' or '.join(sorted({law.what for law in known.values()}))}; an even chance: "
    return text + f"{', '.join(even) or 'at no number of users'}."
