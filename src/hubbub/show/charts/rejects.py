"""Lines that were set aside, by reason."""

from __future__ import annotations

from collections.abc import Mapping

from hubbub.plurals import counted
from hubbub.show.charts import palette
from hubbub.show.charts.chart import Chart
from hubbub.show.charts.parts import percent


def rejects(reasons: Mapping[str, int], kept: int) -> Chart | None:
    """The chart; None if every line was read."""
    rows = [{"reason": reason, "lines": n} for reason, n in sorted(reasons.items(), key=lambda r: (-r[1], r[0])) if n]
    if not rows:
        return None
    total = sum(reasons.values())
    y = {"field": "reason", "type": "nominal", "title": None, "sort": [row["reason"] for row in rows]}
    spec = {
        "data": {"values": rows},
        "mark": {"type": "bar", "color": palette.VERMILION, "tooltip": True},
        "encoding": {
            "y": y,
            "x": {"field": "lines", "type": "quantitative", "title": "lines", "axis": {"tickMinStep": 1}},
        },
        "height": 26 * len(rows),
    }
    part = percent(total / max(1, total + kept))
    text = f"{counted(total, 'line')} ({part}) could not be read, kept in rejects.parquet."
    return Chart("Lines set aside", text, spec, rows)
