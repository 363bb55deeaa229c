"""Uniform integers, each below a limit of its own: one draw of a user for a pair, one place for a row."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hubbub.errors import ParameterError
from hubbub.noise.bits import Bits, words
from hubbub.privacy.existence import Cause

MOST = 1 << 62


def below_each(bits: Bits, limits: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Remainders of 64-bit words; words at or beyond the last whole round of a limit are drawn again."""
    if limits.size and (limits.min() < 1 or limits.max() > MOST):
        what = "A uniform integer needs a limit."
        raise ParameterError(what, given=int(limits.min()), allowed="1 to 2^62", because=Cause.ENDED)
    limit = limits.astype(np.uint64)
    last = ~((~limit + np.uint64(1)) % limit)  # ~limit + 1 is 2^64 − limit, and its remainder 2^64 mod limit
    out = np.empty(limits.size, np.uint64)
    left = np.arange(limits.size)
    while left.size:
        word = words(bits, np.uint64, left.size)
        fits = word <= last[left]
        out[left[fits]] = word[fits] % limit[left[fits]]
        left = left[~fits]
    return out.astype(np.int64)
