"""Matomo's visits, as its API `Live.getLastVisitsDetails` gives them: one visit per line, or one array of them.

    {"visitorId": "c1", "userId": "ann", "actionDetails": [{"type": "search", "siteSearchKeyword": "lilac",
     "timestamp": 1715862896}, {"type": "action", "url": "https://example.org"}]}

A visit holds a record for every search in it. Its other actions are passed over: Matomo does not say which page was a
result. The report of site searches counts keywords and names nobody, so nothing can be proven from it.
"""

from __future__ import annotations

from collections.abc import Mapping

from hubbub.ingest.readers.base import register
from hubbub.ingest.readers.documents import name, plain
from hubbub.ingest.readers.events import Event, Fields, Found, ObjectReader
from hubbub.ingest.schema import Reason

ACTIONS = "actionDetails"
USERS = {
    "visitorId": "a browser that kept its cookie, or a fingerprint for a day: protects a device, not a person",
    "userId": "an account that your site told Matomo: visits without one are rejected",
}


def searches(visit: Fields, columns: Mapping[str, str]) -> Found:
    """The searches of a visit."""
    actions = visit.get(ACTIONS)
    if "label" in visit and ACTIONS not in visit:
        return Reason.NO_USER  # a row of a report
    if not isinstance(actions, list):
        return Reason.BAD_FIELDS
    user = name(visit.get(columns["user"]))
    return [
        Event(user, name(action.get("siteSearchKeyword")), plain(action.get("timestamp")))
        for action in actions
        if isinstance(action, dict) and action.get("type") == "search"
    ]


register(
    ObjectReader(
        "matomo",
        "visits of Matomo (Live.getLastVisitsDetails) as JSON; --columns user=…",
        USERS,
        fields=searches,
        where={"query": f"{ACTIONS}.siteSearchKeyword", "time": f"{ACTIONS}.timestamp"},
    )
)
