"""What the owner's report begins with: how many of a log's keys are released, and how much of it they stand for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hubbub.show.charts.parts import percent
from hubbub.show.dataset import rows_of
from hubbub.show.exact import Exact

EVENTS = {
    "queries": "searches",
    "clicks": "clicks",
    "transitions": "steps from one query to the next",
    "keywords": "uses of a word",
    "sessions": "sequences inside sessions",
    "ngrams": "sequences of searches",
    "log": "searches",
}
"""What happens when a key of a table is used."""


KEYS = {"clicks": "(query, address) pairs", "transitions": "(query, next query) pairs", "log": "queries"}
"""What a table's keys are called, where its own name means what happens."""


@dataclass(frozen=True)
class StillThere:
    """One table: "175 of 400,337 queries", "6.5 % of searches"; no share where nothing was counted."""

    keys: str
    share: str


def still_there(tables: Sequence[Exact], rows: Mapping[str, int]) -> list[StillThere]:
    """Every released table, in order; one that was not counted says how many rows it has."""
    counted = {exact.table: exact for exact in tables}
    return [
        _counted(counted[table]) if table in counted else StillThere(rows_of(table, n), "") for table, n in rows.items()
    ]


def _counted(exact: Exact) -> StillThere:
    held = exact.held
    released, keys, events = (int(values.sum()) for values in (held.released, held.keys, held.events))
    about = "about " if exact.sampled is not None else ""
    noun = KEYS.get(exact.table, exact.table.replace("_", " "))
    share = float(held.released_events.sum()) / max(events, 1)
    what = "rows" if exact.by_rows else EVENTS.get(exact.table, "what the log has")
    return StillThere(f"{released:,} of {about}{keys:,} {noun}", f"{about}{percent(share)} of {what}")
