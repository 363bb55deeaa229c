"""From (ε, δ) to the integers that run: shares of μ², grid, variances, thresholds.

Every draw has a share of μ² fixed before the log is opened; shares are fractions that sum to exactly 1.
The first open stage is tightened (theorem 2 of docs/proofs/crowd.md), later open stages pay their thresholds
in full, closed stages take μ² and no δ, and one conversion at the end gives δ. All roundings go towards privacy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from hubbub.errors import OurBug, ParameterError
from hubbub.mechanisms.rounds import WIDEST_NOISE, Selection, grid, recycled
from hubbub.privacy.gaussian import (
    DELTA_SLACK,
    SLACK,
    GaussianStep,
    certify,
    mu2_of,
    mu_of,
    novel_delta,
    shares,
)

EXITS = 0.2
"""Share of the threshold δ that goes to the exits before the last round."""
LAMBDA_BITS = 12
"""In the recount a key of weight X counts as 2^12 X^-1/4, unless the noise would be too wide for the sampler."""

SHAPES: dict[int, tuple[tuple[int, ...], tuple[Fraction, ...]]] = {
    1: ((1,), ()),
    2: ((3, 7), (Fraction(3, 10),)),
    4: ((1, 2, 3, 4), (Fraction(1, 10), Fraction(4, 10), Fraction(7, 10))),
    5: ((2, 3, 4, 5, 6), tuple(Fraction(n, 30) for n in (3, 10, 17, 24))),
    6: ((2, 3, 4, 5, 6, 7), tuple(Fraction(n, 50) for n in (5, 14, 23, 32, 41))),
    8: ((2, 2, 3, 3, 4, 4, 5, 5), tuple(Fraction(n, 100) for n in (7, 20, 32, 45, 57, 70, 83))),
}
"""Rounds: integer shares of the noise budget, and how far below the threshold a key may be and stay live."""


def shape(rounds: int) -> tuple[tuple[int, ...], tuple[Fraction, ...]]:
    """Shares and drop levels; other numbers of rounds have equal shares and levels rising evenly from .04 to .9."""
    if rounds in SHAPES:
        return SHAPES[rounds]
    rise = Fraction(86, 100) / max(1, rounds - 2)
    return (1,) * rounds, tuple(Fraction(4, 100) + i * rise for i in range(rounds - 1))


@dataclass(frozen=True)
class Recount:
    """Counting released keys again: μ² of the counts and of the kept total, and what one user may add."""

    mu2: Fraction
    keys: int
    kept_mu2: Fraction
    most: int
    bits: int = LAMBDA_BITS
    """λ = 2^bits for a key of weight 1; coarser where little budget needs much noise."""

    @property
    def kept_variance(self) -> int:
        """Noise of the kept total: ⌈B²/μ²⌉ + 4."""
        return math.ceil(self.most**2 / self.kept_mu2) + 4

    def variance(self, cap2: int) -> int:
        """Noise of the counts for users of squared length cap2: ⌈C²/μ²⌉ + 4, so Δ²/(S − 4) <= μ² whatever C² is."""
        return math.ceil(cap2 / self.mu2) + 4

    def widest(self) -> int:
        """The law of the largest noise that counting may ask for: no λ is above 2^bits."""
        cap2 = self.keys * 4**self.bits
        return max(self.variance(cap2), self.kept_variance)


@dataclass(frozen=True)
class StagePlan:
    """What a stage is to get: its weight, its pool, and thousandths for selection, recount and kept total.

    Without a selection its keys follow from earlier stages; without `keys` it is one histogram over public bins.
    """

    name: str
    weight: Fraction | int
    limit: int
    inner: tuple[int, int, int]
    keys: int
    most: int
    open: bool = True
    """Closed: the keys are known before its noise is drawn, so its thresholds are set later and cost no δ."""


@dataclass(frozen=True)
class Stage:
    """A calibrated stage: the integers of its selection and of its counting, each None if the stage has none."""

    name: str
    selection: Selection | None
    recount: Recount | None
    histogram: Fraction | None = None
    """μ² of a histogram."""

    @property
    def rounds(self) -> Selection:
        """The stage's selection; a bug of ours if it has none."""
        if self.selection is None:
            raise OurBug(f"{self.name} selects nothing")
        return self.selection

    def steps(self, proof: str, *, tightened: bool) -> tuple[GaussianStep, ...]:
        """The stage as the accountant sees it: all its draws."""
        steps = []
        if self.selection is not None:
            steps.append(self.selection.step(self.name, proof, tightened=tightened))
        if self.recount is not None:
            steps.append(GaussianStep(f"{self.name} recount", (self.recount.mu2,), proof))
            mu2 = mu2_of(self.recount.most**2, self.recount.kept_variance)
            steps.append(GaussianStep(f"{self.name} kept total", (mu2,), proof))
        if self.histogram is not None:
            steps.append(GaussianStep(self.name, (self.histogram,), proof))
        return tuple(steps)


