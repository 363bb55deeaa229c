"""Charts of a comparison: two metrics against each other with the Pareto front, and each sweep's lines.

Points carry their names; where there are lines, colour, shape and dash say the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hubbub.look.compare.choices import BUDGET
from hubbub.look.compare.finding import PRECISION, SESSIONS
from hubbub.look.compare.summary import Comparison, Row, less_is_better, value
from hubbub.look.compare.words import title
from hubbub.show.charts import Chart, palette

SHARES = ("volume", "error")
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
    """Two metrics; what no other row beats on both stands out."""
    data = points(rows, x, y)
    mark = _two_kinds(data, front, "nothing beats it on both", "another row is better on both", "diamond")
    best = ", ".join(point["name"] for point in data if point["name"] in front)
    better = f"{_better(x)}, {_better(y)}"
    return Chart(
        f"{title(x)} and {title(y)}",
        f"Each point is a row of the table; {better}. On the Pareto front: {best or 'none'}.",
        _scatter(data, x, y, mark),
        _numbers(data, x, y),
    )


def precision(rows: Sequence[Row]) -> Chart:
    """Precision beside how many sessions it was measured on; the original too."""
    data = [point for point in points(rows, SESSIONS, PRECISION) if point["x"]]  # of no session there is no precision
    first = next(row for row in rows if PRECISION in row.metrics and SESSIONS in row.metrics)
    original = {"x": first.metrics[SESSIONS].original, "y": first.metrics[PRECISION].original}
    edges = {f"{axis}_{end}": original[axis] for axis in "xy" for end in ("low", "high")}
    data.append({"name": "original", "mechanism": "original", **original, **edges})
    mark = _two_kinds(data, {"original"}, "the original log", "a release", "square")
    told = f"the original scores {original['y'] or 0:.3g} on {original['x'] or 0:,.0f} sessions"
    return Chart(
        "precision@5 beside the sessions it was measured on",
        f"Precision counts only test sessions for which a log has a suggestion; {told}.",
        _scatter(data, SESSIONS, PRECISION, mark),
        _numbers(data, SESSIONS, PRECISION),
    )


def _two_kinds(data: list[Record], names: set[str], kind: str, other: str, shape: str) -> Record:
    """Say of each point whether it is one of these names, and how the two kinds look: by colour and by shape."""
    for point in data:
        point["kind"] = kind if point["name"] in names else other

    def by(range_: list[str]) -> Record:
        return {"field": "kind", "type": "nominal", "scale": {"domain": [kind, other], "range": range_}}

    return {"color": by([palette.VERMILION, palette.BLUE]), "shape": by([shape, "circle"])}


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
        "y": _axis("y", metric),
        "color": looks["color"],
    }
    spec = {
        "data": {"values": data},
        "encoding": axes,
        "layer": [
            {"mark": "line", "encoding": {"strokeDash": looks["strokeDash"]}},
            {"mark": "rule", "encoding": {"y": _axis("y_low", metric), "y2": {"field": "y_high"}}},
            {"mark": {"type": "point", "tooltip": {"content": "data"}}, "encoding": {"shape": looks["shape"]}},
        ],
    }
    told = f"{title(metric)} of {', '.join(names)} along {sweep}, with 95 % intervals; {_better(metric)}."
    numbers = [{"mechanism": d["mechanism"], sweep: d["x"], title(metric): d["y"]} for d in data]
    return Chart(f"{title(metric)} by {sweep}", told, spec, numbers)


def _scatter(data: list[Record], x: str, y: str, mark: Record) -> Record:
    place = {"x": _axis("x", x), "y": _axis("y", y)}
    _say(data)
    return {
        "height": 380,
        "data": {"values": data},
        "layer": [
            {
                "mark": {"type": "rule", "opacity": 0.5},
                "encoding": {"x": _axis("x_low", x), "x2": {"field": "x_high"}, "y": _axis("y", y)},
            },
            {
                "mark": {"type": "rule", "opacity": 0.5},
                "encoding": {"x": _axis("x", x), "y": _axis("y_low", y), "y2": {"field": "y_high"}},
            },
            {"mark": {"type": "point", "size": 90, "tooltip": {"content": "data"}}, "encoding": place | mark},
            *(
                {
                    "mark": {"type": "text", "align": align, "dx": dx, "dy": -6},
                    "encoding": place | {"text": {"field": align}},
                }
                for align, dx in (("left", 8), ("right", -8))
            ),
        ],
    }


def _say(data: list[Record]) -> None:
    """Points in one place are named once, together; the name stands on the side where there is room."""
    here: dict[tuple[float, float], list[Record]] = {}
    for point in data:
        here.setdefault((point["x"], point["y"]), []).append(point)
    middle = (min((x for x, _ in here), default=0.0) + max((x for x, _ in here), default=0.0)) / 2
    for (x, _), (first, *others) in here.items():
        said = ", ".join(point["name"] for point in (first, *others))
        first |= {"left": said, "right": ""} if x <= middle else {"left": "", "right": said}
        for point in others:
            point |= {"left": "", "right": ""}


def _axis(field: str, metric: str) -> Record:
    share = metric.split(".")[0] in SHARES
    axis: Record = {"title": title(metric) + (" (log scale)" if metric == "delta" else "")}
    if share:
        axis["format"] = "%"
    scale: Record = {"type": "log"} if metric == "delta" else {"zero": False, "nice": True}
    return {"field": field, "type": "quantitative", "axis": axis, "scale": scale, "title": title(metric)}


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
