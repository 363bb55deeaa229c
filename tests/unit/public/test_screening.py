"""Screening: what each rule takes out and leaves, the owner's lists, and that a record is screened by itself alone."""

from __future__ import annotations

import pickle
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.errors import ParameterError
from hubbub.ingest import clean
from hubbub.ingest.schema import SCHEMA
from hubbub.public.screening import chosen_screen
from hubbub.public.screening.numbers import COUNTRIES, _valid, is_national_number
from hubbub.public.screening.own_lists import MOST_PATTERNS, marks, read_own_list
from hubbub.public.screening.rules import RULES, suspects

HIT = {
    "email": ["Jane.Doe@Example.COM", "jane (at) example (dot) org", "jane @ example.org", "jörg@müller.de"],
    "telephone": ["+49 30 1234567", "(555) 123-4567", "call 212-555-0123 now", "020 79460958", "01 23 45 67 89"],
    "card": [
        "4111 1111 1111 1111",
        "4111-1111-1111-1111 12/28",
        "３７８２ ８２２４６ ３１０００５",
        "٤١١١ ١١١١ ١١١١ ١١١١",
    ],
    "national": ["390.533.447-05", "RCCMNL83S18D969H", "131052-308T", "943-476-5870", "85.07.30-033 28", "536-90-4399"],
    "ip": ["192.168.0.1", "ping 10.0.0.254.", "fe80::1ff:fe23:4567:890a", "2001:db8:0:0:0:0:2:1"],
    "coordinates": ["52.5200, 13.4050", "-33.8688 151.2093", "52° 31' n 13° 24' e"],
    "digits": ["parcel 123456789", "00349876543210"],
    "url-token": [
        "http://shop.example/cart?sid=a81bc81b",
        "https://jane:hunter2@host.example/",
        "https://x.example/550e8400-e29b-41d4-a716-446655440000",
        "http://x.example/d41d8cd98f00b204e9800998ecf8427e",
    ],
}
LEFT = [
    "weather new york 2006",
    "12345678",
    "4111 1111 1111 1112",
    "windows 3.1.1",
    "01-02-2006",
    "std::vector",
    "version 1.2.3",
    "3.14",
    "route 66",
    "iphone 15 pro max 256 gb",
    "how-to-make-a-really-long-title-for-seo-2006",
    "http://www.weather.example/page?id=12",
    "e = mc2",
]


def cleaned(*texts: str) -> pa.Array:
    return clean.queries(pa.array(texts, pa.string()))


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_hits_what_it_names_and_leaves_the_rest(rule: str) -> None:
    screen = chosen_screen(rule)
    assert screen is not None
    assert screen.hits(cleaned(*HIT[rule])).all()
    assert not screen.hits(cleaned(*LEFT)).any()
    for texts in HIT.values():  # what is never looked at closely cannot be hit by any rule
        assert suspects(cleaned(*texts)).all()


def test_every_country_named_has_check_digits_of_its_length() -> None:
    from importlib import import_module

    for module, length in COUNTRIES.values():
        valid = import_module(f"stdnum.{module}").is_valid
        assert not valid("x" * length)


def batch(*rows: tuple[str, str, str | None]) -> pa.RecordBatch:
    """Records of a user, a query and a click."""
    columns: list[Any] = [[r[0] for r in rows], [1] * len(rows), [r[1] for r in rows]]
    columns += [[None if r[2] is None else 3 for r in rows], [r[2] for r in rows]]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, SCHEMA, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)


def test_a_query_that_is_hit_takes_its_record_along_and_a_click_only_itself() -> None:
    screen = chosen_screen("default")
    assert screen is not None
    left = screen(
        batch(
            ("ann", "weather", "http://w.example/"),
            ("ann", "jane@example.org", "http://w.example/"),
            ("ben", "my basket", "http://Shop.example/?SID=A81BC81B"),
            ("ben", "news", None),
        )
    )
    left.validate(full=True)
    assert left.to_pydict() == {
        "user": ["ann", "ben", "ben"],
        "time": [1, 1, 1],
        "query": ["weather", "my basket", "news"],
        "rank": [3, None, None],
        "url": ["http://w.example/", None, None],
    }


