"""Delimited tables: columns by name and by number, quoting inside a line, and every kind of damage in one file."""

from __future__ import annotations

import pytest
from tests.unit.ingest.ingest_helper import Ingest, reading

from hubbub.errors import InputError, ParameterError

read = pytest.fixture(reading)

NAMES = {"user": "client", "time": "when", "query": "terms", "url": "page", "rank": "position"}
CSV = (
    b"when,terms,client,note,page,position\n"
    b"2024-02-29T12:00:00Z,Lilac,u1,,https://a.example/x,1\n"
    b'1709208001,"New York, ""NY""",u1,,,\n'
    b'2024-02-29 12:00:02,"quoted, but ""only"" here",u2,"a note, with commas",https://b.example/,2\n'
    b"-1,before the epoch,u2,,,\n"
    b',no time,u3,"",,\n'
    b'0,a 5" screw,u3,,,\n'
    b"1,tab\there,u3,,,\n"
    b"2,M\xc3\x9cNCHEN,u3,,,\n"
    b"3,the ninth,u4,x,https://c.example,007\n"
    b"4,the last,u5,,,2147483647\n"
)


def test_the_total_the_first_the_ninth_and_the_last_record(read: Ingest) -> None:
    result = read(CSV, "log.csv", format="table", columns=NAMES)
    assert result.told.read == result.told.kept == 10
    assert result.rows[0] == ("u1", 1_709_208_000, "lilac", 1, "https://a.example/x")
    assert result.rows[8] == ("u4", 3, "the ninth", 7, "https://c.example")
    assert result.rows[9] == ("u5", 4, "the last", 2_147_483_647, None)
    assert result.told.columns == NAMES


def test_quoting_is_honoured_within_a_line(read: Ingest) -> None:
    rows = read(CSV, "log.csv", format="table", columns=NAMES).rows
    assert rows[1] == ("u1", 1_709_208_001, 'new york, "ny"', None, None)
    assert rows[2] == ("u2", 1_709_208_002, 'quoted, but "only" here', 2, "https://b.example/")
    assert [row[1] for row in rows[3:5]] == [-1, None]
    assert [row[2] for row in rows[5:8]] == ['a 5" screw', "tab here", "münchen"]


def test_columns_by_number_for_a_file_without_a_header(read: Ingest) -> None:
    result = read(
        b"u1\t970916105432\tlilac\nu2\t\tNew York\textra\n", format="table", columns={"user": "1", "query": "3"}
    )
    assert result.rows == [("u1", None, "lilac", None, None), ("u2", None, "new york", None, None)]


def test_marks_around_a_whole_field_are_quotation_in_a_tab_file_and_others_are_letters(read: Ingest) -> None:
    log = b'u1\t"open\nu2\t"a""b"\nu3\t"a b" c\n"u4"\t"a\tb"\nu5\t"lilac"\n'
    result = read(log, format="table", columns={"user": "1", "query": "2"})
    assert [row[2] for row in result.rows] == ['"open', 'a"b', '"a b" c', "a b", "lilac"]
    assert result.rows[3][0] == "u4"


