"""Laplace noise and a threshold for counts, each key by itself: a test that `Counts` run where they lie."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from hubbub.steps.counts import Integers
from hubbub.steps.released import Released

if TYPE_CHECKING:
    from hubbub.noise import NoiseSource


@lru_cache
def laplace_sd(scale: Fraction) -> float:
    """Standard deviation of the discrete Laplace: √(2a)/(1−a), a = e^(−1/scale)."""
    a = math.exp(-1 / scale)
    return math.sqrt(2 * a) / -math.expm1(-1 / scale)


def reaching(noisy: Integers, threshold: int) -> Integers:
    """Which keys reach the threshold. The rule is `>=`; δ, where there is one, counts the mass at the threshold."""
    return np.flatnonzero(noisy >= threshold)


@dataclass(frozen=True)
class Noisy:
    """One step of noise: its name, its scale and, if it selects, the least value that shows."""

    step: str
    scale: Fraction
    threshold: int = 0
    again: Noisy | None = None
    """Published mechanisms throw the noise of the selection away and draw anew for the value."""
    passes: Callable[[Integers, int], Integers] = reaching
    drawn: Callable[[Integers], Integers] | None = None
    """Which keys noise is drawn for at all, by their exact counts; None: every one."""

    def draw(self, noise: NoiseSource, n: Integers) -> Integers:
        """Every count with noise of its own."""
        return n + noise.laplace(self.step, self.scale, n.size)

    def __call__(self, n: Integers, noise: NoiseSource) -> Released:
        """The keys that pass, and the very values that passed, or fresh ones."""
        at = None if self.drawn is None else self.drawn(n)
        noisy = self.draw(noise, n if at is None else n[at])
        passed = self.passes(noisy, self.threshold)
        ids = passed if at is None else at[passed]
        if self.again is not None:
            return Released(ids, self.again.draw(noise, n[ids]), laplace_sd(self.again.scale))
        return Released(ids, noisy[passed], laplace_sd(self.scale))

    def every(self, noise: NoiseSource, ids: Integers, n: Integers) -> Released:
        """The values of these keys with noise; none of them is left out."""
        return Released(ids, self.draw(noise, n), laplace_sd(self.scale))
