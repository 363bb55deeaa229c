"""Privacy against utility: what other budgets would have kept of this log, and the one that was chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from hubbub.privacy.guarantee import number
from hubbub.show.charts.chart import Chart
from hubbub.show.charts.parts import level, percent, series, share, wide
from hubbub.show.kept import Tried

BY_LAW = (
    "Computed from the law by which a key is released and from how many users hold each, fitted to what was released; "
    "nothing was drawn or spent. Elsewhere than at the chosen ε it is rough, up to a quarter off on made-up logs;"
)
ON_LOG = "Estimated on the log itself with repeatable noise, so that nothing was spent:"


def tradeoff(tried: Sequence[Tried], chosen: float) -> Chart | None:
    """The chart; None if no other budget was tried."""
    if not tried:
        return None
    rows = [asdict(one) for one in tried]
    order = list(dict.fromkeys(one.table for one in tried))
    ticks = {"axis": {"values": sorted({one.epsilon for one in tried}), "format": "~g"}}
    x = {"field": "epsilon", "type": "quantitative"} | wide("ε", [one.epsilon for one in tried]) | ticks
    y = {"field": "searches", "type": "quantitative"} | share(
        "searches whose key is released", max(one.searches for one in tried)
    )
    tips = [{"field": "table"}, {"field": "epsilon"}, {"field": "searches", "format": ".1%"}]
    tips += [{"field": "rows", "format": ",.0f"}]
    layers = [
        {
            "data": {"values": rows},
            "mark": {"type": "line", "point": False},
            "encoding": {"x": x, "y": y, "color": series("table", order)["color"]},
        },
        {
            "data": {"values": rows},
            "mark": {"type": "point", "size": 60},
            "encoding": {"x": x, "y": y, **series("table", order), "tooltip": tips},
        },
        *level("x", chosen, f"chosen: {number(chosen)}"),
    ]
    first = [one for one in tried if one.table == order[0]]
    told = ", ".join(f"{percent(one.searches)} at ε = {number(one.epsilon)}" for one in first)
    how = BY_LAW if first[0].by_law else ON_LOG
    return Chart("Privacy against utility", f"{how} {order[0]} keep {told}.", {"layer": layers}, _numbers(rows))


def _numbers(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """What people read: the error where it is known."""
    names = ["table", "epsilon", "rows", "searches", *(["rms"] if any(row["rms"] is not None for row in rows) else [])]
    return [{name: row[name] for name in names} for row in rows]
