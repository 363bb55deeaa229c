"""Where the error of a released number comes from: bounding, noise, threshold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hubbub.show.charts.chart import Chart
from hubbub.show.charts.parts import series
from hubbub.show.exact import Exact

PARTS = ("bounding", "noise", "threshold", "bounding and threshold")


def parts(exact: Exact) -> Iterator[tuple[str, float]]:
    """The parts of the mean squared error, by name; where users share weight, bounding and threshold are one part."""
    error = exact.error
    if error is None:
        return
    if error.bounding is not None:
        yield PARTS[0], error.bounding
    yield PARTS[1], error.noise
    yield PARTS[2] if error.bounding is not None else PARTS[3], error.threshold


def errors(tables: Sequence[Exact]) -> Chart | None:
    """The chart: one bar per table with numbers, in units of the table's own noise."""
    rows = []
    for exact in tables:
        noise = exact.error.noise if exact.error is not None else 0.0
        for part, square in parts(exact):
            if noise > 0:
                rows.append({"table": exact.table, "part": part, "in units of noise": square / noise, "square": square})
    if not rows:
        return None
    used = [part for part in PARTS if any(row["part"] == part for row in rows)]
    tables_shown = list(dict.fromkeys(row["table"] for row in rows))
    y = {"field": "table", "type": "nominal", "title": None, "sort": tables_shown}
    spec = {
        "data": {"values": rows},
        "mark": {"type": "bar", "tooltip": True},
        "encoding": {
            "y": y,
            "yOffset": {"field": "part", "sort": used},
            "x": {
                "field": "in units of noise",
                "type": "quantitative",
                "title": "mean square error, in units of the noise's own",
            },
            "color": series("part", used)["color"],
        },
        "height": 30 + 22 * len(rows),
    }
    told = [
        f"{exact.table}: root mean square {sum(s for _, s in parts(exact)) ** 0.5:,.1f}, of which noise "
        f"{exact.error.noise**0.5:,.1f}"
        for exact in tables
        if exact.error is not None and exact.error.noise > 0
    ]
    text = (
        "Mean square of released minus exact over the released rows, taken apart; the parts add up, and a part below "
    )
    return Chart("Where the error comes from", text + f"zero takes error away. {'; '.join(told)}.", spec, rows)
