"""Where a log's files are, whatever a log may be: rows are kept in a file first, and objects of a store are copied."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hubbub.ingest.databases import fetched, is_database, refuse_statements
from hubbub.ingest.frames import batches_of, is_frame, kept
from hubbub.ingest.stores import copied, is_stored


@contextmanager
def named(
    source: Any,
    query: str | None = None,
    table: str | None = None,
    work: Path | None = None,
    own_query: bool = False,
) -> Iterator[tuple[str | Path, str | None]]:
    """Where a log's files are, and in which format, if that follows from what it is."""
    if is_database(source):
        with fetched(source, query, table, work, own_query) as file:
            yield file, "table"
        return
    refuse_statements(source, query, table)
    if is_frame(source):
        with kept(batches_of(source), work) as file:
            yield file, "table"
    elif is_stored(source):
        with copied(source, work) as file:
            yield file, None
    else:
        yield source, None
