"""Exact coins: probability n/d, and probability exp(-n/d), for whole arrays of n at once.

The coin n/d compares a uniform real with n/d in base 2^16 and stops at the first digit that differs.
The coin exp(-n/d) is von Neumann's: toss n/d, n/(2d), n/(3d), ... until one fails; the index of the failure is odd
with probability exp(-n/d). A toss n/(kd) is made of two independent ones, n/d and 1/k, which keeps numbers small.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hubbub.noise.bits import Bits, words

DENOMINATOR_LIMIT = 1 << 48
"""Sixteen more bits must fit into a 64-bit word."""

_DIGIT = np.uint64(16)


def ratio(bits: Bits, numerator: npt.NDArray[np.uint64], denominator: int) -> npt.NDArray[np.bool_]:
    """Coins with probability numerator/denominator; needs numerator <= denominator < 2^48."""
    d = np.uint64(denominator)
    scaled = numerator << _DIGIT
    digit = scaled // d
    drawn = words(bits, np.uint16, numerator.size)
    heads = drawn < digit
    tied = np.flatnonzero(drawn == digit)
    if tied.size:
        heads[tied] = ratio(bits, scaled[tied] - digit[tied] * d, denominator)
    return heads


def exp_neg(bits: Bits, numerator: npt.NDArray[np.uint64], denominator: int) -> npt.NDArray[np.bool_]:
    """Coins with probability exp(-numerator/denominator); needs denominator < 2^48."""
    large = np.flatnonzero(numerator > np.uint64(denominator))
    if large.size:
        numerator = numerator.copy()
        survives = np.ones(numerator.size, np.bool_)
        for i in large:
            wholes, numerator[i] = divmod(int(numerator[i]), denominator)
            survives[i] = all(exp_neg(bits, np.ones(1, np.uint64), 1)[0] for _ in range(wholes))
        return survives & exp_neg(bits, numerator, denominator)
    heads = np.ones(numerator.size, np.bool_)
    active = np.flatnonzero(ratio(bits, numerator, denominator))
    k = 2
    while active.size:
        heads[active] = k % 2 == 1
        active = active[ratio(bits, numerator[active], denominator)]
        active = active[ratio(bits, np.ones(active.size, np.uint64), k)]
        k += 1
    return heads
