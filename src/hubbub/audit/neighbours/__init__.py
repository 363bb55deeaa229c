"""Neighbouring logs that are bad for thresholded counts: new keys, keys at the threshold, greedy users."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from hubbub.audit.protocols import Event, Pair, counting_steps
from hubbub.mechanisms.base import Mechanism


def crowd_of(n: int, query: str, url: str | None = None) -> tuple[Event, ...]:
    """n users who all asked one query, once, and clicked the same page if there is one."""
    return tuple((f"{query}-user{i}", 10 + i, query, url) for i in range(n))


def one_user(queries: Iterable[tuple[str, str | None]], repeats: int = 1) -> tuple[Event, ...]:
    """The user who is added: her events in order, each repeated."""
    events = [(q, url) for q, url in queries for _ in range(repeats)]
    return tuple(("victim", 1000 + t, q, url) for t, (q, url) in enumerate(events))


def holding(table: str, n: int) -> tuple[Event, ...]:
    """n users who each hold one and the same key of a table."""
    searches: tuple[tuple[str, str | None], ...] = (("key", "u" if table == "clicks" else None),)
    if table in ("sessions", "transitions", "itemsets"):
        searches = ("key", None), ("next", None)
    return tuple((f"user{i}", t, query, url) for i in range(n) for t, (query, url) in enumerate(searches))


def threshold_pairs(mechanism: Mechanism) -> Iterable[Pair]:
    """Worst cases for a threshold mechanism with these bounds; small enough to enumerate where marked."""
    table = next(t for t in ("queries", "clicks", *mechanism.tables) if t in mechanism.tables)
    pairs = _pairs(mechanism, table, mechanism.thresholds()[table])
    if table not in ("transitions", "itemsets"):
        yield from pairs
        return
    yield from (_with_next(pair) for pair in pairs)
    apart = tuple((f"far{i}", 10_000 * i + 60 * n, f"x{n}", None) for i in range(9) for n in range(2))
    between = tuple(("victim", 10_000 * i + 30, "v", None) for i in range(9))
    yield Pair("searches in between the others'", apart, apart + between, False, counting=True)


def _with_next(pair: Pair) -> Pair:
    """Every search followed by one of its own, far from all others: each key becomes a transition, and an itemset.

    Somebody else searches once: a log without any time has no transitions to speak of.
    """

    def followed(events: tuple[Event, ...]) -> tuple[Event, ...]:
        searches = (
            (user, 10_000 * (time or 0) + after, f"{query} next" if after else query, url)
            for user, time, query, url in events
            for after in (0, 1)
        )
        return ("bystander", 1, "once", None), *searches

    return replace(pair, smaller=followed(pair.smaller), larger=followed(pair.larger))


def _pairs(mechanism: Mechanism, table: str, t: int) -> Iterable[Pair]:
    step = next(s for s in counting_steps(mechanism) if s.name == table)
    d = step.l0
    url = "site" if "clicks" in mechanism.tables else None
    keys = [(f"q{i}", url) for i in range(d)]
    alone = len(mechanism.steps()) == 1
    few = (d <= 2 and alone) or d == 1
    base = crowd_of(t, "known", url)

    fresh = one_user(keys)
    if (floor := getattr(step, "floor", 1)) > 1:
        below = sum((crowd_of(floor - 1, q, u) for q, u in keys), ())
        yield Pair("keys that the new user lifts over the filter", below, below + fresh, few)
    else:
        yield Pair("the new user's own keys", (), fresh, few)
    at = sum((crowd_of(t - 1, q, u) for q, u in keys), ())
    yield Pair("every key from just below the threshold to it", at, at + fresh, few)
    over = sum((crowd_of(t + 1, q, u) for q, u in keys), ())
    yield Pair("every key above the threshold", over, over + fresh, few)
    two = crowd_of(t + 1, "first", url) + crowd_of(t + 1, "second", url)
    yield Pair("one of two known keys", two, two + one_user([("first", url)]), alone)
    choices = [(f"{i}", url) for i in range(d + 1)]
    torn = tuple((f"torn{i}", 10 + at, q, u) for i in range(t + 1) for at, (q, u) in enumerate(choices))
    tipped = torn + one_user(choices[-1:])
    yield Pair("a majority of one, where users hold too many keys", torn, tipped, d == 1 and alone)
    yield Pair(
        "the same at the same moments",
        base,
        base + tuple(("victim", t, q, u) for _, t, q, u in base),
        False,
        counting=True,
    )
    yield Pair("a key repeated a thousand times", base, base + one_user([("known", url)], 1000), False, counting=True)
    yield Pair("a new key repeated a thousand times", base, base + one_user([("new", url)], 1000), False, counting=True)
    early = tuple(("victim", i, f"early{i}", url) for i in range(d))
    yield Pair("keys of her own before all others'", base, early + base, False, counting=True)
    many = [(f"many{i}", url) for i in range(d + 5)]
    yield Pair("more keys than the bound", base, base + one_user(many), False)
    if url:
        clicks = [("known", f"site{i}") for i in range(d + 5)]
        yield Pair("more clicks than the bound", base, base + one_user(clicks, 3), False)
