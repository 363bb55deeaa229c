"""Parquet that is clean already is copied byte by byte, and not written anew.

The rule: one file, in exactly SearchLog's columns and types, in row groups and under a codec that every engine reads
well, of which cleaning would change no value, drop no record and reject none. Whether that holds may hang on one row
of one user, and may: the copy then holds the very records that would have been written, so nothing else can differ.

What is looked at is the copy, which nobody else writes to, and every batch of it. Plain ASCII is told from its bytes
at once; of any other batch the records are made as always, and compared.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from hubbub.files import disk_errors
from hubbub.ingest import archives
from hubbub.ingest.clean import BLANK, view
from hubbub.ingest.columnar import parquet_file
from hubbub.ingest.lines import MAX_LINE
from hubbub.ingest.numbers import EARLIEST, LATEST
from hubbub.ingest.parquet import from_rows
from hubbub.ingest.schema import SCHEMA
from hubbub.ingest.sources import is_parquet
from hubbub.ingest.times import usual
from hubbub.switches import switch

BATCH = switch(__name__, "BATCH", 65_536, low=3)
LARGEST = switch(__name__, "LARGEST", 1 << 20, low=1)  # rows of a group: engines read one group on one thread
AT_ONCE = switch(__name__, "AT_ONCE", 1 << 26, low=1)  # bytes of a row group, unpacked, that is looked at in one piece
FEW = ["user"]
"""Texts of which a row group holds few distinct ones: each is looked at once. For others finding them costs more."""
LETTERS = ord("Z") - ord("A") + 1
CODECS = ("UNCOMPRESSED", "SNAPPY", "GZIP", "ZSTD")


def alike(file: Path) -> bool:
    """Whether a file is laid out as the cleaned log would be: its columns, their types, row groups and codec."""
    if not is_parquet(file) or archives.of(file):
        return False
    with parquet_file(file) as opened:
        found, facts = opened.schema_arrow, opened.metadata
        if [(field.name, field.type) for field in found] != [(field.name, field.type) for field in SCHEMA]:
            return False
        groups = [facts.row_group(number) for number in range(facts.num_row_groups)]
        codecs = {group.column(place).compression for group in groups for place in range(group.num_columns)}
        return codecs <= {*CODECS} and all(group.num_rows <= LARGEST for group in groups)


def copied_clean(file: Path, copy: Path, progress: Callable[[int], None]) -> int | None:
    """Copy a file that is laid out so; how many records it holds, or None if they are not all clean."""
    with disk_errors(copy.parent, "--work"):
        shutil.copyfile(file, copy)
    size, done = copy.stat().st_size, 0
    with parquet_file(copy) as opened:
        rows = opened.metadata.num_rows
        try:
            for batch in _batches(opened, copy):
                if not (_plain(batch) or _same(batch)):
                    return None
                done += batch.num_rows
                progress(size * done // rows)
        except (OSError, pa.ArrowException):  # damaged: reading it the usual way says what is wrong with which file
            return None
    return int(rows)


def _batches(opened: Any, file: Path) -> Iterator[pa.RecordBatch]:
    """A row group at a time, or a large one in batches of rows."""
    with pq.ParquetFile(file, pre_buffer=False, read_dictionary=FEW) as encoded:
        for number in range(opened.metadata.num_row_groups):
            if opened.metadata.row_group(number).total_byte_size <= AT_ONCE:
                yield from encoded.read_row_group(number, use_threads=False).to_batches()
            else:
                yield from opened.iter_batches(BATCH, row_groups=[number])


def _plain(batch: pa.RecordBatch) -> bool:
    """Whether every value is ASCII that cleaning leaves as it is; a batch that is not may be clean all the same."""
    user, time, query, rank, url = batch.columns
    if user.null_count or query.null_count:
        return False
    user, query, url = (c.dictionary if pa.types.is_dictionary(c.type) else c for c in (user, query, url))
    longest = sum(int(np.diff(view(text)[1]).max(initial=0)) for text in (user, query, url))
    ranges = pc.min_max(time).as_py(), pc.min_max(rank).as_py()
    return (
        longest <= MAX_LINE
        and all(_trimmed(text) for text in (user, query, url))
        and _folded(query)
        and (ranges[0]["min"] is None or (ranges[0]["min"] >= EARLIEST and ranges[0]["max"] <= LATEST))
        and (ranges[1]["min"] is None or ranges[1]["min"] >= 0)
    )


def _trimmed(column: pa.Array) -> bool:
    """Whether every value that is there is printable ASCII, none is empty, and none begins or ends with a blank."""
    array, offsets = view(column)
    starts, ends = offsets[:-1], offsets[1:]
    some = ends > starts
    if column.null_count:
        if not np.array_equal(some, column.is_valid().to_numpy(zero_copy_only=False)):
            return False
        starts, ends = starts[some], ends[some]
    elif not some.all():
        return False
    if not len(array):
        return True
    edges = (array[starts] == BLANK).any() or (array[ends - 1] == BLANK).any()
    return bool(array.min() >= BLANK and array.max() <= ord("~") and not edges)


def _folded(column: pa.Array) -> bool:
    """Whether ASCII holds no capital letter and no two blanks in a row."""
    array, _ = view(column)
    blank = array == BLANK
    capital = (array - ord("A")).min(initial=0xFF) < LETTERS  # of bytes: what comes before A is far above Z
    return not capital and not (blank[1:] & blank[:-1]).any()


def _same(batch: pa.RecordBatch) -> bool:
    """Whether the records that are made of these rows are these rows."""
    made = from_rows(dict(zip(SCHEMA.names, batch.columns, strict=True)), usual, canonical_urls=False)
    return bool(made.records.equals(batch.cast(SCHEMA))) if made.records.num_rows == batch.num_rows else False
