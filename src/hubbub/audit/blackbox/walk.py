"""Noise that is walked through value by value, where it is narrow enough for that."""

from __future__ import annotations

from fractions import Fraction

from hubbub.audit.checks.exact import EnumeratingNoise
from hubbub.noise.source import Integers


class NarrowNoise(EnumeratingNoise):
    """Refuses noise so wide that most of it would be lumped at the ends: its subject is sampled instead."""

    def laplace(self, step: str, scale: Fraction, size: int) -> Integers:
        """The next values of this run."""
        if 4 * scale > self.reach:
            raise NotImplementedError("too wide to be walked through")
        return super().laplace(step, scale, size)

    def gaussian(self, step: str, variance: Fraction | int, size: int) -> Integers:
        """The next values of this run."""
        if 16 * variance > self.reach**2:
            raise NotImplementedError("too wide to be walked through")
        return super().gaussian(step, variance, size)
