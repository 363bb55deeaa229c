"""Symmetric integer laws drawn cell by cell: |x| = h B + l with B = 2^cell_bits.

The cell h comes from a table with weights w(hB), the place l is uniform on 0..B-1, and the pair is accepted with
probability w(hB + l) / w(hB), an exp(-n/d) coin. Cells are a 32nd to a 64th of the scale, so nearly all pairs are
accepted and the cost does not grow with the scale. With B = 1 the table holds the law of |x| itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import numpy.typing as npt

from hubbub.noise import bernoulli
from hubbub.noise.bits import Bits, words
from hubbub.noise.tables import Table
from hubbub.switches import Beyond, switch

BLOCK = switch(__name__, "BLOCK", 1 << 17, low=24, beyond=Beyond.DRAWS)


class Cells(ABC):
    """A law P(x) proportional to w(|x|), w decreasing, given by a table and an acceptance coin."""

    def __init__(self, table: Table, cell_bits: int, denominator: int) -> None:
        self._table, self._cell_bits, self._denominator = table, cell_bits, denominator

    @abstractmethod
    def _numerator(self, place: npt.NDArray[np.int64], size: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """n with w(size) / w(size - place) = exp(-n / denominator)."""

    def draw(self, bits: Bits, size: int) -> npt.NDArray[np.int64]:
        """`size` independent draws, made in blocks so that working memory stays bounded."""
        out = np.empty(size, np.int64)
        done = 0
        while done < size:
            left = size - done
            x = self._block(bits, min(BLOCK, left if self._cell_bits == 0 else left + left // 32 + 32))[:left]
            out[done : done + x.size] = x
            done += x.size
        return out

    def _block(self, bits: Bits, size: int) -> npt.NDArray[np.int64]:
        h = self._table.draw(bits, size)
        if self._cell_bits == 0:
            minus = np.unpackbits(np.frombuffer(bits.take(-(-size // 8)), np.uint8), count=size).view(np.bool_)
            np.negative(h, out=h, where=minus)
            return h
        word = words(bits, np.uint32, size)
        place = (word >> np.uint32(32 - self._cell_bits)).astype(np.int64)
        minus = (word & np.uint32(1)).astype(np.bool_)
        x = (h << self._cell_bits) + place
        accepted = bernoulli.exp_neg(bits, self._numerator(place, x).view(np.uint64), self._denominator)
        accepted &= (x != 0) | ~minus  # zero has one sign, every other size has two
        np.negative(x, out=x, where=minus)
        return x[accepted]
