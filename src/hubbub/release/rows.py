"""The rows of a release: released ids as text, in the order of what they show, as Parquet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from hubbub.errors import OurBug
from hubbub.ingest import clean
from hubbub.mechanisms.base import Mechanism, Rows, Tables
from hubbub.steps.keys import group_of
from hubbub.steps.sessions import SEPARATOR

if TYPE_CHECKING:
    from hubbub.ingest.lines import Mask
    from hubbub.log import SearchLog
    from hubbub.steps.counts import Counts
    from hubbub.steps.keys import Keys

NO_TEXTS = ("user", "period")
"""Columns of words that nobody typed: the number of a user in a released log, the period of a series."""


def write_tables(
    folder: Path, log: SearchLog, mechanism: Mechanism, counts: dict[str, Counts], tables: Tables
) -> dict[Path, int]:
    """The released tables as Parquet, and how many rows each has."""
    written = {}
    for table in mechanism.tables:
        released = tables[table]
        rows = (
            released.rows
            if isinstance(released, Rows)
            else sort_rows(named_rows(log, mechanism, table, counts, tables))
        )
        rows = as_lists(rows, mechanism.offers[table])
        if log.screen is not None:  # a text that is on a public list, and in no record that was left
            rows = rows.filter(pa.array(~rows_with(rows, log.screen.hits, group_of(table))))
        path = folder / f"{table}.parquet"
        pq.write_table(rows, path, compression="zstd")
        written[path] = rows.num_rows
    return written


def named_rows(
    log: SearchLog, mechanism: Mechanism, table: str, measured: Mapping[str, Any], tables: Tables
) -> pa.Table:
    """Released ids as text, with their noisy values."""
    released = tables[table]
    values, sd = released.values, released.noise_sd
    if values is not None and not np.issubdtype(values.dtype, np.integer):
        raise OurBug(f"{table}: a released value is not an integer")
    size = released.ids.size
    numbers = pa.nulls(size, pa.int64()) if values is None else pa.array(values, pa.int64())
    sds = pa.nulls(size, pa.float64()) if sd is None else pa.array(np.broadcast_to(sd, size))
    rows = released.text
    if rows is None:
        rows = measured[table].text(log.engine, mechanism.offers[table], released.ids)
    return rows.append_column(mechanism.value_column, numbers).append_column("noise_sd", sds)


def sort_rows(rows: pa.Table) -> pa.Table:
    """By noisy value, then by key: never by input order."""
    value, keys = rows.column_names[-2], rows.column_names[:-2]
    return rows.sort_by([(value, "descending"), *((key, "ascending") for key in keys)]).combine_chunks()


def rows_with(rows: pa.Table, hits: Callable[[pa.Array], Mask], group: str = "") -> Mask:
    """Which released rows hold a text that is hit, in whatever column it stands, but not in that of groups.

    Texts are cleaned as queries are.
    """
    found: Mask = np.zeros(rows.num_rows, np.bool_)
    for name in rows.column_names:
        column = rows.column(name).combine_chunks()
        if pa.types.is_list(column.type):
            inside = hits(clean.queries(column.flatten()))
            found[pc.list_parent_indices(column).to_numpy()[inside]] = True
        elif pa.types.is_string(column.type) and name not in (*NO_TEXTS, group):
            found |= hits(clean.queries(column.fill_null("")))
    return found


def as_lists(rows: pa.Table, keys: Keys) -> pa.Table:
    """Sequences of queries as lists, other keys as they are."""
    if not keys.sequence:
        return rows
    name = keys.columns[0]
    lists = pc.split_pattern(rows.column(name), SEPARATOR)
    return rows.set_column(rows.column_names.index(name), name, lists)
