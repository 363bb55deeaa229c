"""How much of a log a release still shows: by rank of its keys, and by how much of the log they make up."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hubbub.show.charts.chart import Chart
from hubbub.show.charts.parts import percent, series, share, wide
from hubbub.show.exact import Exact

MOST = 80
"""Points of a line."""


def cumulated(exact: Exact) -> dict[str, list[float]]:
    """Shares of keys and events by rank, from the key that most users hold down; ties are taken together.

    `head` is the share of all events that the keys so far make up.
    """
    held = exact.held
    down = slice(None, None, -1)
    keys, released = (np.cumsum(a[down]).astype(float) for a in (held.keys, held.released))
    events, shown = (np.cumsum(a[down]).astype(float) for a in (held.events, held.released_events))
    return {
        "rank": keys.tolist(),
        "keys": (released / np.maximum(keys, 1)).tolist(),
        "events": (shown / np.maximum(events, 1)).tolist(),
        "head": (events / max(float(events[-1]) if events.size else 1.0, 1.0)).tolist(),
    }


def by_rank(tables: Sequence[Exact]) -> Chart | None:
    """The chart of how many of the r keys that most users hold were released, for every rank r."""
    return _chart(
        tables,
        "rank",
        "keys",
        "Coverage by rank",
        "rank of the key in the log, by users",
        "released",
        "Of the keys of each table up to a rank (the most held first), the share that was released",
    )


def by_volume(tables: Sequence[Exact]) -> Chart | None:
    """The chart of how many of the searches in the head of the log asked for a released key."""
    return _chart(
        tables,
        "head",
        "events",
        "Coverage by volume",
        "the most held keys, as a share of all searches (clicks, steps)",
        "of these, released",
        "Of the searches (clicks, steps) that the most held keys make up, the share whose key was released",
    )


def _chart(
    tables: Sequence[Exact], across: str, up: str, title: str, x_title: str, y_title: str, what: str
) -> Chart | None:
    rows, ends = [], []
    for exact in tables:
        line = cumulated(exact)
        if not line["rank"]:
            continue
        for i in _thin(line[across]):
            rows.append({"table": exact.table, across: line[across][i], "released": line[up][i]})
        of = f"{exact.table}, in rows of the log" if exact.by_rows and up == "events" else exact.table
        ends.append(f"{_of_everything(exact, up, line[up][-1])} for {of}")
    if not rows:
        return None
    order = list(dict.fromkeys(str(row["table"]) for row in rows))
    x = wide(x_title, [float(str(row[across])) for row in rows]) if across == "rank" else share(x_title)
    lines = {key: value for key, value in series("table", order).items() if key == "color"}
    dash = {"strokeDash": {"field": "table", "type": "nominal", "scale": {"domain": order}}}
    spec = {
        "data": {"values": rows},
        "mark": {"type": "line", "interpolate": "step-before" if across == "rank" else "linear", "tooltip": True},
        "encoding": {
            "x": {"field": across, "type": "quantitative"} | x,
            "y": {"field": "released", "type": "quantitative"} | share(y_title),
            **lines,
            **dash,
        },
    }
    return Chart(title, f"{what}; of everything: {', '.join(ends)}.", spec, rows)


def _of_everything(exact: Exact, up: str, share: float) -> str:
    """A share of all keys or events; the released ones are counted, but the number of all may rest on a sample."""
    if exact.sampled is None:
        return percent(share)
    total = float((exact.held.keys if up == "keys" else exact.held.events).sum())
    off = exact.sampled.keys_sd if up == "keys" else exact.sampled.events_sd
    return f"about {percent(share)} (± {percent(2 * share * off / max(total, 1.0))})"


def _thin(values: list[float]) -> list[int]:
    """The indices of at most MOST points, at equal steps of the logarithm; the first and the last are among them."""
    if len(values) <= MOST:
        return list(range(len(values)))
    logs = np.log(np.maximum(values, 1e-9))
    wanted = np.linspace(logs[0], logs[-1], MOST)
    return sorted({*np.searchsorted(logs, wanted).clip(0, len(values) - 1).tolist(), 0, len(values) - 1})
