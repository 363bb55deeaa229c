"""The four histograms behind a synthetic log: one draw each, over public bins, whether or not anybody is in a bin.

A user is in one bin of `activity`, and her share of each other histogram has length at most 2^k c (see
`steps/profile.py`). Noise N_Z(0, ⌈Δ²/μ²⌉ + 4) then costs Δ²/(S − 4) <= μ².
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from hubbub.errors import OurBug, ParameterError
from hubbub.mechanisms.crowd.calibrate import Stage
from hubbub.mechanisms.rounds import WIDEST_NOISE
from hubbub.noise import NoiseSource
from hubbub.steps.counts import Integers
from hubbub.steps.profile import SHAPES

GRID_BITS = 10
"""A user's share is in steps of 2^-10 of an event, unless the noise would be too wide for the sampler."""


@dataclass(frozen=True)
class Histogram:
    """One histogram with its budget: the grid, and the squared length of what one user adds to it."""

    name: str
    mu2: Fraction
    bits: int

    @property
    def shift2(self) -> int:
        """Δ²: 1 for the user's one bin, 4^k c² where her counts are shrunk to length c."""
        length = SHAPES[self.name].length
        return 1 if length is None else 4**self.bits * length**2

    @property
    def variance(self) -> int:
        """S = ⌈Δ²/μ²⌉ + 4."""
        return math.ceil(self.shift2 / self.mu2) + 4

    def draw(self, sums: Integers, noise: NoiseSource) -> Integers:
        """The counts of all bins, empty ones too, each with noise."""
        if sums.size != SHAPES[self.name].bins:
            raise OurBug(f"{self.name}: the bins are public, and there are {SHAPES[self.name].bins} of them")
        return sums + noise.gaussian(self.name, self.variance, sums.size)


def histograms(stages: Sequence[Stage]) -> tuple[Histogram, ...]:
    """Those that the budget is for; the grid of each is as fine as the sampler serves."""
    found = []
    for stage in stages:
        if stage.histogram is not None and stage.name in SHAPES:
            grids = (Histogram(stage.name, stage.histogram, bits) for bits in range(GRID_BITS, -1, -1))
            fitting = next((h for h in grids if 2 * h.variance < WIDEST_NOISE), None)
            if fitting is None:
                raise ParameterError("This ε needs more noise than the sampler serves.", next="raise epsilon or delta")
            found.append(fitting)
    return tuple(found)


def draw(plans: Sequence[Histogram], sums: Mapping[str, Integers], noise: NoiseSource) -> dict[str, Integers]:
    """Every histogram with its noise, in the order of the budget."""
    return {plan.name: plan.draw(sums[plan.name], noise) for plan in plans}
