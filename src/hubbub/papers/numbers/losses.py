"""Distributions of privacy loss on a grid: real-valued Laplace noise, many draws added up.

Rounding losses down gives a lower bound of δ(ε), rounding them up an upper bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
CELLS = 2**14
"""Into how many pieces the losses between two counts are cut before they are put on the grid."""


@dataclass(frozen=True)
class LossGrid:
    """A distribution of privacy losses: mass[i] is the probability of the loss (first + i) · grid."""

    first: int
    mass: Floats
    grid: float

    @staticmethod
    def at(losses: Floats, mass: Floats, grid: float, rounding: Literal["up", "down"]) -> LossGrid:
        """The distribution with each loss moved to the next place on the grid, up or down."""
        places = np.ceil(losses / grid - 1e-9) if rounding == "up" else np.floor(losses / grid + 1e-9)
        where = places.astype(np.int64)
        return LossGrid(int(where.min()), np.bincount(where - where.min(), mass).astype(np.float64), grid)

    def times(self, n: int) -> LossGrid:
        """The distribution of the sum of n independent losses."""
        size = (self.mass.size - 1) * n + 1
        mass = np.fft.irfft(np.fft.rfft(self.mass, size) ** n, size)
        return LossGrid(self.first * n, np.maximum(mass, 0.0), self.grid)

    def delta(self, epsilon: float) -> float:
        """δ(ε) = E[1 − e^(ε − loss)] over losses above ε."""
        losses = (self.first + np.arange(self.mass.size)) * self.grid
        return float((self.mass * -np.expm1(np.minimum(0.0, epsilon - losses))).sum())

    def epsilon(self, delta: float) -> float:
        """The smallest ε with δ(ε) <= δ."""
        low, high = 0.0, (self.first + self.mass.size) * self.grid
        while low < (middle := (low + high) / 2) < high:
            low, high = (middle, high) if self.delta(middle) > delta else (low, middle)
        return high


def laplace(b: float, more: float, rounding: Literal["up", "down"]) -> tuple[Floats, Floats]:
    """Losses and their masses when a count with noise of scale b moves by `more`: ±more/b outside the two counts."""
    edges = np.linspace(0.0, more, CELLS + 1)
    between = edges[1:] if rounding == "up" else edges[:-1]
    losses = np.concatenate([[-more], 2 * between - more, [more]]) / b
    mass = np.concatenate([[math.exp(-more / b)], np.diff(np.exp((edges - more) / b)), [1.0]]) / 2
    return losses, mass
