"""Does a smaller log score higher? Zhang & Yang 2017, section 5, looked at on the log at hand.

They report that runs which answer fewer test sessions score higher on precision. Precision is averaged over the
prefixes that a log can answer, so the number of sessions evaluated stands beside every score, and so does the
precision over every prefix, in which an unanswered one counts as 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from hubbub.look.compare.summary import Row

PRECISION, EVERY, SESSIONS, ALL = (
    f"suggestion.{m}" for m in ("precision@5", "every_prefix.precision@5", "sessions_evaluated", "sessions")
)


@dataclass(frozen=True)
class ComparisonFinding:
    """Private rows that answer some test sessions, but fewer than the original; how they score beside it."""

    smaller: tuple[str, ...]
    higher: tuple[str, ...]
    """Those whose whole interval of precision is above the original's score."""
    lower: tuple[str, ...]
    """Those whose whole interval is below."""
    every_higher: tuple[str, ...]
    """Those whose precision over every prefix is above the original's, with the whole interval."""

    @property
    def verdict(self) -> str:
        """Shown where all score higher, mixed where some do, refuted where all score lower."""
        if not self.smaller:
            return "not decided"
        if self.higher:
            return "shown" if self.higher == self.smaller else "mixed"
        return "refuted" if self.lower == self.smaller else "not shown"

    @property
    def sentence(self) -> str:
        """The finding in one sentence, with the numbers it rests on."""
        if not self.smaller:
            return "No private row answers test sessions, but fewer than the original does."
        return (
            f"Private rows that answer fewer test sessions than the original: {len(self.smaller)}. Over the prefixes "
            f"that each can answer, {_told(self.higher)} score{_s(self.higher)} higher precision@5 than the original "
            f"(the whole 95 % interval above) and {_told(self.lower)} lower. Over every prefix, "
            f"{_told(self.every_higher)} score{_s(self.every_higher)} higher."
        )

    def record(self) -> dict[str, Any]:
        """The finding as it stands in the JSON document."""
        return {"verdict": self.verdict, "sentence": self.sentence, **asdict(self)}


def _told(labels: tuple[str, ...]) -> str:
    return f"{len(labels)} ({', '.join(labels)})" if labels else "none"


def _s(labels: tuple[str, ...]) -> str:
    return "" if len(labels) > 1 else "s"


def finding(rows: Iterable[Row]) -> ComparisonFinding | None:
    """None where the task was not asked for, or no private row could be scored."""
    scored = [r for r in rows if all(m in r.metrics for m in (PRECISION, EVERY, SESSIONS)) and r.proven["private"]]
    if not scored:
        return None
    smaller = [r for r in scored if 0 < r.metrics[SESSIONS].mean < (r.metrics[SESSIONS].original or 0)]
    return ComparisonFinding(
        tuple(r.label for r in smaller),
        tuple(r.label for r in smaller if r.metrics[PRECISION].side > 0),
        tuple(r.label for r in smaller if r.metrics[PRECISION].side < 0),
        tuple(r.label for r in smaller if r.metrics[EVERY].side > 0),
    )
