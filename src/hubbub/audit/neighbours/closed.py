"""Neighbouring logs that are bad for counts over a pool: the counterexamples to the paper's claims, and greedy users.

The pool of the audits holds `new`, `next` and, unless transitions are enumerated, `known`; `outside` is in no pool.
"""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from hubbub.audit.neighbours import crowd_of, one_user
from hubbub.audit.protocols import Event, Pair
from hubbub.mechanisms import Mechanism, build
from hubbub.public.lists import QueryPool, UrlList

POOL = QueryPool("audit", pa.table({"query": ["known", "new", "next"]}), "0" * 64, 3, "made for an audit")
TWO = QueryPool("audit", pa.table({"query": ["new", "next"]}), "0" * 64, 2, "made for an audit")
ONE = QueryPool("audit", pa.table({"query": ["new"]}), "0" * 64, 1, "made for an audit")
PAGES = UrlList("audit", pa.table({"query": ["new", "new", "outside"], "url": ["site", "site0", "site"]}), "0" * 64)


def subjects() -> list[Mechanism]:
    """Small settings of both variants; those of the published one are the counterexamples' own."""

    def safelog(settings: dict[str, object], tables: list[str], pool: QueryPool, **context: object) -> Mechanism:
        return build("safelog", settings, tables=tables, pool=pool, **context)

    return [
        safelog({"q_f": 1, "b": 1, "K": 1}, ["queries"], POOL),
        safelog({"q_f": 3, "c_t": 2, "b": 1, "b_t": 1, "K": 1, "K_t": 1}, ["queries", "transitions"], POOL),
        safelog({"q_f": 1, "c_f": 1, "b": 1, "b_c": 1, "K": 1}, ["queries", "clicks"], POOL, serp=PAGES),
        safelog({"q_f": 2, "c_t": 1, "b": 1, "b_t": 1, "K": 1, "K_t": 1}, ["queries", "transitions"], TWO),
        safelog({"q_f": 2, "b": "3/2", "K": 2}, ["queries"], POOL),
        safelog({"q_f": 1, "b": 1, "K": 10, "b_q": 1}, ["queries"], ONE, variant="published"),
        safelog({"q_f": 1, "b": 1, "K": 3, "b_q": 1, "p_g": "1/2", "tau": 1}, ["queries"], ONE, variant="published"),
        safelog(
            {"q_f": 1, "c_f": 1, "b": 1, "K": 1, "b_q": 1, "b_c": 1, "tau": 1},
            ["queries", "clicks"],
            TWO,
            variant="published",
        ),
    ]


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
