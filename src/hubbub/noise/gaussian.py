"""Discrete Gaussian: P(x) proportional to exp(-x²/(2 variance)) on the integers, centred at 0.

`variance` is the parameter of the weights; the variance of the draws is never above it, and equal to it for all
practical purposes once it is above 1. Cell weights follow from two exponentials: w_h = w_(h-1) r_(h-1) and
r_h = r_(h-1) g, with r_0 = exp(-c), g = exp(-2c), c = B²/(2 variance).
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from hubbub.errors import ParameterError
from hubbub.noise.cells import Cells
from hubbub.noise.intervals import exp_neg_bounds, times_down, times_up
from hubbub.noise.parameters import rational
from hubbub.noise.tables import WORD_BITS, Bounds, Table
from hubbub.privacy.existence import Cause

DIRECT_BELOW = 4096
"""Below this variance the table holds |x| itself, and any fraction is allowed."""

NUMERATOR_LIMIT = 1 << 45
_GUARD = 64


class DiscreteGaussian(Cells):
    """Sampler of the discrete Gaussian law; build it with `discrete_gaussian`, which keeps the tables."""

    def __init__(self, variance: Fraction | int, word_bits: int = WORD_BITS) -> None:
        self.variance = rational("variance", variance)
        if self.variance >= DIRECT_BELOW and self.variance.numerator >= NUMERATOR_LIMIT:
            raise ParameterError(
                "This discrete Gaussian variance is out of reach.",
                given=self.variance,
                allowed=f"any fraction below {DIRECT_BELOW}; above, a numerator below 2^45",
                next="round it up to a fraction with a smaller numerator, or count on a coarser grid",
                because=Cause.ENDED,
            )
        cell_bits = max(0, (int(self.variance).bit_length() + 1) // 2 - 6)
        table = Table(_boundaries(Fraction(1 << 2 * cell_bits) / (2 * self.variance), cell_bits == 0), word_bits)
        super().__init__(table, cell_bits, 2 * self.variance.numerator)

    def __repr__(self) -> str:
        return f"DiscreteGaussian(variance={self.variance})"

    def _numerator(self, place: npt.NDArray[np.int64], size: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        return place * (2 * size - place) * self.variance.denominator


@lru_cache(maxsize=64)
def discrete_gaussian(variance: Fraction | int, word_bits: int = WORD_BITS) -> DiscreteGaussian:
    """The sampler for this variance; its tables are built once per process."""
    return DiscreteGaussian(variance, word_bits)


def _boundaries(c: Fraction, direct: bool) -> Bounds:
    def bounds(precision: int) -> tuple[list[int], list[int]]:
        lows, highs, tail = _weights(c, 2 if direct else 1, precision)
        below_lo, below_hi = list(accumulate(lows)), list(accumulate(highs))
        lo, hi = [], []
        for s_lo, s_hi in zip(below_lo, below_hi, strict=True):
            above_lo, above_hi = below_lo[-1] - s_lo, below_hi[-1] - s_hi + tail
            lo.append((s_lo << precision) // (s_lo + above_hi))
            hi.append(-((-s_hi << precision) // (s_hi + above_lo)))
        return lo, hi

    return bounds


def _weights(c: Fraction, sides: int, precision: int) -> tuple[list[int], list[int], int]:
    """Bounds of 2^work w_h while w_h can reach 2^-precision, and an upper bound of all later weights together.

    Ratios r_h fall, so the weights after h sum to at most w_h r_h / (1 - r_h).
    """
    work = precision + _GUARD
    one = 1 << work
    w_lo = w_hi = one
    r_lo, r_hi = exp_neg_bounds(c, work)
    g_lo, g_hi = exp_neg_bounds(2 * c, work)
    lows, highs = [one], [one]
    while w_hi >> _GUARD:
        w_lo, w_hi = times_down(w_lo, r_lo, work), times_up(w_hi, r_hi, work)
        r_lo, r_hi = times_down(r_lo, g_lo, work), times_up(r_hi, g_hi, work)
        lows.append(sides * w_lo)
        highs.append(sides * w_hi)
    return lows, highs, -((-highs[-1] * r_hi) // (one - r_hi))
