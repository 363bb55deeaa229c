"""The rows of the public page: what a text looks like, what is in the JSON, and that a page has an end."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub.show import page, public
from hubbub.show.page import Shown

COLUMNS = ["query", "users", "noise_sd"]


def queries(rows: Sequence[tuple[object, ...]], total: int | None = None) -> Shown:
    """A table of queries."""
    shown = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
    return Shown("queries", COLUMNS, len(rows) if total is None else total, shown)


@pytest.mark.slow
@given(st.text())
def test_a_text_hides_nothing(text: str) -> None:
    shown = public.seen(text)
    assert not public.UNSEEN.search(shown)
    assert len(shown) <= 9 * public.LONG
    if not public.UNSEEN.search(text) and len(text) <= public.LONG:
        assert shown == text


def test_a_long_text_says_how_long_it_is() -> None:
    assert public.seen("a" * 1234) == "a" * 300 + "… (1,234 characters)"


@pytest.mark.parametrize(
    ("value", "column", "shown"),
    [
        (None, "users", ""),
        (1234567, "users", "1,234,567"),
        (12.345, "noise_sd", "12.3"),
        (["a", "b"], "queries", "a → b"),
        (1141582858, "time", "2006-03-05 18:20:58"),
        (10**18, "time", "1000000000000000000"),
        (3, "rank", "3"),
    ],
)
def test_cells(value: object, column: str, shown: str) -> None:
    assert public.cell(value, column) == shown


def test_a_band_is_rounded_outwards() -> None:
    assert public.band(100, 7.3) == "85 to 115"
    assert public.band(5, 7.0) == "-9 to 19"
    assert public.band(5, 0.0) == public.band(None, None) == ""


@given(st.lists(st.tuples(st.text(max_size=20), st.integers(0, 10**9), st.floats(0, 1e6)), max_size=20))
def test_the_json_is_the_rows_and_ends_no_script(rows: list[tuple[object, ...]]) -> None:
    packed = public.pack([queries(rows)])
    text = packed.json()
    assert "<" not in text and "\u2028" not in text and "\u2029" not in text
    read = json.loads(text)
    (table,) = read["tables"]
    assert [read["words"][at] for at in table["keys"][0]] == [public.seen(str(query)) for query, _, _ in rows]
    assert len(set(read["words"])) == len(read["words"])
    assert table["value"] == [users for _, users, _ in rows]
    assert table["sd"] == [pytest.approx(sd, abs=0.006) for _, _, sd in rows]
    assert packed.rows() == {"queries": len(rows)}


def test_words_are_shared_between_tables() -> None:
    pairs = Shown("transitions", ["query", "next_query", "users", "noise_sd"], 1, [
        {"query": "b", "next_query": "a", "users": None, "noise_sd": None}
    ])  # fmt: skip
    read = json.loads(public.pack([queries([("a", 2, 1.0), ("b", 1, 1.0)]), pairs]).json())
    assert read["words"] == ["a", "b"]
    assert read["tables"][1] == {
        "name": "transitions",
        "columns": ["query", "next_query", "users", "noise_sd"],
        "total": 1,
        "keys": [[1], [0]],
        "value": [None],
        "sd": [None],
    }


def test_a_page_has_an_end_whatever_is_in_the_tables() -> None:
    """The worst text for JSON grows sixfold; the page stays below 15 MB, and the tables after it have their share."""
    worst = [(f"{n:06d}" + "<" * 290, 10**12, 12345.67) for n in range(12_000)]
    plain = queries([(f"query {n}", 5, 1.5) for n in range(1_000)])
    tables = [queries(worst), Shown("keywords", COLUMNS, plain.total, plain.rows)]
    packed = public.pack(tables)
    assert 12_000_000 < len(packed.json().encode()) < 13_100_000
    assert 6_000 < packed.rows()["queries"] < 12_000 and packed.rows()["keywords"] == 1_000


def test_only_what_is_shown_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a log its first rows, over as many row groups as they take."""
    rows = pa.table({"user": [str(n) for n in range(3_000)], "query": ["q"] * 3_000})
    path = tmp_path / "log.parquet"
    pq.write_table(rows, path, row_group_size=300)
    with pq.ParquetFile(path) as file:
        monkeypatch.setattr(pq.ParquetFile, "read", None)
        assert [row["user"] for row in page._first(file, 1_000)] == [str(n) for n in range(1_000)]
        assert page._first(file, 0) == []


def test_statements_by_table() -> None:
    words = "queries: 5; below that, none; clicks: 7; otherwise none. A missing row is not a zero."
    assert page._by_table(words, ["queries", "clicks"]) == [
        "queries: 5; below that, none", "clicks: 7", "otherwise none", "A missing row is not a zero."
    ]  # fmt: skip


def test_texts_of_the_owner() -> None:
    assert page.plain("a <b>_c_</b>\n# d [e](f) | g") == r"a \<b\>\_c\_\</b\> \# d \[e\](f) \| g"
    assert page._bibtex("50% {of} \\all & more_") == r"50\% of all \& more\_"
    assert str(page._ticks("see `unit` <b>")) == "see <code>unit</code> &lt;b&gt;"


@pytest.mark.parametrize(
    ("epsilon", "shown"), [(0.1, "1.11"), (1, "2.72"), (8, "2,981"), (21, "more than any that helps")]
)
def test_odds_as_a_number_people_know(epsilon: float, shown: str) -> None:
    assert page._factor(epsilon) == shown
