"""Clicks, transitions and keywords of a series as they were published: long tables, and what hangs on a query."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

COLUMNS = {"clicks": ("query", "url"), "transitions": ("query", "next_query"), "keywords": ("keyword",)}
"""Tables that a series may have beside its queries, with the columns of their keys."""
FOLLOWS = ("clicks", "transitions")
"""Those whose keys hang on a query."""
LISTED = 25
EACH = 10
"""Rows of one query and one table that the page has."""


@dataclass(frozen=True)
class FurtherRow:
    """A row of the last period as the page prints it."""

    key: tuple[str, ...]
    since: str
    in_period: int | None
    to_date: int | None
    noise_sd: float | None


Left = Callable[[str, pa.Table], pa.Table]
"""What is left of a table, by its name, where a review has struck some of it."""


def as_published(table: str, rows: pa.Table) -> pa.Table:
    """Every row."""
    return rows


def read_further(labels: Sequence[str], places: Sequence[Path], left: Left = as_published) -> dict[str, pa.Table]:
    """One long table for each that every period has: period, key, came_out, and the numbers of that period."""
    found = {}
    for table in COLUMNS:
        files = [place / f"{table}.parquet" for place in places]
        if not all(file.is_file() and "period" in pq.read_schema(file).names for file in files):
            continue
        tables = [left(table, pq.read_table(file)) for file in files]
        found[table] = pa.concat_tables(map(_labelled, labels, tables))
    return found


def _labelled(label: str, table: pa.Table) -> pa.Table:
    """A period's table with its label before the key, and with the period of release after it as `came_out`."""
    names = ["came_out" if name == "period" else name for name in table.column_names]
    return table.rename_columns(names).add_column(0, "period", pa.array([label] * len(table), pa.string()))


def last_rows(table: str, long: pa.Table, label: str) -> list[FurtherRow]:
    """The rows of one period, the largest first; those without a number last."""
    columns = COLUMNS[table]
    rows = [
        FurtherRow(
            tuple(row[column] for column in columns),
            row["came_out"],
            row["users_in_period"],
            row["users"],
            row["noise_sd"],
        )
        for row in long.to_pylist()
        if row["period"] == label
    ]
    return sorted(rows, key=lambda row: (-(row.to_date or 0), -(row.in_period or 0), row.key))


def hanging(further: dict[str, list[FurtherRow]]) -> dict[str, list[tuple[str, FurtherRow]]]:
    """By query: what was clicked after it, and what was asked next, the largest of each."""
    found: dict[str, list[tuple[str, FurtherRow]]] = {}
    for table in FOLLOWS:
        for row in further.get(table, ()):
            hers = found.setdefault(row.key[0], [])
            if sum(kind == table for kind, _ in hers) < EACH:
                hers.append((table, row))
    return found
