"""Charts: each is data (a title, a sentence, a Vega-Lite drawing), shown in a page, a notebook or as a picture."""

from __future__ import annotations

from hubbub.show.charts.chart import Chart

__all__ = ["Chart"]
