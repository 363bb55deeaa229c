"""One-round Gaussian thresholds: weighted (Gopi et al. 2020) and with unit weights, as DP libraries have it.

Unit weights: every user adds 1 to at most d keys, one noise serves threshold and count. Weighted: 1/√n on each
of her n keys, so that light users count more; keys only. σ = 1/μ(ε, δ), and the threshold is the smallest
that leaves δ whole for every number of keys of one user's own (closed form, proven in docs/proofs/crowd.md).
"""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from hubbub.errors import OurBug
from hubbub.mechanisms import measured
from hubbub.mechanisms.base import DELTA, EPSILON, SURE, Bound, Parameter, Released, Tables, Value
from hubbub.mechanisms.baselines.selectors import BOUND, PROOF, Baseline
from hubbub.mechanisms.pairs import Draw
from hubbub.mechanisms.rounds import Selection, grid, select
from hubbub.mechanisms.survival import RoundsTest
from hubbub.noise.laws import Law
from hubbub.privacy.gaussian import DELTA_SLACK, SLACK, AnyStep, GaussianStep, Test, certify, mu2_of, mu_of
from hubbub.steps import bound
from hubbub.steps.counts import Integers

if TYPE_CHECKING:
    from hubbub.log import SearchLog
    from hubbub.noise import NoiseSource
    from hubbub.steps.mode import RunMode


class GaussianThreshold(Baseline, register=True):
    """Noise once, threshold once."""

    name = "gaussian"
    paper = "Gopi et al. 2020"
    about = "baseline: one-round Gaussian threshold, unit or 1/√n weights"
    parameters = (
        EPSILON,
        DELTA,
        BOUND,
        Parameter("weights", "choice", "what a user adds to her keys", "unit", choices=("unit", "sqrt")),
        Parameter("grid", "integer", "noise has steps of 2^-grid users (unit weights)", 8, low=0, high=12),
    )

    def prepare(self, settings: Mapping[str, Value], epsilon: float, delta: float) -> None:
        """σ from (ε, δ), then the smallest threshold that certifies."""
        limit, unit = int(settings["d"]), settings["weights"] == "unit"
        mu2 = Fraction(mu_of(epsilon, delta * (1 - DELTA_SLACK))) ** 2
        if unit:
            bits = int(settings["grid"])
            shift2 = limit * 4**bits
            variance = math.ceil(shift2 * Fraction(1 + 2 * SLACK) / mu2) + 5
        else:
            bits, variance = grid(mu2, (1,))
            shift2 = 4**bits
        self.unit = unit

        def step(threshold: int) -> GaussianStep:
            tests = (Test(1 << bits, variance, threshold),)
            return GaussianStep(self.table, (mu2_of(shift2, variance),), PROOF, tests, limit, True, not unit)

        low, high = 1 << bits, (1 << bits) + 40 * math.isqrt(variance) + 40
        if certify([step(high)], epsilon) > delta:
            raise OurBug("no threshold meets δ")
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if certify([step(middle)], epsilon) <= delta else (middle, high)
        self.step = step(high)
        self.selection = Selection(bits, (1,), (variance,), limit, (high,), (), recycled=False)

    @property
    def selections(self) -> dict[str, Selection]:
        """One over pools, unless every user adds 1 to exact counts."""
        return {} if self.unit else {self.table: self.selection}

    def laws(self) -> tuple[Law, ...]:
        """One draw."""
        return self.selection.laws(self.table)

    def steps(self) -> tuple[AnyStep, ...]:
        """One draw."""
        return (self.step,)

    def bounds(self) -> tuple[Bound, ...]:
        """How many keys of a user count, and how much she adds to each."""
        how = "distinct" if self.unit else "1/√n on each of her n queries, rounded down"
        return (*super().bounds(), Bound("a user's weight on a query", "linf", 1, how))

    def thresholds(self) -> dict[str, int]:
        """The threshold in whole users, rounded up."""
        return {self.table: -int(-self.selection.users(-1) // 1)}

    def survival(self) -> dict[str, RoundsTest]:
        """Of one round."""
        return {self.table: RoundsTest(self.selection, unit=self.unit)}

    def missing(self) -> tuple[str, ...]:
        """Unit weights count users; other weights are shared."""
        law = self.survival()[self.table]
        if not self.unit:
            return (law.words(self.table),)
        (even,) = super().missing()
        return (even + SURE.format(law.fewest(0.95)),)

    def intervals(self) -> dict[str, str]:
        """The draw that passed is the count, so released rows were lucky."""
        if not self.unit:
            return super().intervals()
        return {self.table: f"value +/- 1.96 noise_sd {measured.GAUSSIAN.sentence()}"}

    def measure(self, log: SearchLog, mode: RunMode) -> dict[str, Any]:
        """Count distinct users, or fix the users' pools where weights are shared."""
        from hubbub.steps.count import count
        from hubbub.steps.pools import fixed

        keys = self.offers[self.table]
        if self.unit:
            kept = bound.random_keys(keys, self.selection.limit, mode.secret)
            return {self.table: count(log, keys, kept, mode)}
        return {self.table: fixed(log, keys, self.selection.limit, self.selection.bits, mode)}

    def pairs(self, measured: Mapping[str, Any]) -> Generator[Draw, Any, Tables]:
        """Weights shared over a pool are a selection of one round."""
        if self.unit:
            return (yield from super().pairs(measured))
        found = yield from select(measured[self.table], self.selection, self.table)
        return {self.table: Released(found.ids, None, None)}

    def perturb(self, counts: Mapping[str, Any], noise: NoiseSource) -> Tables:
        """With unit weights: noise, threshold; the value that passed is the count."""
        return {self.table: counts[self.table].test(UnitWeights(self.selection, self.table), noise)}


@dataclass(frozen=True)
class UnitWeights:
    """Noise and threshold for counts of users; the value that passed is the count."""

    plan: Selection
    table: str = "queries"

    def __call__(self, n: Integers, noise: NoiseSource) -> Released:
        """Test every key; gives the keys that pass."""
        plan = self.plan
        noisy = n * plan.unit + noise.gaussian(f"{self.table} round 1", plan.variances[0], n.size)
        ids = np.flatnonzero(noisy >= plan.thresholds[0])
        users = (noisy[ids] + plan.unit // 2) // plan.unit
        return Released(ids, users, math.sqrt(plan.variances[0]) / plan.unit)
