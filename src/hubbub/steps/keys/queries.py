"""Queries: a user's event is a search, one distinct (user, time, query)."""

from hubbub.steps.keys.base import Keys, MadeOf

QUERIES = Keys(
    name="queries",
    columns=("query",),
    events='SELECT uid, "time", query FROM {log}',
    order=('"time" NULLS LAST', "query"),
    repeats=True,
    made_of=MadeOf.ROW,
)
