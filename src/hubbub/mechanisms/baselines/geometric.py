"""Truncated geometric partition selection (Desfontaines et al. 2020): the best coin for one key of one user.

Each user keeps d keys; ε and δ are split over them. Keys only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from hubbub.mechanisms.base import DELTA, EPSILON, Parameter, Released, Tables, Value
from hubbub.mechanisms.baselines.selectors import PROOF, Baseline
from hubbub.privacy.coins import CoinStep
from hubbub.privacy.gaussian import AnyStep
from hubbub.steps import bound
from hubbub.steps.counts import Integers

if TYPE_CHECKING:
    from hubbub.log import SearchLog
    from hubbub.noise import NoiseSource
    from hubbub.steps.mode import RunMode


class Geometric(Baseline, register=True):
    """A coin for each key."""

    name = "geometric"
    paper = "Desfontaines et al. 2020"
    in_studio = False
    about = "baseline: each key by the best coin for its number of users"
    parameters = (
        EPSILON,
        DELTA,
        Parameter("d", "integer", "distinct queries of a user that take part", 1, low=1, high=1000),
    )

    def prepare(self, settings: Mapping[str, Value], epsilon: float, delta: float) -> None:
        """ε₀ = ε/d and δ₀ = 1 − (1 − δ)^(1/d), rounded down."""
        d, whole = int(settings["d"]), Fraction(settings["delta"])
        with localcontext(Context(prec=40 + len(str(int(1 / whole))), rounding=ROUND_FLOOR)):
            share = 1 - (1 - Decimal(whole.numerator) / Decimal(whole.denominator)) ** (Decimal(1) / d)
            share *= 1 - Decimal(10) ** -14
        self.step = CoinStep(self.table, Fraction(settings["epsilon"]) / d, Fraction(share), d, PROOF)

    def steps(self) -> tuple[AnyStep, ...]:
        """One step: a coin per key."""
        return (self.step,)

    def measure(self, log: SearchLog, mode: RunMode) -> dict[str, Any]:
        """Distinct users of each query."""
        from hubbub.steps.count import count

        keys = self.offers[self.table]
        return {self.table: count(log, keys, bound.random_keys(keys, self.step.l0, mode.secret), mode)}

    def perturb(self, counts: Mapping[str, Any], noise: NoiseSource) -> Tables:
        """Throw a coin for each key, and release the keys whose coins show heads."""
        return {self.table: counts[self.table].test(Coins(self.step), noise)}


@dataclass(frozen=True)
class Coins:
    """A coin for every key, by its number of users."""

    step: CoinStep

    def __call__(self, n: Integers, noise: NoiseSource) -> Released:
        """Throw the coins; gives the keys that are released."""
        chances = self.step.chances
        thrown = noise.coins(self.step.name, chances[np.minimum(n, chances.size - 1)])
        return Released(np.flatnonzero(thrown), None, None)
