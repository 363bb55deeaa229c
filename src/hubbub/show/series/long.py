"""One long table of a series: a row for each period and each query that was out by then."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq

from hubbub.show.series.censored import Floats
from hubbub.show.series.published import SeriesNumbers

TEXT, WHOLE, REAL = pa.string(), pa.int64(), pa.float64()


def long_table(numbers: SeriesNumbers) -> pa.Table:
    """Period by period, in the order in which queries came out: the numbers, and NULL for each that is missing."""
    out = ~np.isnan(numbers.sd) if not numbers.whole else np.arange(numbers.periods) >= numbers.came_out[:, None]
    period, query = np.nonzero(out.T)
    since = pa.array(numbers.labels, TEXT).take(pa.array(numbers.came_out[query]))
    columns: dict[str, pa.Array] = {
        "period": pa.array(numbers.labels, TEXT).take(pa.array(period)),
        "query": pa.array(numbers.queries, TEXT).take(pa.array(query)),
        "came_out": since,
    }
    if numbers.whole:
        columns["users_in_period"] = _column(numbers.in_period[query, period], WHOLE)
        shown = np.where(numbers.shown, numbers.sd, np.nan)
        columns["noise_sd_in_period"] = _column(shown[query, period], REAL)
    users, sd = (numbers.to_date, numbers.sd_to_date) if numbers.whole else (numbers.in_period, numbers.sd)
    columns["users"] = _column(users[query, period], WHOLE)
    columns["noise_sd"] = _column(sd[query, period], REAL)
    return pa.table(columns)


def _column(values: Floats, kind: pa.DataType) -> pa.Array:
    missing = np.isnan(values)
    return pa.array(np.where(missing, 0, values), mask=missing).cast(kind)


def write_long(table: pa.Table, parquet: Path, text: Path) -> None:
    """The table in both forms."""
    pq.write_table(table, parquet, compression="zstd")
    csv.write_csv(table, text)