def test_each_file_has_its_own_header(read: Ingest, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("logs")
    (folder / "a.csv").write_bytes(b"u,q\n1,lilac\n")
    (folder / "b.tsv").write_bytes(b"q\tx\tu\nrose\t\t2\n")
    result = read(folder, format="table", columns={"user": "u", "query": "q"})
    assert result.rows == [("1", None, "lilac", None, None), ("2", None, "rose", None, None)]


def test_dressings_of_the_same_log(read: Ingest) -> None:
    plain = read(CSV, "log.csv", format="table", columns=NAMES)
    for log in (
        b"\xef\xbb\xbf" + CSV,
        CSV.replace(b"\n", b"\r\n"),
        CSV.removesuffix(b"\n"),
        CSV + CSV.splitlines(True)[0],
    ):
        assert read(log, "log.csv", format="table", columns=NAMES).rows == plain.rows


def test_every_kind_of_damage_in_one_file(read: Ingest) -> None:
    good = b'u9,"lilac, white",2024-02-29 12:00:00,1'
    damaged = [
        (b"u9,\0,,", "nul-byte"),
        (b"u9,\xe9,,", "bad-encoding"),
        (b'u9,"\xe9,,', "bad-encoding"),
        (b"", "empty-line"),
        (b'u9,"open,,', "bad-quote"),
        (b'u9,"closed" not quite,,', "bad-quote"),
        (b"u9,lilac,", "bad-fields"),
        (b'u9,"lilac",,,', "bad-fields"),
        (b'"",lilac,,', "no-user"),
        (b"u9,lilac,11411974320000,", "bad-time"),
        (b"u9,lilac,2023-02-29 12:00:00,", "bad-time"),
        (b'u9,lilac,"","-1"', "bad-rank"),
        (b'u9,"' + b"x" * (1 << 20) + b'",,', "too-long"),
    ]
    log = b"client,terms,when,position\n" + b"".join(line + b"\n" + good + b"\n" for line, _ in damaged)
    columns = {"user": "client", "query": "terms", "time": "when", "rank": "position"}
    result = read(log, "log.csv", format="table", columns=columns)
    assert result.rows == [("u9", 1_709_208_000, "lilac, white", 1, None)] * len(damaged)
    assert result.reasons == [(2 + 2 * at, reason) for at, (_, reason) in enumerate(damaged)]
    assert result.told.read == 2 * len(damaged)


def test_canonical_addresses_on_request(read: Ingest) -> None:
    log = b"1,q,HTTP://Example.org:80/a b?z=1&a=2#part\n2,q,http://[bad\n3,q,\n4,q,http://example.org\n"
    columns = {"user": "1", "query": "2", "url": "3"}
    urls = [row[4] for row in read(log, "log.csv", format="table", columns=columns, canonical_urls=True).rows]
    assert urls == ["http://example.org:80/a%20b?a=2&z=1", "http://[bad", None, "http://example.org/"]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (None, "never guessed"),
        ({}, "never guessed"),
        ({"user": "1"}, "which column is the query"),
        ({"query": "1"}, "which column is the user"),
        ({"user": "1", "query": "2", "session": "3"}, "unknown roles: session"),
        ({"user": "1", "query": "1"}, "one column two roles"),
        ({"user": "0", "query": "1"}, "numbered from 1"),
        ({"user": "1", "query": "2", "url": " "}, "no column for url"),
    ],
)
def test_a_mapping_that_cannot_be(read: Ingest, columns: dict[str, str] | None, message: str) -> None:
    with pytest.raises(ParameterError, match=message) as error:
        read(b"1,q\n", "log.csv", format="table", columns=columns)
    assert "user=" in error.value.allowed


@pytest.mark.parametrize(
    ("log", "message"),
    [
        (b"who,what\n1,q\n", "no such column: client"),
        (b"client,terms,client\n", "more than once: client"),
        (b'"client,terms\n', "no such column: client"),
        (b"\nclient,terms\n", "no such column: client"),
        (b"x" * (2 << 20), "longer than 1 MiB"),
    ],
)
def test_a_header_that_does_not_fit(read: Ingest, log: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(log, "log.csv", format="table", columns={"user": "client", "query": "terms"})


def test_the_columns_found_are_listed(read: Ingest) -> None:
    with pytest.raises(InputError) as error:
        read(b'who,"what, when"\n1,q\n', "log.csv", format="table", columns={"user": "client", "query": "terms"})
    assert error.value.allowed == "who, what, when"


def test_a_name_that_does_not_say_the_delimiter(read: Ingest) -> None:
    with pytest.raises(InputError, match="Nothing says how the columns"):
        read(b"1,q\n", "log.dat", format="table", columns={"user": "1", "query": "2"})
