"""TREC's session track, 2011 to 2014: XML with sessions of queries, what they found and what was clicked.

    <sessiontrack2014><session num="1" starttime="10:34:00.0" userid="w7"><interaction num="1" starttime="…">
      <query>lilac</query><results>…</results><clicked><click num="1"><rank>3</rank><docno>clueweb12-7</docno></click>

A session is one element and makes the records of one user; a file that is no XML is refused whole. Times have no date
and are left out. A document type is refused: entities could make a small file a large one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from hubbub.errors import InputError
from hubbub.ingest.readers.base import register
from hubbub.ingest.readers.events import Event, EventReader, from_events
from hubbub.ingest.schema import ReadTask, Reason
from hubbub.ingest.sources import opened
from hubbub.switches import switch

PIECE = switch(__name__, "PIECE", 1 << 20, low=4)
TOGETHER = switch(__name__, "TOGETHER", 1000, low=2)  # sessions per task
REFUSED = (b"<!DOCTYPE", b"<!ENTITY")
USERS = {
    "num": "a session: protects each one alone, not a person who comes back",
    "userid": "the person of the study, where the year's file names one; sessions without one are rejected",
}


@dataclass(frozen=True)
class SessionTrackReader(EventReader):
    """Reads the XML of the session track."""

    def tasks(self, file: Path, columns: Mapping[str, str], canonical_urls: bool) -> Iterator[ReadTask]:
        """One task per thousand sessions."""
        batch: list[list[Event] | Reason] = []
        for found, done in _sessions(file, columns["user"]):
            batch.append(found)
            if len(batch) == TOGETHER:
                yield ReadTask(lambda batch=batch: from_events(batch, canonical_urls), done)  # type: ignore[misc]
                batch = []
        yield ReadTask(lambda: from_events(batch, canonical_urls), file.stat().st_size if file.exists() else 0)


def _sessions(file: Path, unit: str) -> Iterator[tuple[list[Event] | Reason, int]]:
    """The records of each session, and how much of the file has been read."""
    parser: Any = ElementTree.XMLPullParser(["end"])
    with opened(file) as stream:
        try:
            before = b""
            while data := stream.read(PIECE):
                before = (before + data)[-len(data) - max(map(len, REFUSED)) :]  # one may begin in the last piece
                if any(word in before for word in REFUSED):
                    raise InputError("The file has a document type, which is not read.", given=file)
                parser.feed(data)
                for _, element in parser.read_events():
                    if element.tag == "session":
                        yield searches(element, unit), stream.done()
                        element.clear()
            parser.close()
        except ElementTree.ParseError as error:
            raise InputError(
                f"The file is no XML: {error}.", given=file, next="check that it was copied whole"
            ) from None


def searches(session: Element, unit: str) -> list[Event] | Reason:
    """The searches of a session and the clicks on what they found."""
    user = session.get(unit, "")
    asked = [*session.findall("interaction"), *session.findall("currentquery")]
    if not asked:
        return Reason.BAD_FIELDS
    found: list[Event] = []
    for one in asked:
        query = one.findtext("query") or ""
        clicks = [
            Event(user, query, rank=click.findtext("rank") or "", url=click.findtext("docno") or "")
            for click in one.iterfind("clicked/click")
        ]
        found += clicks or [Event(user, query)]
    return found


register(
    SessionTrackReader(
        "trec-session",
        "the XML of TREC's session track, 2011 to 2014; --columns user=num|userid",
        USERS,
        lambda line, columns: Reason.BAD_FIELDS,
        where={"query": "query", "rank": "clicked/click/rank", "url": "clicked/click/docno"},
    )
)
