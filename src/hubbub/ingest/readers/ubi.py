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

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from hubbub.errors import InputError, ParameterError
from hubbub.ingest import lines
from hubbub.ingest.lines import Block, Overlong, blocks
from hubbub.ingest.readers import documents, ubi_parquet
from hubbub.ingest.readers.base import NothingStated, register
from hubbub.ingest.readers.documents import Document
from hubbub.ingest.readers.loose import loose, set_aside
from hubbub.ingest.records import overlong, rejected_lines
from hubbub.ingest.schema import ReadPart, ReadTask, Reason
from hubbub.ingest.sources import bare, is_parquet, opened

UNITS = {
    "client_id": "a browser, an app or a bot: protects a device, not a person with several",
    "user_id": "an account on all its devices: lines without one (not logged in) are rejected",
    "session_id": "a visit: protects each visit alone, not a person who comes back",
}
COLUMNS = {"query": documents.QUERY, "time": documents.TIME, "rank": documents.RANK, "url": documents.URL}
CLICK = "click"
TEXT = (".ndjson", ".jsonl", ".json")


class UbiReader(NothingStated):
    """Reads UBI documents."""

    name = "ubi"
    sentence = "documents of OpenSearch's User Behavior Insights: .ndjson, .jsonl, .json or .parquet; --columns user=…"
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
                    allowed=f"{', '.join(TEXT)} with one object per line, each also with .gz or .zst; .parquet",
                    next="rename the file, or name the log's files by a glob",
                )
        return {"user": names["user"], **COLUMNS, CLICK: actions}

    def tasks(self, file: Path, columns: Mapping[str, str], canonical_urls: bool) -> Iterator[ReadTask]:
        """One task per block of lines, or a batch of rows."""
        unit, clicks = columns["user"], frozenset(columns[CLICK].split("+"))
        if is_parquet(file):
            yield from ubi_parquet.tasks(file, unit, clicks, canonical_urls)
            return
        with opened(file) as stream:
            for piece in blocks(stream):
                yield ReadTask(
                    lambda piece=piece: from_lines(piece, unit, clicks, canonical_urls),  # type: ignore[misc]
                    stream.done(),
                )


def from_lines(piece: Block | Overlong, unit: str, clicks: frozenset[str], canonical_urls: bool) -> ReadPart:
    """The searches and clicks of a run of lines."""
    if isinstance(piece, Overlong):
        return overlong(piece)
    split = lines.split(piece.data)
    usable = np.flatnonzero(split.code == Reason.KEPT)
    found: dict[int, Document] = {}
    for line, start, end in zip(usable.tolist(), split.start[usable].tolist(), split.end[usable].tolist(), strict=True):
        read = _document(piece.data[start:end].decode(), unit)
        if isinstance(read, Reason):
            split.code[line] = read
        else:
            found[line] = read
    rows = loose(found, split.code, clicks, canonical_urls)
    return set_aside(rejected_lines(split), split.code, rows)


def _document(line: str, unit: str) -> Document | Reason:
    """The document on a line, or why there is none."""
    fields = documents.parse(line)
    if isinstance(fields, Reason):
        return fields
    found = documents.document(fields, unit)
    if isinstance(found, Reason) or "\\u" not in line:
        return found
    return documents.trouble(found) or found


register(UbiReader())
