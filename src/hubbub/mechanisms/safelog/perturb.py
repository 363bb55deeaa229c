"""Noise and thresholds, on arrays alone: the strict release and the paper's.

Strict publishes the very value that passed, over closed domains: the pool, the public result pages of released
queries, and all ordered pairs of released queries. Published draws a secret pool, selects, and draws again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from hubbub.errors import ParameterError
from hubbub.mechanisms.base import Released, Tables
from hubbub.mechanisms.korolova import laplace_sd
from hubbub.mechanisms.safelog.absent import excesses, others, pair_at, pair_index, passing
from hubbub.steps.count import Integers, Pairs

if TYPE_CHECKING:
    from hubbub.noise import NoiseSource

MOST_PAIRS = 20_000_000
"""The paper lists every pair of released queries; more rows than this are refused."""


@dataclass(frozen=True)
class Noisy:
    """One noisy table: the scale of its noise and, if it selects, the least value that shows."""

    step: str
    scale: Fraction
    threshold: int = 0

    def draw(self, noise: NoiseSource, n: Integers) -> Integers:
        """Every count with noise of its own."""
        return n + noise.laplace(self.step, self.scale, n.size)

    def select(self, noise: NoiseSource, n: Integers, absent: int) -> tuple[Integers, Integers, Integers]:
        """Places of the held keys that pass, the noisy counts of these, and places of the `absent` others that pass."""
        noisy = self.draw(noise, n)
        held = np.flatnonzero(noisy >= self.threshold)
        return held, noisy[held], passing(noise, self.step, self.scale, self.threshold, absent)

    def values(self, noise: NoiseSource, held: Integers, others: int) -> Integers:
        """The values that passed: those of held keys, then those of so many others."""
        return np.concatenate([held, self.threshold + excesses(noise, self.step, self.scale, others)])

    def released(self, ids: Integers, values: Integers) -> Released:
        """The rows, sorted by id: which of them somebody holds must not show."""
        order = np.argsort(ids)
        return Released(ids[order], values[order], laplace_sd(self.scale))


def strict(counts: Mapping[str, Any], noise: NoiseSource, queries: Noisy, clicks: Noisy, transitions: Noisy) -> Tables:
    """What is in `counts`, queries first: the other tables' domains are made of the released ones."""
    n = counts["queries"].n
    held, nobody = np.flatnonzero(n), np.flatnonzero(n == 0)
    shown, passed, other = queries.select(noise, n[held], nobody.size)
    values = queries.values(noise, passed, other.size)
    tables = {"queries": queries.released(np.concatenate([held[shown], nobody[other]]), values)}
    released = tables["queries"].ids
    if "clicks" in counts:  # every listed page of a released query, clicked or not
        ids = np.flatnonzero(np.isin(counts["clicks"].parent, released))
        tables["clicks"] = clicks.released(ids, clicks.draw(noise, counts["clicks"].n[ids]))
    if "transitions" in counts:  # every ordered pair of released queries, followed or not
        n, index = among(counts["transitions"], released)
        size = released.size
        shown, passed, other = transitions.select(noise, n, size * (size - 1) - n.size)
        values = transitions.values(noise, passed, other.size)
        first, second = pair_at(np.concatenate([index[shown], others(index, other)]), size)
        tables["transitions"] = transitions.released(Pairs.ids(released[first], released[second]), values)
    return tables


def published(
    counts: Mapping[str, Any],
    noise: NoiseSource,
    p_g: Fraction,
    select: Noisy,
    queries: Noisy,
    clicks: Noisy,
    transitions: Noisy,
) -> Tables:
    """Algorithm 1, lines 5 to 8. A query of the log that is in the pool as well is one query, with one draw."""
    domain = counts["queries"]
    held = np.flatnonzero(domain.n)
    pool = np.flatnonzero((domain.n == 0) & domain.inside)
    if p_g < 1:  # line 5: every query of the source is in the pool with probability p_g
        chances = np.full(pool.size, (p_g.numerator << 64) // p_g.denominator, np.uint64)
        pool = pool[noise.coins("pool", chances)]
    shown, _, other = select.select(noise, domain.n[held], pool.size)  # line 6: selectFinalQuerySet
    released = np.sort(np.concatenate([held[shown], pool[other]]))
    tables = {
        "queries": queries.released(released, queries.draw(noise, domain.n[released]))
    }  # line 7: generateLogStats
    if "clicks" in counts:  # the URLs that the log holds: the paper names no list
        ids = np.flatnonzero(np.isin(counts["clicks"].parent, released))
        tables["clicks"] = clicks.released(ids, clicks.draw(noise, counts["clicks"].n[ids]))
    if "transitions" in counts:  # line 8: generateQueryTransitions, "for each query pair"
        size = released.size
        if size * (size - 1) > MOST_PAIRS:
            raise ParameterError(
                "The published mechanism lists every ordered pair of released queries: too many rows.",
                given=f"{size:,} released queries",
                allowed=f"at most {MOST_PAIRS:,} pairs",
                next="raise K, leave transitions out of --tables, or use the strict variant, which has a threshold",
            )
        n, index = among(counts["transitions"], released)
        every = np.zeros(size * (size - 1), np.int64)
        every[index] = n
        first, second = pair_at(np.arange(every.size), size)
        ids = Pairs.ids(released[first], released[second])
        tables["transitions"] = transitions.released(ids, transitions.draw(noise, every))
    return tables


def among(pairs: Pairs, released: Integers) -> tuple[Integers, Integers]:
    """The held pairs of released queries (sorted ids): their counts, and their places among all ordered pairs."""
    both = np.isin(pairs.first, released) & np.isin(pairs.second, released)
    first, second = (np.searchsorted(released, side[both]) for side in (pairs.first, pairs.second))
    return pairs.n[both], pair_index(first, second, released.size)
