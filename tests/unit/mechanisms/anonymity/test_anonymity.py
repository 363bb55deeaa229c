"""The anonymity baselines: what comes out by hand, refused without a word from the owner, stamped with it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from tests.conftest import Hubbub, document

from hubbub.audit.checks.anonymity import run
from hubbub.audit.protocols import Event, Subject
from hubbub.errors import InputError, ParameterError
from hubbub.mechanisms import Mechanism, build, mechanisms
from hubbub.mechanisms.anonymity import Anonymity
from hubbub.mechanisms.anonymity.verify import CHECKS, violations
from hubbub.privacy.guarantee import Definition
from hubbub.privacy.ledger import Ledger

NAMES = sorted(name for name, kind in mechanisms().items() if issubclass(kind, Anonymity))


def output(mechanism: Mechanism, events: Iterable[Event]) -> dict[str, Any]:
    return run(Subject.of(mechanism), tuple(events))


def asked(*searches: tuple[str, str]) -> list[Event]:
    """(user, query) an hour apart: every search is a session of its own."""
    return [(user, 3600 * 2 * i, query, None) for i, (user, query) in enumerate(searches)]


WITHOUT_K = {"pseudonyms", "token-hash"}


def test_all_are_there_with_a_check_of_their_own() -> None:
    known = {"k-click", "k-core", "k-keyword", "k-query", "k-session", "k-similar", "k-vocabulary", "secret-sharing"}
    assert set(NAMES) == set(CHECKS) == known | WITHOUT_K
    for name in NAMES:
        mechanism = build(name, {})
        assert mechanism.settings.get("k", 20) == 20
        proven = mechanism.proven()
        with_k = name not in WITHOUT_K
        assert proven.definition is (Definition.K_ANONYMITY if with_k else Definition.NONE)
        assert proven.epsilon is None and proven.delta is None and not proven.private and proven.caveats
        assert "Nothing is proven" in proven.sentence()
        assert mechanism.claimed().epsilon is None and mechanism.claimed().why
        assert mechanism.variant == "published"
        with pytest.raises(ParameterError):
            build(name, {}, variant="strict")
        with pytest.raises(ParameterError):
            build(name, {"epsilon": 1})
        with pytest.raises(ParameterError):
            build(name, {"k": 1})


def test_k_query_by_hand() -> None:
    log: list[Event] = [
        ("a", 10, "shared", "site"),
        ("a", 20, "own", "site"),
        ("a", 20_000, "shared", None),
        ("b", 10, "shared", None),
        ("b", 15, "shared", None),
        ("c", 10, "twice", None),
        ("c", 30, "twice", None),
    ]
    out = output(build("k-query", {"k": 2}), log)
    assert [(r["query"], r["users"]) for r in out["queries"].to_pylist()] == [("shared", 2)]
    rows = out["log"].to_pylist()
    assert sorted((r["time"], r["query"], r["url"]) for r in rows) == [
        (10, "shared", None),
        (10, "shared", None),
        (15, "shared", None),
        (20_000, "shared", None),
    ]
    assert len({r["user"] for r in rows}) == 3, "one number per session"


def test_k_session_by_hand() -> None:
    log = asked(
        *[(f"u{i}", "red car") for i in range(3)],
        *[(f"v{i}", "car red") for i in range(2)],
        ("w0", "blue car"),
        ("w1", "blue car wash"),
        ("w2", "blue dog"),
        ("x", "nothing else"),
    )
    rows = output(build("k-session", {"k": 3}), log)["log"].to_pylist()
    assert (
        sorted(r["query"] for r in rows) == ["blue"] * 4 + ["car red"] * 5
    )  # x joins the last group, half of which has car
    assert len({r["user"] for r in rows}) == 9 and {r["time"] for r in rows} == {None}
    alone = output(build("k-session", {"k": 3}), asked(("a", "one two"), ("b", "two three")))
    assert alone["log"].num_rows == 0, "too few to be alike"
    apart = output(build("k-session", {"k": 2}), asked(("a", "one"), ("b", "two")))
    assert apart["log"].num_rows == 0, "no keyword that most have"


def test_k_keyword_by_hand() -> None:
    words = {"a": "care", "b": "cart", "c": "car", "d": "carpet", "e": "dog", "f": "dogs dot", "g": "x"}
    out = output(build("k-keyword", {"k": 2}), asked(*words.items()))["keywords"].to_pylist()
    assert {r["keyword"]: r["users"] for r in out} == {"car": 4, "dog": 2}
    out = output(build("k-keyword", {"k": 3}), asked(*words.items()))["keywords"].to_pylist()
    assert {r["keyword"]: r["users"] for r in out} == {"car": 4}
    same = output(build("k-keyword", {"k": 2}), asked(("a", "care cart"), ("b", "dog")))["keywords"]
    assert same.num_rows == 0, "one user with two keywords is one user"
    long = output(build("k-keyword", {"k": 2}), asked(("a", "y" * 70), ("b", "y" * 80)))["keywords"].to_pylist()
    assert [r["keyword"] for r in long] == ["y" * 64]


def test_k_click_needs_more_than_k() -> None:
    log: list[Event] = [(f"u{i}", i, query, "site") for query, n in (("q", 3), ("r", 2)) for i in range(n)]
    assert output(build("k-click", {"k": 2}), log)["clicks"].to_pylist() == [{"query": "q", "url": "site", "users": 3}]
    assert build("k-click", {}).thresholds() == {"clicks": 21}


def test_hashes_keep_order_and_repetitions_and_nothing_else() -> None:
    mechanism = build("token-hash", {})
    rows = output(mechanism, asked(("a", "one two one"), ("b", "two")))["log"].to_pylist()
    by_time = {r["time"]: r["query"].split() for r in rows}
    first, second, again = by_time[0]
    assert first == again != second and by_time[7200] == [second]
    assert all(r["url"] is None and r["rank"] is None for r in rows)


@pytest.mark.parametrize("name", ["k-query", "k-session"])
def test_sessions_need_times(name: str) -> None:
    with pytest.raises(InputError):
        output(build(name, {}), [("a", None, "q", None)])


@pytest.mark.parametrize("name", NAMES)
def test_the_check_sees_what_is_wrong(name: str) -> None:
    """Outputs of a lower k, or of another log, are violations."""
    searches = asked(*[(f"u{i}", "shared words") for i in range(4)], ("v", "rare thing"), ("w", "rare thing"))
    log: list[Event] = [(u, t, q, "site") for u, t, q, _ in searches]
    plain = [(u, q, url) for u, _, q, url in log]
    mechanism = build(name, {"k": 3} if name not in WITHOUT_K else {})
    assert isinstance(mechanism, Anonymity)
    assert violations(mechanism, output(mechanism, log), plain) == []
    wrong = output(build(name, {"k": 2}) if name not in WITHOUT_K else build("pseudonyms", {}), log)
    if name == "k-click":
        wrong = output(build(name, {"k": 3}), [*log, *((f"x{i}", 9, "rare thing", "site") for i in range(5))])
    if name == "pseudonyms":
        wrong = output(mechanism, log[1:])
    assert violations(mechanism, wrong, plain)


@pytest.mark.parametrize("name", NAMES)
def test_refused_before_the_log_is_read(hubbub: Hubbub, tmp_path: Path, name: str) -> None:
    result = hubbub("release", tmp_path / "no such log", "--mechanism", name, "--out", tmp_path / "out", code=2)
    assert "would not be private" in result.output and "--not-private" in result.output
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", NAMES)
def test_stamped_and_booked(hubbub: Hubbub, log_file: Path, tmp_path: Path, own_ledger: Path, name: str) -> None:
    out = tmp_path / "out"
    result = hubbub(
        *("release", log_file, "--format", "aol", "--mechanism", name, "--out", out, "--not-private", "--json")
    )
    found = document(result)
    assert found["private"] is False and found["ledger"]["epsilon_spent"] is None  # type: ignore[index]
    with Ledger(own_ledger) as book:
        assert book.spent("default").epsilon == float("inf")
    hubbub("card", out, "--check")
    card = json.loads((out / "public" / "card.json").read_text())
    assert card["mechanism"]["stamp"] == "NOT PRIVATE" and card["claim"]["epsilon"] is None
    hazards = {h["id"]: h["answer"] for h in card["hazards"]}
    assert hazards["contribution"].startswith("NOT BOUNDED")
    assert hazards["data-dependent keys"].startswith("NOT LIMITED")
    for page in ("index.html", "README.md"):
        text = (out / "public" / page).read_text()
        assert "NOT PRIVATE" in text
    mechanism = build(name, {})
    tables = {t: pq.read_table(out / "public" / f"{t}.parquet") for t in mechanism.tables}
    assert all(table.num_rows for table in tables.values())
    raw = [line.split("\t") for line in log_file.read_text().splitlines()[1:]]
    plain = [(r[0], r[1].lower(), r[4] or None) for r in raw]
    assert isinstance(mechanism, Anonymity) and violations(mechanism, tables, plain) == []


def test_the_same_seed_gives_the_same_output() -> None:
    log = asked(*[(f"u{i}", f"word{i % 3} shared") for i in range(30)])
    for name in NAMES:
        mechanism = build(name, {"k": 3} if name not in WITHOUT_K else {})
        assert output(mechanism, log) == output(mechanism, reversed(log)), name
