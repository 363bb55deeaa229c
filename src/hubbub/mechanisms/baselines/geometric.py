"""Truncated geometric partition selection (Desfontaines et al. 2020): the best coin for one key of one user.

Each user keeps d keys; ε and δ are split over them. Keys only.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from hubbub.mechanisms.base import DELTA, EPSILON, Parameter, Released, Tables, Value
from hubbub.mechanisms.baselines.selectors import PROOF, Baseline
from hubbub.privacy.coins import CoinStep
from hubbub.privacy.gaussian import AnyStep
from hubbub.steps import bound
from hubbub.steps.keys import QUERIES

if TYPE_CHECKING:
    from hubbub.log import SearchLog
    from hubbub.noise import NoiseSource


class Geometric(Baseline, register=True):
    """A coin for each key."""

    name = "geometric"
    paper = "Desfontaines et al. 2020"
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
        self.step = CoinStep("queries", Fraction(settings["epsilon"]) / d, Fraction(share), d, PROOF)

    def steps(self) -> tuple[AnyStep, ...]:
        """One coin a key."""
        return (self.step,)

    def measure(self, log: SearchLog, secret: bytes) -> dict[str, Any]:
        """Distinct users of each query."""
        from hubbub.steps.count import count

        return {"queries": count(log, QUERIES, bound.random_keys(QUERIES, self.step.l0, secret))}

    def perturb(self, counts: Mapping[str, Any], noise: NoiseSource) -> Tables:
        """Throw the coins."""
        chances = self.step.chances
        n = np.minimum(counts["queries"].n, chances.size - 1)
        return {"queries": Released(np.flatnonzero(noise.coins("queries", chances[n])), None, None)}
