"""P(released) by number of users, from the noise alone: no log is asked, and no user loses anything to a bound."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hubbub.account import Step
from hubbub.gaussian import GaussianStep

if TYPE_CHECKING:
    from hubbub.mechanisms import Mechanism

FULL = "if every user counted in full"
ESTIMATED = "as estimated for this log"
REACH = 4.0
"""The curve ends at this many times its threshold."""


@dataclass(frozen=True)
class Law:
    """The chance of a key at each number of users, what it assumes, and the threshold in users."""

    what: str
    users: list[int]
    chance: list[float]
    threshold: float | None


def laws(mechanism: Mechanism) -> dict[str, Law]:
    """Tables whose keys pass one threshold of their own."""
    found = {}
    for step in mechanism.steps():
        if step.name not in mechanism.tables or mechanism.value_column != "users":
            continue
        if isinstance(step, GaussianStep) and step.tests:
            test = step.tests[-1]
            level, sd = test.threshold / test.mean, math.sqrt(test.variance) / test.mean
            users = _points(level)
            found[step.name] = Law(FULL, users, [_normal((n - level) / sd) for n in users], level)
        elif isinstance(step, Step) and step.threshold is not None:
            users = _points(step.threshold)
            found[step.name] = Law(FULL, users, [step.chance(n) for n in users], float(step.threshold))
    return found


def _points(level: float) -> list[int]:
    """Every number where it matters, 100 at most."""
    last = max(2, math.ceil(REACH * level))
    return sorted({1 + round(i * (last - 1) / 99) for i in range(100)})


def _normal(z: float) -> float:
    return 0.5 * math.erfc(-z / math.sqrt(2))
