"""Algolia's searches and events, joined on user and query id as those of UBI are.

    {"query": "lilac", "queryID": "q1", "userToken": "c1", "timestamp": 1715862896789}
    {"eventType": "click", "userToken": "c1", "queryID": "q1", "objectIDs": ["sku-7"], "positions": [3], "timestamp": …}

Algolia's own reports name no user. The searches are what your application logged of its requests, with `clickAnalytics`
on, so that the answer has a `queryID`; the events are those that it sent to the Insights API. An event without a
`queryID`, and one that is no click, is passed over; a click on several objects is one on the first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hubbub.errors import ParameterError
from hubbub.ingest.readers import documents
from hubbub.ingest.readers.base import NothingStated, register
from hubbub.ingest.readers.documents import Document, name, plain
from hubbub.ingest.readers.ubi import checked, joined_tasks
from hubbub.ingest.schema import ReadTask, Reason

UNITS = {
    "userToken": "a browser or an app, unless your site sets it to an account: protects a device",
    "authenticatedUserToken": "an account on all its devices: lines without one (not logged in) are rejected",
}
CLICK = "click"
COLUMNS = {"query": "query", "time": "timestamp", "rank": "positions", "url": "objectIDs"}


class AlgoliaReader(NothingStated):
    """Reads searches and events of Algolia."""

    name = "algolia"
    sentence = "searches and events of Algolia as JSON; --columns user=…"
    shape = None

    def columns(self, given: Mapping[str, str] | None, files: list[Path]) -> dict[str, str]:
        """The user's field, which must be chosen."""
        names = dict(given or {})
        if set(names) != {"user"} or names["user"] not in UNITS:
            raise ParameterError(
                "Algolia's log needs to be told who the user is, and nothing else.",
                given=",".join(f"{role}={name}" for role, name in names.items()) or "no --columns",
                allowed="\n           ".join(f"user={unit}  {means}" for unit, means in UNITS.items()),
                next="choose whom the release is to protect: --columns user=userToken, for example",
            )
        return {**names, **COLUMNS}

    def tasks(self, file: Path, columns: Mapping[str, str], canonical_urls: bool) -> Iterator[ReadTask]:
        """One task per block of lines."""
        unit = columns["user"]
        return joined_tasks(
            file,
            lambda line: checked(line, documents.parse(line), lambda fields: document(fields, unit)),
            frozenset([CLICK]),
            canonical_urls,
        )


def document(fields: Mapping[str, Any], unit: str) -> Document | Reason:
    """The search or the click that an object is."""
    user, id = name(fields.get(unit)), name(fields.get("queryID"))
    if "eventType" in fields:
        action = name(fields["eventType"])
        if not action:
            return Reason.BAD_FIELDS
        if action != CLICK or not id:
            return Reason.HEADER
        return Document(user, id, action, "", "", plain(_first(fields, "positions")), name(_first(fields, "objectIDs")))
    if "query" not in fields:
        return Reason.BAD_FIELDS
    return Document(user, id, "", name(fields["query"]), plain(fields.get("timestamp")), "", "")


def _first(fields: Mapping[str, Any], key: str) -> Any:
    listed = fields.get(key)
    return listed[0] if isinstance(listed, list) and listed else None


register(AlgoliaReader())
