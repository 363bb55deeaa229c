"""Inversion of a cumulative distribution that is known only to be enclosed by integer intervals.

A draw is h = number of boundaries F_0 <= F_1 <= ... at or below a uniform real u. Almost always the first 16 bits
of u decide; otherwise 64 bits do; if u still lies within a boundary's enclosure, more bits of u *and* more digits
of the boundaries are computed until it is decided. So the law is that of the real numbers F_h, not of a rounding.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from functools import lru_cache
from itertools import count

import numpy as np
import numpy.typing as npt

from hubbub.noise.bits import Bits, integer, words

Bounds = Callable[[int], tuple[list[int], list[int]]]
"""precision -> (lo, hi), both non-decreasing, lo[h] <= 2^precision F_h <= hi[h]; longer at higher precision."""

GUIDE_BITS = 16
WORD_BITS = 64
FIRST_PRECISION = 192
NEXT_PRECISION = 128


class Table:
    """Draws h = 0, 1, 2, ... with P(h) = F_h - F_(h-1), exactly.

    `word_bits` may be lowered to 16 by tests, which sends many more draws through the exact refinement.
    """

    def __init__(self, bounds: Bounds, word_bits: int = WORD_BITS) -> None:
        if not GUIDE_BITS <= word_bits <= WORD_BITS:
            raise ValueError(f"word_bits must be between {GUIDE_BITS} and {WORD_BITS}, got {word_bits}")
        self._bounds = lru_cache(maxsize=4)(bounds)
        self._word_bits = word_bits
        self._extra_bits = word_bits - GUIDE_BITS
        lo, hi = self._bounds(FIRST_PRECISION)
        top = (1 << word_bits) - 1
        drop = FIRST_PRECISION - word_bits
        self._first = np.array([min(x >> drop, top) for x in lo], np.uint64)
        self._last = np.array([min(x >> drop, top) for x in hi], np.uint64)
        bucket = np.arange(1 << GUIDE_BITS, dtype=np.uint64) << np.uint64(self._extra_bits)
        self._guide = self._count(bucket, bucket + np.uint64((1 << self._extra_bits) - 1)).astype(np.int32)

    def draw(self, bits: Bits, size: int) -> npt.NDArray[np.int64]:
        """`size` independent draws."""
        prefix = words(bits, np.uint16, size)
        h = self._guide[prefix]
        open_ = np.flatnonzero(h < 0)
        if open_.size:
            h[open_] = self._look_closer(bits, prefix[open_])
        return h.astype(np.int64)

    def _count(self, start: npt.NDArray[np.uint64], end: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
        """Boundaries below every real whose leading bits lie in start..end; -1 where that is not one number.

        A boundary may lie anywhere in the words first..last; beyond the last boundary the table must be longer.
        """
        sure = np.searchsorted(self._last, start, "left")
        maybe = np.searchsorted(self._first, end, "right")
        return np.where((sure == maybe) & (sure < self._last.size), sure, -1).astype(np.int64)

    def _look_closer(self, bits: Bits, prefix: npt.NDArray[np.uint16]) -> npt.NDArray[np.int64]:
        word = prefix.astype(np.uint64) << np.uint64(self._extra_bits)
        if self._extra_bits:
            word |= words(bits, np.uint64, word.size) >> np.uint64(64 - self._extra_bits)
        h = self._count(word, word)
        for i in np.flatnonzero(h < 0):
            h[i] = self._refine(bits, int(word[i]))
        return h

    def _refine(self, bits: Bits, word: int) -> int:
        """Extend the uniform real that begins with `word`, and the boundaries, until the answer is certain."""
        known = self._word_bits
        for precision in count(FIRST_PRECISION, NEXT_PRECISION):
            word = word << (precision - known) | integer(bits, precision - known)
            known = precision
            lo, hi = self._bounds(precision)
            sure, maybe = bisect_right(hi, word), bisect_right(lo, word)
            if sure == maybe and sure < len(hi):
                return sure
        raise AssertionError("count() does not end")
