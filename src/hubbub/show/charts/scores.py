"""Task scores, the original's beside the release's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hubbub.show.charts import palette
from hubbub.show.charts.chart import Chart
from hubbub.show.charts.parts import series

MOST = 40
SIDES = ("release", "original")


def rows(scored: Mapping[str, Any]) -> list[dict[str, object]]:
    """Every number of every task that could be scored."""
    found = []
    for task, metrics in scored.items():
        if task == "details" or not isinstance(metrics, Mapping) or "not_evaluable" in metrics:
            continue
        for metric, pair in metrics.items():
            found.append({"task": task, "metric": metric, **{side: pair.get(side) for side in SIDES}})
    return found


def scores(scored: Mapping[str, Any]) -> Chart | None:
    """The chart of metrics between 0 and 1, as pairs of dots; its numbers hold all. None if nothing was scored."""
    found = rows(scored)
    drawn = [row | {"name": f"{row['task']}: {row['metric']}"} for row in found if _drawn(row, found)][:MOST]
    if not drawn:
        return None
    names = [row["name"] for row in drawn]
    dots = [{"name": row["name"], "side": side, "score": row[side]} for row in drawn for side in SIDES]
    y = {"field": "name", "type": "nominal", "title": None, "sort": names, "axis": {"labelLimit": 220, "grid": True}}
    axis = {"title": None, "scale": {"domain": [0, 1]}}
    spec = {
        "layer": [
            {
                "data": {"values": drawn},
                "mark": {"type": "rule", "color": palette.GREY, "strokeWidth": 2},
                "encoding": {
                    "y": y,
                    "x": {"field": "original", "type": "quantitative"} | axis,
                    "x2": {"field": "release"},
                },
            },
            {
                "data": {"values": dots},
                "mark": {"type": "point", "size": 60},
                "encoding": {"y": y, "x": {"field": "score", "type": "quantitative"} | axis}
                | series("side", SIDES)
                | {"tooltip": [{"field": name} for name in ("name", "side", "score")]},
            },
        ],
        "height": 18 * len(drawn),
    }
    text = f"{len(drawn)} of {len(found)} scores between 0 and 1: where the log itself stands, and where the release."
    return Chart("What the release is still worth", text, spec, found)


def _drawn(row: Mapping[str, Any], every: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a metric is drawn: one between 0 and 1, no count; of a series (coverage@10, …, @all) only two."""
    values = [row[side] for side in SIDES]
    if not all(isinstance(v, int | float) and 0 <= v <= 1 for v in values) or all(isinstance(v, int) for v in values):
        return False
    stem, at, place = str(row["metric"]).partition("@")
    others = [r["metric"] for r in every if r["task"] == row["task"] and r["metric"].startswith(f"{stem}@")]
    return not at or place in ("100", "all") or len(others) <= 2
