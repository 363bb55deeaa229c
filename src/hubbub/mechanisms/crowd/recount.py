"""Counting the released keys again, over everything each user holds, in integers.

A user who holds many released keys is scaled, not cut: λ_i on each key she holds, shrunk until her length
is at most C. λ falls with the key's weight (X^-1/4), so that heavy keys do not crowd out light ones. The
scale C² is a function of what selection released, so it may be used freely.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from math import isqrt
from typing import Any

import numpy as np

from hubbub.errors import OurBug
from hubbub.mechanisms.crowd.calibrate import LAMBDA_BITS, Recount, Stage
from hubbub.mechanisms.pairs import Draw
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


@dataclass(frozen=True)
class RecountNoise:
    """Two draws: a noisy sum for every released key, and one noisy total."""

    step: str
    lam: Integers
    variance: int
    kept_variance: int

    def perturb(self, exact: tuple[Integers, int], noise: NoiseSource) -> Recounted:
        """The sums and the kept total, each with noise."""
        sums = exact[0] + noise.gaussian(f"{self.step} recount", self.variance, self.lam.size)
        kept = exact[1] + int(noise.gaussian(f"{self.step} kept total", self.kept_variance, 1)[0])
        return Recounted(sums, self.lam, self.variance, kept, self.kept_variance)


def recount(
    pools: Pools, selected: Selected, plan: Selection, budget: Recount, step: str
) -> Generator[Draw, Any, Recounted]:
    """One pair: released keys counted over all that users hold, by scales that follow from what was released."""
    lam, x = scales(selected, plan, budget.bits)
    return _pair(pools, selected.ids, lam, length2(lam, x, budget.keys), budget, step)


def _pair(
    held: Pools | Holdings, ids: Integers, lam: Integers, cap2: int, budget: Recount, step: str
) -> Generator[Draw, Any, Recounted]:
    exact = held.recount(ids, lam, cap2), held.kept(ids, budget.most)
    added = RecountNoise(step, lam, budget.variance(cap2), budget.kept_variance)
    counted: Recounted = yield Draw(exact, added.perturb)
    return counted


def recount_all(held: Holdings, stage: Stage) -> Generator[Draw, Any, Recounted]:
    """The same for keys that follow from earlier stages: every one of them, all with the same λ."""
    budget = stage.recount
    if budget is None:
        raise OurBug(f"{stage.name} has no budget for counts")
    ids = np.arange(held.size)
    lam = np.full(held.size, 1 << budget.bits)
    cap2 = budget.keys * 4**budget.bits
    return _pair(held, ids, lam, cap2, budget, stage.name)
