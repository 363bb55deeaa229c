"""One user who takes more than she may, beside others who hold every key already: at any parameters."""

from __future__ import annotations

from collections.abc import Iterator

from hubbub.audit.made_up import MANY
from hubbub.audit.protocols import Event, Pair
from hubbub.mechanisms.base import Mechanism

OTHERS: tuple[Event, ...] = tuple((f"other{i}", 1000 + i, q, "site") for i, q in enumerate(MANY))


def one_row_many_times() -> Pair:
    """One user whose only row stands in the log sixty times."""
    return Pair("one row, sixty times", OTHERS, OTHERS + (("victim", 10, MANY[0], "site"),) * 60)


def greed(mechanism: Mechanism) -> Iterator[Pair]:
    """More keys than any bound, each once; and one key or two, again and again."""
    yield one_row_many_times()
    hers = tuple(("victim", 10 * i, q, "site") for i, q in enumerate(MANY))
    yield Pair("sixty keys, each once", OTHERS, OTHERS + hers)
    again = tuple(("victim", 10 * i, q, "site") for i, q in enumerate(MANY[:2] * 60))
    yield Pair("two keys in turn, many times", OTHERS, OTHERS + again)
    if mechanism.variant == "published":
        yield Pair("one key, many times", OTHERS, OTHERS + tuple((u, t, MANY[0], url) for u, t, _, url in again))
