"""What a period publishes: keys released so far, with their numbers; the card of the series; a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hubbub.card.build import build_card, with_pages
from hubbub.card.facts import Facts, Written
from hubbub.card.schema import sha256_of
from hubbub.mechanisms.series import Series
from hubbub.mechanisms.series.counts import SHOWN, CountConstants
from hubbub.release.rows import sort_rows
from hubbub.show.page import write_pages

if TYPE_CHECKING:
    from hubbub.steps.counts import Integers

NUMBERS = [
    ("period", pa.string()),
    ("users_in_period", pa.int64()),
    ("noise_sd_in_period", pa.float64()),
    ("users", pa.int64()),
    ("noise_sd", pa.float64()),
]
"""The columns of a released table after those of its key."""


@dataclass(frozen=True)
class ReleasedKeys:
    """Keys that are out: their ids, the runs they came out in, and noisy measurements of them."""

    ids: Integers
    runs: Integers
    to_date: Mapping[int, Mapping[int, int]]
    """By run and key: the noisy measurement of users to date."""
    in_period: Mapping[int, int]
    """By key: the noisy number of users in this period."""


def rows(
    series: Series, table: str, keys: ReleasedKeys, texts: Mapping[int, tuple[str, ...]], labels: Mapping[int, str]
) -> pa.Table:
    """One table of a period, in its order."""
    schema = pa.schema([*((column, pa.string()) for column in series.offers[table].columns), *NUMBERS])
    counts = series.table_counts.get(table)
    numbers = {} if counts is None else estimates(counts, keys, series.run)
    found = []
    for key, run in zip(keys.ids.tolist(), keys.runs.tolist(), strict=True):
        users, sd = numbers.get(key, (None, None))
        here, here_sd = None, None
        if counts is not None:
            here, here_sd = shown(keys.in_period[key], counts.in_period_sd)
        found.append((*texts[key], labels[run], here, here_sd, users, sd))
    columns = zip(*found, strict=True) if found else [[] for _ in schema]
    arrays = [pa.array(list(column), field.type) for column, field in zip(columns, schema, strict=True)]
    return sort_rows(pa.Table.from_arrays(arrays, schema=schema))


def estimates(counts: CountConstants, keys: ReleasedKeys, t: int) -> dict[int, tuple[int | None, float | None]]:
    """Users to date by key, as they are shown; keys that came out in one run are estimated alike."""
    found: dict[int, tuple[int | None, float | None]] = {}
    for run in sorted(set(keys.runs.tolist())):
        ids = keys.ids[keys.runs == run].tolist()
        measured = [np.array([keys.to_date[i][k] for k in ids], np.int64) for i in range(run, t + 1)]
        values, sd = counts.estimate(measured)
        found |= {k: shown(int(value), sd) for k, value in zip(ids, values, strict=True)}
    return found


def shown(value: int, sd: float) -> tuple[int | None, float | None]:
    """A noisy number with the deviation of its noise, or neither: a rule on the noisy value alone."""
    return (value, sd) if value >= SHOWN * sd else (None, None)


def write_period(folder: Path, series: Series, tables: Mapping[str, pa.Table], facts: Facts) -> None:
    """Tables, pages and card of a period; nothing here has seen the log."""
    folder.mkdir(parents=True)
    written = {}
    for name, table in tables.items():
        path = folder / f"{name}.parquet"
        pq.write_table(table, path, compression="zstd")
        written[path.name] = Written(sha256_of(path), table.num_rows)
    card = build_card(series, replace(facts, files=written))
    if not facts.draft:  # nobody has approved it: no page is made of it
        card = with_pages(card, {page.name: sha256_of(page) for page in write_pages(folder, card)})
    (folder / "card.json").write_text(card.text(), encoding="utf-8")
