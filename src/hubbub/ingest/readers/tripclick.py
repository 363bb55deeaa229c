"""TripClick, the log of a health search engine from 2013 to 2020: one JSON object per line and click.

    {"DateCreated": "/Date(1483228800000)/", "SessionId": "s1", "Keywords": "lilac", "DocumentId": 7, "Url": "https://…"}

The log has no user but the session, so a release protects each session alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from hubbub.ingest.readers.base import register
from hubbub.ingest.readers.documents import name, plain
from hubbub.ingest.readers.events import Event, Fields, Found, ObjectReader
from hubbub.ingest.schema import Reason

MILLISECONDS = re.compile(r"/?Date\((-?\d+)\)/?")
USERS = {"SessionId": "a session: protects each one alone, not a person who comes back"}


def clicked(fields: Fields, columns: Mapping[str, str]) -> Found:
    """The search and the click of a line."""
    if "Keywords" not in fields:
        return Reason.BAD_FIELDS
    when = plain(fields.get("DateCreated"))
    found = MILLISECONDS.fullmatch(when)
    url = name(fields.get("Url")) or name(fields.get("DocumentId"))
    return [Event(name(fields.get(columns["user"])), name(fields["Keywords"]), found[1] if found else when, url=url)]


register(
    ObjectReader(
        "tripclick",
        "the TripClick logs; --columns user=SessionId",
        USERS,
        fields=clicked,
        where={"query": "Keywords", "time": "DateCreated", "url": "Url"},
    )
)
