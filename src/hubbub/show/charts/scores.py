"""Task scores, the log's own beside the release's: a chart of those that are shares, and all of them in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from hubbub.show.charts import palette
from hubbub.show.charts.chart import Chart
from hubbub.show.charts.meanings import MORE, meaning
from hubbub.show.charts.parts import series

MOST = 40
BESIDE = ("floor", "ceiling", "low", "high")
"""What some tasks score besides: no log at all, what nobody exceeds, the interval of the release's score."""
SIDES = {"release": "release", "log": "original"}
"""What a side is called on the page, and in a task's scores."""


def rows(scored: Mapping[str, Any]) -> list[dict[str, object]]:
    """Every number of every task that could be scored, with what it says and which way is good."""
    found = []
    judged = any(
        "floor" in pair for metrics in scored.values() if isinstance(metrics, Mapping) for pair in metrics.values()
    )
    for task, metrics in scored.items():
        if task == "details" or not isinstance(metrics, Mapping) or "not_evaluable" in metrics:
            continue
        for metric, pair in metrics.items():
            said = meaning(metric)
            words = ("", "") if said is None else (said.words, said.better)
            values = {side: pair.get(place) for side, place in SIDES.items()}
            beside = {side: pair.get(side) for side in BESIDE} if judged else {}
            said_of = {"task": task, "what it says": words[0] or metric, **values}
            found.append({**said_of, "good": words[1], "score": metric, **beside})
    return found


def scores(scored: Mapping[str, Any]) -> Chart | None:
    """The chart of shares of which more is better, as pairs of dots; its numbers hold all. None: nothing was scored."""
    found = rows(scored)
    drawn = [row | {"name": _name(row)} for row in found if _drawn(row, found)][:MOST]
    if not drawn:
        return None
    twice = Counter(row["name"] for row in drawn)
    for row in drawn:
        row["name"] = f"{row['task']}: {row['name']}" if twice[row["name"]] > 1 else row["name"]
    names = [row["name"] for row in drawn]
    dots = [{"name": row["name"], "side": side, "score": row[side]} for row in drawn for side in SIDES]
    y = {"field": "name", "type": "nominal", "title": None, "sort": names, "axis": {"labelLimit": 240, "grid": True}}
    axis = {"title": None, "scale": {"domain": [0, 1]}, "axis": {"format": "%", "tickCount": 5}}
    spec = {
        "layer": [
            {
                "data": {"values": drawn},
                "mark": {"type": "rule", "color": palette.GREY, "strokeWidth": 2},
                "encoding": {"y": y, "x": {"field": "log", "type": "quantitative"} | axis, "x2": {"field": "release"}},
            },
            {
                "data": {"values": dots},
                "mark": {"type": "point", "size": 60},
                "encoding": {"y": y, "x": {"field": "score", "type": "quantitative"} | axis}
                | series("side", list(SIDES))
                | {"tooltip": [{"field": name} for name in ("name", "side", "score")]},
            },
        ],
        "height": 18 * len(drawn),
    }
    text = (
        f"{len(drawn)} of {len(found)} scores, those that are shares: further to the right is better, and the nearer "
        "the release comes to the log itself, the less was lost. All scores, each in words, are under “The numbers”."
    )
    return Chart("What the release is still worth", text, spec, found)


def _name(row: Mapping[str, object]) -> str:
    """A few words for an axis; a score's own name where nothing is known of it."""
    said = meaning(str(row["score"]))
    return f"{row['task']}: {row['score']}" if said is None else said.short


def _drawn(row: Mapping[str, Any], every: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a score is drawn: between 0 and 1, no count, more is better; of a row (@10, …, @all) only two."""
    said, values = meaning(row["score"]), [row[side] for side in SIDES]
    if not all(isinstance(v, int | float) and 0 <= v <= 1 for v in values) or all(isinstance(v, int) for v in values):
        return False
    if said is not None and (said.better != MORE or not said.short):
        return False
    stem, at, place = str(row["score"]).partition("@")
    others = [r["score"] for r in every if r["task"] == row["task"] and str(r["score"]).startswith(f"{stem}@")]
    return not at or place in ("100", "all") or len(others) <= 2
