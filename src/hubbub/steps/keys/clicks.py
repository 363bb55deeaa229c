"""Clicks: a user's event is one row with a URL; the key is the pair (query, url)."""

from hubbub.steps.keys.base import Keys

CLICKS = Keys(
    name="clicks",
    columns=("query", "url"),
    events='SELECT uid, "time", query, "rank", url FROM {log} WHERE url IS NOT NULL',
    order=('"time" NULLS LAST', "query", '"rank" NULLS LAST', "url"),
)
