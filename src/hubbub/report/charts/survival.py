"""P(released) by the number of users who hold a key: what happened, and the law of the noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hubbub.report.charts.chart import Chart
from hubbub.report.charts.parts import series, share, wide
from hubbub.report.exact import Exact
from hubbub.report.law import Law

EACH = 10
"""Up to here every number of users stands alone …"""
PER_DECADE = 8
"""… from here on so many together have one point for each factor of ten."""


def binned(exact: Exact) -> list[dict[str, float]]:
    """Keys and released keys for numbers of users that lie close; `users` is their mean, by keys."""
    held = exact.held
    users = held.users.astype(float)
    place = np.where(users <= EACH, users, EACH + np.ceil(PER_DECADE * np.log10(np.maximum(users / EACH, 1)) - 1e-9))
    rows = []
    for bin in np.unique(place):
        inside = place == bin
        keys = int(held.keys[inside].sum())
        mean = float((users[inside] * held.keys[inside]).sum() / keys)
        rows.append({"users": mean, "keys": keys, "released": float(held.released[inside].sum() / keys)})
    return rows


def survival(tables: Sequence[Exact], laws: Mapping[str, Law]) -> Chart | None:
    """Points for what happened, lines for the law where it is known."""
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
            "encoding": {"x": x, "y": y, **both, "tooltip": [{"field": "table"}, *tips]},
        }
    ]
    if curves:
        line = {"x": x, "y": y, "color": both["color"]}
        layers.insert(0, {"data": {"values": curves}, "mark": {"type": "line", "clip": True}, "encoding": line})
    return Chart("Who survives", _sentence(tables, laws), {"layer": layers}, points)


def _sentence(tables: Sequence[Exact], laws: Mapping[str, Law]) -> str:
    reached = []
    for exact in tables:
        half = [row["users"] for row in binned(exact) if row["released"] >= 0.5]
        if half:
            reached.append(f"{exact.table} from {half[0]:,.0f} users")
    text = "Share of keys that were released, by the number of users who hold them"
    text += f"; half of them and more: {', '.join(reached)}." if reached else "; nowhere half of them."
    what = sorted({law.what for table, law in laws.items() if any(e.table == table for e in tables)})
    return text + (f" Lines: what to expect, {' or '.join(what)}." if what else "")
