"""Itemsets: by hand, against all combinations in plain Python, and a user's own records alone."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations

import pytest

from hubbub import Zealous
from hubbub.audit.protocols import Event, Subject
from hubbub.audit.tiny import measured, tiny_log
from hubbub.steps import bound
from hubbub.steps.keys import itemsets
from hubbub.steps.sessions import SEPARATOR


def held(events: list[Event], of: str, size: int, first: int) -> set[tuple[str, tuple[str, ...]]]:
    kind = itemsets(of, size, first)
    with tiny_log(events) as log:
        kind.ready(log)
        rows = log.engine.fetch(kind.distinct()).to_pylist()
    assert len({(r["uid"], r["items"]) for r in rows}) == len(rows)
    return {(r["uid"], tuple(r["items"].split(SEPARATOR))) for r in rows}


def test_by_hand() -> None:
    log: list[Event] = [
        ("ann", 1, "honda accord", None),
        ("ann", 90_000, "car honda", None),
        ("ann", 90_001, "car honda", "site"),
        ("bob", 1, "car", None),
    ]
    pairs = {("ann", two) for two in (("accord", "car"), ("accord", "honda"), ("car", "honda"))}
    assert held(log, "keywords", 2, 20) == pairs, "whenever she used them, each set once; one word is no set"
    assert held(log, "keywords", 3, 20) == {("ann", ("accord", "car", "honda"))}
    assert held(log, "keywords", 2, 2) == {("ann", ("accord", "honda"))}, "of her first two words"
    assert held(log, "queries", 2, 20) == {("ann", ("car honda", "honda accord"))}


@pytest.mark.parametrize("of", ["keywords", "queries"])
@pytest.mark.parametrize("size", [2, 3])
def test_all_combinations_of_each_users_first_items(of: str, size: int) -> None:
    draw = random.Random(size)  # noqa: S311
    words = ["a", "b", "c", "é", "日本", "d"]
    log: list[Event] = [
        (f"u{draw.randrange(4)}", draw.choice([None, *range(6)]), " ".join(draw.choices(words, k=2)), None)
        for _ in range(40)
    ]
    expected = set()
    for user in {u for u, *_ in log}:
        first: dict[str, tuple[bool, int]] = {}
        for u, t, query, _ in log:
            for item in (query.split() if of == "keywords" else [query]) if u == user else []:
                at = (t is None, t or 0)
                first[item] = min(first.get(item, at), at)
        mine = sorted(first, key=lambda item: (first[item], item.encode()))[:5]
        expected |= {(user, tuple(sorted(chosen, key=str.encode))) for chosen in combinations(mine, size)}
    assert held(log, of, size, 5) == expected


def test_a_user_keeps_m_sets_and_nobody_else_changes() -> None:
    log: list[Event] = [(f"u{i}", t, word, None) for i in range(3) for t, word in enumerate("pqrs")]
    mechanism = Zealous(lambda_=1, tau_prime=2, m=2, of="queries", tables=["itemsets"])
    counts = measured(Subject.of(mechanism), log)
    found = {counts.keys["itemsets"][i]: n for i, n in enumerate(counts.counts["itemsets"].n.tolist())}
    # the first two sets that are complete: {p, q} when q is asked, then {p, r}, before {q, r}
    assert found == {(f"p{SEPARATOR}q",): 3, (f"p{SEPARATOR}r",): 3}
    with tiny_log(log) as whole, tiny_log(log[4:]) as without:
        kept = []
        for one in (whole, without):
            kind = mechanism.offers["itemsets"]
            kind.ready(one)
            rows = one.engine.fetch(bound.first_keys(kind, 2)).to_pylist()
            kept.append(Counter((r["uid"], r["items"]) for r in rows if r["uid"] != "u0"))
        assert kept[0] == kept[1]
