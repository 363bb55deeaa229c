"""The law of survival: the chance that a key is released, by how many users hold it. It needs public numbers alone.

    LaplaceTest  a count, noise and a threshold: exact, with the moments of the noise of what is released
    RoundsTest   weights gathered over rounds of Gaussian noise: exact for users who hold equally many keys

Cards, reports, estimates, attacks and the studio all ask here; a mechanism says which law is its own (`survival`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from hubbub.privacy.account import Domain, Step, fewest, half_width
from hubbub.steps.array_pools import amount

if TYPE_CHECKING:
    from hubbub.mechanisms.crowd.calibrate import Recount
    from hubbub.mechanisms.rounds import Selection

Floats = npt.NDArray[np.float64]
NODES, WEIGHTS = np.polynomial.legendre.leggauss(120)
REACH = 40.0
"""Nothing lies so many standard deviations away."""
EVEN, SURE = 0.5, 0.95
HELD = (1, 5, 20)
"""Keys in the running of the users who are told about."""


def normal_cdf(x: Floats) -> Floats:
    """Φ. scipy is loaded when it is first asked: help and declarations do not need it."""
    from scipy.special import ndtr

    chances: Floats = ndtr(x)
    return chances


@dataclass(frozen=True)
class LaplaceTest:
    """A key counted c times is released if c + Z >= T; P(Z = z) = (1 − a)/(1 + a) a^|z|, a = e^(−1/scale)."""

    scale: Fraction
    threshold: int | None
    """None: every key shows."""
    floor: int = 0
    """Keys counted less often are not tested."""
    limit: int = 1
    """How many keys of one user count …"""
    first: bool = False
    """… her first ones, or any."""

    @staticmethod
    def of(step: Step, *, first: bool = False) -> LaplaceTest:
        """The test that a step describes: of keys that somebody holds, or of a known domain."""
        floor = 0 if step.domain is Domain.CLOSED else step.floor
        return LaplaceTest(step.scale, step.threshold, floor, step.l0, first)

    @property
    def variance(self) -> float:
        """Of Z: 2a/(1 − a)²."""
        return 2 * math.exp(-1 / self.scale) / math.expm1(-1 / self.scale) ** 2

    @property
    def half_width(self) -> float:
        """95 % of Z lies within it."""
        return float(half_width(float(self.scale)))

    def moments(self, counted: Floats) -> tuple[Floats, Floats, Floats]:
        """P(released), and E[Z], E[Z²] on that event."""
        if self.threshold is None:
            return np.ones_like(counted), np.zeros_like(counted), np.full_like(counted, self.variance)
        a, rest, gap = math.exp(-1 / self.scale), -math.expm1(-1 / self.scale), self.threshold - counted
        above = gap >= 1
        g = np.where(above, gap, 1 - gap)  # below 1, by symmetry, what is left out is what passes 1 − gap
        tail = np.exp(-g / float(self.scale)) / (1 + a)
        first = tail * (g + a / rest)  # given Z >= g, Z − g is geometric
        second = tail * (g * g + 2 * g * a / rest + a * (1 + a) / rest**2)
        found = np.where(above, tail, 1 - tail), first, np.where(above, second, self.variance - second)
        tested = counted >= self.floor
        return np.where(tested, found[0], 0.0), np.where(tested, found[1], 0.0), np.where(tested, found[2], 0.0)

    def chance(self, counted: Floats) -> Floats:
        """P(released)."""
        return self.moments(counted)[0]

    def at(self, count: int) -> float:
        """P(released) of one count."""
        return float(self.chance(np.array([float(count)]))[0])

    def fewest(self, at_least: float) -> int:
        """The smallest count with at least this chance."""
        return fewest(self.at, at_least)


@dataclass(frozen=True)
class RoundsTest:
    """A key's weight is tested in rounds. A user shares hers among the keys of hers that are still in the running."""

    plan: Selection
    recount: Recount | None = None
    """How released keys are counted again; None: they have no numbers."""
    unit: bool = False
    """Each user weighs 1 on each of her keys, and the weight that passed is the number."""
    false: Fraction = Fraction(0)
    """Rows of nobody to expect, where keys are known and thresholds follow from how many there are."""

    def chance(self, holders: int, keys: int) -> float:
        """P(released) of a key that this many users hold, each with so many keys in the running in every round."""
        weight = holders * amount(self.plan.bits, keys) / self.plan.unit
        return _recycled(self.plan, weight) if self.plan.recycled else _fresh(self.plan, weight)

    def fewest(self, at_least: float, keys: int = 1) -> int:
        """The smallest number of users with at least this chance."""
        return _fewest(self.plan, at_least, keys)

    def normal(self, counted: Floats, luck: Floats) -> tuple[Floats, Floats, Floats]:
        """Unit weights: P(released), and E[Z], E[Z²] on that event; the luck of the bound has a variance of its own."""
        deviation = np.sqrt(self.plan.variances[0] / self.plan.unit**2 + luck)
        gap = (self.plan.users(0) - counted) / deviation
        chance, density = normal_cdf(-gap), np.exp(-gap * gap / 2) / math.sqrt(2 * math.pi)
        return chance, deviation * density, deviation**2 * (chance + gap * density)

    def words(self, table: str, typical: int = 0) -> str:
        """From how many users on a key has an even chance, and 95 %; on made-up logs `typical` came near it."""
        held = sorted({min(keys, self.plan.limit) for keys in HELD})
        even, sure = ([f"{self.fewest(at_least, keys):,}" for keys in held] for at_least in (EVEN, SURE))
        seen = {typical: " (on made-up logs it came near this, or sooner)"}
        told = [f"from {n} if {keys}{seen.get(keys, '')}" for n, keys in zip(even[1:], held[1:], strict=True)]
        first = f"from {even[0]} users on if each has 1 of the {table} that are still in the running"
        return f"{table}: an even chance to be released {', '.join([first, *told])}; 95 % from {', '.join(sure)}"


Survival = LaplaceTest | RoundsTest


@lru_cache(maxsize=1024)
def _fewest(plan: Selection, at_least: float, keys: int) -> int:
    return fewest(lambda n: RoundsTest(plan).chance(n, keys), at_least)


def _recycled(plan: Selection, weight: float) -> float:
    """Rounds that add up: what has been gathered is a random walk between the drop level and the threshold."""
    at, density, passed = np.zeros(1), np.ones(1), 0.0
    for r, multiple in enumerate(plan.multiples):
        moved, deviation = at + multiple * plan.unit * weight, plan.variances[r] ** 0.5
        passed += float(density @ normal_cdf((moved - plan.thresholds[r]) / deviation))
        if r == len(plan.drops):
            break
        low = max(plan.drops[r], float(moved.min()) - REACH * deviation)
        half, middle = (plan.thresholds[r] - low) / 2, (plan.thresholds[r] + low) / 2
        if half <= 0:
            break
        there = middle + half * NODES
        law = np.exp(-(((there[:, None] - moved) / deviation) ** 2) / 2) / (deviation * np.sqrt(2 * np.pi))
        at, density = there, half * WEIGHTS * (law @ density)
    return min(1.0, passed)


def _fresh(plan: Selection, weight: float) -> float:
    """Rounds that stand alone."""
    passed, live = 0.0, 1.0
    for r, variance in enumerate(plan.variances):
        above = normal_cdf(
            (plan.unit * weight - np.array([plan.thresholds[r], *plan.drops[r : r + 1]])) / variance**0.5
        )
        passed += live * float(above[0])
        live *= max(0.0, float(above[-1] - above[0]))
    return min(1.0, passed)
