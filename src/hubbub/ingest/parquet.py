"""Rows of a Parquet file → fields, by the same tests as lines of text.

A row is a record: what a row of text would be refused for (a NUL byte, broken UTF-8, more than 1 MiB), a row of
Parquet is too. Its text in the rejects is the values of the columns used, with tabs between them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from hubbub.errors import InputError
from hubbub.ingest.clean import view
from hubbub.ingest.lines import MAX_LINE, Codes
from hubbub.ingest.records import build, rejects
from hubbub.ingest.schema import ROLES, TEXT_KEPT, ReadPart, ReadTask, Reason
from hubbub.switches import switch

BATCH = switch(__name__, "BATCH", 65_536, low=3)
TEXT = ("string", "large_string", "string_view", "binary", "large_binary", "binary_view")
ALLOWED = {
    "user": "text or whole numbers",
    "query": "text",
    "url": "text",
    "time": "a timestamp, a date, epoch seconds as a number, or text",
    "rank": "a number, or text",
}


def schema(file: Path) -> Any:
    """The file's Arrow schema."""
    with parquet_file(file) as opened:
        return opened.schema_arrow


def find(file: Path, names: Mapping[str, str]) -> None:
    """Refuse a file in which a column is missing or of a type that cannot be read."""
    found = schema(file)
    for role, name in names.items():
        if found.names.count(name) != 1:
            raise InputError(
                f"The Parquet file has no such column: {name} (for the {role}).",
                given=file,
                allowed=", ".join(found.names),
                next="name the column as the file does",
            )
        kind = found.field(name).type
        if not _readable(role, kind):
            raise InputError(
                f"The {role} cannot be read from the column {name}.", given=f"{kind}, in {file}", allowed=ALLOWED[role]
            )


def tasks(file: Path, columns: Mapping[str, str], canonical_urls: bool) -> Iterator[ReadTask]:
    """One task per batch of rows."""
    size = file.stat().st_size
    done = 0
    with parquet_file(file) as opened:
        rows = max(1, opened.metadata.num_rows)
        try:
            for batch in opened.iter_batches(BATCH, columns=list(columns.values())):
                done += batch.num_rows
                raw = {role: batch.column(batch.schema.names.index(name)) for role, name in columns.items()}
                yield ReadTask(lambda raw=raw: from_rows(raw, canonical_urls), size * done // rows)  # type: ignore[misc]
        except (OSError, pa.ArrowException) as error:
            raise damaged(file, error) from None


def from_rows(raw: Mapping[str, pa.Array], canonical_urls: bool) -> ReadPart:
    """The records of a batch of rows."""
    raw = {role: flat(column) for role, column in raw.items()}
    count = len(raw["user"])
    code = np.zeros(count, np.int8)
    columns = {role: _text(column, code) if _is_text(role, column.type) else column for role, column in raw.items()}
    length = sum((np.diff(view(column)[1]) for column in columns.values() if pa.types.is_string(column.type)), start=0)
    code[np.asarray(length > MAX_LINE)] = Reason.TOO_LONG
    fits = np.flatnonzero(code == Reason.KEPT)
    if len(fits) < count:
        columns = {role: column.take(pa.array(fits)) for role, column in columns.items()}
    records, code[fits] = build(columns, blank="", epoch=True, canonical_urls=canonical_urls)

    where = np.flatnonzero(code)
    bad = pa.array(where)
    values = [_shown(raw[role].take(bad)) for role in ROLES if role in raw]
    texts = [b"\t".join(row) for row in zip(*values, strict=True)]
    lengths = np.array([len(text) for text in texts], np.int64)
    kept = pa.array([text[:TEXT_KEPT] for text in texts], pa.binary())
    return ReadPart(records, rejects(where, code[where], lengths, kept), count, count)


def flat(column: pa.Array) -> pa.Array:
    """The column without dictionary; text of every kind as bytes."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return column.cast(pa.binary()) if str(column.type) in TEXT or pa.types.is_null(column.type) else column


def _is_text(role: str, kind: pa.DataType) -> bool:
    """Whether a column is text, or is made text: a user's number is a name."""
    return role == "user" or bool(pa.types.is_binary(kind))


def _readable(role: str, kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if str(kind) in TEXT or pa.types.is_null(kind):
        return True
    number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    return bool(
        (role == "user" and pa.types.is_integer(kind))
        or (role == "rank" and number)
        or (role == "time" and (number or pa.types.is_timestamp(kind) or pa.types.is_date(kind)))
    )


def _text(column: pa.Array, code: Codes) -> pa.Array:
    """The column as valid UTF-8 without NULL; marks the rows in which it is not."""
    if pa.types.is_integer(column.type):
        return column.cast(pa.string()).fill_null("")
    column = column.fill_null(b"")
    array, offsets = view(column)
    broken = np.zeros(len(column), np.bool_)
    if array.max(initial=0) >= 0x80:
        suspects = np.unique(np.searchsorted(offsets, np.flatnonzero(array >= 0x80), side="right") - 1)
        for row, value in zip(suspects.tolist(), column.take(pa.array(suspects)).to_pylist(), strict=True):
            try:
                value.decode()
            except UnicodeDecodeError:
                broken[row] = True
        code[broken & (code != Reason.NUL_BYTE)] = Reason.BAD_ENCODING
    code[np.searchsorted(offsets, np.flatnonzero(array == 0), side="right") - 1] = Reason.NUL_BYTE
    if broken.any():
        column = pc.if_else(pa.array(broken), b"", column)
    return column.cast(pa.string())


def _shown(column: pa.Array) -> list[bytes]:
    """The values of a column as bytes, as the table of rejects shows them."""
    shown = column if pa.types.is_binary(column.type) else column.cast(pa.string()).cast(pa.binary())
    values: list[bytes] = shown.fill_null(b"").to_pylist()
    return values


def parquet_file(file: Path) -> Any:
    """The file, opened."""
    try:
        return pq.ParquetFile(file)
    except (OSError, UnicodeDecodeError, pa.ArrowException) as error:  # names of columns are decoded when it is opened
        raise damaged(file, error) from None


def damaged(file: Path, error: Exception) -> InputError:
    """The error for a file that cannot be read as Parquet."""
    why = str(error).split("\n")[0].rstrip(".")
    return InputError(
        f"The file is not Parquet, or is damaged: {why}.", given=file, next="check that it was copied whole"
    )