LATER_DELTA = Fraction(15, 100)
"""What later open stages may spend of δ on their thresholds, all together."""


def calibrate(plans: list[StagePlan], epsilon: Fraction, delta: Fraction, rounds: int, proof: str) -> tuple[Stage, ...]:
    """The constants of all stages: first the shares of the budget, then the noise, then the thresholds."""
    whole = sum((Fraction(p.weight) for p in plans), Fraction(0))
    share = shares(
        (f"{p.name} {part}", Fraction(p.weight) / whole * Fraction(thousandths, 1000))
        for p in plans
        for part, thousandths in zip(("selection", "recount", "kept"), p.inner, strict=True)
        if thousandths
    )
    first = plans[0]
    if not (first.open and first.inner[0]):
        raise OurBug("the first stage learns its keys from the log")
    later = [p for p in plans[1:] if p.open and p.inner[0]]
    later_weight = sum((Fraction(p.weight) for p in later), Fraction(0))
    spent = {p.name: float(LATER_DELTA * delta * Fraction(p.weight) / later_weight) for p in later}
    first_delta = float(delta) - sum(spent.values())
    eps = float(epsilon)
    mu2 = Fraction(mu_of(eps, first_delta * (1 - DELTA_SLACK))) ** 2
    part = {name: mu2 * fraction for name, fraction in share.items()}
    recounts = {
        p.name: Recount(part[f"{p.name} recount"], p.keys, part[f"{p.name} kept"], p.most)
        for p in plans
        if p.keys and p.inner[1]
    }
    histograms = {p.name: part[f"{p.name} recount"] for p in plans if not p.keys}
    multiples = shape(rounds)[0]
    noises = {p.name: grid(part[f"{p.name} selection"], multiples) for p in plans if p.inner[0]}
    used = float(sum((mu2_of(4**k * m * m, m * v) for k, v in noises.values() for m in multiples), Fraction(0)))
    used += float(sum((r.mu2 + r.kept_mu2 for r in recounts.values()), sum(histograms.values(), Fraction(0))))
    bits, variance = noises[first.name]
    opening = float(mu2_of(4**bits * multiples[0] ** 2, multiples[0] * variance)) * (1 - SLACK)
    spent[first.name] = novel_delta(eps, first_delta, used * (1 + SLACK), opening, first.limit)
    if spent[first.name] <= 0:
        raise ParameterError("This δ leaves nothing for thresholds.", given=f"δ = {float(delta):g}, ε = {eps:g}")
    selections = {
        p.name: _thresholds(*noises[p.name], rounds, p.limit, spent.get(p.name)) for p in plans if p.name in noises
    }
    stages = [Stage(p.name, selections.get(p.name), recounts.get(p.name), histograms.get(p.name)) for p in plans]
    served = []
    for stage in stages:  # a run must not stop after its first noise because of what was released
        served.append(stage if stage.recount is None else replace(stage, recount=_served(stage.recount)))
    if rounds == 1:
        served[0] = _shrunk(served, eps, float(delta), proof)
    steps = [s for i, stage in enumerate(served) for s in stage.steps(proof, tightened=i == 0)]
    if certify(steps, eps) > float(delta):
        raise OurBug("the calibrated constants do not meet δ")
    return tuple(served)


