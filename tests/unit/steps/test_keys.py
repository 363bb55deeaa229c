"""Keywords and transitions: what one user's searches become, and that nobody else's change it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import raises

from hubbub.audit.protocols import Event
from hubbub.audit.tiny import MODE, tiny_log
from hubbub.errors import InputError
from hubbub.steps.count import count
from hubbub.steps.keys import KEYWORDS, TRANSITIONS, Keys
from hubbub.steps.sessions import GAP, sessions


def counted(kind: Keys, events: list[Event]) -> dict[tuple[str, ...], int]:
    with tiny_log(events) as log:
        counts = count(log, kind, f"SELECT uid, {kind.list()} FROM ({kind.distinct()}) AS d", MODE).local()
        rows = log.engine.fetch(f"SELECT {kind.list()} FROM {counts.keys} ORDER BY kid").to_pylist()
        return {tuple(r.values()): int(n) for r, n in zip(rows, counts.n, strict=True)}


def test_keywords_are_counted_once_a_user() -> None:
    events: list[Event] = [("a", 1, "red car", None), ("a", 2, "red red shoe", "u"), ("b", 1, "car", None)]
    assert counted(KEYWORDS, events) == {("car",): 2, ("red",): 1, ("shoe",): 1}


def test_transitions_stay_inside_a_session_and_skip_repeats() -> None:
    events: list[Event] = [
        ("a", 0, "x", None),
        ("a", 0, "x", "url"),  # the same search
        ("a", 10, "x", None),  # asked again: not a transition
        ("a", 20, "y", None),
        ("a", 20 + GAP, "z", None),  # exactly the gap: still inside
        ("a", 21 + 2 * GAP, "w", None),  # one second more: a new session
        ("b", 21, "w", None),
    ]
    assert counted(TRANSITIONS, events) == {("x", "y"): 1, ("y", "z"): 1}


def test_transitions_need_times() -> None:
    with raises(InputError, match="no times"):
        counted(TRANSITIONS, [("a", None, "x", None)])


@pytest.mark.slow
@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 4), st.sampled_from("xyz")), min_size=1, max_size=12))
def test_sessions_by_hand(rows: list[tuple[str, int, str]]) -> None:
    events: list[Event] = [(u, t * GAP // 2, q, None) for u, t, q in rows]
    expected = []
    for user in "ab":
        last, number = None, 0
        for t, q in sorted({(t * GAP // 2, q) for u, t, q in rows if u == user}):
            number += last is None or t - last > GAP
            expected.append((user, t, q, number))
            last = t
    with tiny_log(events) as log:
        found = log.engine.fetch(sessions()).to_pylist()
    assert sorted(tuple(r.values()) for r in found) == sorted(expected)
