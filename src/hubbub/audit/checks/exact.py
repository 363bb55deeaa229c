"""Exact audits: run `perturb` once for every value the noise can take, and add up the probabilities.

The noise of each draw is cut at ±reach, its tail lumped there; `power` states that mass. Nothing here
knows how the mechanism works: it sees what comes out.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from hubbub.audit.neighbours import holding
from hubbub.audit.protocols import AuditRow, Kind, Pair, Subject, counting_steps, row
from hubbub.audit.recompute import halved
from hubbub.audit.tiny import MeasuredLog, measured, values_of
from hubbub.mechanisms.base import Mechanism
from hubbub.noise.absent import Exits, Rounds, walk
from hubbub.noise.source import Integers

REACH = 14
MOST_RUNS = 400_000
STEPS = 12
KEPT = 32
"""Laws that are kept: those of the neighbouring logs of one subject."""
Outcome = tuple[tuple[object, ...], ...]
Law = dict[Outcome, float]


class EnumeratingNoise:
    """A noise source that walks through every combination of draws, one run after another."""

    private = False

    def __init__(self, reach: int = REACH) -> None:
        self.reach = reach
        self.digits: list[list[int]] = []  # [position, number of values] of every draw so far
        self.at = 0
        self.mass = 1.0
        self.tail = 0.0

    def laplace(self, step: str, scale: Fraction, size: int) -> Integers:
        """The next `size` values of this run."""
        return self._walk(laplace_law(scale, self.reach), size)

    def gaussian(self, step: str, variance: Fraction | int, size: int) -> Integers:
        """The next `size` values of this run."""
        return self._walk(gaussian_law(Fraction(variance), self.reach), size)

    def _walk(self, law: tuple[float, ...], size: int) -> Integers:
        values = np.array([self._next(2 * self.reach + 1) for _ in range(size)], np.int64)
        for at in values.tolist():
            self.mass *= law[at]
        self.tail = max(self.tail, law[0] + law[-1])
        return values - self.reach

    def _next(self, size: int) -> int:
        """The place of this run in the next draw of `size` possible values."""
        if self.at == len(self.digits):
            self.digits.append([0, size])
        self.at += 1
        return self.digits[self.at - 1][0]

    def binomial_tail(self, step: str, scale: Fraction, at_least: int, trials: int) -> int:
        """Not enumerated yet."""
        raise NotImplementedError("no enumeration of binomial draws")

    def choose(self, step: str, population: int, size: int) -> Integers:
        """Not enumerated yet."""
        raise NotImplementedError("no enumeration of subsets")

    def absent(self, step: str, count: int, rounds: Rounds) -> Exits:
        """Every key through its rounds, on the values of this run."""
        return walk(np.arange(count), rounds, lambda variance, size: self.gaussian(step, variance, size))

    def below(self, step: str, limits: Integers) -> Integers:
        """Every value below each limit, in turn."""
        self.mass /= math.prod(limits.tolist())
        return np.array([self._next(limit) for limit in limits.tolist()], np.int64)

    def coins(self, step: str, chances: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
        """Both sides of every coin, in turn."""
        sides = np.array([self._next(2) for _ in chances], np.bool_)
        self.mass *= math.prod(np.where(sides, chances / 2**64, 1 - chances / 2**64).tolist())
        return sides

    def secret(self, step: str) -> bytes:
        """A constant: the order of capping is not what is audited here."""
        return bytes(range(16))

    def runs(self) -> Iterator[None]:
        """One step per run; ends when every combination has been walked."""
        for _ in range(MOST_RUNS):
            self.at, self.mass = 0, 1.0
            yield
            del self.digits[self.at :]
            while self.digits and self.digits[-1][0] == self.digits[-1][1] - 1:
                self.digits.pop()
            if not self.digits:
                return
            self.digits[-1][0] += 1
        raise RuntimeError("too many runs to enumerate: use a smaller log or a shorter reach")


@lru_cache
def laplace_law(scale: Fraction, reach: int) -> tuple[float, ...]:
    """The discrete Laplace law on −reach … reach, its tails lumped at the ends: P(x) = a^|x| (1 − a)/(1 + a)."""
    a = math.exp(-1 / scale)
    inner = (a ** abs(x) * (1 - a) / (1 + a) for x in range(1 - reach, reach))
    end = a**reach / (1 + a)
    return (end, *inner, end)


@lru_cache
def gaussian_law(variance: Fraction, reach: int) -> tuple[float, ...]:
    """The discrete Gaussian on −reach … reach, its tails lumped at the ends."""
    far = reach + 12 * math.isqrt(math.ceil(variance)) + 12
    mass = [math.exp(-x * x / (2 * variance)) for x in range(-far, far + 1)]
    whole = math.fsum(mass)
    cut = far - reach
    ends = math.fsum(mass[: cut + 1]) / whole
    return (ends, *(m / whole for m in mass[cut + 1 : -cut - 1]), ends)


@lru_cache(maxsize=KEPT)
def distribution(subject: Subject, log: MeasuredLog, reach: int = REACH) -> tuple[dict[Outcome, float], float]:
    """The exact law of the output, and the probability mass that was lumped; several tests look at the same one."""
    noise = EnumeratingNoise(reach)
    law: dict[Outcome, float] = defaultdict(float)
    draws = 0
    for _ in noise.runs():
        tables = subject.perturb(log.counts, noise)
        outcome = tuple(
            (table, *log.keys[table][i], v)
            for table in sorted(tables)
            for i, v in zip(tables[table].ids.tolist(), values_of(tables[table]), strict=True)
        )
        law[outcome] += noise.mass
        draws = max(draws, noise.at)
    return dict(law), draws * noise.tail


def hockey_stick(p: dict[Outcome, float], q: dict[Outcome, float], epsilon: float) -> float:
    """δ(ε): the most that P exceeds e^ε Q, over every set of outputs."""
    factor = math.exp(epsilon)
    return math.fsum(max(0.0, mass - factor * q.get(outcome, 0.0)) for outcome, mass in p.items())


def surely(p: tuple[Law, float], q: tuple[Law, float], epsilon: float) -> tuple[float, float]:
    """What δ(ε) is at least, of laws whose ends were lumped, and the mass that this leaves open.

    A set has up to P's lumped mass less than its law says, and up to Q's more, which counts e^ε times.
    """
    unsure = p[1] + math.exp(epsilon) * q[1]
    return max(0.0, hockey_stick(p[0], q[0], epsilon) - unsure), unsure


def either_way(one: tuple[Law, float], other: tuple[Law, float], epsilon: float) -> tuple[float, float, float]:
    """In the worse direction: δ(ε) of the laws as they were walked, what it is at least, and what is left open."""
    worst = max(hockey_stick(one[0], other[0], epsilon), hockey_stick(other[0], one[0], epsilon))
    there, back = surely(one, other, epsilon), surely(other, one, epsilon)
    return worst, max(there[0], back[0]), max(there[1], back[1])


def stated(mechanism: Mechanism) -> Iterator[tuple[str, float, float]]:
    """What is held against it: the proven (ε, δ), and the paper's where the mechanism runs as published."""
    loss, claim = mechanism.loss(), mechanism.claimed()
    yield "proven", loss.epsilon, loss.delta
    if mechanism.variant == "published" and claim.epsilon is not None:
        yield "claimed", claim.epsilon, claim.delta or 0.0