TEXTS = st.sampled_from([text for texts in HIT.values() for text in texts] + LEFT).map(clean.clean_query)
ROWS = st.lists(st.tuples(st.sampled_from(["ann", "ben"]), TEXTS, TEXTS | st.none()), max_size=6)


@settings(max_examples=15)
@given(ROWS, ROWS)
def test_records_are_screened_one_by_one(ours: Any, others: Any) -> None:
    """Neighbouring logs stay neighbours: what is left of my records does not depend on yours."""
    screen = chosen_screen("default")
    assert screen is not None
    together = screen(batch(*ours, *others)).to_pylist()
    assert together == screen(batch(*ours)).to_pylist() + screen(batch(*others)).to_pylist()
    assert together == [row for one in [*ours, *others] for row in screen(batch(one)).to_pylist()]


def test_own_lists_deny_and_allow(tmp_path: Path) -> None:
    deny, allow = tmp_path / "deny.txt", tmp_path / "allow.txt"
    deny.write_text("# ours\nJane   DOE\nglob:*secret (plan)?\nre:^order [0-9]+$\n", encoding="utf-8")
    allow.write_text("978-0-123456-47-2\nre:^isbn\n192.168.0.1\n", encoding="utf-8")
    screen = chosen_screen("default", deny, allow)
    assert screen is not None
    hit = ["jane doe", "the secret (plan)s", "order 66", "10.0.0.1"]
    left = ["jane doe address", "secret plan", "order 66 film", "isbn 9780123456472", "192.168.0.1"]
    assert screen.hits(cleaned(*hit)).all() and not screen.hits(cleaned(*left)).any()
    allow.write_text("jane doe\n", encoding="utf-8")
    both = chosen_screen("default", deny, allow)
    assert both is not None and both.hits(cleaned("jane doe")).all(), "what is denied cannot be allowed"
    assert screen.by_rule(cleaned(*hit))["deny"].tolist() == [True, True, True, False]


def test_a_card_names_lists_by_hash_and_never_by_content(tmp_path: Path) -> None:
    deny = tmp_path / "deny.txt"
    deny.write_text("jane doe\n", encoding="utf-8")
    screen = chosen_screen("card,email", deny)
    assert screen is not None
    record = screen.record()
    assert record["rules"] == ["email", "card"] and record["allow_sha256"] is None
    assert "jane" not in str(record) and len(str(record["deny_sha256"])) == 64
    assert "python-stdnum" in str(record["libraries"])
    assert chosen_screen(None) is None and chosen_screen("none") is None


def test_a_pattern_that_would_never_end_elsewhere_ends(tmp_path: Path) -> None:
    """A backtracking engine would need longer for it than the universe has."""
    file = tmp_path / "deny.txt"
    file.write_text("re:^(a+)+$\nre:(x*)*y\n", encoding="utf-8")
    assert read_own_list(file).hits(pa.array(["a" * 200_000 + "!", "x" * 200_000])).tolist() == [False, False]


def test_a_long_list_is_looked_up(tmp_path: Path) -> None:
    file = tmp_path / "deny.txt"
    file.write_text("\n".join(f"name {n}" for n in range(200_000)), encoding="utf-8")
    found = read_own_list(file)
    assert len(found.texts) == 200_000
    assert found.hits(pa.array(["name 199999", "name 200000", "name 0"])).tolist() == [True, False, True]


def test_equal_texts_have_equal_marks_wherever_they_lie() -> None:
    """A text is found again in a slice, at an end and beside any other: short, long, of other scripts."""
    texts = ["a", "ab", "abcdefg", "abcdefgh", "abcdefghi", "x" * 40, "zürich", "天気", "abcdefgh12345678"]
    alone = [int(marks(pa.array([text]))[0]) for text in texts]
    assert marks(pa.array(["before", *texts, "after"]).slice(1, len(texts))).tolist() == alone
    assert marks(pa.array(texts[::-1])).tolist() == alone[::-1]
    assert len(set(alone)) == len(alone) and max(alone) < 1 << 24


