"""Releases chosen after seeing earlier ones: adversaries that steer and stop, against the ledger that is installed.

The owner's next release may follow the output of the last. So may the moment at which she stops. Both adversaries are
computed here: what the ledger would allow is asked of a real one, and what such a sequence gives away is added
up numerically from normal densities, without the formulas of the accounting.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr
from scipy.stats import binom, norm

from hubbub.audit.books import book, spend
from hubbub.audit.protocols import AuditRow, shared_row
from hubbub.audit.recompute import halved
from hubbub.errors import OverBudget
from hubbub.privacy.account import DiscreteLaplace, Gaussian, Loss, Pure
from hubbub.privacy.envelope import Envelope

Floats = npt.NDArray[np.float64]
CAPS = ((1.0, 1e-6), (2.0, 1e-2))
SHARES = (0.3, 0.5, 0.7)
"""Of the Gaussian noise a cap allows, how much the first release takes."""
STOPS = 12
MOST = 64.0
"""No adversary asks for more: there is nothing left to break by then."""
SMALL = 1e-12
"""The δ at which an adversary states its Gaussian releases: nearly everything stays for the rest."""


def steering() -> Iterator[AuditRow]:
    """A cap against an owner whose second release follows the output of the first."""
    for epsilon, delta in CAPS:
        for thresholds in (None, Fraction(1, 2)):
            fixed = "by the first release" if thresholds is None else "in halves"
            given = max(_steered(epsilon, delta, share, thresholds) for share in SHARES)
            check = f"adaptive: a cap of ({epsilon:g}, {delta:g}), divided {fixed}, against steering by an output"
            yield shared_row(check, delta, given, delta / 100, f"δ = {given:.4g}")


def stopping() -> Iterator[AuditRow]:
    """The number so far against an owner who stops when it looks best."""
    for epsilon, delta in ((0.25, 1e-6), (1.0, 1e-6), (1.0, 1e-2)):
        needed, printed = _stopped(epsilon, delta)
        check = f"adaptive: the number so far against stopping, {STOPS} releases at ({epsilon:g}, {delta:g})"
        yield shared_row(check, printed, needed, printed / 100, f"δ = {needed:.4g}")


def prices() -> Iterator[AuditRow]:
    """What pure steps are charged: no less than they give away, wherever they are charged to.

    Their hockey stick is added up from binomial chances; the envelope's is asked for at the level where it stops.
    """
    for count, epsilon in ((1, 0.5), (2, 0.3), (5, 0.2), (30, 0.05)):
        release = Loss(count * epsilon, 0.0, (DiscreteLaplace(Fraction(1) / Fraction(str(epsilon)), count),), tv=0.0)
        for where, envelope in (
            ("on the Gaussian clock", Envelope(_largest_price(release))),
            ("in one slot", Envelope(slots=(Fraction(str(epsilon)) * count,))),
        ):
            held = 0
            left = envelope
            while (charge := left.charge(release)) is not None and held < 4:
                left, held = left.less(charge), held + 1
            worst = max(
                responses_stick(level, held * count, epsilon) / max(_allowed(envelope, level), 1e-300)
                for level in np.linspace(0, count * epsilon * 0.95, 12)
            )
            check = f"adaptive: {count} pure steps of {epsilon:g} {where} give away what they are charged"
            yield shared_row(check, 1.0, worst, 1e-6, f"{held} releases, {worst:.4g} of it")


def _largest_price(release: Loss) -> Fraction:
    """The μ² that holds one such release and not two, as the installed code has it."""
    return Fraction(halved(lambda mu2: Envelope(Fraction(mu2)).charge(release) is None, 0.0, 1e4)[1])


def responses_stick(level: float, count: int, epsilon: float) -> float:
    """The hockey stick of so many randomised responses."""
    true = np.arange(count + 1)
    losses = (2 * true - count) * epsilon
    excess = np.maximum(0.0, -np.expm1(np.minimum(level - losses, 50.0)))
    return float((binom.pmf(true, count, 1 / (1 + math.exp(-epsilon))) * excess).sum())


def _allowed(envelope: Envelope, level: float) -> float:
    """The hockey stick of what an envelope stands for: one Gaussian, or one response for its one slot."""
    if envelope.gaussian:
        return stick(level, math.sqrt(envelope.gaussian))
    return responses_stick(level, 1, float(envelope.slots[0]))


# ------------------------------------------------------------------ steering


def _steered(epsilon: float, delta: float, share: float, thresholds: Fraction | None) -> float:
    """The δ of: one Gaussian release; then, as its output has it, the worst of all that the ledger still allows."""
    most = _largest(lambda s: stick(epsilon, math.sqrt(s)) <= delta)
    first = _gaussian(share * most, tv=0.0 if thresholds is not None else delta / 50)
    with book() as ledger:
        ledger.cap("people", epsilon, delta, thresholds=thresholds)
        try:
            spend(ledger, "first", first)
        except OverBudget:
            return 0.0
        gaussian = _largest(lambda s: ledger.allows("people", _gaussian(s)))
        novel = _largest(lambda p: p < 1 and ledger.allows("people", _novel(p)), delta)
        pure = _largest(lambda e: ledger.allows("people", Loss(e, 0.0, (Pure(Fraction(e)),), tv=0.0)))
    mu = math.sqrt(share * most)
    z = np.linspace(mu - 9, mu + 9, 36_001)
    density, loss = norm.pdf(z - mu), mu * z - mu * mu / 2
    still = epsilon - loss
    answered = 1 / (1 + math.exp(-pure))
    then = [
        _sticks(still, math.sqrt(gaussian)),
        novel + (1 - novel) * np.maximum(0.0, 1 - np.exp(np.minimum(still, 50.0))),
        answered * np.maximum(0.0, 1 - np.exp(np.minimum(still - pure, 50.0)))
        + (1 - answered) * np.maximum(0.0, 1 - np.exp(np.minimum(still + pure, 50.0))),
    ]
    return float((density * np.maximum.reduce(then)).sum() * (z[1] - z[0])) + first.tv


def _gaussian(mu2: float, tv: float = 0.0) -> Loss:
    """A Gaussian release as its card would state it, at a δ of its own that is nearly nothing."""
    mu = math.sqrt(mu2)
    own = _largest(lambda e: stick(e, mu) > SMALL) * 1.000001 + 1e-9
    return Loss(own, SMALL + tv, (Gaussian(Fraction(mu2)),), tv=tv)


def _novel(chance: float) -> Loss:
    """A release that shows a key of one user with this chance, and nothing else."""
    return Loss(0.0, chance, (Pure(Fraction(0)),), tv=chance)


def _largest(holds: Callable[[float], bool], start: float = 1.0) -> float:
    """The largest number for which it holds, by bisection; 0 if it holds for none."""
    low, high = 0.0, start
    while high < MOST and holds(high):
        low, high = high, 2 * high
    return halved(holds, low, high, 26)[0]


def stick(epsilon: float, mu: float) -> float:
    """δ at ε of one Gaussian release."""
    return float(_sticks(np.array([epsilon]), mu)[0])


def _sticks(epsilon: Floats, mu: float) -> Floats:
    """E[(1 − e^(ε − L))₊] of one Gaussian release, for each ε."""
    if mu <= 0:
        return np.maximum(0.0, -np.expm1(np.minimum(epsilon, 50.0)))
    sticks: Floats = ndtr(mu / 2 - epsilon / mu) - np.exp(np.minimum(epsilon, 700.0)) * ndtr(-mu / 2 - epsilon / mu)
    return np.maximum(sticks, 0.0)


# ------------------------------------------------------------------ stopping


def _stopped(epsilon: float, delta: float) -> tuple[float, float]:
    """What equal Gaussian releases need of δ under the best rule for stopping, and what the ledger prints at the end.

    Each of them shows a key of hers with probability `novel` besides, which is taken off what is printed.
    """
    novel = delta / 2
    mu2 = _largest(lambda s: stick(epsilon, math.sqrt(s)) <= delta - novel)
    one = Loss(epsilon, delta, (Gaussian(Fraction(mu2)),), tv=novel)
    printed = []
    with book() as ledger:
        for n in range(1, STOPS + 1):
            spend(ledger, str(n), one)
            spent = ledger.spent("people")
            printed.append((spent.epsilon, spent.delta - n * novel))
    return needed_at_the_best_stop(mu2, printed), printed[-1][1]


def needed_at_the_best_stop(mu2: float, printed: Sequence[tuple[float, float]]) -> float:
    """sup over stopping rules of P(A) − E_Q[e^(ε_σ); A], where a δ_σ below the last one printed counts for the rule.

    A dynamic programme over the privacy loss so far, after each of equal Gaussian releases.
    """
    mu = math.sqrt(mu2)
    step = mu / 24
    reach = int(len(printed) * mu2 / 2 / step + 10 * math.sqrt(len(printed)) * 24)
    losses = np.arange(-reach, reach + 1) * step
    width = 9 * 24
    moves = np.arange(-width, width + 1) * step
    kernel = norm.pdf((moves - mu2 / 2) / mu)
    kernel /= kernel.sum()
    last = printed[-1][1]

    def stop(n: int) -> Floats:
        epsilon, delta = printed[n]
        excess: Floats = np.maximum(0.0, -np.expm1(np.minimum(epsilon - losses, 50.0)))
        return excess + (last - delta)

    value = stop(len(printed) - 1)
    for n in reversed(range(len(printed) - 1)):
        value = np.maximum(stop(n), _expected(value, kernel, width))
    return float(_expected(value, kernel, width)[reach])


def _expected(value: Floats, kernel: Floats, width: int) -> Floats:
    """The mean of what comes after one more release."""
    padded = np.concatenate([np.full(width, value[0]), value, np.full(width, value[-1])])
    mean: Floats = np.convolve(padded, kernel[::-1], mode="valid")
    return mean
