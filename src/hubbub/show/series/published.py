"""The periods of a series as they were published: read from DIR/*/public, and from nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from hubbub.card.check import load, parsed
from hubbub.card.schema import Card
from hubbub.errors import InputError
from hubbub.show.series.censored import Floats, Mask
from hubbub.show.series.further import Left, as_published, read_further

TABLE = "queries"
SHOWN = 3.0
"""A number of a period is published from so many noise_sd on."""
IN_PERIOD, SD_IN_PERIOD = "users_in_period", "noise_sd_in_period"


@dataclass(frozen=True)
class SeriesNumbers:
    """The published numbers of a series, queries × periods; nan where there is none."""

    labels: tuple[str, ...]
    queries: tuple[str, ...]  # in the order in which they came out; then by users
    came_out: npt.NDArray[np.int64]  # the period of each query
    in_period: Floats
    sd: Floats  # of the noise in a period, also where the number is missing: it is the same for all queries
    to_date: Floats
    sd_to_date: Floats
    whole: bool
    """Whether the guarantee is for all periods together: queries stay once they are out, and numbers below three
    noise_sd are missing. Otherwise each period chose its queries anew, and a missing one tells nothing of the sort."""

    @property
    def periods(self) -> int:
        """How many periods were published."""
        return len(self.labels)

    @cached_property
    def shown(self) -> Mask:
        """Where the users of a period are published."""
        return np.asarray(~np.isnan(self.in_period))

    @cached_property
    def there(self) -> Mask:
        """Where it is known of a query whether its number is below the limit."""
        return np.asarray(~np.isnan(self.sd)) if self.whole else self.shown

    @cached_property
    def limit(self) -> Floats:
        """SeriesNumbers below it are missing."""
        return np.asarray(SHOWN * self.sd)

    @property
    def counted(self) -> bool:
        """Whether any number of users is published at all."""
        return bool(self.shown.any() or (~np.isnan(self.to_date)).any())


@dataclass(frozen=True)
class PublishedSeries:
    """Everything that is published of a series so far."""

    folder: Path
    cards: tuple[Card, ...]
    numbers: SeriesNumbers
    further: dict[str, pa.Table] = field(default_factory=dict)
    """Clicks, transitions and keywords, as far as there are any: one long table each."""


def published(folder: Path, left: Left = as_published) -> PublishedSeries:
    """Read the cards and tables of every period that stands in the folder of a series; `left` may take rows out."""
    found = folder.glob(f"*/public/{TABLE}.parquet")
    places = sorted(path.parent for path in found if not path.parent.parent.name.startswith("."))
    if not places:
        raise InputError(
            "No period of a series is published here.", given=folder, next="run one: hubbub series add DIR LOG"
        )
    cards = tuple(parsed(load(place)) for place in places)
    labels = tuple(place.parent.name for place in places)
    queries = [left(TABLE, pq.read_table(place / f"{TABLE}.parquet")) for place in places]
    return PublishedSeries(folder, cards, numbers_of(labels, queries), read_further(labels, places, left))


def numbers_of(labels: tuple[str, ...], queries: list[pa.Table]) -> SeriesNumbers:
    """The tables of all periods as arrays."""
    tables = [table.to_pydict() for table in queries]
    whole = all(IN_PERIOD in table for table in tables)
    came_out: dict[str, int] = {}
    for period, table in enumerate(tables):
        for query in table["query"]:
            came_out.setdefault(query, period)
    place = {query: n for n, query in enumerate(came_out)}
    in_period, sd, to_date, sd_to_date = (np.full((len(place), len(labels)), np.nan) for _ in range(4))
    for period, table in enumerate(tables):
        rows = np.array([place[query] for query in table["query"]], np.int64)
        users, noise = (_floats(table[name]) for name in ("users", "noise_sd"))
        if not whole:
            in_period[rows, period], sd[rows, period] = users, noise
            continue
        to_date[rows, period], sd_to_date[rows, period] = users, noise
        in_period[rows, period] = _floats(table[IN_PERIOD])
        known = _floats(table[SD_IN_PERIOD])
        sd[rows, period] = known[~np.isnan(known)].max(initial=-np.inf) if (~np.isnan(known)).any() else np.nan
    periods = np.array(list(came_out.values()), np.int64)
    return SeriesNumbers(labels, tuple(place), periods, in_period, sd, to_date, sd_to_date, whole)


def _floats(column: list[float | None]) -> Floats:
    return np.array([np.nan if value is None else value for value in column], float)
