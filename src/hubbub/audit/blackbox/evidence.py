"""How sure a violation is, however long one looked: a likelihood ratio that no true guarantee makes large.

An event happens with chance p in a run on one log, with q in one on its neighbour; under (ε, δ), p <= e^ε q + δ. After
n fresh runs on each, with x and y hits, take the probability of these hits under p and q drawn from Beta(½, ½), and
divide it by the largest that any p, q within the guarantee give them. Whatever p and q are, if they are within it, that
ratio ever passes 1/α with probability at most α (Wasserman, Ramdas and Balakrishnan 2020; Ville's inequality): so one
may look after every batch. The mean of several such ratios is one, too: over events that were chosen before the runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hubbub.audit.blackbox.outcome import OutputEvent, RunOutcome


@dataclass
class Bet:
    """One event, watched in fresh runs on both logs."""

    event: OutputEvent
    pairs: int = 0
    one: int = 0
    other: int = 0

    def watch(self, one: Iterable[RunOutcome], other: Iterable[RunOutcome]) -> None:
        """One more batch, as many runs of the one as of the other."""
        for x, y in zip(one, other, strict=True):
            self.pairs += 1
            self.one += self.event.happens(x)
            self.other += self.event.happens(y)

    @property
    def rates(self) -> tuple[float, float]:
        """How often it happened on one log, and on the other."""
        n = max(self.pairs, 1)
        return self.one / n, self.other / n

    def logarithm(self, epsilon: float, delta: float) -> float:
        """The logarithm of the ratio."""
        return log_ratio(self.one, self.other, self.pairs, epsilon, delta)


def log_ratio(one: int, other: int, pairs: int, epsilon: float, delta: float) -> float:
    """The logarithm of the ratio, of so many hits in so many runs on each log."""
    mixed = _mixed(one, pairs) + _mixed(other, pairs)
    return mixed - _most_likely(one, other, pairs, math.exp(min(epsilon, 700.0)), delta)


def _mixed(hits: int, runs: int) -> float:
    """log of the probability of one sequence with so many hits, its chance drawn from Beta(½, ½)."""
    gammas = math.lgamma(hits + 0.5) + math.lgamma(runs - hits + 0.5) - math.lgamma(runs + 1)
    return gammas - math.log(math.pi)


def _most_likely(x: int, y: int, runs: int, ratio: float, delta: float) -> float:
    """The largest log-likelihood that p <= ratio q + δ allows; on the border if the observed rates are beyond it."""
    if x <= ratio * y + delta * runs:
        return _log(x, x / runs) + _log(runs - x, 1 - x / runs) + _log(y, y / runs) + _log(runs - y, 1 - y / runs)

    def on_the_border(q: float) -> float:
        p = min(1.0, ratio * q + delta)
        return _log(x, p) + _log(runs - x, 1 - p) + _log(y, q) + _log(runs - y, 1 - q)

    low, high = 0.0, min(1.0, (1 - delta) / ratio)
    for _ in range(100):  # it is concave in q
        third = (high - low) / 3
        low, high = (
            (low + third, high) if on_the_border(low + third) < on_the_border(high - third) else (low, high - third)
        )
    return on_the_border((low + high) / 2)


def _log(times: int, chance: float) -> float:
    """times · log(chance), nothing where it never happened."""
    return 0.0 if not times else -math.inf if chance <= 0 else times * math.log(chance)


def mean_of_logs(logs: Sequence[float]) -> float:
    """log of the mean of numbers that are given by their logarithms."""
    top = max(logs)
    return top + math.log(math.fsum(math.exp(x - top) for x in logs) / len(logs))


def surprise(hits: int, runs: int, chance: float) -> float:
    """runs · KL(hits/runs ‖ chance) where there are more hits than chance allows: how much a search should like it."""
    rate = hits / runs
    if rate <= chance:
        return 0.0
    if chance <= 0:
        return math.inf
    missed = (1 - rate) * math.log((1 - rate) / (1 - chance)) if rate < 1 else 0.0
    return runs * (rate * math.log(rate / chance) + missed)


def smallest_seen(pairs: int, alpha: float, epsilon: float, delta: float) -> float:
    """The chance of an event, impossible on the other log, from which on it is refuted if it comes as expected.

    With ε > 0 an event that never came on the other log may still be as likely there as e^-ε of what was seen: the
    ratio itself tells how many hits are too many. Infinite, where no number of hits is.
    """
    few, many = 0, pairs + 1
    while many - few > 1:  # beyond the guarantee, more hits are more evidence
        middle = (few + many) // 2
        refuted = log_ratio(middle, 0, pairs, epsilon, delta) >= -math.log(alpha)
        few, many = (few, middle) if refuted else (middle, many)
    return many / pairs if many <= pairs else math.inf
