"""Discrete Laplace: P(x) proportional to exp(-|x|/scale) on the integers, for a rational scale.

Sums of the weights are geometric, so every boundary has a closed form in powers of q = exp(-B/scale):
cells (B > 1) have F_h = 1 - q^(h+1), and the direct table (B = 1) has P(|x| <= h) = 1 - 2 q^(h+1) / (1 + q).
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from hubbub.errors import ParameterError
from hubbub.noise.cells import Cells
from hubbub.noise.intervals import exp_neg_bounds, times_down, times_up
from hubbub.noise.parameters import rational
from hubbub.noise.tables import WORD_BITS, Bounds, Table
from hubbub.privacy.existence import Cause

DIRECT_BELOW = 64
"""Below this scale the table holds |x| itself, and any fraction is allowed."""

SCALE_LIMIT = 1 << 36
NUMERATOR_LIMIT = 1 << 46
_GUARD = 64


class LaplaceSampler(Cells):
    """Sampler of the discrete Laplace law; build it with `discrete_laplace`, which keeps the tables."""

    def __init__(self, scale: Fraction, word_bits: int = WORD_BITS) -> None:
        self.scale = rational("scale", scale)
        if self.scale >= DIRECT_BELOW and (self.scale >= SCALE_LIMIT or self.scale.numerator >= NUMERATOR_LIMIT):
            raise ParameterError(
                "This discrete Laplace scale is out of reach.",
                given=self.scale,
                allowed=f"any fraction below {DIRECT_BELOW}; below 2^36 if its numerator is below 2^46",
                next="round the scale up to a fraction with a smaller numerator: more noise is the private side",
                because=Cause.ENDED,
            )
        cell_bits = max(0, int(self.scale).bit_length() - 6)
        table = Table(_boundaries(Fraction(1 << cell_bits) / self.scale, direct=cell_bits == 0), word_bits)
        super().__init__(table, cell_bits, self.scale.numerator)

    def __repr__(self) -> str:
        return f"LaplaceSampler(scale={self.scale})"

    def _numerator(self, place: npt.NDArray[np.int64], size: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        return place * self.scale.denominator


@lru_cache(maxsize=64)
def discrete_laplace(scale: Fraction, word_bits: int = WORD_BITS) -> LaplaceSampler:
    """The sampler for this scale; its tables are built once per process."""
    return LaplaceSampler(scale, word_bits)


def tail_bounds(scale: Fraction, at_least: int, precision: int) -> tuple[int, int]:
    """lo <= 2^precision P(Z >= at_least) <= hi, from P(Z >= T) = a^T / (1 + a), a = exp(-1/scale), T >= 1."""
    work = precision + _GUARD
    one = 1 << work
    power_lo, power_hi = exp_neg_bounds(at_least / scale, work)
    a_lo, a_hi = exp_neg_bounds(1 / scale, work)
    return (power_lo << precision) // (one + a_hi), -((-power_hi << precision) // (one + a_lo))


def _boundaries(rate: Fraction, direct: bool) -> Bounds:
    def bounds(precision: int) -> tuple[list[int], list[int]]:
        work = precision + _GUARD
        one = 1 << work
        q_lo, q_hi = exp_neg_bounds(rate, work)
        rest_lo, rest_hi = q_lo, q_hi
        if direct:
            rest_lo, rest_hi = (2 * one * q_lo) // (one + q_lo), -((-2 * one * q_hi) // (one + q_hi))
        lo: list[int] = []
        hi: list[int] = []
        while True:
            lo.append((one - rest_hi) >> _GUARD)
            hi.append(-((rest_lo - one) >> _GUARD))
            if not rest_hi >> _GUARD:
                return lo, hi
            rest_lo, rest_hi = times_down(rest_lo, q_lo, work), times_up(rest_hi, q_hi, work)

    return bounds
