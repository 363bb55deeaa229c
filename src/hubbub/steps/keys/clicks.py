"""Clicks: a user's event is one row with a URL; the key is the pair (query, url)."""

from hubbub.steps.keys.base import Keys, MadeOf

CLICKS = Keys(
    name="clicks",
    columns=("query", "url"),
    events='SELECT uid, "time", query, "rank", url FROM {log} WHERE url IS NOT NULL',
    order=('"time" NULLS LAST', "query", '"rank" NULLS LAST', "url"),
    made_of=MadeOf.ROW,
)
