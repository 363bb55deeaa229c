"""UBI documents in Parquet: columns that are objects, or flat ones with dots in their names.

Which columns there are decides what a file holds, and is the same for all rows. A file of events needs an
`action_name` and the clicked object's id, a file of searches a `user_query`, and both the user.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hubbub.errors import InputError
from hubbub.ingest import columnar, numbers
from hubbub.ingest.columnar import damaged, parquet_file, schema
from hubbub.ingest.lines import MAX_LINE
from hubbub.ingest.parquet import TEXT, flat
from hubbub.ingest.readers import documents
from hubbub.ingest.readers.documents import Document
from hubbub.ingest.readers.loose import loose, set_aside
from hubbub.ingest.records import rejects
from hubbub.ingest.schema import TEXT_KEPT, ReadPart, ReadTask, Reason


def paths(file: Path, unit: str) -> dict[str, str]:
    """Where each field is in this file; refuses a file that lacks one it needs, or has it in a type of another kind."""
    found = schema(file)
    kinds = {
        "user": (unit, f"{documents.ATTRIBUTES}.{unit}"),
        "id": (documents.ID,),
        "action": (documents.ACTION,),
        "query": (documents.OLD_QUERY, documents.QUERY),
        "time": (documents.TIME,),
        "rank": (documents.RANK,),
        "url": (documents.URL,),
    }
    where: dict[str, str] = {}
    for role, names in kinds.items():
        for path in names:
            kind = _kind(found, path)
            if kind is not None and role not in where:
                if not _readable(role, kind):
                    raise InputError(f"The {role} cannot be read from {path}.", given=f"{kind}, in {file}")
                where[role] = path
    needed = ["user", "url"] if "action" in where else ["user", "query"]
    for role in needed:
        if role not in where:
            raise InputError(
                f"The Parquet file has no column for the {role}: {kinds[role][-1 if role == 'query' else 0]}.",
                given=file,
                allowed=", ".join(found.names),
                next="export the field, or choose another user: the join needs it in searches and in events",
            )
    return where


def _kind(found: Any, path: str) -> Any:
    """The type of the column at the end of a path, or None."""
    if found.names.count(path) == 1:
        return found.field(path).type
    root, *rest = path.split(".")
    kind = found.field(root).type if found.names.count(root) == 1 else None
    for key in rest:
        inner = {field.name: field.type for field in kind} if kind is not None and pa.types.is_struct(kind) else {}
        kind = inner.get(key)
    return kind


def _readable(role: str, kind: Any) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if str(kind) in TEXT or pa.types.is_null(kind) or pa.types.is_integer(kind):
        return True
    if role == "time":
        return bool(pa.types.is_timestamp(kind) or pa.types.is_date(kind))
    return role == "rank" and bool(pa.types.is_floating(kind))


def tasks(file: Path, unit: str, clicks: frozenset[str], canonical_urls: bool) -> Iterator[ReadTask]:
    """One task per batch of rows."""
    where, size, done = paths(file, unit), file.stat().st_size, 0
    with parquet_file(file) as opened:
        rows = max(1, opened.metadata.num_rows)
        try:
            for batch in opened.iter_batches(columnar.BATCH, columns=list(where.values())):
                done += batch.num_rows
                raw = {role: _leaf(batch, path) for role, path in where.items()}
                yield ReadTask(lambda raw=raw: from_rows(raw, clicks, canonical_urls), size * done // rows)  # type: ignore[misc]
        except (OSError, pa.ArrowException) as error:
            raise damaged(file, error) from None


def _leaf(batch: pa.RecordBatch, path: str) -> pa.Array:
    if path in batch.schema.names:
        return batch.column(batch.schema.names.index(path))
    root, *rest = path.split(".")
    return pc.struct_field(batch.column(batch.schema.names.index(root)), rest)


def from_rows(raw: Mapping[str, pa.Array], clicks: frozenset[str], canonical_urls: bool) -> ReadPart:
    """The searches and clicks of a batch of rows."""
    columns = {role: _values(role, column) for role, column in raw.items()}
    count = len(raw["user"])
    rows = [Document(*row) for row in zip(*(columns.get(f, [""] * count) for f in Document._fields), strict=True)]
    code = np.zeros(count, np.int8)
    for at, row in enumerate(rows):
        code[at] = Reason.TOO_LONG if sum(map(len, row)) > MAX_LINE else documents.trouble(row) or Reason.KEPT
    found = {at: row for at, row in enumerate(rows) if code[at] == Reason.KEPT}
    loosened = loose(found, code, clicks, canonical_urls)
    where = np.flatnonzero(code > Reason.KEPT)
    texts = ["\t".join(rows[at]).encode(errors="surrogateescape") for at in where]
    lengths = np.array([len(text) for text in texts], np.int64)
    kept = pa.array([text[:TEXT_KEPT] for text in texts], pa.binary())
    return set_aside(rejects(where, code[where], lengths, kept), code, loosened)


def _values(role: str, column: pa.Array) -> list[str]:
    """The values of a column as texts of documents; broken UTF-8 is kept in a form by which it is rejected later."""
    column = flat(column)
    if pa.types.is_binary(column.type):
        return [value.decode(errors="surrogateescape") for value in column.fill_null(b"").to_pylist()]
    if pa.types.is_timestamp(column.type) or pa.types.is_date(column.type):
        found = numbers.times(column, epoch=False)
        written = np.datetime_as_string(found.value.astype("datetime64[s]"), timezone="UTC")
        return list(np.where(found.missing, "", np.where(found.bad, documents.WRONG, written)).tolist())
    return [documents.plain(value) for value in column.to_pylist()]
