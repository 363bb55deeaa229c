"""Keys that nobody holds, in a domain known beforehand: which of them pass a threshold, without a draw for each.

Their noisy counts are independent and have one law, so three draws are enough: how many pass is binomial, which ones
is a uniform subset, and the excess of each over the threshold is geometric. The joint law is that of one draw a key
(docs/proofs/safelog.md, lemma 3); work and memory grow with the keys that pass, not with the domain.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from hubbub.steps.count import Integers

if TYPE_CHECKING:
    from hubbub.noise import NoiseSource

HOW_MANY, WHICH, EXCESS = ": how many of nobody", ": which of nobody", ": excess of nobody"


def passing(noise: NoiseSource, step: str, scale: Fraction, threshold: int, size: int) -> Integers:
    """Of `size` keys of count zero, the places of those whose noise reaches the threshold, which is at least 1."""
    many = noise.binomial_tail(step + HOW_MANY, scale, threshold, size)
    return noise.choose(step + WHICH, size, many)


def excesses(noise: NoiseSource, step: str, scale: Fraction, size: int) -> Integers:
    """By how much noise that reached a threshold passed it: P(g) proportional to exp(−g/scale), g = 0, 1, …

    That is the law of a discrete Laplace draw given that it is not negative.
    """
    kept: list[Integers] = []
    missing = size
    while missing:
        drawn = noise.laplace(step + EXCESS, scale, missing)
        kept.append(drawn[drawn >= 0])
        missing -= kept[-1].size
    return np.concatenate(kept) if kept else np.zeros(0, np.int64)


def others(present: Integers, places: Integers) -> Integers:
    """The elements at these places among the numbers 0, 1, 2, … that are not in `present` (sorted, distinct)."""
    before = present - np.arange(present.size)  # how many absent numbers come before each present one
    return places + np.searchsorted(before, places, side="right")


def pair_index(first: Integers, second: Integers, size: int) -> Integers:
    """The place of (i, j), i ≠ j, among the size (size − 1) ordered pairs of range(size)."""
    return first * (size - 1) + second - (second > first)


def pair_at(index: Integers, size: int) -> tuple[Integers, Integers]:
    """The pair at a place: the inverse of `pair_index`."""
    first, rest = np.divmod(index, max(size - 1, 1))
    return first, rest + (rest >= first)
