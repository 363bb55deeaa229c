"""Transitions: a query and the one asked right after it in the same session; also called query pairs."""

from hubbub.steps.keys.base import Keys, MadeOf
from hubbub.steps.sessions import GAP, adjacent, require_times


def transitions(gap: int = GAP) -> Keys:
    """The kind of key, for sessions cut at this gap."""
    return Keys(
        name="transitions",
        columns=("query", "next_query"),
        events=adjacent(gap, "{log}"),
        order=('"time" NULLS LAST', "query", "next_query"),
        timed=True,
        made_of=MadeOf.USER,
        prepare=require_times,
    )


TRANSITIONS = transitions()
