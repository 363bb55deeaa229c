"""zealous on any log: no count moves by more than the bound, every table counts what plain Python counts."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hubbub import Zealous
from hubbub.audit.protocols import Event, Subject
from hubbub.audit.tiny import measured
from hubbub.noise import SeededNoise
from hubbub.steps.counts import LocalCounts

GAP = 30 * 60
TABLES = ("keywords", "queries", "clicks", "transitions")
events = st.tuples(
    st.sampled_from(["u1", "u2", "u3", "ü"]),
    st.sampled_from([None, 0, 1, 2, 1800, 1801, 1802, 9000]),
    st.sampled_from(["a", "b", "a b", "ä b", "b a b"]),
    st.one_of(st.none(), st.sampled_from(["x.example", "y.example"])),
)
timed: Event = ("timed", 0, "z", None)
quick = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def by_hand(log: list[Event], table: str, m: int) -> Counter[tuple[str, ...]]:
    """Users of each item, each user with her first m: without SQL."""
    first: dict[str, dict[tuple[str, ...], float]] = defaultdict(dict)

    def held(user: str, at: float, key: tuple[str, ...]) -> None:
        first[user][key] = min(at, first[user].get(key, float("inf")))

    for user, time, query, url in log:
        at = float("inf") if time is None else time
        if table == "queries":
            held(user, at, (query,))
        elif table == "clicks" and url is not None:
            held(user, at, (query, url))
        elif table == "keywords":
            for word in query.split(" "):
                held(user, at, (word,))
    if table == "transitions":
        for user in {e[0] for e in log}:
            mine = sorted(
                {(t, q) for u, t, q, _ in log if u == user and t is not None}, key=lambda e: (e[0], e[1].encode())
            )
            for (t, q), (later, following) in itertools.pairwise(mine):
                if later - t <= GAP and q != following:
                    held(user, t, (q, following))
    counts: Counter[tuple[str, ...]] = Counter()
    for keys in first.values():
        order = sorted(keys, key=lambda key: (keys[key], tuple(part.encode() for part in key)))
        counts.update(order[:m])
    return counts


@pytest.mark.slow
@quick
@given(log=st.lists(events, max_size=20), hers=st.lists(events, max_size=20), m=st.integers(1, 3))
def test_one_user_moves_at_most_m_items_by_one(log: list[Event], hers: list[Event], m: int) -> None:
    mechanism = Zealous(lambda_=1, tau=2, tau_prime=5, m=m, tables=TABLES)
    base = [timed, *log]
    more: list[Event] = [*base, *(("victim", t, q, u) for _, t, q, u in hers)]
    before, after = (measured(Subject.of(mechanism), x) for x in (base, more))
    for table in TABLES:
        one, two = before.by_key(table), after.by_key(table)
        assert one == by_hand(base, table, m)
        assert two == by_hand(more, table, m)
        moved = [two.get(k, 0) - one.get(k, 0) for k in one.keys() | two.keys()]
        assert set(moved) <= {0, 1} and sum(moved) <= m


@settings(max_examples=60, deadline=None)
@given(
    n=st.lists(st.integers(0, 60), min_size=1, max_size=40),
    tau=st.integers(1, 30),
    gap=st.integers(0, 20),
    seed=st.integers(0, 2**32),
)
def test_what_is_released_passed_both_thresholds(n: list[int], tau: int, gap: int, seed: int) -> None:
    mechanism = Zealous(lambda_=4, tau=tau, tau_prime=tau + gap)
    counts = np.array(n)
    out = mechanism.draw({"queries": LocalCounts(counts)}, SeededNoise(seed))["queries"]
    assert out.values is not None and out.values.size == out.ids.size
    assert (counts[out.ids] >= tau).all() and (out.values > tau + gap).all()
    assert np.unique(out.ids).size == out.ids.size
