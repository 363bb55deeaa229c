"""Colours and manners of every chart, in one place: told apart by everybody, in light, in dark and in print.

The hues are Okabe and Ito's, chosen to differ for people with any of the common colour blindnesses. What carries
meaning never differs by colour alone: shapes and dashes say the same. Text and lines take the colour of the page's
own ink, so that one drawing serves both themes and the printer.
"""

from __future__ import annotations

from typing import Any

BLUE, VERMILION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
ORANGE, SKY, GREY = "#E69F00", "#56B4E9", "#808080"

SERIES = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY)
"""For categories, in this order: the first four stand out on white and on black."""
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 4], [1, 3])

FONT = "system-ui, sans-serif"
INK = "currentColor"


def config(ink: str = INK) -> dict[str, Any]:
    """The Vega-Lite configuration of every chart; `ink` is a colour, or the page's own."""
    return {
        "aria": False,  # the figure says it in one sentence; a thousand dots read aloud say nothing
        "background": None,
        "font": FONT,
        "view": {"stroke": None},
        "axis": {
            "labelColor": ink,
            "titleColor": ink,
            "tickColor": ink,
            "domainColor": ink,
            "gridColor": ink,
            "gridOpacity": 0.12,
            "labelFontSize": 12,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "labelOverlap": True,
            "labelLimit": 150,
        },
        "axisQuantitative": {"tickCount": 6},
        "legend": {
            "labelColor": ink,
            "titleColor": ink,
            "labelFontSize": 12,
            "labelLimit": 300,
            "orient": "top",
            "title": None,
            "columns": 2,
            "symbolOpacity": 1,
        },
        "text": {"color": ink, "fontSize": 12},
        "rule": {"color": ink},
        "style": {"ink": {"color": ink, "fill": ink, "stroke": ink}, "guide": {"stroke": ink, "strokeDash": [6, 3]}},
        "range": {"category": list(SERIES), "symbol": list(SHAPES)},
        "point": {"filled": True, "size": 45},
        "line": {"strokeWidth": 2},
    }
