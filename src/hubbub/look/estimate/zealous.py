"""zealous: exact probabilities as for korolova, and the paper's own measures of utility, corrected.

Section 2.3.1 calls items above τ* + ξ very frequent and items below τ* − ξ very infrequent; section 5.4 runs ZEALOUS
with τ = τ* − ξ and τ′ = τ* + ξ. An item of exactly τ′ users then survives with probability 1/2, whatever ξ and λ are:
both numbers of Theorem 3 are wrong as printed, and its "at least 1/2" (Theorem 4) is right. Pure functions with the
paper's equation numbers; continuous noise unless a chance is given.
"""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from hubbub.look.estimate import laplace
from hubbub.look.estimate.result import TableEstimate
from hubbub.mechanisms.survival import LaplaceTest
from hubbub.mechanisms.zealous.formulas import WIDE
from hubbub.privacy.account import Step

if TYPE_CHECKING:
    from hubbub.look.estimate.source import Source
    from hubbub.mechanisms import Mechanism

Floats = npt.NDArray[np.float64]
SURE = 0.95


# ------------------------------------------------------------------ the paper's measures


def theorem3_printed(xi: float, lam: float) -> tuple[float, float]:
    """As printed: the chance ½e^(−2ξ/λ) to miss a very frequent item, and the accuracy 1 − ½e^(−ξ/λ)."""
    return 0.5 * math.exp(-2 * xi / lam), 1 - 0.5 * math.exp(-xi / lam)


def survives(frequency: float, tau: float, tau_prime: float, lam: float) -> float:
    """Theorem 3 corrected: P(f + Lap(λ) > τ′), and 0 for f < τ."""
    if frequency < tau:
        return 0.0
    tail = 0.5 * math.exp(-abs(frequency - tau_prime) / lam)
    return 1 - tail if frequency >= tau_prime else tail


def inaccuracy(frequencies: Floats, chances: Floats, low: float, high: float) -> float:
    """Definition 5: expected very frequent items (> τ* + ξ) that are missing, and very infrequent (< τ* − ξ) shown."""
    return float((1 - chances)[frequencies > high].sum() + chances[frequencies < low].sum())


def corollary1_printed(users: int, m: int, frequent: int, epsilon: Fraction, c: float) -> Decimal:
    """As printed: from this many possible items on, U m/(τ+ξ) (e^(ε(τ+ξ))/c + 1), pure ε is worse than nothing."""
    return corollary1(users, m, frequent, frequent, epsilon, c)


def corollary1(users: int, m: int, frequent: int, infrequent: int, epsilon: Fraction, c: float) -> Decimal:
    """Corrected: U m/(τ−ξ) items may be not very infrequent, U m/(τ+ξ) is the error of publishing nothing.

    (|D| − U m/(τ−ξ)) c e^(−ε(τ+ξ)) > U m/(τ+ξ). `frequent` is τ+ξ, `infrequent` is τ−ξ.
    """
    with localcontext(WIDE):
        growth = (Decimal(epsilon.numerator) * frequent / Decimal(epsilon.denominator)).exp()
        return Decimal(users * m) / infrequent + Decimal(users * m) / frequent * growth / Decimal(repr(c))


# ------------------------------------------------------------------ what `hubbub estimate` shows


def estimate(mechanism: Mechanism, source: Source, runs: int) -> dict[str, TableEstimate]:
    """Every table, exactly, with the paper's measures beside it; clicks on a list have no threshold to measure."""
    steps = {step.name: step for step in mechanism.steps() if isinstance(step, Step)}
    tables = laplace.estimate(mechanism, source, runs)
    return {
        table: found if steps[table].threshold is None else _measured(mechanism, source, steps[table], found)
        for table, found in tables.items()
    }


def _measured(mechanism: Mechanism, source: Source, step: Step, found: TableEstimate) -> TableEstimate:
    """For the integer law: very frequent is from T = τ* + ξ on, very infrequent is below τ = τ* − ξ."""
    frequent, epsilon = step.threshold or 1, Fraction(mechanism.proven().epsilon or 0) / len(mechanism.steps())
    xi, lam = (frequent - 1 - step.floor) / 2, float(step.scale)
    law = LaplaceTest.of(step)
    accuracy, sure = law.at(frequent), law.fewest(SURE)
    wrong = 0.0 if found.counted is None else _wrong(step, law, found.counted)
    many = 0 if found.counted is None else int((found.counted >= frequent).sum())
    domain = corollary1(source.users, step.l0, frequent, step.floor, epsilon, accuracy)
    utility: dict[str, float] = {
        "tau_star": step.floor + xi,
        "xi": xi,
        "very_frequent": many,
        "inaccuracy": wrong,
        "inaccuracy_printed": many * theorem3_printed(xi, lam)[0],
        "c_accuracy": accuracy,
        "c_accuracy_printed": theorem3_printed(xi, lam)[1],
        "users_for_95": sure,
        "pure_epsilon_log10_domain": float(domain.log10(WIDE)),
    }
    notes = (
        f"of the {many:,} items that {frequent:,} users or more hold after bounding, {wrong:,.1f} are expected "
        f"to be missing; none of fewer than {step.floor:,} is published (inaccuracy, slack ξ = {xi:g})",
        f"such an item is released with probability {accuracy:.3g} or more (c-accuracy; the paper prints "
        f"{utility['c_accuracy_printed']:.3g}), with {SURE:.0%} from {sure:,} on",
        f"at pure ε = {float(epsilon):.4g}, whatever releases them as often is worse than publishing nothing if there "
        f"are more than {domain:.1e} possible items",
    )
    return replace(found, notes=notes, utility=utility)


def _wrong(step: Step, law: LaplaceTest, counted: Floats) -> float:
    held = counted[counted >= 1]
    return inaccuracy(held, law.chance(np.rint(held)), step.floor, (step.threshold or 1) - 1)
