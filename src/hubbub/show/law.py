"""P(released) by number of users: what to expect of the mechanism that ran, on the log it ran on.

How far a key of n users gets depends on the log: users who hold much count less, or not at all. So the chance is not
taken from a threshold but from running the mechanism once more, with noise that repeats itself and is never released;
`hubbub report --log` asks `estimate` instead, which is more exact and takes longer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hubbub.look.estimate.curve import Curve, points, rising
from hubbub.look.estimate.scale import follows, scalable, start_over
from hubbub.noise import SeededNoise
from hubbub.steps.counts import Integers

if TYPE_CHECKING:
    import pyarrow as pa

    from hubbub.log import SearchLog
    from hubbub.mechanisms import Mechanism

AGAIN = "by one more run on this log with other noise"
ESTIMATED = "as estimated for this log"
SMALL = 2_000_000
"""Rows up to which a release runs its mechanism once more."""


@dataclass(frozen=True)
class SurvivalLine:
    """The chance of a key at each number of users, how that is known, and the users of an even chance (none: never)."""

    what: str
    users: list[int]
    chance: list[float]
    even: int | None

    @staticmethod
    def of(curve: Curve, what: str) -> SurvivalLine:
        """From an estimated curve."""
        return SurvivalLine(what, curve.users.tolist(), curve.chance.tolist(), curve.reaches(0.5))


def once_more(log: SearchLog, mechanism: Mechanism, measured: Mapping[str, Any]) -> dict[str, pa.Table]:
    """The keys that other noise would have released; nothing where that would take long or cannot be asked twice."""
    usable = all(scalable(m) or follows(m) for m in measured.values())
    if not usable or not mechanism.steps() or log.ingested.kept > SMALL or "log" in mechanism.tables:
        return {}
    start_over(measured)
    found = mechanism.draw(measured, SeededNoise(0))
    return {
        table: measured[table].text(log.engine, mechanism.offers[table], released.ids)
        if released.text is None
        else released.text
        for table, released in found.items()
    }


def seen(users: Integers, keys: Integers, released: Integers) -> SurvivalLine:
    """From how many keys of each number of users one run released."""
    curve = rising(points(int(users.max())), users, released / keys, keys.astype(float))
    return SurvivalLine.of(curve, AGAIN)
