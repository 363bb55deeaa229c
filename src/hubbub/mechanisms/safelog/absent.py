"""A closed domain: which of its keys pass a threshold, without a draw for each key that nobody holds.

Noise alone, on any number of keys, needs three draws: how many pass is binomial, which ones is a uniform subset, and
the excess of each over the threshold is geometric. It is drawn for the whole domain, as if nobody held anything, and
kept where nobody does; keys that somebody holds have a draw of their own. The joint law is that of one draw per key
(docs/proofs/safelog.md, lemmas 2 and 3); work and memory grow with what is held and what passes, not with the domain.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from hubbub.mechanisms.base import Released
from hubbub.mechanisms.noisy import Noisy, laplace_sd
from hubbub.steps.counts import Counts, Integers

if TYPE_CHECKING:
    from hubbub.noise import NoiseSource

Key = Callable[[Integers], Integers]
"""Places in a domain, counted from 0 -> ids of keys."""

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


def nobodys(domain: Counts, test: Noisy, noise: NoiseSource, key: Key = lambda places: places) -> Integers:
    """The keys that nobody holds and that pass: drawn over the whole domain, kept where nobody holds them."""
    ids = key(passing(noise, test.step, test.scale, test.threshold, domain.size))
    return ids[~domain.holds(ids)]


def select(domain: Counts, test: Noisy, noise: NoiseSource, key: Key = lambda places: places) -> Released:
    """Every key of the domain that passes and its noisy count, by id: which of them somebody holds must not show."""
    shown, others = domain.test(test, noise), nobodys(domain, test, noise, key)
    values = test.threshold + excesses(noise, test.step, test.scale, others.size)
    return by_id(test, np.concatenate([shown.ids, others]), np.concatenate([shown.values, values]))


def by_id(test: Noisy, ids: Integers, values: Integers) -> Released:
    """Rows sorted by id."""
    order = np.argsort(ids)
    return Released(ids[order], values[order], laplace_sd(test.scale))
