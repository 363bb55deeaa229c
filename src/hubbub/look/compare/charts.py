"""Charts of a comparison: two metrics against each other with the Pareto front, and each sweep's lines.

Points carry their names; where there are lines, colour, shape and dash say the same.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from hubbub.look.compare.choices import BUDGET
from hubbub.look.compare.finding import PRECISION, SESSIONS
from hubbub.look.compare.summary import Comparison, Row, less_is_better, value
from hubbub.look.compare.words import title
from hubbub.show.charts import Chart, palette
from hubbub.show.charts.meanings import meaning

SHARES = ("volume", "error")
PROVES_NOTHING = "proves nothing end to end"
HEIGHT, LINE = 380, 16
"""Of a chart of points, and of a name beside it."""
Record = dict[str, Any]


def charts(comparison: Comparison) -> list[Chart]:
    """Every chart that has something to show."""
    rows = [row for row in comparison.rows if not row.reason]
    x, y = comparison.asked["plot"]
    found = [pareto(rows, x, y, comparison.front())]
    for sweep in dict.fromkeys(name for row in rows for name in row.at):
        found += [swept(rows, sweep, metric) for metric in dict.fromkeys((x, y)) if metric not in BUDGET]
    if any(PRECISION in row.metrics for row in rows):
        found.append(precision(rows))
    return [chart for chart in found if chart.rows]


def points(rows: Sequence[Row], x: str, y: str) -> list[Record]:
    """Rows that have both metrics, with their intervals where they have them."""
    found = []
    for row in rows:
        at = {"x": value(row, x), "y": value(row, y)}
        if None in at.values():
            continue
        for axis, metric in (("x", x), ("y", y)):
            mean = row.metrics.get(metric)
            at |= {
                f"{axis}_low": at[axis] if mean is None or mean.low is None else mean.low,
                f"{axis}_high": at[axis] if mean is None or mean.high is None else mean.high,
            }
        found.append({"name": row.label, "mechanism": row.mechanism, **at})
    return found


def pareto(rows: Sequence[Row], x: str, y: str, front: set[str]) -> Chart:
    """Two metrics; what no other row of its ε beats on both stands out."""
    data = points(rows, x, y)
    bare = {row.label for row in rows if not row.budget}
    best, others = ("nothing of its ε beats it on both", "another row of its ε is better on both")
    kinds = {p["name"]: best if p["name"] in front else PROVES_NOTHING if p["name"] in bare else others for p in data}
    looks = {
        best: (palette.VERMILION, "diamond"),
        others: (palette.BLUE, "circle"),
        PROVES_NOTHING: (palette.GREY, "cross"),
    }
    told = ", ".join(point["name"] for point in data if point["name"] in front)
    better = f"{_better(x)}, {_better(y)}"
    return Chart(
        f"{title(x)} and {title(y)}",
        f"Each point is a row of the table; {better}. On the Pareto front of their ε: {told or 'none'}.",
        _scatter(data, x, y, _kinds(data, kinds, looks)),
        _numbers(data, x, y),
    )


def precision(rows: Sequence[Row]) -> Chart:
    """Precision beside how many sessions it was measured on; the original too."""
    data = [point for point in points(rows, SESSIONS, PRECISION) if point["x"]]  # of no session there is no precision
    first = next(row for row in rows if PRECISION in row.metrics and SESSIONS in row.metrics)
    original = {"x": first.metrics[SESSIONS].original, "y": first.metrics[PRECISION].original}
    edges = {f"{axis}_{end}": original[axis] for axis in "xy" for end in ("low", "high")}
    data.append({"name": "original", "mechanism": "original", **original, **edges})
    kinds = {point["name"]: "the original log" if point["name"] == "original" else "a release" for point in data}
    looks = {"the original log": (palette.VERMILION, "square"), "a release": (palette.BLUE, "circle")}
    mark = _kinds(data, kinds, looks)
    told = f"the original scores {original['y'] or 0:.3g} on {original['x'] or 0:,.0f} sessions"
    return Chart(
        "precision@5 beside the sessions it was measured on",
        f"Precision counts only test sessions for which a log has a suggestion; {told}.",
        _scatter(data, SESSIONS, PRECISION, mark),
        _numbers(data, SESSIONS, PRECISION),
    )


def _kinds(data: list[Record], kinds: Mapping[str, str], looks: Mapping[str, tuple[str, str]]) -> Record:
    """Say of each point what it is, and how every kind that is there looks: by colour and by shape."""
    for point in data:
        point["kind"] = kinds[point["name"]]
    there = [kind for kind in looks if kind in kinds.values()]

    def by(part: int) -> Record:
        ranges = [looks[kind][part] for kind in there]
        scale = {"domain": there, "range": ranges}
        return {"field": "kind", "type": "nominal", "scale": scale, "legend": {"columns": 1}}

    return {"color": by(0), "shape": by(1)}


def swept(rows: Sequence[Row], sweep: str, metric: str) -> Chart:
    """One metric along a sweep, a line for each mechanism."""
    data = []
    for row in rows:
        y, at = value(row, metric), _number(row.at.get(sweep))
        if y is None or at is None:
            continue
        mean = row.metrics.get(metric)
        low, high = (y, y) if mean is None or mean.low is None else (mean.low, mean.high)
        data.append({"mechanism": _family(row), "x": at, "y": y, "y_low": low, "y_high": high})
    data.sort(key=lambda d: (str(d["mechanism"]), d["x"]))
    names = list(dict.fromkeys(str(d["mechanism"]) for d in data))
    looks = _looks(names)
    axes = {
        "x": {"field": "x", "type": "quantitative", "title": sweep, "scale": {"zero": False}},
        "y": _axis("y", metric, data),
        "color": looks["color"],
    }
    spec = {
        "data": {"values": data},
        "encoding": axes,
        "layer": [
            {"mark": "line", "encoding": {"strokeDash": looks["strokeDash"]}},
            {"mark": "rule", "encoding": {"y": axes["y"] | {"field": "y_low"}, "y2": {"field": "y_high"}}},
            {"mark": {"type": "point", "tooltip": {"content": "data"}}, "encoding": {"shape": looks["shape"]}},
        ],
    }
    told = f"{title(metric)} of {', '.join(names)} along {sweep}, with 95 % intervals; {_better(metric)}."
    numbers = [{"mechanism": d["mechanism"], sweep: d["x"], title(metric): d["y"]} for d in data]
    return Chart(f"{title(metric)} by {sweep}", told, spec, numbers)


def _scatter(data: list[Record], x: str, y: str, mark: Record) -> Record:
    """Points with their intervals; their names stand in a column at the right, each with a line to its point."""
    across, up = (_axis(axis, metric, data) for axis, metric in (("x", x), ("y", y)))
    height = max(HEIGHT, LINE * len(data))
    named = names_beside(data, up["scale"], height)
    place = {"x": across, "y": up}
    slot = {"field": "slot", "type": "quantitative", "scale": {"domain": [height, 0], "nice": False, "zero": False}}
    texts = " : ".join([*(f"datum.value == {name['slot']} ? {json.dumps(name['text'])}" for name in named), "''"])
    beside: Record = {"orient": "right", "values": [name["slot"] for name in named], "labelExpr": texts, "title": None}
    beside |= {"grid": False, "domain": False, "ticks": False, "labelOverlap": False, "labelLimit": 170}
    return {
        "height": height,
        "resolve": {"scale": {"y": "independent"}},
        "layer": [
            {
                "data": {"values": named},
                "mark": {"type": "rule", "opacity": 0.35, "strokeWidth": 1},
                "encoding": {
                    "x": across,
                    "x2": {"value": "width"},
                    "y": slot | {"field": "at", "axis": beside},
                    "y2": {"field": "slot"},
                },
            },
            {
                "data": {"values": data},
                "layer": [
                    {
                        "mark": {"type": "rule", "opacity": 0.5, "strokeWidth": 2},
                        "encoding": {"x": across | {"field": "x_low"}, "x2": {"field": "x_high"}, "y": up},
                    },
                    {
                        "mark": {"type": "rule", "opacity": 0.5, "strokeWidth": 2},
                        "encoding": {"x": across, "y": up | {"field": "y_low"}, "y2": {"field": "y_high"}},
                    },
                    {"mark": {"type": "point", "size": 90, "tooltip": {"content": "data"}}, "encoding": place | mark},
                ],
            },
        ],
    }


def names_beside(data: Sequence[Record], scale: Record, height: int) -> list[Record]:
    """For every place with points its names, and the line of the column where they stand: none upon another.

    Names are sorted as their points are, from the top, so that no two lines cross because of the order.
    """
    here: dict[tuple[float, float], list[str]] = {}
    for point in data:
        here.setdefault((point["x"], point["y"]), []).append(point["name"])
    low, high = scale["domain"]
    steep = math.log if scale.get("type") == "log" else float
    part = {y: (steep(y) - steep(low)) / (steep(high) - steep(low)) for _, y in here}
    ordered = sorted(here, key=lambda place: (-place[1], place[0]))
    found, free = [], LINE / 2
    for left, place in zip(range(len(ordered), 0, -1), ordered, strict=True):
        at = height * (1 - part[place[1]])
        slot = min(max(at, free), height - LINE * (left - 0.5))
        free = slot + LINE
        found.append({"x": place[0], "at": round(at, 1), "slot": round(slot, 1), "text": ", ".join(here[place])})
    return found


def _axis(field: str, metric: str, data: Sequence[Record]) -> Record:
    """The axis of a metric: from zero (or below, if a value is), to somewhat above the largest, and not past 100 %."""
    bounded = _bounded(metric)
    least = -1.0 if "kendall" in metric else 0.0
    for point in data:  # an interval by Student's t knows no bounds
        for end in (f"{field}_low", f"{field}_high"):
            point[end] = max(least, min(1.0, point[end]) if bounded else point[end])
    low = min((float(point[f"{field}_low"]) for point in data), default=0.0)
    high = max((float(point[f"{field}_high"]) for point in data), default=1.0)
    axis: Record = {"title": title(metric) + (" (log scale)" if metric == "delta" else "")}
    if metric.split(".")[0] in SHARES:
        axis["format"] = "%"
    if metric == "delta":
        scale: Record = {"type": "log", "domain": [low / 2, high * 2], "nice": False}
    else:
        top = 1.08 * high or 1.0
        scale = {"domain": [min(0.0, 1.08 * low), min(1.0, top) if bounded else top], "nice": False, "zero": False}
    return {"field": field, "type": "quantitative", "axis": axis, "scale": scale, "title": title(metric)}


def _bounded(metric: str) -> bool:
    """Whether it is a share, which ends at 100 %; an error may be larger than what it is an error of."""
    said = meaning(metric.partition(".")[2])
    return metric == "volume" or (said is not None and bool(said.short) and "kendall" not in metric)


def _looks(names: Sequence[str]) -> Record:
    """Colour, shape and dash for each name; after six, the pairs of them differ."""
    turn = [(i % 6, (i + i // 6) % 6) for i in range(len(names))]

    def by(range_: list[Any]) -> Record:
        return {"field": "mechanism", "type": "nominal", "scale": {"domain": list(names), "range": range_}}

    return {
        "color": by([palette.SERIES[c] for c, _ in turn]),
        "shape": by([palette.SHAPES[s] for _, s in turn]),
        "strokeDash": by([palette.DASHES[s] for _, s in turn]),
    }


def _family(row: Row) -> str:
    """The line a row stands on: its mechanism, and its variant where it is not the first."""
    return row.label.partition("(")[0]


def _better(metric: str) -> str:
    return f"{'less' if less_is_better(metric) else 'more'} {title(metric)} is better"


def _numbers(data: Sequence[Record], x: str, y: str) -> list[Record]:
    return [{"row": d["name"], title(x): d["x"], title(y): d["y"]} for d in data]


def _number(text: str | None) -> float | None:
    """A place on a sweep as a number; None for a choice of words."""
    from fractions import Fraction

    try:
        return None if text is None else float(Fraction(text))
    except ValueError:
        return None
