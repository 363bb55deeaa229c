"""Yandex's relevance prediction challenge of 2011: tab separated actions of sessions, with numbers for all texts.

    10989856  0   Q  10364965  2  671723  21839763  3840421
    10989856  103 C  21839763

A query (Q) has session, time passed, number and region of the query, and the addresses shown. A click (C) names an
address and no query, so it is passed over. Times have no date and no known unit: they are left out.
"""

from __future__ import annotations

from collections.abc import Mapping

from hubbub.ingest.readers.base import register
from hubbub.ingest.readers.events import Event, EventReader, Found
from hubbub.ingest.schema import Reason

USERS = {"session": "a session: protects each one alone, not a person who comes back"}
QUERY_FIELDS, CLICK_FIELDS = 5, 4  # at least, exactly


def parse_line(line: str, columns: Mapping[str, str]) -> Found:
    """The search on a line."""
    fields = line.split("\t")
    kind = fields[2].strip() if len(fields) > 2 else ""
    if kind == "C" and len(fields) == CLICK_FIELDS:
        return Reason.HEADER
    if kind != "Q" or len(fields) < QUERY_FIELDS:
        return Reason.BAD_FIELDS
    if not fields[1].strip().isdecimal():
        return Reason.BAD_TIME
    return [Event(fields[0], fields[3])]


register(
    EventReader(
        "yandex",
        "Yandex's relevance prediction challenge of 2011; --columns user=session",
        USERS,
        parse_line,
        where={"query": "QueryID"},
    )
)