def test_many_patterns_are_few_passes_that_find_the_same(tmp_path: Path) -> None:
    """What one pattern means does not depend on which stand beside it: case, anchors, quotes, groups of one name."""
    odd = ["re:order (?P<n>[0-9]+)", "re:part (?P<n>[0-9]+)", r"re:\Qa)|(b", r"re:\Qc\Ed", "re:^x|y$", "glob:p(*"]
    lines = [*odd, *(f"re:word{n}x" for n in range(300)), "glob:last?one"]
    (tmp_path / "all.txt").write_text("\n".join(lines), encoding="utf-8")
    together = read_own_list(tmp_path / "all.txt")
    texts = pa.array(
        ["order 1", "part 2", "a)|(b", "a", "b", "x1", "1y", "1x1", "p(q", "word299x", "word2", "last one"]
    )
    apart = np.zeros(len(texts), np.bool_)
    for line in lines[: len(odd)] + lines[-2:]:
        (tmp_path / "one.txt").write_text(line, encoding="utf-8")
        apart |= read_own_list(tmp_path / "one.txt").hits(texts)
    assert together.hits(texts).tolist() == apart.tolist()
    assert apart.tolist() == [True, True, True, False, False, True, True, False, True, True, False, True]
    assert len(together.patterns) < len(lines) / 2


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"re:(a)\\1", "line 1"),
        (b"fine\nre:(?=a)b", "line 2"),
        (b"re:(((a{100}){100}){100})", "cannot be used"),
        (b"re:[", "cannot be used"),
        (b"\xff\xfe\x00", "UTF-8"),
        (b"# nothing\n\n", "empty"),
        (b"re:a\n" * (MOST_PATTERNS + 1), "too many patterns"),
        (None, "cannot be read"),
    ],
)
def test_a_list_that_cannot_be_meant_is_refused(tmp_path: Path, content: bytes | None, says: str) -> None:
    file = tmp_path / "deny.txt"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ParameterError, match=says):
        chosen_screen("default", file)


def test_a_screen_can_be_sent_to_other_machines(tmp_path: Path) -> None:
    (tmp_path / "deny.txt").write_text("jane doe\n", encoding="utf-8")
    screen = chosen_screen("default", tmp_path / "deny.txt")
    assert screen is not None and screen.hits(cleaned("jane doe")).all()
    sent = pickle.loads(pickle.dumps(screen))
    assert sent.hits(cleaned("jane doe", "a@b.example", "weather")).tolist() == [True, True, False]


def test_unknown_rules_and_an_allow_list_without_rules_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"telefon[\s\S]*telephone"):
        chosen_screen("telefon")
    (tmp_path / "allow.txt").write_text("a\n", encoding="utf-8")
    with pytest.raises(ParameterError, match="there are none"):
        chosen_screen("none", None, tmp_path / "allow.txt")


STUMBLES = "616012487801145886"  # a Chinese number of a county that the library does not know


def test_a_number_over_which_the_library_stumbles_is_hit() -> None:
    """One query of one user must never end a release."""
    with pytest.raises(KeyError):
        import_module("stdnum.cn.ric").is_valid(STUMBLES)
    for text in (STUMBLES, "616012 48780114 5886"):
        assert is_national_number(text)


def test_what_a_number_is_does_not_hang_on_the_day() -> None:
    """A Norwegian number of somebody born in 2039: refused by the library until then."""
    texts = [f"0103396{n:04}" for n in range(10_000)]
    born_later = [text for text in texts if _valid("no.fodselsnummer")(text)]
    assert born_later and not any(import_module("stdnum.no.fodselsnummer").is_valid(text) for text in born_later)


def test_every_rule_is_asked_about_what_it_hits() -> None:
    uuid = "abcdefab-abcd-abcd-abcd-abcdefabcdef"
    assert chosen_screen("default", None, None).hits(pa.array([uuid])).tolist() == [True]  # type: ignore[union-attr]
