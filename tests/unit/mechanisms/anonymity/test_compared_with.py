"""What the papers compare themselves with: secret sharing, vocabularies, k-cores and similar users, by hand."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from tests.unit.mechanisms.anonymity.test_anonymity import asked, output

from hubbub.errors import ParameterError
from hubbub.mechanisms import build
from hubbub.mechanisms.anonymity.k_core import core, neighbours
from hubbub.mechanisms.anonymity.secret_sharing import PRIME, open_with, opened, sealed

SECRET = bytes(range(16))


def test_k_shares_open_a_query_and_fewer_do_not() -> None:
    rows = sealed([(f"u{i}", "naïve 日本") for i in range(4)] + [("u0", "naïve 日本"), ("u1", "rare")], 3, SECRET)
    assert rows[0] == rows[4], "asked twice is one share"
    assert opened(rows, 3) == ["naïve 日本"] * 5 + [None]
    text = rows[0].split(".")[0]
    points = [(int(x, 16), int(y, 16)) for _, x, y in (row.split(".") for row in rows[:4])]
    assert all(0 < x < PRIME for x, _ in points) and len(set(points)) == 4
    for left_out in range(4):
        three = [p for i, p in enumerate(points) if i != left_out]
        assert open_with(text, three) == "naïve 日本", "any three do"
        assert open_with(text, three[:2]) != "naïve 日本"
    assert sealed([("u0", "rare")], 3, SECRET[::-1]) != sealed([("u0", "rare")], 3, SECRET)


def test_the_released_log_can_be_opened_by_anybody() -> None:
    log = [*asked(*[(f"u{i}", "shared") for i in range(3)], ("u0", "own")), ("u0", 90_000, "shared", "site")]
    rows = output(build("secret-sharing", {"k": 3}), log)["log"].to_pylist()
    assert Counter(opened([row["query"] for row in rows], 3)) == {"shared": 4, None: 1}
    assert all(row["url"] is None for row in rows) and len({row["user"] for row in rows}) == 3


def test_vocabularies_by_hand() -> None:
    log = asked(
        *[(f"u{i}", "red car") for i in range(3)],
        ("v", "car red"),
        ("w0", "blue car"),
        ("w0", "blue sky"),
        ("w1", "blue blue car"),
        ("w2", "blue car blue dog"),
        ("x", "nothing else"),
    )
    rows = output(build("k-vocabulary", {"k": 3}), log)["log"].to_pylist()
    found = Counter(row["query"] for row in rows)
    # three have blue twice and car once; x is left over, joins them, and three of four are still most of them
    assert found == {"car red": 4, "blue blue car": 4}
    assert len({row["user"] for row in rows}) == 8 and {row["time"] for row in rows} == {None}
    assert output(build("k-vocabulary", {"k": 3}), asked(("a", "one"), ("b", "one")))["log"].num_rows == 0
    apart = output(build("k-vocabulary", {"k": 2}), asked(("a", "one"), ("b", "two")))
    assert apart["log"].num_rows == 0, "no word that most have"


def test_similar_users_by_hand() -> None:
    users = {"a": "pqr", "b": "pqs", "c": "pqt", "d": "xyz"}
    log = asked(*[(user, query) for user, queries in users.items() for query in queries])
    for similar, own in (("1", 0), ("1/2", 1), ("1/5", 4)):
        rows = output(build("k-similar", {"k": 3, "similar": similar}), log)["log"].to_pylist()
        shown: dict[str, set[str]] = {}
        for row in rows:
            shown.setdefault(row["user"], set()).add(row["query"])
        # p and q are added to d, who joins the only group; ⌊2 (1 − δ)/(2δ)⌋ of her own queries stay
        expected = [{"p", "q"} | set(sorted(set(queries) - {"p", "q"})[:own]) for queries in users.values()]
        assert sorted(map(sorted, shown.values())) == sorted(map(sorted, expected)), similar
    with pytest.raises(ParameterError):
        build("k-similar", {"similar": 0})


def test_cores_by_hand() -> None:
    texts = ["red car", "red car parts", "car", "dog food", "dog"]
    alike = neighbours(texts, Fraction(1, 2)).toarray()
    assert alike.tolist() == [
        [1, 1, 1, 0, 0],  # 2/3 with the second, 1/2 with the third
        [1, 1, 0, 0, 0],
        [1, 0, 1, 0, 0],
        [0, 0, 0, 1, 1],
        [0, 0, 0, 1, 1],
    ]
    query, user = np.array([0, 1, 2, 3, 4]), np.array([0, 1, 2, 3, 4])
    assert core(texts, query, user, 3, Fraction(1, 2)).tolist() == [False] * 5, "two users each, and then one loses all"
    assert core(texts, query, user, 2, Fraction(1, 2)).tolist() == [True] * 5
    one = core(texts, np.array([0, 1, 2, 3]), np.array([0, 1, 0, 1]), 2, Fraction(1, 2))
    assert one.tolist() == [True, True, False, False, False], "her own two queries are one user"
    found = output(build("k-core", {"k": 2}), asked(("a", "red car"), ("b", "red car parts"), ("c", "dog")))
    assert {r["query"]: r["users"] for r in found["queries"].to_pylist()} == {"red car": 1, "red car parts": 1}
    exact = output(build("k-core", {"k": 2, "theta": 1}), asked(("a", "red car"), ("b", "car red"), ("c", "dog")))
    assert {r["query"] for r in exact["queries"].to_pylist()} == {"red car", "car red"}, "the same words"
