"""Charts of the experiments: what the paper prints beside what we see, from the rows of a run and nothing else.

One chart for each set of numbers that rows are about. Figures of the papers of which no numbers are printed have our
curve alone; the paper's sentence stands in the row.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from hubbub.show.charts import Chart
from hubbub.show.charts.parts import series

Record = dict[str, Any]
OURS, PAPER = "we see", "the paper"
FEWEST, MOST = 3, 3
"""Labels that make a curve; and charts of one figure of which the paper prints no numbers."""
WIDE = 30
"""From this ratio of the largest to the smallest number on the axis is logarithmic."""


def charts(rows: Sequence[Record]) -> dict[str, Chart]:
    """A chart by the id of the first row that is about its numbers; rows with nothing to draw have none."""
    found: dict[str, Chart] = {}
    drawn: set[str] = set()
    bare: Counter[str] = Counter()
    for row in rows:
        points = _points(row)
        numbers = repr((row["part"], points))
        alone = all(point["whose"] == OURS for point in points)
        if len({point["at"] for point in points}) < FEWEST or numbers in drawn or (alone and bare[row["part"]] >= MOST):
            continue
        drawn.add(numbers)
        bare[row["part"]] += alone
        found[row["id"]] = _chart(row, points)
    return found


def _points(row: Record) -> list[Record]:
    """Means with their intervals, and printed numbers, in the order of the row."""
    points = []
    for at, sample in row["seen"].items():
        if sample["mean"] is not None:
            low, high = (sample["mean"] if sample[end] is None else sample[end] for end in ("low", "high"))
            points.append({"at": at, "value": sample["mean"], "low": low, "high": high, "whose": OURS})
    known = {point["at"] for point in points}
    for at, value in row["printed"].items():
        if at in known:
            points.append({"at": at, "value": value, "low": value, "high": value, "whose": PAPER})
    return [point | {"swept": re.sub(r"[\d.,]+$", "", point["at"])} for point in points]


def _chart(row: Record, points: list[Record]) -> Chart:
    labels = list(dict.fromkeys(point["at"] for point in points))
    values = [point["value"] for point in points]
    log = min(values) > 0 and max(values) > WIDE * min(values)
    scale: Record = {"type": "log"} if log else {"zero": min(values) >= 0 and min(values) < max(values) / 2}
    lowest = min(values) / 2 if log else None
    data = {"values": [point | ({"low": max(point["low"], lowest)} if lowest else {}) for point in points]}
    x = {"field": "at", "type": "ordinal", "sort": labels, "axis": {"labelAngle": -35, "title": None}}
    y = {
        "field": "value",
        "type": "quantitative",
        "scale": scale,
        "axis": {"title": None, "format": "~s" if max(values) >= 1000 else ".3~g"},
    }
    whose = [one for one in (OURS, PAPER) if any(point["whose"] == one for point in points)]
    look = series("whose", whose)
    ends = {"y": y | {"field": "low"}, "y2": {"field": "high"}}
    layers = [
        {"mark": {"type": "line"}, "encoding": {"x": x, "y": y, "color": look["color"], "detail": {"field": "swept"}}},
        {"mark": {"type": "rule"}, "encoding": {"x": x, **ends, "color": look["color"]}},
        {"mark": {"type": "point", "size": 60}, "encoding": {"x": x, "y": y, **look}},
    ]  # fmt: skip
    beside = " beside the printed numbers" if PAPER in whose else "; the paper prints no numbers"
    told = f"Means of the draws with 95 % intervals{beside}{'; the axis is logarithmic' if log else ''}."
    return Chart(row["id"], told, {"data": data, "layer": layers}, points)
