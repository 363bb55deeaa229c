"""OpenSearch's User Behavior Insights (UBI 1.3): documents of ubi_queries and ubi_events, joined on user and query id.

    {"query_id": "q1", "client_id": "c1", "user_query": "lilac", "timestamp": "2024-05-16T12:34:56.789Z"}
    {"action_name": "click", "query_id": "q1", "client_id": "c1", "timestamp": "2024-05-16T12:35:02.123Z",
     "event_attributes": {"object": {"object_id": "sku-7"}, "position": {"ordinal": 3}}}

A document with an `action_name` is an event, any other a search: files hold both kinds, one object per line, or rows
of Parquet. Events whose action is not in the list of clicks are passed over, and so are bulk lines that announce a
document: they are no records. A click takes time and text from its search (`join`).

Who the user is cannot be guessed: a client is a device, an account is often missing, a session is a visit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from hubbub.errors import InputError, ParameterError
from hubbub.ingest import lines
from hubbub.ingest.arrays import elements
from hubbub.ingest.encodings import UTF8
from hubbub.ingest.fields import split_quoted
from hubbub.ingest.lines import Block, Overlong, blocks
from hubbub.ingest.readers import documents, ubi_parquet
from hubbub.ingest.readers.base import NothingStated, register
from hubbub.ingest.readers.documents import Document
from hubbub.ingest.readers.loose import loose, set_aside
from hubbub.ingest.readers.table import fields_of, first_line
from hubbub.ingest.records import overlong, rejected_lines
from hubbub.ingest.schema import ReadPart, ReadTask, Reason
from hubbub.ingest.sources import bare, is_parquet

UNITS = {
    "client_id": "a browser, an app or a bot: protects a device, not a person with several",
    "user_id": "an account on all its devices: lines without one (not logged in) are rejected",
    "session_id": "a visit: protects each visit alone, not a person who comes back",
}
COLUMNS = {"query": documents.QUERY, "time": documents.TIME, "rank": documents.RANK, "url": documents.URL}
CLICK = "click"
TEXT = (".ndjson", ".jsonl", ".json", ".csv")


class UbiReader(NothingStated):
    """Reads UBI documents."""

    name = "ubi"
    sentence = "documents of OpenSearch's User Behavior Insights as JSON, CSV or Parquet; --columns user=…"
    shape = None

    def columns(self, given: Mapping[str, str] | None, files: list[Path]) -> dict[str, str]:
        """The user's field, which must be chosen, and the names of actions that are clicks."""
        names = dict(given or {})
        shown = ",".join(f"{role}={name}" for role, name in names.items()) or "no --columns"
        allowed = "\n           ".join(f"user={unit}  {means}" for unit, means in UNITS.items())
        if names.get("user") not in UNITS:
            raise ParameterError(
                "UBI needs to be told who the user is.",
                given=shown,
                allowed=allowed,
                next="choose whom the release is to protect: --columns user=client_id, for example",
            )
        actions = "+".join(action.strip() for action in names.get(CLICK, CLICK).split("+"))
        if set(names) - {"user", CLICK} or not all(actions.split("+")):
            raise ParameterError(
                "--columns for UBI names the user and, if need be, the actions that are clicks.",
                given=shown,
                allowed="user=… and click=…, several joined by a plus sign: click=click+item_click",
            )
        for file in files:
            if is_parquet(file):
                ubi_parquet.paths(file, names["user"])
            elif bare(file).suffix.lower() not in TEXT:
                raise InputError(
                    "The file's name does not say that it holds UBI documents.",
                    given=file,
                    allowed=f"{', '.join(TEXT)}, each also with .gz or .zst; .parquet",
                    next="rename the file, or name the log's files by a glob",
                )
        return {"user": names["user"], **COLUMNS, CLICK: actions}

    def tasks(self, file: Path, columns: Mapping[str, str], canonical_urls: bool) -> Iterator[ReadTask]:
        """One task per block of lines, or a batch of rows."""
        unit, clicks = columns["user"], frozenset(columns[CLICK].split("+"))
        if is_parquet(file):
            yield from ubi_parquet.tasks(file, unit, clicks, canonical_urls)
            return
        yield from joined_tasks(file, parsing(file, unit), clicks, canonical_urls)


Parse = Callable[[str], Document | Reason]
"""The document on a line, or why there is none."""


def joined_tasks(file: Path, parse: Parse, clicks: frozenset[str], canonical_urls: bool) -> Iterator[ReadTask]:
    """One task per block of lines, each of which is a document that is still to be joined."""
    with elements(file) as stream:
        for piece in blocks(stream):
            yield ReadTask(
                lambda piece=piece: from_lines(piece, parse, clicks, canonical_urls),  # type: ignore[misc]
                stream.done(),
            )


def from_lines(piece: Block | Overlong, parse: Parse, clicks: frozenset[str], canonical_urls: bool) -> ReadPart:
    """The searches and clicks of a run of lines."""
    if isinstance(piece, Overlong):
        return overlong(piece)
    split = lines.split(piece.data)
    usable = np.flatnonzero(split.code == Reason.KEPT)
    found: dict[int, Document] = {}
    for line, start, end in zip(usable.tolist(), split.start[usable].tolist(), split.end[usable].tolist(), strict=True):
        read = parse(piece.data[start:end].decode())
        if isinstance(read, Reason):
            split.code[line] = read
        else:
            found[line] = read
    rows = loose(found, split.code, clicks, canonical_urls)
    return set_aside(rejected_lines(split), split.code, rows)


def parsing(file: Path, unit: str) -> Parse:
    """How the lines of a file are read: as objects, or by the names in the header of a CSV file."""
    if bare(file).suffix.lower() != ".csv":
        return lambda line: checked(line, documents.parse(line), lambda fields: documents.document(fields, unit))
    header = first_line(file, UTF8)
    names = fields_of(header, ",")

    def row(line: str) -> Document | Reason:
        if line.encode() == header:
            return Reason.HEADER
        values = split_quoted(line.encode(), b",")
        if values is None:
            return Reason.BAD_QUOTE
        if len(values) != len(names):
            return Reason.BAD_FIELDS
        filled = {name: value.decode() for name, value in zip(names, values, strict=True) if value}
        empty_search = {} if documents.ACTION in filled else {documents.QUERY: ""}
        return documents.document(empty_search | filled, unit)

    return row


def checked(
    line: str, fields: dict[str, Any] | Reason, document: Callable[[Mapping[str, Any]], Document | Reason]
) -> Document | Reason:
    """The document that an object is, unless an escape in it stands for what no line may hold."""
    found = fields if isinstance(fields, Reason) else document(fields)
    if isinstance(found, Reason) or "\\u" not in line:
        return found
    return documents.trouble(found) or found


register(UbiReader())
