"""A log as a file: `.tsv` or `.tsv.gz` in AOL's format, `.parquet` in SearchLog's columns.

The bytes of the file do not depend on how the log was cut into batches.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from hubbub.errors import OutputError
from hubbub.files import disk_errors, hold, sweep
from hubbub.ingest.schema import SCHEMA

HEADER = b"AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
ROW_GROUP = 122_880
SUFFIXES = (".tsv", ".tsv.gz", ".parquet")


class Writer(Protocol):
    """Takes the log batch by batch."""

    def write(self, batch: pa.RecordBatch) -> None:
        """Add rows."""

    def close(self) -> None:
        """Finish the file."""


class Parquet:
    """Writes a log as Parquet, in row groups of equal size."""

    def __init__(self, path: Path, schema: pa.Schema = SCHEMA) -> None:
        self._writer = pq.ParquetWriter(path, schema, compression="zstd", compression_level=1)
        self._schema, self._waiting, self._rows = schema, list[pa.RecordBatch](), 0

    def write(self, batch: pa.RecordBatch) -> None:
        """Add rows."""
        self._waiting.append(batch)
        self._rows += batch.num_rows
        while self._rows >= ROW_GROUP:
            self._flush(ROW_GROUP)

    def _flush(self, rows: int) -> None:
        table = pa.Table.from_batches(self._waiting, self._schema)
        self._writer.write_table(table.slice(0, rows).combine_chunks(), row_group_size=ROW_GROUP)
        self._waiting = table.slice(rows).to_batches()
        self._rows -= rows

    def close(self) -> None:
        """Write what is left."""
        if self._rows:
            self._flush(self._rows)
        self._writer.close()


class AolWriter:
    """Writes a log in AOL's format: the header, then one line per row."""

    def __init__(self, path: Path, zipped: bool) -> None:
        self._file = path.open("wb")
        self._stream = (
            gzip.GzipFile(filename="", mode="wb", compresslevel=3, fileobj=self._file, mtime=0)
            if zipped
            else self._file
        )
        self._stream.write(HEADER)

    def write(self, batch: pa.RecordBatch) -> None:
        """Add lines."""
        self._stream.write(lines(batch))

    def close(self) -> None:
        """Finish the file."""
        self._stream.close()
        self._file.close()


def lines(batch: pa.RecordBatch) -> memoryview:
    """The batch as lines of the AOL format."""
    time = batch["time"].cast(pa.timestamp("s")).cast(pa.string())
    rank = batch["rank"].cast(pa.string()).fill_null("")
    url = pc.binary_join_element_wise(batch["url"].fill_null(""), "\n", "")
    text = pc.binary_join_element_wise(batch["user"], batch["query"], time, rank, url, "\t")
    _, offsets, data = text.buffers()
    return memoryview(data)[: np.frombuffer(offsets, np.int32)[len(text)]]


def suffix(out: Path) -> str:
    """The form that the file's name asks for."""
    for known in SUFFIXES:
        if out.name.endswith(known) and out.name != known:
            return known
    raise OutputError(
        "The name does not say how to write the log.", given=out, allowed=f"FILE{', FILE'.join(SUFFIXES)}"
    )


def require_free(out: Path) -> None:
    """Refuse to write over anything."""
    if os.path.lexists(out):
        raise OutputError(
            "The output file exists already.",
            given=out,
            allowed="a name that does not exist yet",
            next="choose another --out, or remove the file",
        )


@contextmanager
def writing(out: Path, more: Sequence[str] = ()) -> Iterator[Writer]:
    """A file to fill in a hidden folder beside it; it becomes `out` at the end, or disappears."""
    form, schema = suffix(out), pa.schema([*SCHEMA, *((name, pa.string()) for name in more)])
    require_free(out)
    with disk_errors(out):
        out.parent.mkdir(parents=True, exist_ok=True)
        prefix = f".{out.name}.partial-"
        sweep(out.parent, prefix)
        held = hold(out.parent, prefix)
        try:
            partial = held.path / out.name
            with closing(
                Parquet(partial, schema) if form == ".parquet" else AolWriter(partial, zipped=form == ".tsv.gz")
            ) as writer:
                yield writer
            require_free(out)
            partial.rename(out)
        finally:
            held.remove()
