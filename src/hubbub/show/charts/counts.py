"""Exact against released counts of one table: noise as a band around the diagonal, the threshold as a line."""

from __future__ import annotations

import math

import numpy as np

from hubbub.show.charts import palette
from hubbub.show.charts.chart import Chart
from hubbub.show.charts.parts import level, padded, percent, wide
from hubbub.show.exact import Exact

NORMAL_95 = 1.96
GRID = 60


def counts(exact: Exact, threshold: float | None = None) -> Chart | None:
    """The chart of one table; None if its keys were released without numbers."""
    rows = [row for row in exact.points.to_pylist() if row["released"] is not None]
    if not rows:
        return None
    what = {"users": "users", "count": "occurrences"}.get(exact.value, exact.value)
    both = [float(row[side]) for row in rows for side in ("exact", "released")]
    if threshold is not None:
        both.append(threshold)  # the line is on the chart, though no dot may lie near it
    symmetric = min(both) <= 0
    low, high = padded(min(both), max(both))
    deviations = [row["noise_sd"] for row in rows if row["noise_sd"] is not None]
    half = NORMAL_95 * float(np.median(deviations)) if any(deviations) else None
    across = wide(f"exact {what}", both, symmetric=symmetric)
    up = wide(f"released {what}", both, symmetric=symmetric)
    layers = []
    if half is not None:
        layers.append(_band(low, high, half))
    layers.append(_diagonal(low, high))
    fields = ("key", "exact", "bounded", "released")
    shown = [{name: row[name] for name in fields if row[name] is not None} for row in rows]
    tips = [{"field": name, "title": _title(name, exact.table)} for name in fields if name in shown[0]]
    layers.append(
        {
            "data": {"values": shown},
            "mark": {"type": "point", "color": palette.BLUE, "opacity": 0.7, "size": 28, "clip": True},
            "encoding": {
                "x": {"field": "exact", "type": "quantitative"} | across,
                "y": {"field": "released", "type": "quantitative"} | up,
                "tooltip": tips,
            },
        }
    )
    if threshold is not None:
        layers += level("y", threshold, f"threshold {math.ceil(threshold):,}")
    return Chart(
        f"{exact.table}: exact against released",
        _sentence(exact, rows, half, what),
        {"layer": layers, "height": 360},
        shown,
    )


def _sentence(exact: Exact, rows: list[dict[str, float]], half: float | None, what: str) -> str:
    total = exact.error.rows if exact.error is not None else len(rows)
    few = f"{len(rows):,} of {total:,}" if total > len(rows) else f"{len(rows):,}"
    keys = f"queries of the released {exact.table}" if exact.value == "searches" else f"released {exact.table}"
    text = f"Each of {few} {keys} as a dot: exact {what} across, released {what} up"
    if exact.error is not None and exact.error.within_10 is not None:
        text = f"{exact.error.within_10:,} of {total:,} counts are within 10 % of the exact number. {text}"
    if half is None:
        return text + "; dots on the dashed diagonal are exact, and no noise of a stated size was added."
    inside = sum(abs(row["released"] - row["exact"]) <= half for row in rows) / len(rows)
    return (
        f"{text}. The band is ±{half:,.1f}, which holds about 95 % of the noise alone; {percent(inside)} of the dots "
        "lie in it. What moves a dot further is the bound on each user, or that only values which passed are published."
    )


def _band(low: float, high: float, half: float) -> dict[str, object]:
    """The band ±half around the diagonal; on a logarithmic axis it is wide below and narrow above."""
    even = np.linspace(np.arcsinh(low), np.arcsinh(high), GRID)  # equal steps on either kind of axis, nearly
    edge = np.sinh(even).clip(low, high)
    values = [{"at": float(x), "low": float(max(low, x - half)), "high": float(min(high, x + half))} for x in edge]
    return {
        "data": {"values": values},
        "mark": {"type": "area", "color": palette.SKY, "opacity": 0.25, "clip": True},
        "encoding": {
            "x": {"field": "at", "type": "quantitative"},
            "y": {"field": "low", "type": "quantitative"},
            "y2": {"field": "high"},
        },
    }


def _diagonal(low: float, high: float) -> dict[str, object]:
    return {
        "data": {"values": [{"at": low}, {"at": high}]},
        "mark": {"type": "line", "style": "guide", "strokeWidth": 1, "clip": True},
        "encoding": {"x": {"field": "at", "type": "quantitative"}, "y": {"field": "at", "type": "quantitative"}},
    }


def _title(name: str, table: str) -> str:
    return {"key": table, "bounded": "counted after bounding"}.get(name, name)
