"""korolova and zealous: every probability is known, so nothing is drawn.

A key of bounded count c is released with probability r(c) = P(c + Z >= T), Z discrete Laplace. Strict publishes c + Z
itself, so the noise of a published row is Z given Z >= T − c; published draws afresh; on a result list a click
is published when its query is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from hubbub.look.estimate.curve import by_keys, by_law, points
from hubbub.look.estimate.result import Error, TableEstimate, volume_of
from hubbub.look.estimate.scale import grown, scaled
from hubbub.look.estimate.shape import held, shape_of
from hubbub.noise import SeededNoise
from hubbub.privacy.account import Step, half_width
from hubbub.steps.mode import RunMode

if TYPE_CHECKING:
    from hubbub.look.estimate.source import Source
    from hubbub.mechanisms import Mechanism

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Law:
    """Discrete Laplace of one scale, in floats: P(Z = z) = (1 − a)/(1 + a) a^|z|, a = e^(−1/scale)."""

    scale: Fraction

    @property
    def variance(self) -> float:
        """2a/(1 − a)²."""
        return 2 * math.exp(-1 / self.scale) / math.expm1(-1 / self.scale) ** 2

    def moments(self, gap: Floats) -> tuple[Floats, Floats, Floats]:
        """P(Z >= gap), E[Z; Z >= gap] and E[Z²; Z >= gap]."""
        a, rest = math.exp(-1 / self.scale), -math.expm1(-1 / self.scale)
        above = gap >= 1
        g = np.where(above, gap, 1 - gap)  # below 1, by symmetry, what is left out is what passes 1 − gap
        tail = np.exp(-g / float(self.scale)) / (1 + a)
        first = tail * (g + a / rest)  # given Z >= g, Z − g is geometric
        second = tail * (g * g + 2 * g * a / rest + a * (1 + a) / rest**2)
        return np.where(above, tail, 1 - tail), first, np.where(above, second, self.variance - second)


def estimate(mechanism: Mechanism, source: Source, runs: int) -> dict[str, TableEstimate]:
    """Every table; there are no runs to make."""
    steps = {step.name: step for step in mechanism.steps() if isinstance(step, Step)}
    measured = mechanism.measure(source.log, RunMode(SeededNoise(0).secret("bounding")))
    tables: dict[str, TableEstimate] = {}
    queries = np.zeros(0)
    for table in mechanism.tables:
        keys = mechanism.offers[table]
        sample = shape_of(source.log, keys, measured[table].keys, held(source.log, keys))
        shape = grown(sample, source.scale)
        counts = scaled(measured[table], sample.by_id(sample.users), source.scale)
        counted, at = shape.spread(counts.n), points(int(shape.users.max()))
        select = steps[table]
        if select.threshold is not None:
            passing = Passing(Law(select.scale), select.threshold, select.floor)
            chance, first, second = passing(counted)
            bounded = sample.spread(measured[table].n).astype(np.int64)
            curve = by_law(at, sample.users, bounded, passing.chance, source.scale)
            spread2 = float((chance * (1 - chance)).sum())
        else:  # listed: published with its query, or not at all
            chance = shape.spread(queries[counts.parent])
            curve = by_keys(at, shape.users, chance)
            spread2 = float((np.bincount(counts.parent, minlength=queries.size) ** 2 * queries * (1 - queries)).sum())
        value = steps.get("query counts", select) if table == "queries" else select
        noise = Law(value.scale)
        if value is not select or select.threshold is None:  # drawn afresh
            first, second = np.zeros_like(chance), chance * noise.variance
        if table == "queries":
            queries = shape.by_id(chance)
        whole = float(sample.value(mechanism.value_column).sum())
        cut = 1 - float(measured[table].n.sum()) / max(whole, 1.0)
        asked = float(sample.events.sum()) * source.scale
        tables[table] = TableEstimate(
            method="exact",
            runs=None,
            value=mechanism.value_column,
            keys=int((shape.users > 0).sum()) if source.scale == 1 else None,
            rows=float(chance.sum()),
            rows_sd=math.sqrt(spread2),
            volume=volume_of(whole * source.scale, cut, counted, asked, shape.events, chance),
            error=_error(shape.value(mechanism.value_column), counted, chance, first, second, noise.variance),
            half_width=float(half_width(float(value.scale))),
            curve=curve,
            counted=counted,
        )
    return tables


@dataclass(frozen=True)
class Passing:
    """Who passes a threshold: only keys that somebody still holds, or enough users for a filter, are tested."""

    law: Law
    threshold: int
    floor: int = 1

    def __call__(self, counted: Floats) -> tuple[Floats, Floats, Floats]:
        """P(released), and E[Z], E[Z²] on that event."""
        chance, first, second = self.law.moments(self.threshold - counted)
        tested = counted >= self.floor
        return np.where(tested, chance, 0.0), np.where(tested, first, 0.0), np.where(tested, second, 0.0)

    def chance(self, counted: Floats) -> Floats:
        """P(released)."""
        return self(counted)[0]


def _error(
    truth: Floats, counted: Floats, chance: Floats, first: Floats, second: Floats, variance: float
) -> Error | None:
    """Means over published rows of (Z − lost)², taken apart."""
    rows = float(chance.sum())
    if rows == 0:
        return None
    lost = truth - counted
    square = float((chance * lost**2 - 2 * lost * first + second).sum()) / rows
    bounding = float((chance * lost**2).sum()) / rows
    return Error(
        bounding=bounding,
        noise=variance,
        threshold=square - bounding - variance,
        bias=float((first - chance * lost).sum()) / rows,
        cut=float((chance * lost).sum() / max(float((chance * truth).sum()), 1e-300)),
    )
