"""Searches and clicks that arrive on lines of their own → records, joined within one user.

A click belongs to the search with its id *and its user*. One that names an id of another user, or of nobody, is
rejected as `no-query`: otherwise removing one user would change another's records. If a
user's searches share an id, it belongs to the earliest. A search without a click is one record, a search with n clicks
is n: a search that was clicked is carried by its clicks, and is not counted beside them.

Memory: rows are dealt by user into PARTS heaps, which go to files in the working folder when together they outgrow
HELD. One heap after the other is then joined, so the join holds about the PARTSth part of the log. All rows of a user
are in one heap, in the order in which they were read.
"""

from __future__ import annotations

import tempfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa

from hubbub.errors import InputError
from hubbub.files import disk_errors
from hubbub.ingest.lines import Ints
from hubbub.ingest.numbers import LATEST
from hubbub.ingest.records import PART_REJECTS, rejects
from hubbub.ingest.schema import NOTHING, SCHEMA, TEXT_KEPT, ReadPart, Reason, no_rows
from hubbub.switches import switch

PARTS = switch(__name__, "PARTS", 64, low=3)
HELD = switch(__name__, "HELD", 256 << 20, low=0)
LOOSE = pa.schema([*SCHEMA, ("id", pa.string()), ("click", pa.bool_()), ("line", pa.int64())])
"""A search (rank and url NULL) or a click (time NULL, query empty); `line` counts from 0 at the part's first line."""
NO_REJECTS = no_rows(PART_REJECTS)
HEAP = LOOSE.append(pa.field("file", pa.int32()))


class Join:
    """Collects loose rows file by file, then gives them back as parts."""

    def __init__(self, work: Path) -> None:
        self._work, self._open = work, ExitStack()
        self._heaps: list[list[pa.RecordBatch]] = [[] for _ in range(PARTS)]
        self._writers: list[Any] = []
        self._held = 0
        self._files: list[Path] = []
        self._folder: Path | None = None

    def add(self, loose: pa.RecordBatch | None, file: Path, lines_before: int) -> None:
        """Take the loose rows of a part; `lines_before` is the number of the file's lines before it."""
        if loose is None or not loose.num_rows:
            return
        if self._files[-1:] != [file]:
            self._files.append(file)
        lines = pa.array(loose["line"].to_numpy() + lines_before)
        files = pa.repeat(pa.scalar(len(self._files) - 1, pa.int32()), loose.num_rows)
        rows = pa.RecordBatch.from_arrays([*loose.columns[:-1], lines, files], schema=HEAP)
        users = rows["user"].dictionary_encode()
        heap = np.array([zlib.crc32(user.encode()) % PARTS for user in users.dictionary.to_pylist()])
        heap = heap[users.indices.to_numpy()]
        rows = rows.take(pa.array(np.argsort(heap, kind="stable")))
        ends = np.cumsum(np.bincount(heap, minlength=PARTS)).tolist()
        for number, (start, end) in enumerate(zip([0, *ends], ends, strict=False)):
            if start < end:
                self._heaps[number].append(rows.slice(start, end - start))
        self._held += rows.nbytes
        if self._held > HELD:
            with disk_errors(self._work, "working folder"):
                self._spill()

    def _spill(self) -> None:
        """Append the rows held in memory to the files of their heaps."""
        if self._folder is None:
            self._folder = Path(self._open.enter_context(tempfile.TemporaryDirectory(prefix=".join-", dir=self._work)))
            options = pa.ipc.IpcWriteOptions(compression="zstd")
            for number in range(PARTS):
                writer = pa.ipc.new_stream(str(self._folder / str(number)), HEAP, options=options)
                self._writers.append(self._open.enter_context(writer))
        for writer, heap in zip(self._writers, self._heaps, strict=True):
            for batch in heap:
                writer.write_batch(batch)
            heap.clear()
        self._held = 0

    def parts(self) -> Iterator[tuple[Path, ReadPart]]:
        """Join heap after heap: for each file, its records and the clicks that found no search."""
        with disk_errors(self._work, "working folder"):
            for writer in self._writers:
                writer.close()
        for number in range(PARTS):
            heap, self._heaps[number] = self._heaps[number], []
            if self._folder is not None:
                with pa.ipc.open_stream(str(self._folder / str(number))) as stream:
                    heap = [*stream, *heap]
            if heap:
                yield from self._joined(_whole(heap))

    def _joined(self, rows: pa.RecordBatch) -> Iterator[tuple[Path, ReadPart]]:
        search, click, orphans = joined(rows)
        columns = [rows[name].take(pa.array(search)) for name in ("user", "time", "query")]
        columns += [rows[name].take(pa.array(click, mask=click < 0)) for name in ("rank", "url")]
        records = pa.RecordBatch.from_arrays(columns, schema=SCHEMA)
        yield self._files[0], ReadPart(records, NO_REJECTS, 0, len(search))
        files = rows["file"].to_numpy()[orphans]
        for file in np.unique(files).tolist():
            lost = _no_query(rows.take(pa.array(orphans[files == file])))
            yield self._files[file], ReadPart(NOTHING, lost, 0, lost.num_rows)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with disk_errors(self._work, "working folder"):
            self._open.close()


def joined(rows: pa.RecordBatch) -> tuple[Ints, Ints, Ints]:
    """The row of the search and of the click (-1: none) of each record, and the rows of clicks without a search."""
    every = np.arange(rows.num_rows)
    clicked = rows["click"].to_numpy(zero_copy_only=False)
    key = _codes(rows["user"]) * rows.num_rows + _codes(rows["id"])  # a user and an id
    time = rows["time"].fill_null(LATEST + 1).to_numpy()
    searches, clicks = every[~clicked], every[clicked]
    by_key = searches[np.lexsort((searches, time[searches], key[searches]))]
    keys, first = np.unique(key[by_key], return_index=True)
    if not len(keys):
        return searches, searches, clicks
    at = np.minimum(np.searchsorted(keys, key[clicks]), len(keys) - 1)
    found = keys[at] == key[clicks]
    owner, taken = by_key[first][at[found]], clicks[found]
    bare = np.setdiff1d(searches, owner)
    search = np.concatenate([bare, owner])
    click = np.concatenate([np.full(len(bare), -1), taken])
    order = np.lexsort((click, search))
    return search[order], click[order], clicks[~found]


def _whole(heap: list[pa.RecordBatch]) -> pa.RecordBatch:
    try:
        return pa.concat_batches(heap)
    except pa.ArrowInvalid:  # more than 2 GiB of text: one user, or a log of a hundred times that
        raise InputError(
            "One part of the log is too large to be joined.",
            given=f"{sum(batch.num_rows for batch in heap)} searches and clicks",
            next="leave out the clients that are no people, or release the log in shorter periods",
        ) from None


def _codes(column: pa.Array) -> Ints:
    codes: Ints = column.dictionary_encode().indices.to_numpy().astype(np.int64)
    return codes


def _no_query(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Rejects: as with Parquet, the text of each is the values that were used, with tabs between them."""
    values = [rows[name].fill_null("").to_pylist() for name in ("user", "id", "url")]
    texts = ["\t".join(row).encode() for row in zip(*values, strict=True)]
    length = np.array([len(text) for text in texts], np.int64)
    code = np.full(len(texts), Reason.NO_QUERY, np.int8)
    kept = pa.array([text[:TEXT_KEPT] for text in texts], pa.binary())
    return rejects(rows["line"].to_numpy(), code, length, kept)
