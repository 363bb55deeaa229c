"""The ledger of a population over time: what all its releases cost together on each date, and the cap."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from hubbub.plurals import counted
from hubbub.privacy.guarantee import number
from hubbub.show.charts import palette
from hubbub.show.charts.chart import Chart
from hubbub.show.charts.parts import level
from hubbub.show.kept import LedgerSnapshot

THIS, OTHERS = "this release", "releases before it"


def spending(book: LedgerSnapshot | None) -> Chart | None:
    """The chart: a line that rises with each release; None if no entry has a finite cost."""
    if book is None:
        return None
    rows = [asdict(one) for one in book.spendings]
    finite = [row for row in rows if row["spent"] is not None]
    if not finite:
        return None
    most = max(float(row["spent"]) for row in finite)
    for row in finite:
        row["name"] = f"{row['dataset']}-r{row['entry']}"
        row["day"] = str(row["time"])[:10]
        row["which"] = THIS if row["entry"] == book.entry else OTHERS
    x, first = _dates([str(row["time"]) for row in finite])
    top = max(most, book.cap or 0.0) * 1.15
    y = {"field": "spent", "type": "quantitative", "title": "ε spent so far", "scale": {"domain": [0, top]}}
    tips = [{"field": name} for name in ("name", "day", "mechanism", "epsilon", "spent")]
    before = [{"time": first, "spent": 0.0}] if finite[0]["spent"] == finite[0]["epsilon"] else []
    line = [*before, *({"time": row["time"], "spent": row["spent"]} for row in finite)]
    which = [name for name in (THIS, OTHERS) if any(row["which"] == name for row in finite)]
    looks = {THIS: (palette.VERMILION, "diamond"), OTHERS: (palette.BLUE, "circle")}
    colours, shapes = ([looks[name][at] for name in which] for at in (0, 1))
    kinds = {
        "color": {"field": "which", "type": "nominal", "scale": {"domain": which, "range": colours}},
        "shape": {"field": "which", "type": "nominal", "scale": {"domain": which, "range": shapes}},
    }
    layers = [
        {
            "data": {"values": line},
            "mark": {"type": "line", "interpolate": "step-after", "color": palette.BLUE},
            "encoding": {"x": x, "y": y},
        },
        {
            "data": {"values": finite},
            "mark": {"type": "point", "size": 90},
            "encoding": {"x": x, "y": y, **kinds, "tooltip": tips},
        },
    ]
    if book.cap is not None:
        layers += level("y", book.cap, f"cap {number(book.cap)}")
    told = f"Population {book.population}: ε = {number(most)} used by {finite[-1]['day']}"
    told += f" of a cap of {number(book.cap)}" if book.cap is not None else ", without a cap"
    told += f", after {counted(len(rows), 'release')}"
    if len(finite) < len(rows):
        told += f"; {len(rows) - len(finite)} of them not private, which no line can show"
    numbers = [{k: row[k] for k in ("name", "day", "mechanism", "epsilon", "spent")} for row in finite]
    return Chart("The ledger over time", told + ".", {"layer": layers, "height": 220}, numbers)


def _dates(times: list[str]) -> tuple[dict[str, Any], str]:
    """The axis of time, with some room at both ends, and where it begins; hours are told where there are few days."""
    found = sorted(datetime.fromisoformat(time) for time in times)
    span = found[-1] - found[0]
    room = max(span * 0.08, timedelta(minutes=10)) if span else timedelta(days=15)
    ends = [(found[0] - room).isoformat(), (found[-1] + room).isoformat()]
    days = not span or span >= timedelta(days=3)
    axis = {"tickCount": 5, "labelOverlap": True, "format": "%d %b %Y" if days else "%d %b %H:%M"}
    return {"field": "time", "type": "temporal", "title": None, "scale": {"domain": ends}, "axis": axis}, ends[0]
