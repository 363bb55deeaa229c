"""Neighbouring logs that are bad for thresholded counts: new keys, keys at the threshold, greedy users."""

from __future__ import annotations

from collections.abc import Iterable

from hubbub.audit.neighbours_sessions import session_pairs
from hubbub.audit.protocols import Event, Pair, counting_steps
from hubbub.mechanisms.base import Mechanism


def crowd_of(n: int, query: str, url: str | None = None) -> tuple[Event, ...]:
    """n users who each hold one key."""
    return tuple((f"{query}-user{i}", 10 + i, query, url) for i in range(n))


def one_user(queries: Iterable[tuple[str, str | None]], repeats: int = 1) -> tuple[Event, ...]:
    """The user who is added: her events in order, each repeated."""
    events = [(q, url) for q, url in queries for _ in range(repeats)]
    return tuple(("victim", 1000 + t, q, url) for t, (q, url) in enumerate(events))


def holding(table: str, n: int) -> tuple[Event, ...]:
    """n users who each hold one and the same key of a table."""
    searches: tuple[tuple[str, str | None], ...] = (("key", "u" if table == "clicks" else None),)
    if table in ("sessions", "transitions"):
        searches = ("key", None), ("next", None)
    return tuple((f"user{i}", t, query, url) for i in range(n) for t, (query, url) in enumerate(searches))


def threshold_pairs(mechanism: Mechanism) -> Iterable[Pair]:
    """Worst cases for a threshold mechanism with these bounds; small enough to enumerate where marked."""
    if mechanism.name == "sessions":
        yield from session_pairs(mechanism)
        return
    thresholds = mechanism.thresholds()
    table = "queries" if "queries" in mechanism.tables else "clicks"
    t = thresholds[table]
    step = next(s for s in counting_steps(mechanism) if s.name == table)
    d = step.l0
    url = "site" if "clicks" in mechanism.tables else None
    keys = [(f"q{i}", url) for i in range(d)]
    few = (d <= 2 and len(mechanism.steps()) == 1) or d == 1
    base = crowd_of(t, "known", url)

    fresh = one_user(keys)
    yield Pair("the new user's own keys", (), fresh, few)
    at = sum((crowd_of(t - 1, q, u) for q, u in keys), ())
    yield Pair("every key from just below the threshold to it", at, at + fresh, few)
    over = sum((crowd_of(t + 1, q, u) for q, u in keys), ())
    yield Pair("every key above the threshold", over, over + fresh, few)
    two = crowd_of(t + 1, "first", url) + crowd_of(t + 1, "second", url)
    yield Pair("one of two known keys", two, two + one_user([("first", url)]), len(mechanism.steps()) == 1)
    yield Pair("a key repeated a thousand times", base, base + one_user([("known", url)], 1000), False)
    yield Pair("a new key repeated a thousand times", base, base + one_user([("new", url)], 1000), False)
    many = [(f"many{i}", url) for i in range(d + 5)]
    yield Pair("more keys than the bound", base, base + one_user(many), False)
    if url:
        clicks = [("known", f"site{i}") for i in range(d + 5)]
        yield Pair("more clicks than the bound", base, base + one_user(clicks, 3), False)
