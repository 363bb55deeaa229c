"""The AOL format: its records exactly, its quirks, and every kind of damage in one file."""

from __future__ import annotations

import pytest
from tests.unit.ingest.ingest_helper import Ingest, reading

from hubbub.errors import InputError, ParameterError

read = pytest.fixture(reading)

HEADER = b"AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
LOG = HEADER + (
    b"11\tlilac.example\t2006-03-01 07:17:12\t\t\n"
    b"11\tPruning  Lilacs \t2006-03-01 07:17:13\t1\thttp://www.garden.example\n"
    b"11\tpruning lilacs\t2006-03-01 07:17:13\t3\thttp://www.shears.example\n"
    b"12\tferry times\t2006-03-01 11:58:51\t1\thttp://www.ferry.example\n"
    b"12\tferry times\t2006-03-27 14:10:38\n"
    b"12\tharbour map\t2006-03-01 14:06:23\t1\n"
    b"13\tcaf\xc3\x89 \xef\xbc\xa1\t2006-03-02 00:00:00\t\t\n"
    b'13\t5" screws, "loose\t2006-03-02 00:00:01\t\t\n'
    b"14\ttidal-almanac\t2006-03-11 14:19:16\t10\t http://www.tides.example \n"
    b"14\tmoon phases\t\t\t\n"
    b"14\tmoon phases\t2006-05-31 23:59:59\t0\thttp://www.moon.example\n"
)


def test_the_total_the_first_the_ninth_and_the_last_record(read: Ingest) -> None:
    result = read(LOG, format="aol")
    assert result.told.read == result.told.kept == 11
    assert result.rows[0] == ("11", 1_141_197_432, "lilac.example", None, None)
    assert result.rows[8] == ("14", 1_142_086_756, "tidal-almanac", 10, "http://www.tides.example")
    assert result.rows[10] == ("14", 1_149_119_999, "moon phases", 0, "http://www.moon.example")


def test_fields_are_cleaned_or_missing(read: Ingest) -> None:
    rows = read(LOG, format="aol").rows
    assert rows[1] == ("11", 1_141_197_433, "pruning lilacs", 1, "http://www.garden.example")
    assert rows[4] == ("12", 1_143_468_638, "ferry times", None, None)
    assert rows[5] == ("12", 1_141_221_983, "harbour map", 1, None)
    assert [row[2] for row in rows[6:8]] == ["café a", '5" screws, "loose']
    assert rows[9] == ("14", None, "moon phases", None, None)


def test_what_the_card_will_say(read: Ingest) -> None:
    told = read(LOG, format="aol").told
    assert told.format == "aol"
    assert told.columns["user"] == "AnonID" and told.columns["query"] == "Query"


@pytest.mark.parametrize(
    "log",
    [
        LOG.removeprefix(HEADER),
        LOG + HEADER,
        HEADER + LOG,
        LOG.removesuffix(b"\n"),
        LOG.replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + LOG,
    ],
    ids=["no header", "header in the middle", "header twice", "no last newline", "CR LF", "byte order mark"],
)
def test_dressings_of_the_same_log(read: Ingest, log: bytes) -> None:
    assert read(log, format="aol").rows == read(LOG, format="aol").rows


def test_every_kind_of_damage_in_one_file(read: Ingest) -> None:
    good = b"7\tlilac\t2006-03-01 07:17:12\t1\thttp://www.example.org"
    damaged = [
        (b"7\t" + b"x" * (1 << 20), "too-long"),
        (b"7\tli\0lac\t2006-03-01 07:17:12", "nul-byte"),
        (b"7\tli\xfflac\t2006-03-01 07:17:12\t\t", "bad-encoding"),
        (b"", "empty-line"),
        (b"7\tlilac", "bad-fields"),
        (b"7\tlilac\t2006-03-01 07:17:12\t1\thttp://a.example\t", "bad-fields"),
        (b"\tlilac\t2006-03-01 07:17:12\t\t", "no-user"),
        (b" \tlilac\t2006-03-01 07:17:12\t\t", "no-user"),
        (b"7\tlilac\t2006-02-30 07:17:12\t\t", "bad-time"),
        (b"7\tlilac\t1141197432\t\t", "bad-time"),
        (b"7\tlilac\t2006-03-01 07:17:12\tfirst\thttp://a.example", "bad-rank"),
        (b"-\t\tyesterday\tfirst\t", "bad-time"),
    ]
    result = read(HEADER + b"\n".join(line + b"\n" + good for line, _ in damaged), format="aol")
    assert result.rows == [("7", 1_141_197_432, "lilac", 1, "http://www.example.org")] * len(damaged)
    assert result.reasons == [(2 + 2 * at, reason) for at, (_, reason) in enumerate(damaged)]
    assert result.told.read == 2 * len(damaged)
    assert result.told.reasons["bad-time"] == 3
    for (_, _, _, length, text), (line, _) in zip(result.rejects, damaged, strict=True):
        assert (length, text) == (len(line), line[: 64 << 10])


def test_blank_queries_are_dropped(read: Ingest) -> None:
    blank = [b"7\t-\t2006-03-01 07:17:12\t\t", b"7\t \xc2\xa0\t2006-03-01 07:17:12\t\t"]
    result = read(HEADER + b"\n".join([*blank, b"7\tlilac\t2006-03-01 07:17:12"]), format="aol")
    assert (len(result.rows), result.told.dropped, result.reasons) == (1, 2, [])


def test_a_log_in_which_nothing_parses(read: Ingest) -> None:
    with pytest.raises(
        InputError, match=r"3 of 4 .* bad-fields .*; the first, line 1 of .*log.tsv, as no-user"
    ) as error:
        read(b"\tlilac\t\na,b,c\nd,e,f\ng,h,i\n", format="aol")
    assert error.value.given and error.value.allowed and error.value.next


def test_a_header_alone_is_no_log(read: Ingest) -> None:
    with pytest.raises(InputError, match="a header and no record"):
        read(HEADER, format="aol")


def test_columns_are_fixed_by_the_format(read: Ingest) -> None:
    with pytest.raises(ParameterError, match="fixes its columns"):
        read(LOG, format="aol", columns={"user": "1", "query": "2"})
