"""Rows in memory as a log: frames of every library, readers, relations and batches give what a file gives."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hubbub
from hubbub.errors import InputError

COLUMNS = {"user": "who", "query": "what", "time": "at"}
NOON = datetime.datetime(2006, 3, 1, 12)
DATA = {"who": ["u1", "u2", "u1"], "what": ["Lilac", "rose", " "], "at": [NOON, NOON, None]}
TABLE = pa.table(DATA)


def streamed() -> Iterator[pa.RecordBatch]:
    yield from TABLE.to_batches(max_chunksize=2)


SOURCES: dict[str, Callable[[], Any]] = {
    "pandas": lambda: pd.DataFrame(DATA),
    "pandas with categories": lambda: pd.DataFrame(DATA).astype({"who": "category"}),
    "polars": lambda: pl.DataFrame(DATA),
    "Arrow table": lambda: TABLE,
    "Arrow batch": lambda: TABLE.to_batches()[0],
    "Arrow reader": lambda: TABLE.to_reader(),
    "DuckDB": lambda: duckdb.from_arrow(TABLE),
    "batches": streamed,
}


@pytest.mark.parametrize("kind", SOURCES)
def test_every_frame_gives_the_same_records(kind: str, tmp_path: Path) -> None:
    with hubbub.read_log(SOURCES[kind](), columns=COLUMNS, work=tmp_path) as log:
        assert pq.read_table(log.ingested.log).to_pylist() == [
            {"user": "u1", "time": 1_141_214_400, "query": "lilac", "rank": None, "url": None},
            {"user": "u2", "time": 1_141_214_400, "query": "rose", "rank": None, "url": None},
        ]
        assert (log.ingested.dropped, log.ingested.own_query) == (1, False)
    assert not list(tmp_path.glob("hubbub-rows-*"))


def test_own_query_of_a_frame_is_remembered() -> None:
    with hubbub.read_log(TABLE, columns=COLUMNS, own_query=True) as log:
        assert log.ingested.own_query


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (iter([1]), "batches of Arrow"),
        (iter([]), "no columns"),
        (iter([TABLE.to_batches()[0], pa.RecordBatch.from_pydict({"who": [1]})]), "change on the way"),
        (pa.Table.from_arrays([TABLE["who"], TABLE["who"]], names=["who", "who"]), "one name"),
    ],
)
def test_what_is_no_table_is_refused(source: Any, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=said):
        hubbub.read_log(source, columns=COLUMNS, work=tmp_path)
    assert not list(tmp_path.iterdir())
