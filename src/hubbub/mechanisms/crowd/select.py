"""Selection in rounds with recycled noise (MRG): keys that cannot win leave, their users' weight moves to the rest.

Every round adds m_r W_r and fresh noise of variance m_r V to each live key's accumulator. A key whose
accumulator reaches the round's threshold is released; one that falls too low is dropped. Nothing is thrown
away: what a key gathered in early rounds still counts in the last.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hubbub.mechanisms.crowd.calibrate import Selection
from hubbub.noise import NoiseSource
from hubbub.steps.count import Integers
from hubbub.steps.pools import Pools


@dataclass(frozen=True)
class Selected:
    """Released keys, by id: the accumulator when it passed, and in which round (from 0)."""

    ids: Integers
    accumulators: Integers
    rounds: Integers


def select(pools: Pools, plan: Selection, noise: NoiseSource, step: str) -> Selected:
    """Run the rounds. Tests are key by key; nothing about keys that are not released leaves this function."""
    live = np.arange(pools.size)
    accumulators = np.zeros(pools.size, np.int64)
    passed_in = np.full(pools.size, -1, np.int64)
    for r, multiple in enumerate(plan.multiples):
        weights = pools.weights(live)
        fresh = noise.gaussian(f"{step} round {r + 1}", multiple * plan.variance, live.size)
        accumulators[live] += multiple * weights + fresh
        now = accumulators[live]
        passes = now >= plan.thresholds[r]
        passed_in[live[passes]] = r
        if r < len(plan.drops):
            live = live[~passes & (now >= plan.drops[r])]
    ids = np.flatnonzero(passed_in >= 0)
    return Selected(ids, accumulators[ids], passed_in[ids])
