"""Draw the noise of a release again: how far may a number that was computed from it be off?

    released values + fresh noise of the published law → the statistic again → an interval around the estimate

A released value is X + Z, and the law of Z is public: the card's steps name it and `noise_sd` says how wide it is. So
θ(X + Z + Z*) − θ(X + Z), with Z* drawn anew, spreads as the unknown θ(X + Z) − θ(X) does, and the interval is the
estimate less the quantiles of that difference (the basic bootstrap). It covers the noise and nothing else: not what
bounding each user took away, not the luck of rows that only just passed a threshold, not the rows that are missing.

This is analysis of public tables, not a release: the draws come from numpy's ordinary generator with a seed that
anybody may know. Noise for a release comes from `hubbub.noise`, and from nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa

from hubbub.card.schema import Card
from hubbub.errors import InputError, ParameterError
from hubbub.mechanisms import Mechanism
from hubbub.mechanisms.traits import Floats, Ints

if TYPE_CHECKING:
    from hubbub.release.opened import Release


# ------------------------------------------------------------------ laws of noise


class RowNoise(Protocol):
    """The noise of one table."""

    def draw(self, dice: np.random.Generator) -> Ints:
        """Noise for every row, in whole users."""


@dataclass(frozen=True)
class Laplace:
    """Independent discrete Laplace noise: P(z) ∝ a^|z|, the difference of two geometric draws; `end` is 1 − a."""

    end: Floats

    @staticmethod
    def of(noise_sd: Floats) -> Laplace:
        """The scale from the standard deviation s: s² = 2a/(1 − a)², so 1 − a = (√(2s² + 1) − 1)/s²."""
        s2 = noise_sd**2
        return Laplace(np.divide(np.sqrt(2 * s2 + 1) - 1, s2, out=np.ones_like(s2), where=s2 > 0))

    def draw(self, dice: np.random.Generator) -> Ints:
        """One draw per row."""
        return dice.geometric(self.end) - dice.geometric(self.end)


@dataclass(frozen=True)
class Normal:
    """Normal noise, rounded to whole users: each row's own, and what groups of rows have in common."""

    own: Floats
    shared: tuple[tuple[Ints, Floats], ...] = ()
    """Which group each row is in, and the standard deviation of the group's noise on this row."""

    def draw(self, dice: np.random.Generator) -> Ints:
        """One draw per row and one per group."""
        noise = self.own * dice.standard_normal(self.own.size)
        for group, width in self.shared:
            noise += width * dice.standard_normal(int(group.max(initial=-1)) + 1)[group]
        return np.rint(noise).astype(np.int64)


def law_of(card: Card, table: str, rows: pa.Table) -> RowNoise:
    """The law that the card states for a table with numbers."""
    kinds = {step.noise for step in card.steps}
    noise_sd = rows["noise_sd"].to_numpy()
    if kinds <= {"discrete-laplace"}:  # no steps, no noise: noise_sd is 0
        return Laplace.of(noise_sd)
    if kinds != {"discrete-gaussian"}:
        raise InputError("The noise of this release cannot be drawn again.", given=", ".join(sorted(kinds)))
    mu2 = {step.name: float(sum(Fraction(m) for m in _list(step.law, "mu2"))) for step in card.steps}
    shared = Mechanism.registry.named(card.mechanism.name).noise_in_common(table, rows, mu2)
    left = noise_sd**2
    for _, width in shared:
        left = left - width**2
    return Normal(np.sqrt(np.maximum(left, 0)) if shared else noise_sd, shared)


def _list(law: Mapping[str, object] | None, name: str) -> list[str]:
    found = (law or {}).get(name)
    return [str(x) for x in found] if isinstance(found, list) else []


# ------------------------------------------------------------------ replicates


@dataclass(frozen=True)
class Interval:
    """A statistic of the release and the interval that the noise leaves around it."""

    estimate: Any
    low: Any
    high: Any
    level: float
    draws: int


class Replicates:
    """One table, drawn again and again: iterate for Arrow tables; the same seed gives the same draws every time."""

    def __init__(self, rows: pa.Table, law: RowNoise, draws: int, seed: tuple[int, ...]) -> None:
        self.rows, self.law, self.draws, self.seed = rows, law, draws, seed
        self.value: str = rows.column_names[-2]

    def __len__(self) -> int:
        return self.draws

    def __iter__(self) -> Iterator[pa.Table]:
        """The released rows with fresh noise on their numbers, which may fall below zero."""
        dice = np.random.default_rng(self.seed)
        released, place = self.rows[self.value].to_numpy(), self.rows.num_columns - 2
        for _ in range(self.draws):
            yield self.rows.set_column(place, self.value, pa.array(released + self.law.draw(dice)))

    def array(self) -> Ints:
        """All replicates of the numbers: draws × rows."""
        return np.stack([table[self.value].to_numpy() for table in self])


class Simulation:
    """Every table of a release that has numbers, with fresh noise."""

    def __init__(self, tables: dict[str, Replicates], draws: int) -> None:
        self.tables, self.draws = tables, draws

    def __iter__(self) -> Iterator[dict[str, pa.Table]]:
        for drawn in zip(*self.tables.values(), strict=True):
            yield dict(zip(self.tables, drawn, strict=True))

    def interval(self, statistic: Callable[[dict[str, pa.Table]], Any], level: float = 0.95) -> Interval:
        """The statistic of the released tables (by name, as Arrow tables), and its interval; numbers or arrays.

        A statistic that noise pushes one way (a maximum, an entropy) is pulled back, so the interval may leave out the
        estimate, or the range of the statistic.
        """
        if not 0 < level < 1:
            raise ParameterError("The level of an interval is a share.", given=level, allowed="between 0 and 1")
        estimate = np.asarray(statistic({name: table.rows for name, table in self.tables.items()}), float)
        moved = np.stack([np.asarray(statistic(tables), float) for tables in self]) - estimate
        high, low = estimate - np.quantile(moved, [(1 - level) / 2, (1 + level) / 2], axis=0)
        return Interval(estimate[()], low, high, level, self.draws)


def simulate(release: str | Path | Release, *, draws: int = 1000, seed: int = 0) -> Simulation:
    """Replicates of a release's tables, for confidence intervals of whatever is computed from them."""
    from hubbub.release.opened import Release

    if draws < 1:
        raise ParameterError("There is nothing to draw.", given=draws, allowed="1 or more")
    if seed < 0:
        raise ParameterError("The seed must not be negative.", given=seed, allowed="0 or more")
    opened = release if isinstance(release, Release) else Release(release)
    card = Card.model_validate(opened.card)
    tables = {}
    for number, name in enumerate(opened.tables):
        rows = getattr(opened, name).to_arrow() if name != "log" else None
        if rows is not None and rows.num_rows and not rows["noise_sd"].null_count:  # keys without numbers have no noise
            tables[name] = Replicates(rows, law_of(card, name, rows), draws, (seed, number))
    if not tables:
        raise InputError("No table of this release has numbers.", given=", ".join(opened.tables))
    return Simulation(tables, draws)
