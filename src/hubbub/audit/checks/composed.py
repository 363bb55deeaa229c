"""Exact audits of many keys: the law of each key by itself, and their privacy losses added up.

Enumerating every run of eight keys with two draws each is hopeless, but a mechanism that decides about each key with
its own noise has the law of a product. Each factor is enumerated through the installed `perturb`; losses are rounded
down on a grid, so what is found is a lower bound of δ(ε). Cutting the noise at ±reach lumps mass at the ends: that of
the first law is taken off (`power`), that of the second only makes losses smaller. Whether keys share their noise is
not seen here; the sampled and enumerated tests look at them together.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from hubbub.audit.checks.exact import REACH, Outcome, distribution, stated
from hubbub.audit.protocols import AuditRow, Kind, Pair, Subject, row
from hubbub.audit.tiny import MeasuredLog, measured
from hubbub.steps.counts import LocalCounts

GRID = 1 / 128
Floats = npt.NDArray[np.float64]


class LossLaw:
    """A distribution of privacy loss: mass at (first + i) GRID, and the mass that no ε makes up for."""

    def __init__(self, first: int, mass: Floats, infinite: float) -> None:
        self.first, self.mass, self.infinite = first, mass, infinite

    @staticmethod
    def of(p: dict[Outcome, float], q: dict[Outcome, float]) -> LossLaw:
        """ln(p/q) under p, rounded down; infinite where q never shows these rows, not where only its reach ends."""
        shown = {_rows(outcome) for outcome in q}
        finite = [(math.floor(math.log(m / q[o]) / GRID + 1e-9), m) for o, m in p.items() if o in q and q[o] > 0]
        at = np.array([i for i, _ in finite] or [0])
        mass = np.bincount(at - at.min(), weights=np.array([m for _, m in finite] or [0.0])).astype(float)
        return LossLaw(int(at.min()), mass, math.fsum(m for o, m in p.items() if _rows(o) not in shown))

    def plus(self, other: LossLaw) -> LossLaw:
        """The law of the loss of two independent releases together."""
        infinite = 1 - (1 - self.infinite) * (1 - other.infinite)
        return LossLaw(self.first + other.first, np.convolve(self.mass, other.mass), infinite)

    def delta(self, epsilon: float) -> float:
        """δ(ε): the mass no ε makes up for, and E[1 − e^(ε − loss)] above ε."""
        losses = (self.first + np.arange(self.mass.size)) * GRID
        return self.infinite + float((self.mass * -np.expm1(np.minimum(0.0, epsilon - losses))).sum())


def _rows(outcome: Outcome) -> tuple[tuple[object, ...], ...]:
    return tuple(shown[:-1] for shown in outcome)


def composed(subject: Subject, pair: Pair) -> Iterable[AuditRow]:
    """δ at the proven ε (and at the claimed one) over every key that moves, both directions."""
    small, large = measured(subject, pair.smaller), measured(subject, pair.larger)
    lumped = 0.0

    @lru_cache
    def law(table: str, n: int) -> dict[Outcome, float]:
        nonlocal lumped
        counts = {t: LocalCounts(np.array([n] if t == table and n else [], np.int64)) for t in small.counts}
        found, cut = distribution(subject, MeasuredLog(counts, {t: [("key",)] for t in counts}), REACH)
        lumped = max(lumped, cut)
        return found

    moved = []
    for table in small.counts:
        before, after = small.by_key(table), large.by_key(table)
        for key in before.keys() | after.keys():
            if before.get(key, 0) != after.get(key, 0):
                moved.append((law(table, before.get(key, 0)), law(table, after.get(key, 0))))
    directions = []
    for p, q in ((0, 1), (1, 0)):
        total = LossLaw(0, np.ones(1), 0.0)
        for laws in moved:
            total = total.plus(LossLaw.of(laws[p], laws[q]))
        directions.append(total)
    power = len(moved) * lumped
    for against, epsilon, delta in stated(subject.mechanism):
        worst = max(d.delta(epsilon) for d in directions)
        detail = f"δ({epsilon:.4g}) >= {worst:.6g}, {len(moved)} keys"
        yield row(
            subject, f"composed δ(ε): {pair.name}", against, delta, max(0.0, worst - power), power, detail, Kind.EXACT
        )