def _shrunk(stages: Sequence[Stage], epsilon: float, delta: float, proof: str) -> Stage:
    """One round alone: the smallest threshold, to a thousandth, that certifies where own keys share a user's weight."""
    first, plan = stages[0], stages[0].rounds

    def lowered(threshold: int) -> Stage:
        return replace(first, selection=replace(plan, thresholds=(threshold,), shrinking=True))

    def meets(threshold: int) -> bool:
        steps = [*lowered(threshold).steps(proof, tightened=True)]
        steps += [s for stage in stages[1:] for s in stage.steps(proof, tightened=False)]
        return certify(steps, epsilon) <= delta

    low, high = plan.unit, plan.thresholds[0]
    while high - low > max(1, plan.unit >> 10):
        middle = (low + high) // 2
        low, high = (low, middle) if meets(middle) else (middle, high)
    return lowered(high)


def _served(recount: Recount) -> Recount:
    """λ coarser until the sampler serves any noise the recount may need, however light the released keys are."""
    for bits in range(LAMBDA_BITS, 3, -1):
        if 2 * replace(recount, bits=bits).widest() < WIDEST_NOISE:
            return replace(recount, bits=bits)
    raise ParameterError("This ε needs more noise than the sampler serves.", next="raise epsilon or delta")


def _thresholds(bits: int, variance: int, rounds: int, limit: int, delta: float | None) -> Selection:
    """A user's own key may pass with .8 of δ/D at the last test and .2 over the exits; no δ, no thresholds yet."""
    multiples, levels = shape(rounds)
    if delta is None:
        return Selection(bits, multiples, tuple(m * variance for m in multiples), limit, (), ())
    last = delta / limit if rounds == 1 else (1 - EXITS) * delta / limit
    exits = [EXITS * delta / (max(rounds - 1, 1) * limit)] * (rounds - 1)
    return recycled(bits, variance, multiples, levels, limit, [*exits, last])


def closed(plan: Selection, size: int, false: Fraction, *, late: bool = False) -> Selection:
    """Thresholds for keys known beforehand: Θ_r = ⌈√(C_r V) Φc⁻¹(F_r/N)⌉, so that at most F of N absent keys pass.

    F_r is .8 F at the last test and .2 F over the others. F bounds the false keys, not the privacy: any threshold
    will do, so floats may set it. `late`: in the first round they are tested as the others are, and what passes there
    by noise alone is taken off F.
    """
    from scipy.special import ndtri

    rounds = len(plan.multiples)
    left = _late(plan, size, false)[1] if late else float(false)
    tests = rounds - 1 if late else rounds
    shares = [1.0] if tests == 1 else [EXITS / (tests - 1)] * (tests - 1) + [1 - EXITS]
    z = [max(0.5, -float(ndtri(min(0.3, share * left / max(1, size))))) for share in [1.0] * late + shares]
    variances = [sum(plan.variances[: r + 1]) for r in range(rounds)]
    thresholds = [math.ceil(math.sqrt(v) * level) for v, level in zip(variances, z, strict=True)]
    levels = shape(rounds)[1]
    drops = [math.floor(x * thresholds[-1] * v / variances[-1]) for x, v in zip(levels, variances, strict=False)]
    if late:
        thresholds[0], drops[:1] = plan.thresholds[0], plan.drops[:1]
    return replace(plan, thresholds=tuple(thresholds), drops=tuple(drops))


def _late(plan: Selection, size: int, false: Fraction) -> tuple[float, float]:
    """How many of `size` keys of nobody pass the first test of an open plan; what that leaves of F, at least half."""
    from scipy.special import ndtr

    first = size * float(ndtr(-plan.thresholds[0] / math.sqrt(plan.gathered[0])))
    return first, max(float(false) - first, float(false) / 2)


def expected_late(plan: Selection, size: int, false: Fraction) -> float:
    """How many keys of nobody to expect at most where the first round tests them as all others: F, or more."""
    return max(float(false), sum(_late(plan, size, false)))
