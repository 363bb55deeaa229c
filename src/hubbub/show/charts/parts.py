"""Pieces that several charts share: axes that cover a wide range, series told apart three ways, numbers in words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from hubbub.show.charts import palette

Spec = dict[str, Any]


def wide(title: str, values: Iterable[float], *, symmetric: bool = False) -> Spec:
    """Title, scale and ticks of a logarithmic axis; `symmetric` also shows zero and what is below it."""
    found = [float(v) for v in values]
    low, high = min(found, default=1.0), max(found, default=1.0)
    if symmetric:
        most = max(abs(low), abs(high), 1.0)
        tens = [10.0**k for k in range(math.ceil(math.log10(most)) + 1)]
        ticks = sorted({0.0, *tens, *(-t for t in tens if -t >= low)})
        scale: Spec = {"type": "symlog", "constant": 1, "nice": False, "domain": list(padded(low, high))}
    else:
        tens = [10.0**k for k in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]
        ticks = tens if high / low >= 500 else [m * t for t in tens for m in (1, 2, 5)]
        scale = {"type": "log", "nice": False, "domain": list(padded(low, high))}
    return {"title": title, "scale": scale, "axis": {"values": ticks, "format": "~s", "grid": True}}


def padded(low: float, high: float) -> tuple[float, float]:
    """Both ends of a range with some room beyond them, so that no dot is cut in half."""
    return (low * 0.9, high * 1.1) if low > 0 else (low * 1.1 - 0.3, high * 1.1 + 0.3)


def share(title: str, most: float = 1.0) -> Spec:
    """Title, scale and ticks of an axis from 0 to 100 %, or to somewhat above the largest share."""
    top = min(1.0, 1.1 * most) or 1.0
    return {"title": title, "scale": {"domain": [0, top]}, "axis": {"format": ".3~p", "tickCount": 5}}


def series(field: str, order: Sequence[str]) -> Spec:
    """Colour and shape of a series; one of them alone would do for most people, both for everybody."""
    some = list(order)
    colours, shapes = (list(kind[: len(some)]) for kind in (palette.SERIES, palette.SHAPES))
    return {
        "color": {"field": field, "type": "nominal", "scale": {"domain": some, "range": colours}},
        "shape": {"field": field, "type": "nominal", "scale": {"domain": some, "range": shapes}},
    }


def level(axis: str, at: float, text: str) -> list[Spec]:
    """A dashed line across the chart and its words."""
    data = {"values": [{"at": at, "text": text}]}
    place: Spec = {axis: {"field": "at", "type": "quantitative"}}
    words: Spec = {"type": "text", "align": "left", "baseline": "top", "dx": 4, "y": 0}
    if axis == "y":
        words = {"type": "text", "align": "right", "baseline": "bottom", "dx": -4, "dy": -2, "x": "width"}
    return [
        {"data": data, "mark": {"type": "rule", "strokeDash": [6, 3]}, "encoding": place},
        {"data": data, "mark": words, "encoding": place | {"text": {"field": "text"}}},
    ]


def percent(x: float) -> str:
    """A share in words: never 100 % or 0 % of something that is not all or nothing."""
    if 0 < x < 0.00001:
        return "less than 0.001 %"
    if 0.999 < x < 1:
        return "more than 99.9 %"
    return f"{100 * x:.3g} %" if x >= 0.1 else f"{100 * x:.2g} %"
