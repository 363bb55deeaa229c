"""Uniform subsets and orders: which keys, once it is known how many, and which of them is which."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hubbub.noise.bits import Bits, words


def below(bits: Bits, limit: int, size: int) -> npt.NDArray[np.int64]:
    """`size` independent uniform integers of range(limit), limit <= 2^62: remainders of words from whole rounds."""
    last = np.uint64((1 << 64) // limit * limit - 1)
    out = np.empty(0, np.uint64)
    while out.size < size:
        word = words(bits, np.uint64, size - out.size)
        out = np.concatenate([out, word[word <= last] % np.uint64(limit)])
    return out.astype(np.int64)


def choose(bits: Bits, population: int, size: int) -> npt.NDArray[np.int64]:
    """`size` distinct integers of range(population), every subset equally likely, sorted.

    The first `size` distinct values of an endless sequence of independent uniform integers are such a subset. When
    more than half is wanted, the subset left out is drawn instead.
    """
    if size > population // 2:
        kept = np.ones(population, np.bool_)
        kept[choose(bits, population, population - size)] = False
        return np.flatnonzero(kept)
    drawn = np.empty(0, np.int64)
    while True:
        values, first = np.unique(drawn, return_index=True)
        if values.size >= size:
            return np.sort(drawn[np.sort(first)[:size]])
        drawn = np.concatenate([drawn, below(bits, population, size - values.size + 16)])


def shuffled(bits: Bits, size: int) -> npt.NDArray[np.int64]:
    """The integers of range(size), every order equally likely: from the end, each place swaps with one up to it."""
    order = np.arange(size)
    for last in range(size - 1, 0, -1):
        other = below(bits, last + 1, 1)[0]
        order[last], order[other] = order[other], order[last]
    return order
