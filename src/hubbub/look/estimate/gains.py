"""What would gain most: more budget, more users, or another period? For each table, from the model of an estimate.

    twice the ε          the same mechanism, calibrated to twice the ε, on the same log
    twice the users      the same mechanism, where every user of the log stands for two
    another period       two periods like this one that share the ε: half of it for each, and the rows of both

Rows are expected ones, by a few simulated runs; nothing is spent. Twice the users is the growth of keys by which an
estimate scales a made-up log to more users than it has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pkgutil import resolve_name
from typing import TYPE_CHECKING

from hubbub.errors import UserError
from hubbub.look.estimate.result import TableEstimate
from hubbub.look.estimate.source import Source

if TYPE_CHECKING:
    from hubbub.mechanisms import Mechanism

BUDGET, USERS, PERIOD = "twice the ε", "twice the users", "another period under the same ε"
RUNS = 2
"""Simulated runs of each change."""
Tables = dict[str, TableEstimate]


@dataclass(frozen=True)
class Gain:
    """Rows of a table now, and after a change."""

    change: str
    table: str
    now: float
    then: float

    @property
    def times(self) -> float | None:
        """How many times as many rows; None where less than one row is expected now."""
        return self.then / self.now if self.now >= 1 else None

    def record(self) -> dict[str, object]:
        """For the JSON document."""
        return {"change": self.change, "table": self.table, "rows": self.now, "rows_then": self.then}


def gains(mechanism: Mechanism, source: Source, now: Tables, runs: int = RUNS) -> tuple[Gain, ...]:
    """Every change that the mechanism takes, for every table that has an estimate."""
    found: list[Gain] = []
    for change in changes(mechanism):
        more = replace(source, users=change.users * source.users, sample=source.sample or source.users)
        of = more if change.users > 1 else source
        then: Tables = resolve_name(change.mechanism.estimator)(change.mechanism, of, runs)
        found += [Gain(change.name, t, now[t].rows, change.tables * then[t].rows) for t in now if t in then]
    return tuple(found)


@dataclass(frozen=True)
class PossibleChange:
    """What changes: the mechanism after it, how many times the users, and how many tables there are then."""

    name: str
    mechanism: Mechanism
    users: int = 1
    tables: int = 1


def changes(mechanism: Mechanism) -> Iterator[PossibleChange]:
    """Every change that the mechanism takes."""
    given = dict(mechanism.given)
    for change, times, tables in ((BUDGET, Fraction(2), 1), (PERIOD, Fraction(1, 2), 2)):
        try:
            other = mechanism.remade({**given, "epsilon": times * Fraction(given["epsilon"])})
        except (KeyError, UserError):  # raw parameters are not calibrated to an ε, and some ε cannot be had
            continue
        yield PossibleChange(change, other, tables=tables)
    yield PossibleChange(USERS, mechanism, users=2)


def said(found: Sequence[Gain]) -> Iterator[str]:
    """For a person: every table's rows after each change, and which table gains most."""
    for change in dict.fromkeys(gain.change for gain in found):
        mine = [gain for gain in found if gain.change == change]
        told = ", ".join(f"{gain.table} {gain.now:,.0f} → {gain.then:,.0f}{_times(gain)}" for gain in mine)
        best = max(mine, key=lambda gain: (gain.then - gain.now) / max(gain.now, 1.0))
        most = f"; {best.table} gains most" if len(mine) > 1 and best.then > best.now else ""
        yield f"  {change}: {told}{most}"


def _times(gain: Gain) -> str:
    return "" if gain.times is None else f" (× {gain.times:.2g})"
