"""Ingest against a second, plain implementation, and the two properties that the privacy proofs start from.

The oracle below reads one line at a time in ordinary Python. Ingest must agree with it on every line, wherever the
blocks are cut, and removing one user's lines must leave every other user's records and rejects as they were.
"""

from __future__ import annotations

import csv
import io
import re
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from itertools import product
from unicodedata import category, normalize
from unittest.mock import patch

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.ingest import clean, lines
from hubbub.ingest.fields import Layout
from hubbub.ingest.readers import aol
from hubbub.ingest.records import from_lines
from hubbub.ingest.times import usual

Row = tuple[object, ...]
MAX_LINE = 120  # instead of 1 MiB, so that long lines are common

CSV = Layout(
    b",", quoting=True, places={"query": 0, "user": 2, "time": 1, "url": 4}, least=5, most=5, header=b"q,t,u,x,url"
)


def oracle(line: bytes, layout: Layout) -> Row | str | None:
    """One line: a record, a reason, or None for a header."""
    line = line.removesuffix(b"\r")
    length, line = len(line), line.removeprefix(b"\xef\xbb\xbf")
    if line == layout.header:
        return None
    if length > MAX_LINE:
        return "too-long"
    if b"\0" in line:
        return "nul-byte"
    try:
        text = line.decode()
    except UnicodeDecodeError:
        return "bad-encoding"
    if not line:
        return "empty-line"
    fields = text.split("\t")
    if layout.quoting:
        # csv.reader knows line ends; a private letter stands in for them.
        hidden = text.replace("\r", "\ue000")
        try:
            (fields,) = csv.reader([hidden], strict=True)
        except csv.Error:
            return "bad-quote"
        fields = [field.replace("\ue000", "\r") for field in fields]
    if not layout.least <= len(fields) <= (layout.most or len(fields)):
        return "bad-fields"
    field = {role: fields[place] if place < len(fields) else "" for role, place in layout.places.items()}
    return judged(field, layout)


def moment(when: str) -> int:
    """Epoch seconds of a time in any usual form; raises ValueError."""
    if re.fullmatch("-?[0-9]+", when):
        for digits in (0, 3, 6, 9):
            with suppress(ValueError, OverflowError, OSError):
                seconds = int(when) // 10**digits
                if digits == 0 or 1990 <= datetime.fromtimestamp(seconds, UTC).year <= 2099:
                    datetime.fromtimestamp(seconds, UTC)
                    return seconds
        raise ValueError
    if re.search("[.,](?![0-9])", when) or (re.fullmatch("[0-9]{8}.*", when) and "T" not in when):
        raise ValueError
    found = datetime.fromisoformat(when.replace(" UTC", "Z"))
    return int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp() // 1)


def judged(field: dict[str, str], layout: Layout) -> Row | str:
    """The tests on fields."""
    user, when, rank, url = (field.get(role, "").strip() for role in ("user", "time", "rank", "url"))
    query = clean.clean_query(field["query"])
    if not user:
        return "no-user"
    seconds = None
    if when:
        try:
            if layout.clock is usual:
                seconds = moment(when)
            else:
                form = f"%Y-%m-%d{'T' if 'T' in when else ' '}%H:%M:%S"
                assert re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}Z?", when)
                seconds = int(datetime.strptime(when.removesuffix("Z"), form).replace(tzinfo=UTC).timestamp())
        except (ValueError, OverflowError, AssertionError):
            return "bad-time"
    if rank and not (re.fullmatch("[0-9]+", rank) and int(rank) < 2**31):
        return "bad-rank"
    if query in ("", layout.blank):
        return "blank-query"
    return user, seconds, query, int(rank) if rank else None, url or None


