"""Counting the released keys again, over everything each user holds, in integers.

A user who holds many released keys is scaled, not cut: λ_i on each key she holds, shrunk until her length
is at most C. λ falls with the key's weight (X^-1/4), so that heavy keys do not crowd out light ones. The
scale C² is a function of what selection released, so it may be used freely.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt

import numpy as np

from hubbub.mechanisms.crowd.calibrate import LAMBDA_BITS, Recount
from hubbub.mechanisms.rounds import Selected, Selection
from hubbub.noise import NoiseSource
from hubbub.steps.count import Integers
from hubbub.steps.pools import Pools


@dataclass(frozen=True)
class Recounted:
    """Noisy sums of λ per key, their λ and noise variance; the noisy kept total and its variance."""

    sums: Integers
    lam: Integers
    variance: int
    kept: int
    kept_variance: int


def scales(selected: Selected, plan: Selection) -> tuple[Integers, Integers]:
    """λ_i = 2^12 X_i^-1/4 and x_i = X_i U, X_i the key's weight in users (at least 1); integers."""
    floors = np.array([test.mean for test in plan.tests])[selected.rounds]
    raised = np.maximum(selected.accumulators, floors)
    lam = [max(1, isqrt(isqrt((1 << 4 * LAMBDA_BITS) * int(f) // int(a)))) for f, a in zip(floors, raised, strict=True)]
    return np.array(lam, np.int64), raised // (floors // plan.unit)


def length2(lam: Integers, x: Integers, keys: int) -> int:
    """C² = d_c Σ x λ² // Σ x: the length of a user who holds d_c typical released keys."""
    top = sum(int(a) * int(b) ** 2 for a, b in zip(x, lam, strict=True))
    return max(1, keys * (top // max(1, int(x.sum()))))


def recount(
    pools: Pools, selected: Selected, plan: Selection, budget: Recount, noise: NoiseSource, step: str
) -> Recounted:
    """Two draws: a noisy sum for every released key, and one noisy total."""
    lam, x = scales(selected, plan)
    cap2 = length2(lam, x, budget.keys)
    variance = budget.variance(cap2)
    sums = pools.recount(selected.ids, lam, cap2) + noise.gaussian(f"{step} recount", variance, selected.ids.size)
    spread = budget.kept_variance
    kept = pools.kept(selected.ids, budget.most) + int(noise.gaussian(f"{step} kept total", spread, 1)[0])
    return Recounted(sums, lam, variance, kept, spread)
