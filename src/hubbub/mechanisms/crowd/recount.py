"""Counting the released keys again, over everything each user holds, in integers.

A user who holds many released keys is scaled, not cut: λ_i on each key she holds, shrunk until her length
is at most C. λ falls with the key's weight (X^-1/4), so that heavy keys do not crowd out light ones. The
scale C² is a function of what selection released, so it may be used freely.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt

import numpy as np

from hubbub.errors import OurBug
from hubbub.mechanisms.crowd.calibrate import LAMBDA_BITS, Recount, Stage
from hubbub.mechanisms.rounds import Selected, Selection
from hubbub.noise import NoiseSource
from hubbub.steps.counts import Integers
from hubbub.steps.holdings import Holdings
from hubbub.steps.pools import Pools


@dataclass(frozen=True)
class Recounted:
    """Noisy sums of λ per key, their λ and noise variance; the noisy kept total and its variance."""

    sums: Integers
    lam: Integers
    variance: int
    kept: int
    kept_variance: int


def scales(selected: Selected, plan: Selection, bits: int = LAMBDA_BITS) -> tuple[Integers, Integers]:
    """λ_i = 2^12 X_i^-1/4 and x_i = X_i U, X_i the key's weight in users (at least 1); integers."""
    floors = np.array(plan.means)[selected.rounds]
    raised = np.maximum(selected.accumulators, floors)
    lam = [max(1, isqrt(isqrt((1 << 4 * bits) * int(f) // int(a)))) for f, a in zip(floors, raised, strict=True)]
    return np.array(lam, np.int64), raised // (floors // plan.unit)


def length2(lam: Integers, x: Integers, keys: int) -> int:
    """C² = d_c Σ x λ² // Σ x: the length of a user who holds d_c typical released keys."""
    top = sum(int(a) * int(b) ** 2 for a, b in zip(x, lam, strict=True))
    return max(1, keys * (top // max(1, int(x.sum()))))


def recount(
    pools: Pools, selected: Selected, plan: Selection, budget: Recount, noise: NoiseSource, step: str
) -> Recounted:
    """Two draws: a noisy sum for every released key, and one noisy total."""
    lam, x = scales(selected, plan, budget.bits)
    cap2 = length2(lam, x, budget.keys)
    return _draw(pools, selected.ids, lam, cap2, budget, noise, step)


def _draw(
    held: Pools | Holdings, ids: Integers, lam: Integers, cap2: int, budget: Recount, noise: NoiseSource, step: str
) -> Recounted:
    variance, spread = budget.variance(cap2), budget.kept_variance
    sums = held.recount(ids, lam, cap2) + noise.gaussian(f"{step} recount", variance, ids.size)
    kept = held.kept(ids, budget.most) + int(noise.gaussian(f"{step} kept total", spread, 1)[0])
    return Recounted(sums, lam, variance, kept, spread)


def recount_all(held: Holdings, stage: Stage, noise: NoiseSource) -> Recounted:
    """The same for keys that follow from earlier stages: every one of them, all with the same λ."""
    budget = stage.recount
    if budget is None:
        raise OurBug(f"{stage.name} has no budget for counts")
    ids = np.arange(held.size)
    lam = np.full(held.size, 1 << budget.bits)
    cap2 = budget.keys * 4**budget.bits
    return _draw(held, ids, lam, cap2, budget, noise, stage.name)
