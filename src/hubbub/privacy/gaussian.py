"""What rounds of discrete Gaussian noise cost: squared shifts add, thresholds add, one conversion at the end.

Notation: G is the Gaussian hockey stick, μ² the total squared shift over variance. A draw of
variance S hides a shift Δ as well as a continuous Gaussian of variance S − 4 (lemma A of docs/proofs/crowd.md),
so μ² = Δ²/(S − 4). Floats appear in calibration and certification only, each rounded towards privacy.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from hubbub.errors import OurBug, ParameterError
from hubbub.privacy.account import Domain, Gaussian, Loss, Step, loss_of, read_step, round_up
from hubbub.privacy.coins import CoinStep, read_coins
from hubbub.privacy.compose import gaussian_delta

TAU2 = 4
"""Variance given up to the simulation lemma."""
SLACK = 1e-9
DELTA_SLACK = 1e-7
LEVELS = "accumulator >= a level that follows from the number of keys that could be released"


def mu2_of(shift2: int, variance: int) -> Fraction:
    """μ² of one draw: Δ²/(S − τ²)."""
    if variance <= TAU2:
        raise OurBug(f"a Gaussian of variance {variance} hides nothing")
    return Fraction(shift2, variance - TAU2)


@dataclass(frozen=True)
class Test:
    """A threshold that a key may pass: `accumulator >= threshold`; a novel key has at most this mean and variance."""

    mean: int
    variance: int
    threshold: int

    @property
    def novel(self) -> float:
        """P(a key held by one user alone passes), lemma B: Φc((Θ − mean − ½)/√variance), rounded up."""
        from scipy.special import ndtr

        gap = (self.threshold - self.mean - 0.5) / math.sqrt(self.variance)
        if gap < 1:
            return 1.0
        return float(ndtr(-gap * (1 - 1e-12))) * (1 + SLACK)


@dataclass(frozen=True)
class GaussianStep:
    """One stage of Gaussian noise: μ² of every draw, and the tests through which novel keys could show."""

    name: str
    mu2: tuple[Fraction, ...]
    proof: str
    tests: tuple[Test, ...] = ()
    keys: int = 0
    """How many keys one user may hold in an open stage (D)."""
    tightened: bool = False
    """Whether its pool is fixed before any noise, and its first round has uniform weights (theorem 2)."""
    shrinking: bool = False
    """One round of weights 1/√n: t keys of one user's own have at most mean/√t each."""
    selects: bool = False
    """Whether keys of a known domain are released by levels that follow from its size; they cost no δ."""
    noise: str = "discrete-gaussian"

    def __post_init__(self) -> None:
        """Refuse what cannot be accounted for."""
        if self.noise != "discrete-gaussian" or not self.mu2 or min(self.mu2) < 0:
            raise OurBug(f"step {self.name}: no accountant for this noise")
        if self.shrinking and (len(self.mu2) != 1 or not self.tightened):
            raise OurBug(f"step {self.name}: weights shrink in one tightened round only")
        if bool(self.tests) != bool(self.keys) or (self.tightened and not self.tests):
            raise OurBug(f"step {self.name}: tests without a bound on novel keys")

    @property
    def l0(self) -> int:
        """How many keys one user holds."""
        return self.keys

    @property
    def l1(self) -> int:
        """With unit weights: one for each key."""
        return self.keys

    @property
    def linf(self) -> int:
        """With unit weights: one for each key."""
        return 1

    def chance(self, count: int) -> float:
        """With unit weights and one round: P(a key of this many users passes), by adding up the law."""
        test = self.tests[-1]
        reach = 12 * math.isqrt(test.variance) + 12
        law = [math.exp(-x * x / (2 * test.variance)) for x in range(-reach, reach + 1)]
        gap = test.threshold - count
        return math.fsum(law[max(0, gap + reach) :]) / math.fsum(law)

    @property
    def total(self) -> Fraction:
        """μ² of the whole step."""
        return sum(self.mu2, Fraction(0))

    @property
    def domain(self) -> Domain:
        """Open where keys are learned through the tests."""
        return Domain.OPEN if self.tests else Domain.CLOSED

    @property
    def threshold(self) -> int | None:
        """The final test's threshold, in accumulator units."""
        return self.tests[-1].threshold if self.tests else None

    @property
    def per_key(self) -> float:
        """p: the chance that one novel key passes any test."""
        return sum(test.novel for test in self.tests)

    def per_key_of(self, t: int) -> float:
        """The same for each of t novel keys of one user."""
        if not self.shrinking:
            return self.per_key
        return sum(Test(math.isqrt(test.mean**2 // t) + 1, test.variance, test.threshold).novel for test in self.tests)

    def record(self) -> dict[str, object]:
        """The step as the card prints it; `read_gaussian` reads it back."""
        return {
            "name": self.name,
            "mechanism": "gaussian-threshold" if self.tests else "gaussian",
            "noise": self.noise,
            "scale": None,
            "threshold": self.threshold,
            "keeps": "accumulator >= threshold" if self.tests else LEVELS if self.selects else "every key",
            "sensitivity": {"l0": self.keys} if self.keys else {},
            "epsilon": None,
            "delta": float(min(1.0, self.keys * self.per_key)),
            "domain": self.domain.value,
            "proof": self.proof,
            "composes": "gaussian",
            "law": {
                "mu2": [str(x) for x in self.mu2],
                "tests": [[t.mean, t.variance, t.threshold] for t in self.tests],
                "tightened": self.tightened,
                "shrinking": self.shrinking,
                **({"selects": True} if self.selects else {}),
            },
        }


def read_gaussian(record: dict[str, object]) -> GaussianStep:
    """A Gaussian step from a card."""
    law, sensitivity = record["law"], record["sensitivity"]
    if not isinstance(law, dict) or not isinstance(sensitivity, dict):
        raise ValueError("the law of a Gaussian step is not a table")
    return GaussianStep(
        name=str(record["name"]),
        mu2=tuple(Fraction(x) for x in law["mu2"]),
        proof=str(record["proof"]),
        tests=tuple(Test(*(int(x) for x in test)) for test in law["tests"]),
        keys=int(sensitivity.get("l0", 0)),
        tightened=bool(law["tightened"]),
        shrinking=bool(law["shrinking"]),
        selects=bool(law.get("selects", False)),
        noise=str(record["noise"]),
    )


# ------------------------------------------------------------------ one conversion for all steps


def certify(steps: Sequence[GaussianStep], epsilon: float) -> float:
    """δ of all these steps together at ε, rounded up; at most one step may be tightened.

    δ = max_t [G(ε, √(μ² − μ₁² t/D)) + t p] + Σ D_i p_i: t is the number of novel keys in the tightened
    stage; every later open stage pays its full D p, whatever happened before it.
    """
    tightened = [s for s in steps if s.tightened]
    if len(tightened) > 1:
        raise OurBug("only the first open stage may be tightened")
    mu2 = float(sum((s.total for s in steps), Fraction(0))) * (1 + SLACK)
    later = sum(s.keys * s.per_key for s in steps if s.tests and not s.tightened)
    worst = gaussian_delta(epsilon, math.sqrt(mu2))
    for step in tightened:
        first = float(step.mu2[0]) * (1 - SLACK)
        for t in range(1, step.keys + 1):
            left = max(mu2 - first * t / step.keys, 1e-30)
            worst = max(worst, gaussian_delta(epsilon, math.sqrt(left)) + t * step.per_key_of(t))
    return min(1.0, (worst + later) * (1 + DELTA_SLACK / 10))


def gaussian_loss(steps: Sequence[GaussianStep], epsilon: float) -> Loss:
    """The add-remove cost: ε as asked, δ certified; what the ledger composes is μ² and every threshold's δ."""
    return Loss(
        epsilon=epsilon,
        delta=certify(steps, epsilon),
        atoms=(Gaussian(sum((s.total for s in steps), Fraction(0)) * (1 + Fraction(1, 10**9))),),
        tv=min(1.0, round_up(Fraction(sum(s.keys * s.per_key for s in steps)) * (1 + Fraction(1, 10**9)))),
    )


AnyStep = Step | GaussianStep | CoinStep


def total(steps: Sequence[AnyStep], epsilon: float | None = None) -> Loss:
    """The add-remove cost of all steps: Laplace steps add up, Gaussian steps are converted once, at this ε."""
    gaussian = [s for s in steps if isinstance(s, GaussianStep)]
    laplace = [s for s in steps if isinstance(s, Step)]
    coins = [s for s in steps if isinstance(s, CoinStep)]
    if bool(gaussian) + bool(laplace) + bool(coins) > 1 or len(coins) > 1:
        raise OurBug("no accountant for steps of several kinds in one mechanism")
    if coins:
        return coins[0].loss
    if not gaussian:
        return loss_of(laplace)
    if epsilon is None:
        raise OurBug("Gaussian steps are converted at a stated ε")
    return gaussian_loss(gaussian, epsilon)


def read_any(record: dict[str, object]) -> AnyStep:
    """A step of either kind from a card; unknown noise is an error."""
    if record["noise"] == "coins":
        return read_coins(record)
    return read_gaussian(record) if record["noise"] == "discrete-gaussian" else read_step(record)


# ------------------------------------------------------------------ calibration


def mu_of(epsilon: float, delta: float) -> float:
    """The largest μ with G(ε, μ) <= δ, from below."""
    low, high = 0.0, 1.0
    while gaussian_delta(epsilon, high) <= delta:
        low, high = high, 2 * high
        if high > 1e6:
            raise ParameterError("This ε and δ allow any noise.", given=f"ε = {epsilon:g}, δ = {delta:g}")
    while high - low > 1e-14 * high:
        middle = (low + high) / 2
        if gaussian_delta(epsilon, middle) <= delta:
            low = middle
        else:
            high = middle
    return low


def threshold_for(mean: int, variance: int, p: float) -> int:
    """Θ = mean + ⌈√variance Φc⁻¹(p)(1 + 1e-9) + ½⌉ + 1: a novel key passes with probability at most p."""
    from scipy.special import ndtri

    if not 0 < p < 0.15:
        raise ParameterError(
            "The threshold's share of δ is out of range.", given=f"{p:g}", allowed="above 0, below 0.15"
        )
    return mean + math.ceil(math.sqrt(variance) * -float(ndtri(p)) * (1 + SLACK) + 0.5) + 1


def novel_delta(epsilon: float, delta: float, mu2: float, first: float, keys: int) -> float:
    """What theorem 2 leaves for novel keys: (1 − 1e-6) min_t (D/t)(δ(1 − 1e-7) − G(ε, √(μ² − μ₁² t/D)))."""
    spare = (
        keys / t * (delta * (1 - DELTA_SLACK) - gaussian_delta(epsilon, math.sqrt(max(mu2 - first * t / keys, 1e-30))))
        for t in range(1, keys + 1)
    )
    return (1 - 1e-6) * min(spare)


def shares(weights: Iterable[tuple[str, Fraction]]) -> dict[str, Fraction]:
    """Named shares of μ² that sum to exactly 1, or an error."""
    named = dict(weights)
    if sum(named.values(), Fraction(0)) != 1 or min(named.values()) <= 0:
        raise OurBug(f"shares of the budget do not sum to 1: {named}")
    return named
