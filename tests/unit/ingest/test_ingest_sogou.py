"""The SogouQ format: GB18030 line by line, the day in the file's name, brackets and ranks."""

from __future__ import annotations

import gzip
from datetime import date
from pathlib import Path

import pytest
from tests.unit.ingest.ingest_helper import Ingest, reading
from tests.unit.ingest.ingest_samples import sogou

from hubbub.errors import InputError, ParameterError
from hubbub.ingest.readers.sogou import day_of

read = pytest.fixture(reading)

NOON = 43_200


@pytest.mark.parametrize(
    ("name", "day"),
    [
        ("access_log.20060801.decode.filter", date(2006, 8, 1)),
        ("access_log.20060801.decode.filter.gz", date(2006, 8, 1)),
        ("log-2012-02-29.txt", date(2012, 2, 29)),
        ("20060801-copy-of-20060801.txt", date(2006, 8, 1)),
        ("SogouQ.reduced", None),
        ("log.20060230.txt", None),
        ("log.20060801.20060802.txt", None),
        ("log.200608011.txt", None),
        ("log.30060801.txt", None),
    ],
)
def test_the_day_in_a_name(name: str, day: date | None) -> None:
    assert day_of(Path("20991231") / name) == day


def test_times_of_the_named_day_or_of_one_without_a_name(read: Ingest) -> None:
    line = sogou("丁香", "12:00:00") + b"\n"
    named = read(gzip.compress(line), "access_log.20060801.decode.filter.gz", format="sogou").rows
    unnamed = read(line, "SogouQ.sample", format="sogou").rows
    assert [row[1] for row in named + unnamed] == [1_154_390_400 + NOON, NOON]
    assert read(sogou("丁香", "") + b"\n", "log", format="sogou").rows[0][1] is None


def test_names_all_tell_the_day_or_none_does(read: Ingest, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    for name in ("log.20060801", "log.20060802"):
        (folder / name).write_bytes(sogou("丁香", "12:00:00") + b"\n")
    assert [row[1] for row in read(folder, format="sogou").rows] == [1_154_390_400 + NOON, 1_154_476_800 + NOON]
    (folder / "log.today").write_bytes(sogou("丁香") + b"\n")
    with pytest.raises(InputError, match="tell the day and others do not") as error:
        read(folder, format="sogou")
    assert "log.today" in str(error.value.given) and "log.20060801" in error.value.allowed


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("丁香", "丁香"),
        ("[丁香]", "[丁香]"),
        ("[", "["),
        ("盷", "盷"),  # its second byte is a closing bracket
        ("乗\U00020087", "乗\U00020087"),  # and one of four bytes, two of which are digits
        ("１２ ＡＢ", "12 ab"),
        ("\ufeff", "\ufeff"),
    ],
)
def test_queries_lose_one_pair_of_brackets(read: Ingest, text: str, query: str) -> None:
    assert [row[2] for row in read(sogou(text) + b"\n", format="sogou").rows] == [query]


@pytest.mark.parametrize(("text", "rank"), [("8 3", 8), (" 8  3 ", 8), ("8", 8), ("", None), ("0 0", 0)])
def test_ranks_lose_the_number_of_the_click(read: Ingest, text: str, rank: int | None) -> None:
    assert read(sogou("丁香", rank=text) + b"\n", format="sogou").rows[0][3] == rank


@pytest.mark.parametrize("text", ["8 x", "x 3", "8 3 1", "-1 3"])
def test_ranks_that_are_none(read: Ingest, text: str) -> None:
    result = read(sogou("丁香") + b"\n" + sogou("丁香", rank=text) + b"\n", format="sogou")
    assert result.reasons == [(2, "bad-rank")]


def test_a_byte_order_mark(read: Ingest) -> None:
    assert len(read(b"\x84\x31\x95\x33" + sogou("丁香") + b"\n", format="sogou").rows) == 1


def test_columns_are_fixed_by_the_format(read: Ingest) -> None:
    with pytest.raises(ParameterError, match="`sogou` fixes its columns"):
        read(sogou("丁香"), format="sogou", columns={"user": "2"})