def expected(data: bytes, layout: Layout) -> tuple[list[Row], list[Row], int, int]:
    """Records, rejects (line, reason, length, text), and how many were read and dropped, by the oracle."""
    kept: list[Row] = []
    rejected: list[Row] = []
    whole = data.split(b"\n")[:-1] if data.endswith(b"\n") or not data else data.split(b"\n")
    headers = dropped = 0
    for number, line in enumerate(whole):
        result = oracle(line, layout)
        if result is None:
            headers += 1
        elif result == "blank-query":
            dropped += 1
        elif isinstance(result, str):
            text = line.removesuffix(b"\r")
            rejected.append((number, result, len(text), text[:40]))
        else:
            kept.append(result)
    return kept, rejected, len(whole) - headers, dropped


def computed(data: bytes, layout: Layout, size: int) -> tuple[list[Row], list[Row], int, int]:
    """The same by ingest, in blocks of `size` bytes."""
    kept: list[Row] = []
    rejected: list[Row] = []
    before = read = dropped = 0
    with patch.object(lines, "MAX_LINE", MAX_LINE):
        for piece in lines.blocks(io.BytesIO(data), size):
            part = from_lines(piece, layout, canonical_urls=False)
            part.records.validate(full=True)
            kept += zip(*part.records.to_pydict().values(), strict=True)
            for line, reason, length, text in zip(*part.rejects.to_pydict().values(), strict=True):
                rejected.append((line + before, reason, length, text[:40]))
            before, read, dropped = before + part.lines, read + part.read, dropped + part.dropped
    assert read == len(kept) + dropped + len(rejected)
    return kept, rejected, read, dropped


ODD = st.sampled_from(
    ["", " ", "-", "  ", "\u00a0", "\x1c", '"', '""', '"a""b"', '"a,b"', 'a"b', '"open', "\r", "\x85", "\u3000x", "ẞ"]
)
TEXT = st.text(st.characters(exclude_characters="\n\t", exclude_categories=["Cs"]), max_size=6)
WORD = st.sampled_from(["lilac", "New  York", "ＷＩＤＥ", "Straße", " edge ", "İstanbul", "ﬁne print", "q\x0bq"])
USER = st.sampled_from(["1", "22", " 1", "user three", "", " ", "ü"]) | TEXT
GOOD_TIME = st.sampled_from(["2006-03-01 07:17:12", "2004-02-29 23:59:59", ""])
ODD_TIMES = """2006-02-29 00:00:00|2004-02-29T23:59:59Z|0000-01-01 00:00:00|1141171200|-5|2006-13-01 00:00:00|
2006-03-01 24:00:00|2006-03-01 23:59:60|9999-12-31 23:59:59| 12 |1e3|20060301 00:00:00ab|2006-03-01 07:17|
1141171200000|1141171200000000|1141171200000000000|11411712000000|000000000000000000012|2006-03-01|2006-03-01T07:17Z|
2006-03-01 07:17:12.25|2006-03-01T07:17:12.250+01:30|2006-03-01T07:17:12-0800|2006-03-01 07:17:12 UTC|
2006-03-01T07:17:12+25:00|20060301T071712Z|2006-03-01T07:17:12.+00:00|٢٠٠٦-03-01 07:17:12"""
TIME = GOOD_TIME | st.sampled_from(ODD_TIMES.replace("\n", "").split("|"))
RANK = st.sampled_from(
    ["", "1", "10", "2147483647", "2147483648", "-1", "1.0", " 3", "007", "1_0", "²", "0x1F", "9" * 25]
)
URL = st.sampled_from(["", "http://www.example.org", " http://a.example ", "\u00a0"]) | TEXT


def joined(delimiter: str, *fields: st.SearchStrategy[str]) -> st.SearchStrategy[bytes]:
    return st.tuples(*fields).map(lambda parts: delimiter.join(parts).encode())


QUERY = WORD | TEXT | ODD
RAW = st.binary(max_size=20).map(lambda data: data.replace(b"\n", b""))
HEADS = st.sampled_from([b"", b"", b"", b"\xef\xbb\xbf", b"\xff", b"\0"])
TAILS = st.sampled_from([b"", b"", b"\r", b"\r\r", b"\t", b"x" * MAX_LINE, b"\xc3"])
AOL_LINE = (
    joined("\t", USER, QUERY, TIME, RANK, URL) | joined("\t", USER, QUERY, TIME) | st.just(aol.LAYOUT.header or b"")
)
CSV_LINE = joined(",", QUERY, TIME, USER, ODD, URL) | joined(",", QUERY, USER) | st.just(CSV.header or b"")


