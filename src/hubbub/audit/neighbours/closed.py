"""Neighbouring logs that are bad for counts over a pool: the counterexamples to the paper's claims, and greedy users.

The pool of the audits holds `new`, `next` and, unless transitions are enumerated, `known`; `outside` is in no pool.
"""

from __future__ import annotations

from collections.abc import Iterable

from hubbub.audit.made_up import pages, pool
from hubbub.audit.neighbours import crowd_of, one_user
from hubbub.audit.protocols import Event, Pair
from hubbub.mechanisms import Mechanism

POOL, TWO, ONE = pool(["known", "new", "next"]), pool(["new", "next"]), pool(["new"])
PAGES = pages(("new", "site"), ("new", "site0"), ("outside", "site"))


def somebody(mechanism: Mechanism) -> tuple[Event, ...]:
    """One user who asked what is in no pool: a log without times has no transitions, and is refused."""
    return (("somebody", 5, "elsewhere", None),) if "transitions" in mechanism.tables else ()


def few(mechanism: Mechanism) -> bool:
    """Whether every run can be enumerated: pairs of three queries, each with two draws before, are too many."""
    small = mechanism.pool is not None and mechanism.pool.size <= TWO.size and mechanism.variant == "strict"
    return small or "transitions" not in mechanism.tables


def closed_pairs(mechanism: Mechanism) -> Iterable[Pair]:
    """Worst cases; those of few keys are enumerated."""
    for pair in _pairs(mechanism):
        base = somebody(mechanism)
        yield Pair(pair.name, base + pair.smaller, base + pair.larger, pair.enumerable and few(mechanism))


def _pairs(mechanism: Mechanism) -> Iterable[Pair]:
    settings, tables = mechanism.settings, mechanism.tables
    site = "site" if "clicks" in tables else None
    alone = len(tables) == 1
    tau, q_f = int(settings.get("tau", 5)), int(settings["q_f"])
    filtered = crowd_of(tau - 1, "new")
    yield Pair("a query nobody else asks", (), one_user([("new", site)]))
    yield Pair("one more for a query", crowd_of(1, "new", site), crowd_of(1, "new", site) + one_user([("new", site)]))
    yield Pair("a query one short of the filter", filtered, filtered + one_user([("new", None)]), alone)
    yield Pair("a query outside the pool", crowd_of(tau - 1, "outside"), crowd_of(tau, "outside"), alone)
    yield Pair("a filter passed alone, by repeating", (), one_user([("new", None)], tau), alone)
    yield Pair("searches that move up after the filter", *_refill(tau, q_f), enumerable=False)
    yield Pair("every query, many times", (), one_user([(q, site) for q in ("known", "new", "next")], 20), False)
    many = [("known", f"site{i}") for i in range(20)] + [("new", "site"), ("new", "site0")]
    if "clicks" in tables:
        yield Pair("more clicks than the bound", (), one_user(many, 3), False)
    if "transitions" in tables:
        both = crowd_of(1, "new") + crowd_of(1, "next")
        walk = ["known", "next", "new", "known", "new", "next", "known"]
        yield Pair("a transition nobody else makes", both, both + one_user([("new", None), ("next", None)]))
        yield Pair("every transition between three queries", (), one_user([(q, None) for q in walk]), False)
        yield Pair("one transition, many times", (), one_user([(q, None) for q in ("new", "next") * 10]), False)


def _refill(tau: int, q_f: int) -> tuple[tuple[Event, ...], tuple[Event, ...]]:
    """τ − 1 users ask `new` first and then `known`; one more who asks `new` changes what they keep."""
    first = tuple((f"user{i}", t, "new", None) for i in range(tau - 1) for t in range(1, q_f + 1))
    short = tuple(e for e in first if e[1] == 1)  # each asks it once, so that it is one short of the filter
    then = tuple((f"user{i}", 100 + t, "known", None) for i in range(tau - 1) for t in range(q_f))
    smaller = short + then + crowd_of(tau, "known")
    return smaller, smaller + one_user([("new", None)])
