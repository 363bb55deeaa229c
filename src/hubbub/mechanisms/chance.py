"""The chance that a key passes a selection in rounds, by the number of its users: a function of public numbers alone.

A user shares her weight among the keys of hers that are still in the running, and how many these are depends on the
log. So the number is told for users who hold one key and for users who hold a few, all in the running to the end.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from hubbub.mechanisms.rounds import Selection
from hubbub.privacy.account import fewest
from hubbub.steps.pools import amount

Floats = npt.NDArray[np.float64]
NODES, WEIGHTS = np.polynomial.legendre.leggauss(120)
REACH = 40.0
"""Nothing lies so many standard deviations away."""
EVEN, SURE = 0.5, 0.95
HELD = (1, 5, 20)
"""Keys in the running of the users who are told about."""


def chance(plan: Selection, holders: int, keys: int) -> float:
    """P(released) of a key that this many users hold, each with so many keys in the running in every round."""
    weight = holders * amount(plan.bits, keys) / plan.unit
    return _recycled(plan, weight) if plan.recycled else _fresh(plan, weight)


@lru_cache(maxsize=1024)
def users(plan: Selection, at_least: float, keys: int) -> int:
    """The fewest users with at least this chance."""
    return fewest(lambda n: chance(plan, n, keys), at_least)


def words(table: str, plan: Selection, typical: int = 0) -> str:
    """From how many users on a key has an even chance, and one of 95 %; `typical` came near it on made-up logs."""
    held = sorted({min(keys, plan.limit) for keys in HELD})
    even, sure = ([f"{users(plan, at_least, keys):,}" for keys in held] for at_least in (EVEN, SURE))
    seen = {typical: " (on made-up logs it came near this, or sooner)"}
    told = [f"from {n} if {keys}{seen.get(keys, '')}" for n, keys in zip(even[1:], held[1:], strict=True)]
    first = f"from {even[0]} users on if each has 1 of the {table} that are still in the running"
    return f"{table}: an even chance to be released {', '.join([first, *told])}; 95 % from {', '.join(sure)}"


def _recycled(plan: Selection, weight: float) -> float:
    """Rounds that add up: what has been gathered is a random walk between the drop level and the threshold."""
    at, density, passed = np.zeros(1), np.ones(1), 0.0
    for r, multiple in enumerate(plan.multiples):
        moved, spread = at + multiple * plan.unit * weight, plan.variances[r] ** 0.5
        passed += float(density @ ndtr((moved - plan.thresholds[r]) / spread))
        if r == len(plan.drops):
            break
        low = max(plan.drops[r], float(moved.min()) - REACH * spread)
        half, middle = (plan.thresholds[r] - low) / 2, (plan.thresholds[r] + low) / 2
        if half <= 0:
            break
        there = middle + half * NODES
        law = np.exp(-(((there[:, None] - moved) / spread) ** 2) / 2) / (spread * np.sqrt(2 * np.pi))
        at, density = there, half * WEIGHTS * (law @ density)
    return min(1.0, passed)


def _fresh(plan: Selection, weight: float) -> float:
    """Rounds that stand alone."""
    passed, live = 0.0, 1.0
    for r, variance in enumerate(plan.variances):
        above = ndtr((plan.unit * weight - np.array([plan.thresholds[r], *plan.drops[r : r + 1]])) / variance**0.5)
        passed += live * float(above[0])
        live *= max(0.0, float(above[-1] - above[0]))
    return min(1.0, passed)
