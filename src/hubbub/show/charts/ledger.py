"""The ledger of a population over time: what all its releases cost together, and the cap."""

from __future__ import annotations

from dataclasses import asdict

from hubbub.privacy.guarantee import number
from hubbub.show.charts import palette
from hubbub.show.charts.chart import Chart
from hubbub.show.charts.parts import level
from hubbub.show.kept import LedgerSnapshot


def spending(book: LedgerSnapshot | None) -> Chart | None:
    """The chart; None if no entry has a finite cost."""
    if book is None:
        return None
    rows = [asdict(one) | {"this": one.entry == book.entry} for one in book.spendings]
    finite = [row for row in rows if row["spent"] is not None]
    if not finite:
        return None
    most = max(float(row["spent"]) for row in finite)
    top = max(most, book.cap or 0.0) * 1.1
    x = {"field": "name", "type": "ordinal", "title": None, "sort": None, "axis": {"labelAngle": 0}}
    y = {"field": "spent", "type": "quantitative", "title": "ε spent so far", "scale": {"domain": [0, top]}}
    for row in finite:
        row["name"] = f"{row['dataset']}-r{row['entry']}"
        row["day"] = str(row["time"])[:10]
    tips = [{"field": name} for name in ("name", "day", "mechanism", "epsilon", "spent")]
    layers = [
        {
            "data": {"values": finite},
            "mark": {"type": "bar", "color": palette.SKY, "size": 24},
            "encoding": {"x": x, "y": y, "tooltip": tips},
        },
        {
            "data": {"values": [row for row in finite if row["this"]]},
            "mark": {"type": "bar", "color": palette.BLUE, "size": 24},
            "encoding": {"x": x, "y": y, "tooltip": tips},
        },
    ]
    if book.cap is not None:
        layers += level("y", book.cap, f"cap {number(book.cap)}")
    told = f"Population {book.population}: ε = {number(most)} after {len(rows)} release(s)"
    told += f", under a cap of {number(book.cap)}" if book.cap is not None else ", without a cap"
    if len(finite) < len(rows):
        told += f"; {len(rows) - len(finite)} of them not private, which no bar can show"
    numbers = [{k: row[k] for k in ("name", "day", "mechanism", "epsilon", "spent")} for row in finite]
    return Chart("The ledger", told + ". The dark bar is this release.", {"layer": layers, "height": 200}, numbers)
