"""Neighbouring logs: whatever one user does, no exact count moves by more than the stated bound."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hubbub import Korolova
from hubbub.audit.protocols import Event, Subject
from hubbub.audit.tiny import SECRET, measured
from hubbub.steps.keys import CLICKS, QUERIES
from hubbub.steps.mode import RunMode
from hubbub.testing import kept_by_hand

words = st.sampled_from(["a", "b", "ä", "zebra", "q q", "'", "\\", "%"])
events = st.tuples(
    st.sampled_from(["u1", "u2", "u3", "U1", "ü"]),
    st.one_of(st.none(), st.integers(-5, 5)),
    words,
    st.one_of(st.none(), st.sampled_from(["x.example", "y.example"])),
)
logs = st.lists(events, max_size=25)
mechanisms = st.sampled_from(
    [
        Korolova(b=1, K=3, d=1),
        Korolova(b=1, K=3, d=2, keep="random"),
        Korolova(b=1, K=3, d=3, b_c=1, K_c=2, d_c=2, tables=["queries", "clicks"]),
        Korolova(b=1, K=3, d=2, b_q=1, variant="published"),
    ]
)
quick = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def moved(subject: Subject, one: list[Event], two: list[Event]) -> dict[str, list[int]]:
    """By how much each key's count differs, per table."""
    left, right = measured(subject, one), measured(subject, two)
    changes = {}
    for table in subject.mechanism.tables:
        before, after = left.by_key(table), right.by_key(table)
        changes[table] = [abs(after.get(k, 0) - before.get(k, 0)) for k in before.keys() | after.keys()]
    return changes


@quick
@given(log=logs, more=st.lists(events, max_size=25), mechanism=mechanisms)
def test_adding_one_user_moves_counts_within_the_bound(
    log: list[Event], more: list[Event], mechanism: Korolova
) -> None:
    hers: list[Event] = [("victim", t, q, u) for _, t, q, u in more]
    changes = moved(Subject.of(mechanism), log, [*log, *hers])
    for step in mechanism.steps():
        if step.name in changes:
            change = [c for c in changes[step.name] if c]
            assert len(change) <= step.l0
            assert sum(change) <= step.l1
            assert max(change, default=0) <= step.linf


@quick
@given(log=logs, mechanism=mechanisms, limit=st.integers(1, 4))
def test_counts_are_those_of_plain_python(log: list[Event], mechanism: Korolova, limit: int) -> None:
    strict = Korolova(b=1, K=3, d=limit, d_c=limit, b_c=1, K_c=3, tables=["queries", "clicks"])
    seen = measured(Subject.of(strict), log)
    for table, keys in (("queries", QUERIES), ("clicks", CLICKS)):
        by_hand: dict[tuple[object, ...], int] = {}
        for _, *key in kept_by_hand(log, keys, limit, "first"):
            by_hand[tuple(key)] = by_hand.get(tuple(key), 0) + 1
        assert seen.by_key(table) == by_hand


def test_greedy_users_are_bounded() -> None:
    """A query 1,000 times, 10,000 queries, 10,000 clicks: the issue's own examples."""
    crowd: list[Event] = [(f"user{i}", i, "popular", "x.example") for i in range(5)]
    greedy: dict[str, list[Event]] = {
        "repeats": [("victim", t, "popular", "x.example") for t in range(1000)],
        "queries": [("victim", t, f"query {t}", None) for t in range(10_000)],
        "clicks": [("victim", t, "popular", f"site{t}.example") for t in range(10_000)],
    }
    for mechanism, (name, hers) in itertools.product(
        [
            Korolova(b=1, K=3, d=20, d_c=7, b_c=1, K_c=3, tables=["queries", "clicks"]),
            Korolova(b=1, K=3, d=20, d_c=7, b_c=1, K_c=3, tables=["queries", "clicks"], keep="random"),
            Korolova(b=1, K=3, d=20, b_q=1, variant="published"),
        ],
        greedy.items(),
    ):
        for table, change in moved(Subject.of(mechanism), crowd, [*crowd, *hers]).items():
            step = next(s for s in mechanism.steps() if s.name == table)
            assert sum(change) <= step.l1, f"{name}, {mechanism.variant}, {table}"
            assert max(change, default=0) <= step.linf


@pytest.mark.slow
@quick
@given(log=logs, mechanism=mechanisms)
def test_one_users_kept_keys_do_not_depend_on_the_others(log: list[Event], mechanism: Korolova) -> None:
    """Measured alone or in company, a user keeps the same keys: counts add up over users."""
    subject = Subject.of(mechanism)
    together = measured(subject, log)
    for table in mechanism.tables:
        alone: dict[tuple[str, ...], int] = {}
        for user in {u for u, *_ in log}:
            for key, n in measured(subject, [e for e in log if e[0] == user]).by_key(table).items():
                alone[key] = alone.get(key, 0) + n
        assert together.by_key(table) == alone


def test_the_secret_decides_the_random_sample() -> None:
    from hubbub.audit.tiny import tiny_log

    log: list[Event] = [("u", t, f"query {t}", None) for t in range(50)]
    mechanism = Korolova(b=1, K=3, d=5, keep="random")
    kept = []
    for secret in (SECRET, SECRET, bytes(16)):
        with tiny_log(log) as small:
            counts = mechanism.measure(small, RunMode(secret))
            kept.append(tuple(small.engine.fetch(f"SELECT query FROM {counts['queries'].keys}").column(0).to_pylist()))
    assert kept[0] == kept[1] != kept[2]
