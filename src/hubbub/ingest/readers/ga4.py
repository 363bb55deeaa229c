"""Google Analytics 4 as it is exported to BigQuery: events as JSON objects, one per line, or rows of Parquet.

    {"event_name": "view_search_results", "event_timestamp": "1715862896789000", "user_pseudo_id": "c1",
     "event_params": [{"key": "search_term", "value": {"string_value": "lilac"}}]}

A search is an event `view_search_results` or `search` with a `search_term`; all others are passed over.
"""

from __future__ import annotations

from collections.abc import Mapping

from hubbub.ingest.readers.base import register
from hubbub.ingest.readers.documents import name, plain, value
from hubbub.ingest.readers.events import Event, Fields, Found, ObjectReader
from hubbub.ingest.schema import Reason

SEARCHES = ("view_search_results", "search")
TERM = "search_term"
USERS = {
    "user_pseudo_id": "a browser or an app: protects a device, not a person with several",
    "user_id": "an account on all its devices: events without one (not logged in) are rejected",
}


def searched(fields: Fields, columns: Mapping[str, str]) -> Found:
    """The search that an event is."""
    event, params = fields.get("event_name"), fields.get("event_params")
    if not isinstance(event, str) or "event_timestamp" not in fields:
        return Reason.BAD_FIELDS
    if event not in SEARCHES:
        return Reason.HEADER
    listed = params if isinstance(params, list) else []
    terms = [item for item in listed if isinstance(item, dict) and item.get("key") == TERM]
    text = next((found for item in terms if (found := _text(item))), "")
    return [Event(name(fields.get(columns["user"])), text, plain(fields["event_timestamp"]))]


def _text(item: Fields) -> str:
    """A parameter's value: words, or a number that somebody typed."""
    return next(
        (name(found) for kind in ("string_value", "int_value") if name(found := value(item, f"value.{kind}"))), ""
    )


register(
    ObjectReader(
        "ga4",
        "events that Google Analytics 4 exports to BigQuery, as JSON or Parquet; --columns user=…",
        USERS,
        fields=searched,
        where={"query": TERM, "time": "event_timestamp"},
    )
)
