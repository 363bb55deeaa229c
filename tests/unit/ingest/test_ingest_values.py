"""Queries, users, addresses, times and ranks, value by value."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest

from hubbub.ingest import clean, numbers


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("Lilac", "lilac"),
        ("  New \t York\u3000City ", "new york city"),
        ("ＦＵＬＬ　ｗｉｄｔｈ", "full width"),
        ("Straße", "strasse"),
        ("ﬁne", "fine"),
        ("e\u0301", "é"),
        ("\u0390", "\u0390"),
        ("ΌΣΟΣ", "όσοσ"),
        ("\u1e9b\u0323", "ṩ"),
        ("a\x1c\x1f b", "a b"),
        ("\u00a0", ""),
        ("-", "-"),
        ("", ""),
    ],
)
def test_queries(text: str, cleaned: str) -> None:
    assert clean.clean_query(text) == cleaned
    assert clean.queries(pa.array(["plain", text, "Tail"])).to_pylist() == ["plain", cleaned, "tail"]


def test_columns_that_are_slices_of_others() -> None:
    column = pa.array(["zero", " Eins", "ZWEI  ", "drei", ""])
    assert clean.queries(column[1:4]).to_pylist() == ["eins", "zwei", "drei"]
    assert clean.users(column[1:3]).to_pylist() == ["Eins", "ZWEI"]
    assert clean.urls(column[2:], canonical=False).to_pylist() == ["ZWEI", "drei", None]
    assert clean.queries(column[:0]).to_pylist() == []


def test_users_keep_their_spelling() -> None:
    users = ["11", " A b ", "\u00a0ÜBER\u00a0", "x\u0301", "\x1fid\t", ""]
    assert clean.users(pa.array(users)).to_pylist() == [text.strip() for text in users]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-01 00:00:00", 0),
        ("2006-03-01T07:17:12", 1_141_197_432),
        ("2006-03-01 07:17:12Z", 1_141_197_432),
        (" 2006-03-01 07:17:12 ", 1_141_197_432),
        ("2000-02-29 00:00:00", 951_782_400),
        ("0001-01-01 00:00:00", -62_135_596_800),
        ("9999-12-31 23:59:59", 253_402_300_799),
        ("1141197432", 1_141_197_432),
        ("-62135596800", -62_135_596_800),
        ("253402300799", 253_402_300_799),
        ("0000000000000000000007", 7),
        *[
            (bad, None)
            for bad in ("253402300800", "-62135596801", "1141197432000", "0000-01-01 00:00:00", "now", "1.5")
        ],
        *[(f"2006-{bad}", None) for bad in ("02-29 00:00:00", "00-01 00:00:00", "13-01 00:00:00", "04-31 00:00:00")],
        *[(f"2006-01-{bad}", None) for bad in ("00 00:00:00", "01 24:00:00", "01 00:60:00", "01 00:00:60", "01")],
        *[
            (bad, None)
            for bad in (
                "1900-02-29 00:00:00",
                "2006-03-01_07:17:12",
                "2006-03-0/ 07:17:12",
                "2006-03-01 07:17:1:",
                "2006/03/01 07:17:12",
            )
        ],
        *[(bad, None) for bad in ("2006-03-01 07:17:12+", "٢٠٠٦-03-01 07:17:12", "9" * 18, "9" * 19, "9" * 5000)],
    ],
)
def test_times(text: str, seconds: int | None) -> None:
    for column in ([text], ["2006-03-01 07:17:12", text, ""]):
        found = numbers.times(pa.array(column), epoch=True)
        at = column.index(text)
        assert (found.bad[at], found.array(pa.int64())[at].as_py()) == (seconds is None, seconds)
    assert numbers.parse_time(text.strip(), epoch=True) == seconds


def test_epoch_seconds_only_where_allowed() -> None:
    assert numbers.times(pa.array(["1141197432"]), epoch=False).bad.all()


def test_every_day_of_the_calendar() -> None:
    """The tables of month lengths against the standard library, over four centuries."""
    days = [datetime(1799, 12, 30, 23, 59, 58, tzinfo=UTC) + timedelta(days=n) for n in range(0, 146_100, 3)]
    found = numbers.times(pa.array([day.strftime("%Y-%m-%d %H:%M:%S") for day in days]), epoch=False)
    assert not found.bad.any()
    assert found.value.tolist() == [int(day.timestamp()) for day in days]


@pytest.mark.parametrize(
    ("text", "rank"),
    [("0", 0), ("1", 1), (" 12 ", 12), ("2147483647", 2**31 - 1), ("0" * 30 + "5", 5), ("", None), (" ", None)],
)
def test_ranks(text: str, rank: int | None) -> None:
    found = numbers.ranks(pa.array(["3", text]))
    assert not found.bad.any()
    assert found.array(pa.int32()).to_pylist() == [3, rank]


@pytest.mark.parametrize(
    "text", ["2147483648", "-1", "+1", "1.0", "1_0", "x", "1:", "/1", "²", "٣", "0x1F", "9" * 18, "9" * 5000]
)
def test_ranks_that_are_none(text: str) -> None:
    assert numbers.ranks(pa.array(["3", text])).bad.tolist() == [False, True]
