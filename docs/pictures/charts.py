"""The charts of docs/choose.md: what ε, δ, bounds and repeated releases do, computed by the code that releases."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from hubbub.look.estimate import estimate_users
from hubbub.mechanisms import Crowd, Korolova
from hubbub.privacy.compose import compose
from hubbub.show.charts import Chart, palette

USERS = 100_000
Rows = list[dict[str, Any]]


def lines(title: str, alt: str, rows: Rows, x: dict[str, Any], y: dict[str, Any]) -> Chart:
    """Curves told apart by colour and by dashes, on white."""
    order = list(dict.fromkeys(row["series"] for row in rows))
    told = {"field": "series", "type": "nominal", "sort": None, "title": None}
    encoding = {
        "x": {"field": "x", "type": "quantitative"} | x,
        "y": {"field": "y", "type": "quantitative"} | y,
        "color": told | {"scale": {"domain": order, "range": list(palette.SERIES[: len(order)])}},
        "strokeDash": told | {"scale": {"domain": order, "range": list(palette.DASHES[: len(order)])}},
    }
    spec = {"background": "white", "padding": 12, "data": {"values": rows}, "mark": "line", "encoding": encoding}
    return Chart(title, alt, spec, rows)


def wide(title: str, low: float, high: float, ticks: Sequence[float] | None = None, form: str = "~s") -> dict[str, Any]:
    """A logarithmic axis."""
    axis = {"format": form} | ({"values": list(ticks)} if ticks else {})
    return {"title": title, "scale": {"type": "log", "domain": [low, high], "nice": False}, "axis": axis}


def survival() -> Chart:
    """P(released) by the number of users who ask a query, for several ε."""
    rows: Rows = []
    for epsilon in ("0.5", "1", "2", "4"):
        found = estimate_users(Crowd(epsilon=epsilon, delta="1e-6", tables=["queries"]), USERS)
        curve = found.tables["queries"].curve
        rows += [
            {"series": f"ε = {epsilon}", "x": int(n), "y": float(p)}
            for n, p in zip(curve.users, curve.chance, strict=True)
            if 5 <= n <= 2000
        ]
    return lines(
        "Who is heard: the chance that a query is released",
        "With larger ε, queries of fewer users are released.",
        rows,
        wide("users who ask the query", 5, 2000, [5, 10, 20, 50, 100, 200, 500, 1000, 2000]),
        {"title": "released", "scale": {"domain": [0, 1]}, "axis": {"format": "%"}},
    )


def odds() -> Chart:
    """What an attacker believes afterwards, at most, by what she believed before."""
    rows = [
        {"series": f"ε = {e}", "x": p / 100, "y": math.exp(e) * p / (100 - p + math.exp(e) * p)}
        for e in (0, 0.5, 1, 2, 4)
        for p in range(101)
    ]
    percent = {"scale": {"domain": [0, 1]}, "axis": {"format": "%"}}
    return lines(
        "What an attacker can believe afterwards, at most",
        "The larger ε, the further a release can move a suspicion.",
        rows,
        percent | {"title": "sure before the release"},
        percent | {"title": "sure after it, at most"},
    )


def delta() -> Chart:
    """The threshold by δ, for several ε."""
    rows: Rows = []
    for epsilon in ("0.5", "1", "2", "4"):
        for power in range(3, 13):
            threshold = Korolova(epsilon=epsilon, delta=f"1e-{power}", d=5).thresholds()["queries"]
            rows.append({"series": f"ε = {epsilon}", "x": 10.0**-power, "y": threshold})
    axis = {"values": [1e-3, 1e-5, 1e-7, 1e-9, 1e-11], "format": ".0e"}
    return lines(
        "A smaller δ is cheap: the threshold (korolova, d = 5)",
        "The threshold grows with the logarithm of 1/δ, and in proportion to 1/ε.",
        rows,
        {"title": "δ", "scale": {"type": "log", "reverse": True, "nice": False}, "axis": axis},
        {"title": "noisy count needed", "scale": {"type": "log"}, "axis": {"values": [10, 20, 50, 100, 200, 500]}},
    )


def bounds() -> Chart:
    """Expected rows by how many queries of each user count."""
    rows: Rows = []
    for epsilon in ("1", "2", "4"):
        for d in (1, 2, 3, 5, 7, 10, 14, 20, 30, 50, 70, 100):
            found = estimate_users(Korolova(epsilon=epsilon, delta="1e-6", d=d), 20_000)
            rows.append({"series": f"ε = {epsilon}", "x": d, "y": found.tables["queries"].rows})
    return lines(
        "How many queries of each user should count (korolova, 20,000 users)",
        "Few queries a user cut off what people asked, many need more noise; a small number is best.",
        rows,
        wide("d: queries kept of each user", 1, 100, [1, 2, 5, 10, 20, 50, 100]),
        {"title": "queries released", "scale": {"zero": True}},
    )


def ledger() -> Chart:
    """What a release every month costs in a year: the sum, and the bound that the ledger proves."""
    each = Crowd(epsilon="0.5", delta="1e-8").loss()
    rows: Rows = []
    for month in range(1, 13):
        total = compose([each] * month, 1e-6)
        rows.append({"series": "added up", "x": month, "y": 0.5 * month})
        rows.append({"series": "proven by the ledger at δ = 1e-6", "x": month, "y": total})
    return lines(
        "A release every month, ε = 0.5 each: they add up",
        "Twelve releases cost more than one, and less than twelve times as much.",
        rows,
        {"title": "months", "axis": {"tickMinStep": 1}},
        {"title": "ε of all releases together", "scale": {"zero": True}},
    )


CHARTS: dict[str, Callable[[], Chart]] = {
    "survival": survival,
    "odds": odds,
    "delta": delta,
    "bounds": bounds,
    "ledger": ledger,
}
