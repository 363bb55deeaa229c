"""Sessions cut, trimmed and mined: against plain Python, and one user at a time."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations, groupby

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hubbub import Sessions
from hubbub.audit.protocols import Event, Subject
from hubbub.audit.tiny import measured, tiny_log
from hubbub.steps import subsequences
from hubbub.steps.sessions import SEPARATOR, sessions
from hubbub.steps.subsequences import mine, per_session, trimmed

words = st.sampled_from(["a", "b", "ä", "q q", "Ｑ", "'"])
events = st.tuples(
    st.sampled_from(["u1", "u2", "U1", "ü"]),
    st.one_of(st.none(), st.integers(0, 12)),
    words,
    st.one_of(st.none(), st.sampled_from(["x.example", "y.example"])),
)
logs = st.lists(events, max_size=25)
quick = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
ALONE: Event = ("alone", 0, "once", None)


def by_hand(
    log: list[Event], gap: int, l_q: int, l_s: int | None, each: bool = True
) -> dict[str, list[tuple[str, ...]]]:
    """Each user's kept sessions, trimmed."""
    searches = defaultdict(set)
    for user, time, query, _ in log:
        if time is not None:
            searches[user].add((time, query))
    kept = {}
    for user, asked in searches.items():
        cut: list[list[tuple[int, str]]] = []
        for time, query in sorted(asked, key=lambda search: (search[0], search[1].encode())):
            if not cut or time - cut[-1][-1][0] > gap:
                cut.append([])
            cut[-1].append((time, query))
        asked_in = [tuple(q for _, q in session) for session in cut]
        if not each:
            asked_in = [tuple(q for q, _ in groupby(session)) for session in asked_in]
        kept[user] = [session[:l_q] for session in asked_in if len(session) >= 2][:l_s]
    return kept


def mined_by_hand(kept: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    return [c for session in kept for k in range(2, len(session) + 1) for c in combinations(session, k)]


@pytest.mark.slow
@quick
@given(log=logs, gap=st.integers(1, 4), l_q=st.integers(2, 5), l_s=st.sampled_from([1, 2, None]), each=st.booleans())
def test_trimmed_sessions_are_the_first_of_each_user(
    log: list[Event], gap: int, l_q: int, l_s: int | None, each: bool
) -> None:
    with tiny_log([*log, ALONE]) as tiny:
        rows = tiny.engine.fetch(trimmed(gap, l_q, l_s, each)).to_pylist()
        cut = tiny.engine.fetch(f"SELECT uid, session, count(*) AS n FROM ({sessions(gap)}) AS s GROUP BY uid, session")
    found = defaultdict(list)
    for row in sorted(rows, key=lambda row: row["time"]):
        found[row["uid"]].append(tuple(row[f"q{i}"] for i in range(1, l_q + 1) if row[f"q{i}"] is not None))
    assert dict(found) == {user: kept for user, kept in by_hand(log, gap, l_q, l_s, each).items() if kept}
    if l_s is None and each:  # the same sessions as the ones other tables are made of
        assert len(rows) == sum(n >= 2 for n in cut.column("n").to_pylist())


@quick
@given(log=logs, l_q=st.integers(2, 5), l_s=st.integers(1, 3), again=st.sampled_from(["once", "each", None]))
def test_counts_are_those_of_plain_python(log: list[Event], l_q: int, l_s: int, again: str | None) -> None:
    variant = "strict" if again else "published"
    mechanism = Sessions(b=1, K=500, T_gap="1/20", l_q=l_q, l_s=l_s, again=again, variant=variant, tables=["sessions"])
    expected: Counter[tuple[str]] = Counter()
    for kept in by_hand(log, 3, l_q, l_s, again != "once").values():
        mined = [(SEPARATOR.join(c),) for c in mined_by_hand(kept)]
        assert len(mined) <= l_s * per_session(l_q)
        expected.update(set(mined) if variant == "strict" else mined)
    assert measured(Subject.of(mechanism), [*log, ALONE]).by_key("sessions") == dict(expected)


@pytest.mark.slow
@quick
@given(log=logs, more=st.lists(events, max_size=25), variant=st.sampled_from(["strict", "published"]))
def test_adding_one_user_moves_counts_within_the_bound(log: list[Event], more: list[Event], variant: str) -> None:
    mechanism = Sessions(b=1, K=500, T_gap="1/20", l_q=4, l_s=2, l=2, variant=variant)
    hers: list[Event] = [("victim", t, q, u) for _, t, q, u in more]
    small, large = (measured(Subject.of(mechanism), each) for each in ([*log, ALONE], [*log, *hers, ALONE]))
    for step in mechanism.steps():
        table = step.name.partition(":")[0]
        before, after = small.by_key(table), large.by_key(table)
        assert all(after.get(key, 0) >= n for key, n in before.items()), "nobody else's keys change"
        moved = [m for m in (n - before.get(key, 0) for key, n in after.items()) if m]
        assert len(moved) <= step.l0 and sum(moved) <= step.l1 and max(moved, default=0) <= step.linf


@pytest.mark.slow
@given(st.lists(st.lists(words, min_size=2, max_size=6), max_size=8), st.sampled_from([1, 60, 1 << 26]))
def test_mining_does_not_depend_on_what_fits_in_memory(kept: list[list[str]], at_once: int) -> None:
    columns = {f"q{i + 1}": pa.array([s[i] if i < len(s) else None for s in kept], pa.string()) for i in range(6)}
    uids = pa.array([f"u{i}" for i in range(len(kept))], pa.string())
    batch = pa.RecordBatch.from_pydict({"uid": uids, "time": pa.array(range(len(kept)), pa.int64()), **columns})
    before, subsequences.AT_ONCE = subsequences.AT_ONCE, at_once
    try:
        found = [row for out in mine(iter([batch]), 6) for row in out.to_pylist()]
    finally:
        subsequences.AT_ONCE = before
    expected = Counter((f"u{i}", i, SEPARATOR.join(c)) for i, s in enumerate(kept) for c in mined_by_hand([tuple(s)]))
    assert Counter((row["uid"], row["time"], row["queries"]) for row in found) == expected


def test_twelve_queries_have_4083_subsequences() -> None:
    assert [per_session(n) for n in (2, 3, 4, 6, 12)] == [1, 4, 11, 57, 4083]
    columns = {f"q{i}": pa.array([f"{i}"]) for i in range(1, 13)}
    batch = pa.RecordBatch.from_pydict({"uid": pa.array(["u"]), "time": pa.array([1], pa.int64()), **columns})
    found = [row for out in mine(iter([batch]), 12) for row in out.column("queries").to_pylist()]
    assert len(found) == len(set(found)) == 4083
