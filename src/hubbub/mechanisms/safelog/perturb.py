"""Noise and thresholds: the strict release and the paper's. Counts are asked where they lie, arrays or engine.

Strict publishes the very value that passed, over closed domains: the pool, the public result pages of released
queries, and all ordered pairs of released queries. Published draws a secret pool, selects, and draws again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from hubbub.errors import ParameterError
from hubbub.mechanisms.base import Tables
from hubbub.mechanisms.noisy import Noisy
from hubbub.mechanisms.safelog.absent import by_id, nobodys, select
from hubbub.privacy.existence import Cause
from hubbub.steps.pairs import PairCounts

if TYPE_CHECKING:
    from hubbub.noise import NoiseSource

MOST_PAIRS = 20_000_000
"""The paper lists every pair of released queries; more rows than this are refused."""


def strict(counts: Mapping[str, Any], noise: NoiseSource, queries: Noisy, clicks: Noisy, transitions: Noisy) -> Tables:
    """What is in `counts`, queries first: the other tables' domains are made of the released ones."""
    tables = {"queries": select(counts["queries"].held(), queries, noise)}
    released = tables["queries"].ids
    if "clicks" in counts:  # every listed page of a released query, clicked or not
        tables["clicks"] = clicks.every(noise, *counts["clicks"].under(released))
    if "transitions" in counts:  # every ordered pair of released queries, followed or not
        pairs = counts["transitions"].among(released)
        tables["transitions"] = select(pairs, transitions, noise, partial(PairCounts.at, keys=released))
    return tables


def published(
    counts: Mapping[str, Any],
    noise: NoiseSource,
    p_g: Fraction,
    selection: Noisy,
    queries: Noisy,
    clicks: Noisy,
    transitions: Noisy,
) -> Tables:
    """Algorithm 1, lines 5 to 8. A query of the log that is in the pool as well is one query, with one draw."""
    domain = counts["queries"].held()
    shown = domain.test(replace(selection, again=queries), noise)  # lines 6 and 7: selectFinalQuerySet, its counts
    others = nobodys(domain, selection, noise)
    if p_g < 1:  # line 5: every query of the source is in the pool with probability p_g; asked of those it matters for
        chances = np.full(others.size, (p_g.numerator << 64) // p_g.denominator, np.uint64)
        others = others[noise.coins("pool", chances)]
    values = queries.draw(noise, np.zeros(others.size, np.int64))
    ids = np.concatenate([shown.ids, others])
    tables = {"queries": by_id(queries, ids, np.concatenate([shown.values, values]))}
    released = tables["queries"].ids
    if "clicks" in counts:  # the URLs that the log holds: the paper names no list
        tables["clicks"] = clicks.every(noise, *counts["clicks"].under(released))
    if "transitions" in counts:  # line 8: generateQueryTransitions, "for each query pair"
        size = released.size * (released.size - 1)
        if size > MOST_PAIRS:
            raise ParameterError(
                "The published mechanism lists every ordered pair of released queries: too many rows.",
                given=f"{released.size:,} released queries",
                allowed=f"at most {MOST_PAIRS:,} pairs",
                next="raise K, leave transitions out of --tables, or use the strict variant, which has a threshold",
                because=Cause.PAIRS,
            )
        pairs = PairCounts.at(np.arange(size), released)
        followed, n = counts["transitions"].among(released).at_least(1)
        every = np.zeros(size, np.int64)
        every[np.searchsorted(pairs, followed)] = n
        tables["transitions"] = transitions.every(noise, pairs, every)
    return tables
