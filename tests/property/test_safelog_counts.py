"""Exact counts of safelog against plain Python; removing a user moves them by no more than stated."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub import Safelog
from hubbub.audit.protocols import Event, Subject
from hubbub.audit.tiny import measured
from hubbub.public.lists import QueryPool, UrlList

INSIDE = ["a", "b", "c"]
POOL = QueryPool("pool", pa.table({"query": INSIDE}), "0" * 64, 3, "made up")
LISTED = [("a", "u"), ("a", "v"), ("b", "u"), ("d", "u")]
SERP = UrlList("list", pa.table({"query": [q for q, _ in LISTED], "url": [u for _, u in LISTED]}), "0" * 64)
GAP = 1800

events = st.lists(
    st.tuples(
        st.sampled_from(["x", "y", "z"]),
        st.one_of(st.integers(0, 6), st.integers(1800, 1810), st.just(4000)),
        st.sampled_from([*INSIDE, "d"]),
        st.sampled_from([None, "u", "v"]),
    ),
    max_size=24,
).map(lambda rows: [("somebody", 0, "elsewhere", None), *rows])


def by_hand(log: list[Event], q_f: int, c_f: int, c_t: int) -> dict[str, Counter[tuple[str, ...]]]:
    """Each user on her own: her first keys of the public domain, once each."""
    counts: dict[str, Counter[tuple[str, ...]]] = {t: Counter() for t in ("queries", "clicks", "transitions")}
    for user in {e[0] for e in log}:
        mine = [(t or 0, q, u) for who, t, q, u in log if who == user]
        searches = sorted({(t, q) for t, q, _ in mine})
        pairs = [(t, (q, r)) for (t, q), (s, r) in pairwise(searches) if s - t <= GAP and q != r]
        held: dict[str, tuple[int, list[tuple[int, tuple[str, ...]]]]] = {
            "queries": (q_f, [(t, (q,)) for t, q in searches if q in INSIDE]),
            "clicks": (c_f, [(t, (q, str(u))) for t, q, u in mine if (q, u) in LISTED and q in INSIDE]),
            "transitions": (c_t, [(t, pair) for t, pair in pairs if pair[0] in INSIDE and pair[1] in INSIDE]),
        }
        for table, (limit, keys) in held.items():
            first = {key: min(t for t, k in keys if k == key) for _, key in keys}
            counts[table].update(sorted(first, key=lambda key: (first[key], key))[:limit])
    return counts


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(events, st.integers(1, 3), st.integers(1, 2), st.integers(1, 3))
def test_counts_are_those_made_by_hand(log: list[Event], q_f: int, c_f: int, c_t: int) -> None:
    mechanism = Safelog(pool=POOL, serp=SERP, epsilon=1, q_f=q_f, c_f=c_f, c_t=c_t)
    found = measured(Subject.of(mechanism), log)
    expected = by_hand(log, q_f, c_f, c_t)
    for table in ("queries", "clicks", "transitions"):
        assert {k: n for k, n in found.by_key(table).items() if n} == dict(expected[table]), table
    assert set(found.by_key("queries")) == {(q,) for q in INSIDE}, "every query of the pool, and no other"
    assert set(found.by_key("clicks")) == {key for key in LISTED if key[0] in INSIDE}


@settings(max_examples=15, deadline=None)
@given(events, st.integers(1, 2), st.integers(1, 2))
def test_one_user_moves_no_more_than_stated(log: list[Event], q_f: int, c_t: int) -> None:
    mechanism = Safelog(pool=POOL, epsilon=1, q_f=q_f, c_t=c_t)
    full, less = (measured(Subject.of(mechanism), rows) for rows in (log, [e for e in log if e[0] != "x"]))
    for table, limit in (("queries", q_f), ("transitions", c_t)):
        keys = full.by_key(table).keys() | less.by_key(table).keys()
        moved = [full.by_key(table).get(k, 0) - less.by_key(table).get(k, 0) for k in keys]
        assert all(m in (0, 1) for m in moved) and sum(moved) <= limit