@st.composite
def logs(draw: st.DrawFn) -> tuple[Layout, list[bytes], bytes]:
    """A layout, the lines of a log, and what ends the last of them."""
    layout, line = draw(st.sampled_from([(aol.LAYOUT, AOL_LINE), (CSV, CSV_LINE)]))
    damaged = st.tuples(HEADS, line | RAW, TAILS).map(b"".join)
    return layout, draw(st.lists(line | damaged, min_size=1, max_size=8)), draw(st.sampled_from([b"", b"\n"]))


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(logs(), st.sampled_from([1, 2, 7, 31, 64, 1 << 20]))
def test_ingest_is_the_oracle_whatever_the_block(log: tuple[Layout, list[bytes], bytes], size: int) -> None:
    layout, given_lines, end = log
    data = b"\n".join(given_lines) + end
    assert computed(data, layout, size) == expected(data, layout)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(logs(), st.data())
def test_removing_one_users_lines_changes_nobody_elses(
    log: tuple[Layout, list[bytes], bytes], data: st.DataObject
) -> None:
    """Whose line it is does not matter: any subset of lines may be the user's."""
    layout, given_lines, _ = log
    mine = data.draw(st.lists(st.booleans(), min_size=len(given_lines), max_size=len(given_lines)))
    alone = [computed(line + b"\n", layout, 16) for line in given_lines]
    others = [line for line, own in zip(given_lines, mine, strict=True) if not own]
    kept, rejected, *_ = computed(b"".join(line + b"\n" for line in others), layout, 16)
    assert kept == [row for (rows, *_), own in zip(alone, mine, strict=True) if not own for row in rows]
    assert [row[1:] for row in rejected] == [
        row[1:] for (_, rows, *_), own in zip(alone, mine, strict=True) if not own for row in rows
    ]


@settings(max_examples=300, deadline=None)
@given(st.text() | WORD | ODD)
def test_cleaning_a_cleaned_query_changes_nothing(text: str) -> None:
    once = clean.clean_query(text)
    assert clean.clean_query(once) == once
    assert normalize("NFKC", once.casefold()) == once == " ".join(normalize("NFKC", once).split())
    assert clean.queries(pa.array([text, once])).to_pylist() == [once, once]


def test_every_character_is_settled_after_one_cleaning() -> None:
    letters = [chr(point) for point in range(0x110000) if category(chr(point)) not in ("Cn", "Co", "Cs")]
    rows = [letters[at : at + 256] for at in range(0, len(letters), 256)]
    once = clean.queries(pa.array(" ".join(f"{letter}\u0345\u0301 {letter}A" for letter in row) for row in rows))
    assert once.equals(clean.queries(once))


@settings(max_examples=150, deadline=None)
@given(URL | st.text(max_size=12).map("http://example.org/".__add__) | st.text(max_size=12))
def test_a_canonical_address_is_settled(text: str) -> None:
    once = clean.canonical_url(text)
    assert clean.canonical_url(once) == once
    assert clean.urls(pa.array([text]), canonical=True).to_pylist() == [once or None]


@pytest.mark.slow
def test_every_short_line_of_quotes_commas_and_letters() -> None:
    """All lines of up to eight letters over three: cutting a block at once is cutting its lines one by one."""
    layout = Layout(b",", quoting=True, places={"user": 0, "query": 1, "url": 2}, least=2)
    every = ["".join(letters) for length in range(9) for letters in product('",a', repeat=length)]
    data = "\n".join(every).encode()
    assert computed(data, layout, 1 << 20) == computed(data, layout, 100) == expected(data, layout)


def test_layouts_without_a_limit_take_longer_lines() -> None:
    open_ended = replace(CSV, least=5, most=None, header=None)
    data = b"q,,u,,w,extra,more\n"
    assert computed(data, open_ended, 64) == expected(data, open_ended)
