"""Rows of a file of columns → records, by the same tests as lines of text.

A row is a record: what a line of text would be refused for (a NUL byte, broken UTF-8, more than 1 MiB), a row is too.
Its text in the rejects is the values of the columns used, with tabs between them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hubbub.errors import InputError
from hubbub.ingest import columnar
from hubbub.ingest.clean import view
from hubbub.ingest.lines import MAX_LINE, Codes
from hubbub.ingest.records import build, part, rejects
from hubbub.ingest.schema import GROUP, ROLES, TEXT_KEPT, ReadPart, ReadTask, Reason, group_roles, said
from hubbub.ingest.times import Clock

TEXT = ("string", "large_string", "string_view", "binary", "large_binary", "binary_view")
ALLOWED = {
    "user": "text or whole numbers",
    "query": "text",
    "url": "text",
    "time": "a timestamp, a date, an epoch as a number, or text",
    "rank": "a number, or text",
}


def find(file: Path, names: Mapping[str, str]) -> None:
    """Refuse a file in which a column is missing or of a type that cannot be read."""
    found = columnar.schema(file)
    for role, name in names.items():
        if found.names.count(name) != 1:
            raise InputError(
                f"The file has no such column: {name} (for the {said(role)}).",
                given=file,
                typed=name,
                allowed=", ".join(found.names),
                next="name the column as the file does",
            )
        kind = found.field(name).type
        if not _readable(role, kind):
            raise InputError(
                f"The {said(role)} cannot be read from the column {name}.",
                given=f"{kind}, in {file}",
                allowed=ALLOWED.get(role, ALLOWED["user"]),
            )


def tasks(file: Path, columns: Mapping[str, str], clock: Clock, canonical_urls: bool) -> Iterator[ReadTask]:
    """One task per batch of rows."""
    for batch, done in columnar.batches(file, list(columns.values())):
        raw = {role: batch.column(batch.schema.names.index(name)) for role, name in columns.items()}
        yield ReadTask(lambda raw=raw: from_rows(raw, clock, canonical_urls), done)  # type: ignore[misc]


def from_rows(raw: Mapping[str, pa.Array], clock: Clock, canonical_urls: bool) -> ReadPart:
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
    records, code[fits] = build(columns, blank="", clock=clock, canonical_urls=canonical_urls)

    where = np.flatnonzero(code > Reason.KEPT)
    bad = pa.array(where)
    values = [_shown(raw[role].take(bad)) for role in (*ROLES, *group_roles(raw)) if role in raw]
    texts = [b"\t".join(row) for row in zip(*values, strict=True)]
    lengths = np.array([len(text) for text in texts], np.int64)
    kept = pa.array([text[:TEXT_KEPT] for text in texts], pa.binary())
    return part(records, rejects(where, code[where], lengths, kept), code)


def flat(column: pa.Array) -> pa.Array:
    """The column without dictionary; text of every kind as bytes."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return column.cast(pa.binary()) if str(column.type) in TEXT or pa.types.is_null(column.type) else column


def _is_text(role: str, kind: pa.DataType) -> bool:
    """Whether a column is text, or is made text: a user's number is a name."""
    return role == "user" or role.startswith(GROUP) or bool(pa.types.is_binary(kind))


def _readable(role: str, kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if str(kind) in TEXT or pa.types.is_null(kind):
        return True
    number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    return bool(
        ((role == "user" or role.startswith(GROUP)) and pa.types.is_integer(kind))
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
