"""Publish once or again: what would come out when, for a number of users that somebody states. No log is read."""

from __future__ import annotations

from collections.abc import Mapping

from hubbub.errors import ParameterError
from hubbub.look.cadence import ROOM, estimate_cadence
from hubbub.look.cadence.words import advice
from hubbub.mechanisms.series import Series

FIRST = {"month": "2026-01-01", "quarter": "2026-01-01", "week": "2026-01-05"}
"""A day on which a period of each length begins: made-up users search alike in all years."""
MOST_PERIODS = 60


def again(asked: Mapping[str, object], room: int = ROOM) -> dict[str, object]:
    """The answer to the page's question: three ways to publish with the same (ε, δ), period by period."""
    length = str(asked.get("length"))
    if length not in FIRST:
        raise ParameterError("There is no such period here.", given=length, allowed=", ".join(FIRST))
    users, periods = (_whole(asked.get(name), name) for name in ("users", "periods"))
    if periods > MOST_PERIODS:
        raise ParameterError("So many periods are not estimated here.", given=periods, allowed=f"1 to {MOST_PERIODS}")
    series = Series(
        epsilon=str(asked.get("epsilon")),
        delta=str(asked.get("delta")),
        periods=periods,
        first=FIRST[length],
        length=length,
    )
    found = estimate_cadence(series, users, room=room)
    return found.record() | {
        "periods": [f"{length} {n + 1}" for n in range(periods)],
        "advice": list(advice(found)),
    }


def _whole(given: object, name: str) -> int:
    text = str(given).replace(",", "").strip()
    if not text.isdecimal() or int(text) < 1:
        raise ParameterError(f"The number of {name} is a whole number.", given=given, allowed="1 or more")
    return int(text)
