"""What comes out when: period after period in a series, a few times with `crowd`, or once. Before anything is chosen.

    selected    the selection of a series on a made-up log, in floats     words    the estimate for a terminal

No log of anybody's is read: users, days and queries are made up in a public shape (`hubbub synth`), and a sample stands
for as many users as are stated. One run of each way, with noise that repeats itself.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from hubbub.engines.duckdb import DuckDB
from hubbub.errors import ParameterError
from hubbub.ingest.schema import SCHEMA
from hubbub.log import Period, SearchLog
from hubbub.look.cadence.selected import out_after
from hubbub.look.estimate.simulate import each
from hubbub.look.estimate.source import MOST_USERS, PRESET, Source
from hubbub.mechanisms.crowd import Crowd
from hubbub.privacy.compose import compose
from hubbub.privacy.gaussian import mu_of
from hubbub.synth import SYLLABIC, generate, lasting
from hubbub.synth.presets import preset as preset_called

if TYPE_CHECKING:
    from hubbub.mechanisms.series import Series
    from hubbub.mechanisms.series.calendar import SeriesCalendar

ROOM = 1_500_000
"""User-days of a made-up log: 4,000 users for a year. It takes some ten seconds."""
LISTS = 4
KEPT = Fraction(1, 2)
"""The part of the budget that is kept for the last of them."""
LITTLE = 0.8
"""Fewer lists lose little if their last one has so much of what the series has by then."""
HALVINGS = 10
"""Of the interval in which the budget of a few lists is sought."""


@dataclass(frozen=True)
class WayToPublish:
    """One way: what it is called, and how many queries are out after each period; None where nothing is published."""

    name: str
    releases: int
    out: tuple[int | None, ...]
    further: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """By further table: how many of its keys are out after each period, where that is estimated."""

    @property
    def last(self) -> int:
        """Queries out at the end."""
        return self.out[-1] or 0


@dataclass(frozen=True)
class CadenceEstimate:
    """What would come out when, by three ways, for one (ε, δ) over all periods together."""

    labels: tuple[str, ...]
    users: int
    sample: int
    preset: str
    series: WayToPublish
    lists: WayToPublish
    once: WayToPublish

    @property
    def ways(self) -> tuple[WayToPublish, ...]:
        """From often to once."""
        return (self.series, self.lists, self.once)

    @property
    def lists_do(self) -> bool:
        """Whether a few lists lose little against the series."""
        return self.lists.last >= LITTLE * self.series.last

    def record(self) -> dict[str, object]:
        """For the JSON document."""
        return {
            "users": self.users,
            "sample": self.sample,
            "preset": self.preset,
            "periods": list(self.labels),
            "ways": [asdict(way) for way in self.ways],
            "a_few_lists_lose_little": self.lists_do,
        }


def estimate_cadence(series: Series, users: int, *, preset: str = PRESET, room: int = ROOM) -> CadenceEstimate:
    """Estimate all three ways with the budget of this series, for so many users over all its planned periods."""
    calendar, periods = series.calendar, series.constants.periods
    sample, rows = _made_up(calendar.span(0, periods - 1), users, preset, room)
    ends = np.array([calendar.span(n, n).seconds[1] for n in range(periods)])
    labels = tuple(calendar.label(n) for n in range(periods))
    budget = Fraction(series.settings["epsilon"]), Fraction(series.settings["delta"])
    found = out_after(series, rows, ends, users / sample)
    when = sorted({round(periods * (n + 1) / LISTS) - 1 for n in range(LISTS)} - {-1})
    parts = [
        crowd_list(crowd, rows, int(ends[n]), users, sample)
        for n, crowd in zip(when, lists_within(*budget, len(when), series.tables), strict=True)
    ]
    once = crowd_list(_crowd(*budget, series.tables), rows, int(ends[-1]), users, sample)
    few = tuple(parts[when.index(n)] if n in when else None for n in range(periods))
    return CadenceEstimate(
        labels,
        users,
        sample,
        preset,
        WayToPublish(
            f"a series of {periods}",
            periods,
            tuple(found["queries"]),
            {table: tuple(out) for table, out in found.items() if table != "queries"},
        ),
        WayToPublish(f"{len(when)} lists with crowd", len(when), few),
        WayToPublish("one list with crowd", 1, (None,) * (periods - 1) + (once,)),
    )


def _made_up(span: Period, users: int, preset: str, room: int) -> tuple[int, pa.Table]:
    """How many users are made up to stand for all, and their records of all these days."""
    if not 1 <= users <= MOST_USERS:
        raise ParameterError("The number of users is out of range.", given=users, allowed=f"1 to {MOST_USERS}")
    days = (span.last - span.first).days + 1
    sample = max(1, min(users, room // days))
    shape = lasting(preset_called(preset), span.first.isoformat(), days)
    return sample, pa.Table.from_batches(generate(sample, 0, shape, vocabulary=SYLLABIC), SCHEMA)


@dataclass(frozen=True)
class EachPeriodEstimate:
    """What single periods would have, each a release of its own: queries by period, for some of the periods."""

    users: int
    sample: int
    preset: str
    out: Mapping[str, int]

    def record(self) -> dict[str, object]:
        """For the JSON document."""
        return asdict(self)


def estimate_each_period(
    crowd: Crowd, calendar: SeriesCalendar, periods: int, users: int, *, preset: str = PRESET, room: int = ROOM
) -> EachPeriodEstimate:
    """Estimate some periods of so many users, the first and the last among them, each released by itself."""
    sample, rows = _made_up(calendar.span(0, periods - 1), users, preset, room)
    out = {}
    for n in sorted({round((periods - 1) * part / (LISTS - 1)) for part in range(LISTS)}):
        start, end = calendar.span(n, n).seconds
        out[calendar.label(n)] = crowd_list(crowd, rows, end, users, sample, start)
    return EachPeriodEstimate(users, sample, preset, out)


def shares(lists: int) -> list[Fraction]:
    """Of the budget, for each of so many lists: half of it for the last."""
    return [Fraction(1)] if lists == 1 else [(1 - KEPT) / (lists - 1)] * (lists - 1) + [KEPT]


def lists_within(epsilon: Fraction, delta: Fraction, lists: int, tables: tuple[str, ...] = ("queries",)) -> list[Crowd]:
    """So many releases that cost (ε, δ) together, if all of them are planned at the start."""
    if lists == 1:
        return [_crowd(epsilon, delta, tables)]
    low, high = Fraction(0), epsilon
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        tried = [_crowd(*part_of(middle, delta, share)) for share in shares(lists)]
        fits = compose([one.loss() for one in tried], float(delta)) <= epsilon
        low, high = (middle, high) if fits else (low, middle)
    return [_crowd(*part_of(low, delta, share), tables) for share in shares(lists)]


def part_of(epsilon: Fraction, delta: Fraction, share: Fraction) -> tuple[Fraction, Fraction]:
    """The ε and δ of a release that takes a share of μ² and of δ."""
    wanted = mu_of(float(epsilon), float(delta)) * float(share) ** 0.5
    low, high = 0.0, float(epsilon)
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if mu_of(middle, float(delta * share)) <= wanted else (low, middle)
    return Fraction(ceil(high * 10**6), 10**6), delta * share


def _crowd(epsilon: Fraction, delta: Fraction, tables: tuple[str, ...] = ("queries",)) -> Crowd:
    return Crowd(epsilon=str(epsilon), delta=str(delta), tables=list(tables))


def crowd_list(crowd: Crowd, rows: pa.Table, end: int, users: int, sample: int, start: int | None = None) -> int:
    """How many queries a release has of all records before a time, and from another one on if it is given."""
    if start is not None:
        rows = rows.filter(pc.field("time") >= start)
    with tempfile.TemporaryDirectory(prefix="hubbub-made-up-") as folder:
        path = Path(folder) / "log.parquet"
        pq.write_table(rows.filter(pc.field("time") < end), path, compression="none")
        with SearchLog.over(path, DuckDB(Path(folder)), Path(folder)) as log:
            run = next(each(crowd, Source(log, users, sample, PRESET), 1))
    return int(run["queries"].released.sum())
