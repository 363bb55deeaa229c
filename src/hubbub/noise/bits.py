"""Random bytes: from the operating system for releases, from a seed for tests and experiments.

`SystemBits` keeps no buffer of its own, so processes forked from one another cannot hand out the same bytes.
`SeededBits` is repeatable and therefore never private: whoever knows the seed can subtract the noise.
"""

from __future__ import annotations

import hashlib
import os
from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt

Word = TypeVar("Word", np.uint16, np.uint32, np.uint64)


class Bits(Protocol):
    """Something that gives independent uniform random bytes."""

    def take(self, size: int) -> bytes:
        """The next `size` bytes; no byte is ever given twice."""
        ...


class SystemBits:
    """The operating system's cryptographic generator, asked afresh for every byte."""

    def take(self, size: int) -> bytes:
        return os.urandom(size)


class SeededBits:
    """A stream fixed by (seed, label): equal pairs repeat it, different pairs give unrelated streams.

    The raw words of Philox are part of numpy's compatibility promise, so a seeded run repeats across machines.
    """

    def __init__(self, seed: int, label: str) -> None:
        digest = hashlib.sha256(f"hubbub noise\0{seed}\0{label}".encode()).digest()
        self._words = np.random.Philox(key=int.from_bytes(digest[:16], "little"))

    def take(self, size: int) -> bytes:
        words: npt.NDArray[np.uint64] = self._words.random_raw(-(-size // 8))
        return words.astype("<u8", copy=False).tobytes()[:size]


def words(bits: Bits, kind: type[Word], size: int) -> npt.NDArray[Word]:
    """`size` uniform words of type `kind`, the same on machines of either byte order."""
    little = np.dtype(kind).newbyteorder("<")
    return np.frombuffer(bits.take(size * little.itemsize), little)


def integer(bits: Bits, width: int) -> int:
    """One uniform integer of `width` bits."""
    size = -(-width // 8)
    return int.from_bytes(bits.take(size), "big") >> (8 * size - width)
