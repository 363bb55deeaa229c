"""Rows that are in memory or come as a stream, as a log: written into a file of the owner's alone while they are read.

A data frame of pandas or polars, an Arrow table or reader, a relation of DuckDB, or Arrow batches one after the other:
whatever can be handed over as a stream of Arrow batches. From then on the log is a Parquet file like any other.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from hubbub.errors import InputError
from hubbub.files import create_private, disk_errors, hold_work

PREFIX = "hubbub-rows-"
Batches = Iterator[pa.RecordBatch]


def is_frame(source: object) -> bool:
    """Whether a log is a stream of rows, and not the name of one."""
    return hasattr(source, "__arrow_c_stream__") or isinstance(source, pa.RecordBatch | Iterator)


def batches_of(source: Any) -> Batches:
    """The rows of a frame; refuses an iterator of anything but batches."""
    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    if hasattr(source, "__arrow_c_stream__"):
        reader = pa.RecordBatchReader.from_stream(source)
        yield pa.RecordBatch.from_pylist([], schema=reader.schema)
        yield from reader
        return
    for batch in source:
        if not isinstance(batch, pa.RecordBatch):
            raise InputError(
                "A log that comes piece by piece comes in batches of Arrow.",
                given=type(batch).__name__,
                allowed="pyarrow.RecordBatch, one after the other, all with the same columns",
            )
        yield batch


@contextmanager
def kept(batches: Batches, work: Path | None) -> Iterator[Path]:
    """The rows as a Parquet file that nobody else may read, removed at the end."""
    held = hold_work(work, PREFIX)
    try:
        file = held.path / "rows.parquet"
        with disk_errors(held.path.parent, "--work"):
            _written(batches, file)
        yield file
    finally:
        held.remove()


def _written(batches: Batches, file: Path) -> None:
    """Write batches as they come; whoever calls removes the file if the stream breaks."""
    with create_private(file) as out:
        plain = (_plain(batch) for batch in batches)
        first = next(plain, None)
        if first is None:
            raise InputError("The log has no columns.", next="check what makes its rows")
        with pq.ParquetWriter(out, first.schema, compression="lz4") as writer:
            writer.write_batch(first)
            for batch in plain:
                if batch.schema != first.schema:
                    raise InputError("The log's columns change on the way.", given=batch.schema, allowed=first.schema)
                writer.write_batch(batch)


def _plain(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch with every column in a type that a table may have: what is only known by its bytes is refused."""
    columns, names = [], batch.schema.names
    if len(set(names)) < len(names):
        raise InputError("Two columns have one name.", given=", ".join(names), next="name them apart: SELECT … AS …")
    for column in batch.columns:
        if isinstance(column.type, pa.BaseExtensionType):
            column = column.storage
        if pa.types.is_decimal(column.type):
            column = column.cast(pa.string())
        columns.append(column)
    return pa.RecordBatch.from_arrays(columns, names=names)
