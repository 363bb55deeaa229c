"""What a subject gave back, and the events that are looked for in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

SLOW = (0.01, 0.1, 1.0)
"""Seconds between which times of a run are told apart: an observer with a clock sees no more."""


@dataclass(frozen=True)
class RunOutcome:
    """One output: keys in their order with counts where there are any; its types; the error it ended with; its time."""

    rows: tuple[tuple[str, float | None], ...] = ()
    form: str = ""
    error: str = ""
    pace: int = 0

    @property
    def counts(self) -> dict[str, float | None]:
        """The count of each key."""
        return dict(self.rows)


def outcome_from(told: Mapping[str, Any]) -> RunOutcome:
    """One outcome as the subject's process tells it."""
    rows = tuple((key, count) for key, count in told["rows"])
    return RunOutcome(rows, told["form"], told["error"], sum(told["seconds"] > limit for limit in SLOW))


@dataclass(frozen=True)
class OutputEvent:
    """One yes-or-no question about an output."""

    asks: str
    key: str = ""
    number: float = 0.0

    def happens(self, out: RunOutcome) -> bool:
        """The answer."""
        counts = out.counts
        if self.asks in ("shows", "absent"):
            return (self.key in counts) == (self.asks == "shows")
        if self.asks in ("at least", "at most"):
            count = counts.get(self.key)
            return count is not None and (count >= self.number if self.asks == "at least" else count <= self.number)
        if self.asks in ("rows at least", "rows at most"):
            n = len(out.rows)
            return n >= self.number if self.asks == "rows at least" else n <= self.number
        if self.asks == "first":
            return bool(out.rows) and out.rows[0][0] == self.key
        if self.asks == "keys":
            return "\0".join(sorted(counts)) == self.key
        if self.asks == "form":
            return out.form == self.key
        if self.asks == "error":
            return out.error == self.key
        return out.pace == self.number  # "pace"

    @property
    def words(self) -> str:
        """The event as a sentence."""
        key, number = repr(self.key), f"{self.number:g}"
        return {
            "shows": f"{key} is released",
            "absent": f"{key} is not released",
            "at least": f"{key} is released with {number} or more",
            "at most": f"{key} is released with {number} or less",
            "rows at least": f"{number} or more keys are released",
            "rows at most": f"{number} keys or fewer are released",
            "first": f"{key} is the first row",
            "keys": f"exactly {self.key.split(chr(0)) if self.key else []} are released",
            "form": f"the output is a {self.key}",
            "error": f"it ends with {self.key}" if self.key else "it ends without an error",
            "pace": f"its time is in class {number} of {len(SLOW) + 1} (limits at {SLOW} seconds)",
        }[self.asks]

    @property
    def code(self) -> str:
        """The event in Python, of `out`, a dict of released keys; empty where it is about something else."""
        key, number = repr(self.key), f"{self.number!r}"
        return {
            "shows": f"{key} in out",
            "absent": f"{key} not in out",
            "at least": f"out.get({key}, float('-inf')) >= {number}",
            "at most": f"out.get({key}, float('inf')) <= {number}",
            "rows at least": f"len(out) >= {number}",
            "rows at most": f"len(out) <= {number}",
            "first": f"next(iter(out), None) == {key}",
            "keys": f"sorted(out) == {sorted(self.key.split(chr(0))) if self.key else []}",
        }.get(self.asks, "")


MOST_KEYS = 12
CUTS = (0.05, 0.25, 0.5, 0.75, 0.95)


def questions(one: Sequence[RunOutcome], other: Sequence[RunOutcome], *, timing: bool = False) -> list[OutputEvent]:
    """The events that these outputs suggest; those of time only where they are asked for."""
    both = [*one, *other]
    seen = Counter(key for out in both for key in out.counts)
    asked: list[OutputEvent] = []
    for key, _ in seen.most_common(MOST_KEYS):
        asked += [OutputEvent("shows", key), OutputEvent("absent", key), OutputEvent("first", key)]
        values = sorted(count for out in both if (count := out.counts.get(key)) is not None)
        for cut in dict.fromkeys(values[int(share * (len(values) - 1))] for share in CUTS) if values else ():
            asked += [OutputEvent("at least", key, cut), OutputEvent("at most", key, cut)]
    sizes = sorted({len(out.rows) for out in both})
    asked += [OutputEvent("rows at least", number=n) for n in sizes[1 : 1 + MOST_KEYS]]
    asked += [OutputEvent("rows at most", number=n) for n in sizes[:-1][:MOST_KEYS]]
    sets = Counter("\0".join(sorted(out.counts)) for out in both)
    asked += [OutputEvent("keys", key) for key, _ in sets.most_common(MOST_KEYS)]
    for name, found in (("form", {o.form for o in both if not o.error}), ("error", {o.error for o in both})):
        asked += [OutputEvent(name, text) for text in sorted(found)[:MOST_KEYS]] if len(found) > 1 else []
    paces = {out.pace for out in both}
    asked += [OutputEvent("pace", number=pace) for pace in sorted(paces)] if timing and len(paces) > 1 else []
    return asked
