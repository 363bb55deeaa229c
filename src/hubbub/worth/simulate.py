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
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hubbub.card.schema import Card
from hubbub.errors import InputError, ParameterError
from hubbub.mechanisms.crowd.combine import FEWEST
from hubbub.mechanisms.crowd.stages import KEYWORDS, RECOUNTED

if TYPE_CHECKING:
    from hubbub.release.opened import Release

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
PRECISE = 0.03
"""crowd scales counts by its kept total where the noise in that is below this share (`combine.kept_factor`)."""
GROUP = 20
"""Rows that have noise in common; measured: 12 to 30 do equally well, crowd's own 60 is too coarse for small tables."""


# ------------------------------------------------------------------ laws of noise


class Law(Protocol):
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
        """One draw a row."""
        return dice.geometric(self.end) - dice.geometric(self.end)


@dataclass(frozen=True)
class Normal:
    """Normal noise, rounded to whole users: each row's own, and what groups of rows have in common."""

    own: Floats
    shared: tuple[tuple[Ints, Floats], ...] = ()
    """Which group each row is in, and the standard deviation of the group's noise on this row."""

    def draw(self, dice: np.random.Generator) -> Ints:
        """One draw a row and one a group."""
        noise = self.own * dice.standard_normal(self.own.size)
        for group, width in self.shared:
            noise += width * dice.standard_normal(int(group.max(initial=-1)) + 1)[group]
        return np.rint(noise).astype(np.int64)


def law_of(card: Card, table: str, rows: pa.Table) -> Law:
    """The law that the card states for a table with numbers."""
    kinds = {step.noise for step in card.steps}
    noise_sd = rows["noise_sd"].to_numpy()
    if kinds <= {"discrete-laplace"}:  # no steps, no noise: noise_sd is 0
        return Laplace.of(noise_sd)
    if kinds != {"discrete-gaussian"}:
        raise InputError("The noise of this release cannot be drawn again.", given=", ".join(sorted(kinds)))
    return _crowd(card, table, rows) if card.mechanism.name == "crowd" else Normal(noise_sd)


def _crowd(card: Card, table: str, rows: pa.Table) -> Normal:
    """crowd's counts have noise in common (docs/proofs/crowd.md, section 11), and `noise_sd` does not say how much.

    All rows are scaled by one factor from the noisy kept total. And rows of similar weight learn their ratio of users
    to weight from the same recounts: each has less noise than its recount, their sum has not. Both follow from the
    card's μ² and the counts, as far as users go with weight; where that is rough it is wide.
    """
    u, spread = rows["users"].to_numpy().astype(float), rows["noise_sd"].to_numpy()
    mu2 = {step.name: float(sum(Fraction(m) for m in _list(step.law, "mu2"))) for step in card.steps}
    stage = np.zeros(u.size, np.int64)
    names = [table]
    if table == "sessions":
        lengths = pc.list_value_length(rows["queries"]).to_numpy().astype(np.int64)
        found, stage = np.unique(lengths, return_inverse=True)
        names = [f"sequences {length}" for length in found]
    group, common, scaled = np.zeros(u.size, np.int64), np.zeros(u.size), np.zeros(u.size)
    for number, name in enumerate(names):
        here = np.flatnonzero(stage == number)
        keys, most = KEYWORDS if table == "keywords" else RECOUNTED[table]
        recounted = keys / mu2[f"{name} recount"] * np.sqrt(u[here]) * np.sqrt(u[here]).sum() / u[here].sum()  # C²/μ²λ²
        kept = (most**2 / mu2[f"{name} kept total"] + 4) ** 0.5
        factor = np.hypot(kept, recounted.sum() ** 0.5) / u[here].sum()
        if kept <= PRECISE * u[here].sum() and np.all(factor * u[here] <= spread[here]):
            scaled[here] = factor * u[here]
        left = spread[here] ** 2 - scaled[here] ** 2
        if here.size >= FEWEST and table != "keywords":  # keywords are not selected: they have no weights
            for part in np.array_split(np.argsort(-u[here], kind="stable"), max(1, here.size // GROUP)):
                at = here[part]
                group[at] = group.max() + 1
                more = max(0.0, (recounted[part] - left[part]).sum())  # what the sum has and the rows have not
                ratio2 = more / max(1.0, u[at].sum() ** 2 - (u[at] ** 2).sum())
                common[at] = np.sqrt(np.minimum(ratio2 * u[at] ** 2, left[part]))
    own = np.sqrt(np.maximum(spread**2 - scaled**2 - common**2, 0))
    return Normal(own, ((stage, scaled), (group, common)))


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

    def __init__(self, rows: pa.Table, law: Law, draws: int, seed: tuple[int, ...]) -> None:
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
