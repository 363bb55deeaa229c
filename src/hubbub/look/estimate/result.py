"""The numbers of an estimate, and how they add up.

Volume: everything users hold is cut by bounding, falls to the threshold, or is published; the three sum to 1.
Error of a published value, as mean squares: bounding (users who fell to the cap), noise (as stated by `noise_sd`), and
threshold (what publishing only values that passed adds or takes away). The three sum to the mean square error.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from hubbub.look.estimate.curve import Curve, Floats
from hubbub.privacy.guarantee import finite, number
from hubbub.steps.counts import Integers

if TYPE_CHECKING:
    from hubbub.look.estimate.gains import Gain
    from hubbub.look.estimate.why import Why
    from hubbub.mechanisms import Mechanism


@dataclass(frozen=True)
class Volume:
    """Shares of what users hold, in the unit of the published value."""

    bounding: float
    threshold: float
    published: float
    searches: float
    """The share of searches (or clicks) that asked a published key."""


def volume_of(whole: float, bounding: float, counted: Floats, asked: float, events: Integers, chance: Floats) -> Volume:
    """Where `whole` goes of which bounding takes a share, and how many of `asked` searches; `chance` may be 0 or 1."""
    published = float((counted * chance).sum()) / max(whole, 1.0)
    return Volume(
        bounding=bounding,
        threshold=max(0.0, 1 - bounding - published),
        published=published,
        searches=float((events * chance).sum()) / max(asked, 1.0),
    )


@dataclass(frozen=True)
class Error:
    """Mean squares over published rows, and the mean error itself; `cut` is the share of their value bounding took."""

    bounding: float
    noise: float
    threshold: float
    bias: float
    cut: float

    @property
    def rms(self) -> float:
        """The root mean square of the whole error, from its three parts."""
        return math.sqrt(max(0.0, self.bounding + self.noise + self.threshold))


def error_of(
    truth: Floats, counted: Floats, chance: Floats, first: Floats, second: Floats, variance: float
) -> Error | None:
    """Means over published rows of (Z − lost)², taken apart; `first` and `second`: moments of Z where released."""
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


@dataclass(frozen=True)
class TableEstimate:
    """What one table would hold."""

    method: str
    runs: int | None
    value: str
    keys: int | None
    """Distinct keys that somebody holds; not known where a sample was scaled."""
    rows: float
    rows_sd: float
    """From one release to the next."""
    volume: Volume
    error: Error | None
    half_width: float | None
    """95 % of the noise of a row (the median row, where rows differ)."""
    curve: Curve
    counted: Floats | None = None
    """What is counted of each key after bounding, where it is known."""
    notes: tuple[str, ...] = ()
    """What a mechanism's paper measures besides, in words …"""
    utility: Mapping[str, float] = field(default_factory=dict)
    """… and in numbers."""

    def record(self) -> dict[str, object]:
        """For the JSON document."""
        error = None if self.error is None else asdict(self.error) | {"rms": self.error.rms}
        curve = self.curve
        return {
            "method": self.method,
            "runs": self.runs,
            "value": self.value,
            "distinct_keys": self.keys,
            "rows": self.rows,
            "rows_sd": self.rows_sd,
            "volume": asdict(self.volume),
            "error": error,
            "half_width_95": self.half_width,
            "users_for_chance": {str(c): curve.reaches(c) for c in (0.05, 0.5, 0.95)},
            "survival": {
                "users": curve.users.tolist(),
                "chance": [round(c, 9) for c in curve.chance.tolist()],
                "counted_after_bounding": None if curve.counted is None else curve.counted.tolist(),
            },
            "utility": dict(self.utility),
        }


@dataclass(frozen=True)
class Estimate:
    """What a release would keep."""

    mechanism: Mechanism
    source: dict[str, object]
    tables: dict[str, TableEstimate]
    why: tuple[Why, ...]
    warnings: tuple[str, ...] = field(default=())
    gains: tuple[Gain, ...] = ()
    """What more budget, more users or another period would bring, if that was asked."""

    @property
    def owner_only(self) -> bool:
        """Whether a raw log was looked at."""
        return self.source["kind"] == "log"

    def record(self) -> dict[str, object]:
        """One JSON document; what was computed from a raw log stands under `owner_only`."""
        mechanism = self.mechanism
        proven = mechanism.proven()
        stated: dict[str, object] = {
            "mechanism": mechanism.name,
            "variant": mechanism.variant,
            "tables": list(mechanism.tables),
            "settings": {name: _plain(value) for name, value in mechanism.settings.items()},
            "guarantee": {
                "definition": proven.definition.value,
                "epsilon": finite(proven.epsilon),
                "delta": proven.delta,
            },
            "thresholds": [why.record() for why in self.why],
            "spent": 0,
        }
        found: dict[str, object] = {
            "source": self.source,
            "estimate": {table: kept.record() for table, kept in self.tables.items()},
            "warnings": list(self.warnings),
        } | ({"gains": [gain.record() for gain in self.gains]} if self.gains else {})
        return stated | ({"owner_only": found} if self.owner_only else found)


def _plain(value: object) -> object:
    return number(float(value)) if isinstance(value, Fraction) else value
