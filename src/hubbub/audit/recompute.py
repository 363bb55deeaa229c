"""The numbers of a certificate once more, by definition: sums over the values of the noise, integrals of densities.

Nothing here comes from `account`, `gaussian`, `coins` or `compose`, nor from the functions they call: no decimals, no
normal distribution function, no loss distributions. Laplace tails are added up term by term in whole numbers of
2^-256; Gaussian hockey sticks and tails are integrated; randomised responses are added up over their outcomes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import product

import numpy as np
import numpy.typing as npt

BITS = 256
ONE = 1 << BITS
EXACTLY = Fraction(1, 1 << 200)
"""Far above what adding up in units of 2^-256 loses, far below every rounding that is promised."""
NEARLY = 1e-11
"""Relative error of the integrals, with room to spare."""
Floats = npt.NDArray[np.float64]


# ------------------------------------------------------------------ discrete Laplace


@lru_cache(maxsize=1024)
def decay(x: Fraction) -> int:
    """e^(−x) in units of 2^-256, x > 0: the series of e^x at a small argument, squared up, inverted."""
    guard = 80
    halvings = max(0, math.ceil(math.log2(float(x))) + 4)
    one = 1 << (BITS + guard)
    term = total = one
    n = 1
    while term:
        term = term * x.numerator // (x.denominator * n << halvings)
        total += term
        n += 1
    for _ in range(halvings):
        total = total * total // one
    return one * one // total >> guard


@lru_cache(maxsize=1024)
def _powers(scale: Fraction, count: int) -> tuple[tuple[int, ...], int]:
    """e^(−k/scale) for k < count, and the sum over all k from count on, until nothing is left."""
    a, each, rest = decay(1 / scale), [ONE], 0
    for _ in range(1, count):
        each.append(each[-1] * a >> BITS)
    term = each[-1] * a >> BITS
    while term:
        rest, term = rest + term, term * a >> BITS
    return tuple(each), rest


@lru_cache(maxsize=4096)
def passes(scale: Fraction, threshold: int, count: int) -> Fraction:
    """P(count + Z >= threshold), the mass at the threshold included: what lies beyond over what there is."""
    gap = threshold - count
    if gap <= 0:
        return 1 - passes(scale, 1 - gap, 0)
    each, beyond = _powers(scale, gap)
    whole = each[0] + 2 * (sum(each[1:]) + beyond)
    return Fraction(beyond, whole)


def sd(scale: Fraction) -> float:
    """The standard deviation of the noise, over all its values."""
    k = np.arange(1, 60 * math.ceil(scale) + 60)
    mass = np.exp(-k / float(scale))
    return math.sqrt(2 * float((k * k * mass).sum()) / (1 + 2 * float(mass.sum())))


def new_keys(scale: Fraction, threshold: int, enters: int, l0: int, l1: int, linf: int) -> Fraction:
    """The chance that one of a user's own keys shows, the worst over all ways to divide what she may add.

    A key of hers enters with count `enters` and up to linf − 1 more. Every way is tried, by adding up key after key.
    """
    chances = [passes(scale, threshold, enters + m) for m in range(min(linf, l1))]
    if chances[-1] > 1 - EXACTLY:
        return Fraction(1)
    if len(chances) == 1:
        return 1 - _power(1 - chances[0], min(l0, l1))
    worth = [-math.log1p(-float(r)) for r in chances]
    best: list[tuple[float, tuple[int, ...]]] = [(0.0, ())] * (l1 + 1)
    for _ in range(l0 if l0 < l1 and linf > 1 else 1):  # so many keys at most; else every key takes one of l1 at least
        now = list(best) if l0 < l1 and linf > 1 else best
        for used in range(1, l1 + 1):
            for m, gain in enumerate(worth[:used], 1):
                so_far = best[used - m]
                if len(so_far[1]) < l0 and so_far[0] + gain > now[used][0]:
                    now[used] = so_far[0] + gain, (*so_far[1], m)
        best = now
    silent = Fraction(1)
    for m, times in Counter(max(best)[1]).items():
        silent *= _power(1 - chances[m - 1], times)
    return 1 - silent


def _power(x: Fraction, n: int) -> Fraction:
    """x^n by squaring, in units of 2^-256."""
    power, square = ONE, int(x * ONE)
    while n:
        power, square, n = power * square >> BITS if n & 1 else power, square * square >> BITS, n >> 1
    return Fraction(power, ONE)


# ------------------------------------------------------------------ Gaussian


def _nodes(low: Floats, length: Floats) -> tuple[Floats, Floats]:
    """Points and weights for integrals from `low` on, 24 panels of 16 points each."""
    x, w = np.polynomial.legendre.leggauss(16)
    at = (np.arange(24)[:, None] + (x + 1) / 2).ravel() / 24
    weight = np.tile(w / 2, 24) / 24
    return low[:, None] + length[:, None] * at, length[:, None] * weight


def sticks(epsilon: Floats | float, mu: Floats | float) -> Floats:
    """δ(ε) of N(μ, 1) against N(0, 1), for any real ε: ∫ φ(ε/μ − μ/2 + y)(1 − e^(−μy)) dy over y > 0."""
    epsilon, mu = np.atleast_1d(*np.broadcast_arrays(epsilon, mu))
    safe = np.where(mu > 0, mu, 1.0)
    a = epsilon / safe - safe / 2
    y, weight = _nodes(np.maximum(0.0, -a - 14), np.where(a > 1, np.minimum(14.0, 80 / np.maximum(a, 1)), 28.0))
    density = np.exp(-np.square(a[:, None] + y) / 2) / math.sqrt(2 * math.pi)
    found: Floats = (density * -np.expm1(-safe[:, None] * y) * weight).sum(axis=1)
    return np.where(mu > 0, found, np.maximum(0.0, -np.expm1(np.minimum(epsilon, 0.0))))


def stick(epsilon: float, mu: float) -> float:
    """The hockey stick at one ε."""
    return float(sticks(epsilon, mu)[0])


def tail(z: float) -> float:
    """The chance that a standard normal variable reaches z >= 0, by adding up its density."""
    y, weight = _nodes(np.zeros(1), np.array([min(14.0, 80 / max(z, 1e-9))]))
    return float((np.exp(-np.square(z + y) / 2) * weight).sum()) / math.sqrt(2 * math.pi)


# ------------------------------------------------------------------ many steps together


def responses(draws: Mapping[Fraction, int]) -> Iterable[tuple[float, float]]:
    """Every total loss of so many randomised responses at each ε, and its probability when the user is there."""
    kinds: list[list[tuple[float, float]]] = []
    for epsilon, count in draws.items():
        lie = 1 / (1 + math.exp(epsilon))
        log_lie, log_true = math.log(lie), math.log1p(-lie)
        kinds.append(
            [
                (float(epsilon) * (count - 2 * k), math.exp(_log_ways(count, k) + k * log_lie + (count - k) * log_true))
                for k in range(count + 1)
            ]
        )
    for outcome in product(*kinds):
        yield math.fsum(loss for loss, _ in outcome), math.prod(mass for _, mass in outcome)


def _log_ways(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def together(epsilon: float, mu2: float, draws: Mapping[Fraction, int]) -> float:
    """δ(ε) of Gaussian noise beside randomised responses: over every outcome of these, what the Gaussian leaves."""
    outcomes = [(loss, mass) for loss, mass in responses(draws) if mass > 1e-40]
    losses, mass = (np.array(x) for x in zip(*outcomes, strict=True))
    return float(mass @ sticks(epsilon - losses, math.sqrt(mu2)))


def needed(delta: float, mu2: float, draws: Mapping[Fraction, int]) -> float:
    """The smallest ε at which they stay within δ."""
    most = sum((epsilon * count for epsilon, count in draws.items()), Fraction(0))
    if together(0.0, mu2, draws) <= delta:
        return 0.0
    if delta <= 0:
        return math.inf if mu2 else float(most)
    reach = float(most) + mu2 / 2 + math.sqrt(2 * mu2 * -math.log(delta)) + 1e-9
    return halved(lambda epsilon: together(epsilon, mu2, draws) > delta, 0.0, reach)[1]


def halved(holds: Callable[[float], bool], low: float, high: float, times: int = 60) -> tuple[float, float]:
    """An interval, halved so many times: at its low end it holds, at its high end it does not."""
    for _ in range(times):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low, high


def tightened(epsilon: float, mu2: float, first: float, keys: int, own: Sequence[float], later: float) -> float:
    """Theorem 3 of docs/proofs/crowd.md: the worst number t of keys of her own, `own[t]` for all of them; then later
    stages.
    """
    t = np.arange(keys + 1)
    left = np.maximum(mu2 - first * t / max(keys, 1), 0.0)
    return float((sticks(epsilon, np.sqrt(left)) + np.array(own)).max()) + later


def over_splits(epsilon: float, each: float, keys: int, r: float, other: int = 0) -> float:
    """The hockey stick of thresholded counts, key by key, the worst over how many of a user's keys are new.

    New keys show with chance r each, and never without her; the rest are randomised responses at `each`. With
    `other`, her place is taken by somebody who has up to so many keys of his own: replace.
    """
    worst = 0.0
    for new in range(keys + 1):
        for his in range(other + 1):
            known = keys - new + other - his
            shown, silent = -math.expm1(new * math.log1p(-r)), (new - his) * math.log1p(-r)
            for mass, offset in ((shown, silent), (0.0, (his - new) * math.log1p(-r))):
                rest = (1 - mass) * math.fsum(
                    p * -math.expm1(min(0.0, epsilon - loss - offset)) for loss, p in _responses(each, known)
                )
                worst = max(worst, mass + rest)
    return worst


@lru_cache(maxsize=256)
def _responses(each: float, count: int) -> tuple[tuple[float, float], ...]:
    return tuple(responses({Fraction(each): count})) if count else ((0.0, 1.0),)