def divergence(subject: Subject, pair: Pair, reach: int = REACH) -> Iterable[AuditRow]:
    """δ at the proven ε (and at the claimed one), both directions."""
    if not pair.enumerable:
        return
    small = distribution(subject, measured(subject, pair.smaller), reach)
    large = distribution(subject, measured(subject, pair.larger), reach)
    for against, epsilon, delta in stated(subject.mechanism):
        worst, seen, unsure = either_way(small, large, epsilon)
        found = row(
            subject,
            f"exact δ(ε): {pair.name}",
            against,
            delta,
            seen,
            unsure,
            f"δ({epsilon:.4g}) = {worst:.6g}",
            Kind.EXACT,
        )
        yield replace(found, epsilon=epsilon, empirical=largest_refuted(small, large, delta, epsilon))


def largest_refuted(one: tuple[Law, float], other: tuple[Law, float], delta: float, most: float) -> float:
    """The largest ε up to 2 `most` at which δ is surely passed in either direction; 0 if there is none."""

    def passed(epsilon: float) -> bool:
        return either_way(one, other, epsilon)[1] > delta

    return halved(passed, 0.0, 2 * most, STEPS)[0] if delta < 1 and passed(0.0) else 0.0


def threshold_law(subject: Subject) -> Iterable[AuditRow]:
    """The chance that a key passes, for counts around the threshold, against the formula of the proof.

    Both directions count: a rule that is off by one is caught whether it is too kind or too harsh.
    """
    for step in counting_steps(subject.mechanism):
        if step.threshold is None or step.name not in subject.mechanism.offers:
            continue
        table = step.name
        worst, at = 0.0, 0
        floor = getattr(step, "floor", 1)
        around = {*range(step.threshold - 2, step.threshold + 2), *((floor - 1, floor) if floor > 1 else ())}
        reach = max(abs(step.threshold - n) for n in around) + 2  # beyond it a key passes or fails for certain
        for n in sorted(n for n in around if n >= 1):
            log = measured(subject, holding(table, n))
            law, _ = distribution(subject, log, reach)
            released = math.fsum(mass for outcome, mass in law.items() if any(r[0] == table for r in outcome))
            expected = step.chance(n)
            if abs(released - expected) > worst:
                worst, at = abs(released - expected), n
        detail = f"largest difference at count {at}, threshold {step.threshold}"
        yield row(subject, f"exact law at the threshold: {table}", "proven", 1e-12, worst, 1e-12, detail, Kind.EXACT)
