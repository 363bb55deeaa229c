"""Parquet input: the types it accepts, its records exactly, and every kind of damage in one file."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.unit.ingest.ingest_helper import Ingest, reading

from hubbub.errors import InputError, ParameterError
from hubbub.ingest import SCHEMA, columnar

read = pytest.fixture(reading)

MAPPED = {"user": "u", "query": "q"}


def write(path: Path, columns: dict[str, Any], **options: Any) -> Path:
    pq.write_table(pa.table(columns), path, **options)
    return path


def test_the_total_the_first_the_ninth_and_the_last_record(read: Ingest, tmp_path: Path) -> None:
    columns = {
        "user": [f"u{i}" for i in range(12)],
        "time": [None, *range(1, 12)],
        "query": [f" Query {i}" for i in range(12)],
        "rank": [*range(11), None],
        "url": [None, *[f"http://{i}.example" for i in range(1, 12)]],
    }
    table = pa.table(columns, schema=SCHEMA)
    pq.write_table(table, tmp_path / "log.parquet", row_group_size=5)
    result = read(tmp_path / "log.parquet", format="table")
    assert result.told.read == result.told.kept == 12
    assert result.rows[0] == ("u0", None, "query 0", 0, None)
    assert result.rows[8] == ("u8", 8, "query 8", 8, "http://8.example")
    assert result.rows[11] == ("u11", 11, "query 11", None, "http://11.example")
    assert result.told.columns == {name: name for name in SCHEMA.names}


def test_what_ingest_wrote_it_reads_back_unchanged(read: Ingest, tmp_path: Path) -> None:
    first = read(b"1\tLilac\t2006-03-01 07:17:12\t1\thttp://a.example\n2\trose\t\t\t\n", format="aol")
    kept = tmp_path / "kept.parquet"
    kept.write_bytes(first.told.log.read_bytes())
    assert read(kept, format="table").rows == first.rows


@pytest.mark.parametrize(
    "users",
    [
        pa.array(["1", "2"]),
        pa.array(["1", "2"], pa.large_string()),
        pa.array(["1", "2"], pa.string_view()),
        pa.array([b"1", b"2"]),
        pa.array(["1", "2"]).dictionary_encode(),
        pa.array([1, 2], pa.int64()),
        pa.array([1, 2], pa.uint8()),
    ],
    ids=lambda users: str(users.type),
)
def test_types_of_users(read: Ingest, tmp_path: Path, users: Any) -> None:
    log = write(tmp_path / "log.parquet", {"u": users, "q": ["lilac", "rose"]})
    assert [row[0] for row in read(log, format="table", columns=MAPPED).rows] == ["1", "2"]


MOMENT = datetime(2006, 3, 1, 7, 17, 12, 999_000)


@pytest.mark.parametrize(
    "times",
    [
        pa.array([1_141_197_432, None], pa.int64()),
        pa.array([1_141_197_432, None], pa.uint64()),
        pa.array([1_141_197_432.0, float("nan")], pa.float64()),
        pa.array([MOMENT.replace(microsecond=0), None], pa.timestamp("s")),
        pa.array([MOMENT, None], pa.timestamp("ms")),
        pa.array([MOMENT, None], pa.timestamp("ns")),
        pa.array([MOMENT.replace(tzinfo=timezone(timedelta(0))), None], pa.timestamp("us", "America/New_York")),
        pa.array(["2006-03-01T07:17:12Z", ""]),
        pa.array(["1141197432", None]),
    ],
    ids=lambda times: str(times.type),
)
def test_types_of_times(read: Ingest, tmp_path: Path, times: Any) -> None:
    log = write(tmp_path / "log.parquet", {"u": ["1", "2"], "q": ["lilac", "rose"], "t": times})
    result = read(log, format="table", columns={**MAPPED, "time": "t"})
    assert [row[1] for row in result.rows] == [1_141_197_432, None]


def test_dates_before_1970_are_rounded_down(read: Ingest, tmp_path: Path) -> None:
    times = pa.array([datetime(1969, 12, 31, 23, 59, 58, 500_000)], pa.timestamp("us"))
    log = write(tmp_path / "log.parquet", {"u": ["1"], "q": ["lilac"], "t": times})
    assert read(log, format="table", columns={**MAPPED, "time": "t"}).rows[0][1] == -2
    log = write(tmp_path / "log.parquet", {"u": ["1"], "q": ["lilac"], "t": [date(1969, 12, 31)]})
    assert read(log, format="table", columns={**MAPPED, "time": "t"}).rows[0][1] == -86_400


@pytest.mark.parametrize("kind", [pa.int8(), pa.int64(), pa.uint64(), pa.float64(), pa.string()], ids=str)
def test_types_of_ranks(read: Ingest, tmp_path: Path, kind: Any) -> None:
    ranks = pa.array([1, None], pa.int64()).cast(kind)
    log = write(tmp_path / "log.parquet", {"u": ["1", "2"], "q": ["lilac", "rose"], "r": ranks})
    assert [row[3] for row in read(log, format="table", columns={**MAPPED, "rank": "r"}).rows] == [1, None]


def test_numbers_out_of_range_are_rejected(read: Ingest, tmp_path: Path) -> None:
    columns = {
        "u": list("abcdef"),
        "q": ["lilac"] * 6,
        "t": pa.array([0, 2**64 - 1, 253_402_300_800, 1_141_197_432_000, 1, 2], pa.uint64()),
        "r": [0.0, 1.0, 2.0, 3.0, 1.5, 2.0**31],
    }
    log = write(tmp_path / "log.parquet", columns)
    result = read(log, format="table", columns={**MAPPED, "time": "t", "rank": "r"})
    assert result.rows == [("a", 0, "lilac", 0, None), ("d", 1_141_197_432, "lilac", 3, None)]
    assert result.reasons == [(2, "bad-time"), (3, "bad-time"), (5, "bad-rank"), (6, "bad-rank")]


def test_every_kind_of_damage_in_one_file(read: Ingest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[tuple[bytes | None, bytes | None, int | None, bytes | None, str]] = [
        (b"u1", b"lilac", 5, b"http://a.example", ""),
        (b"u1", b"li\0lac", 5, None, "nul-byte"),
        (b"u\xff", b"lilac\0", 5, None, "nul-byte"),
        (b"u\0", b"lilac", 5, b"\xff", "nul-byte"),
        (b"u1", b"lilac", 5, b"http://\xff", "bad-encoding"),
        (None, b"lilac", 5, None, "no-user"),
        (b" ", b"lilac", 5, None, "no-user"),
        (b"u1", b"lilac", 10**14, None, "bad-time"),
        (b"u1", None, 5, None, "blank-query"),
        (b"u1", b"\xe3\x80\x80", 5, None, "blank-query"),
        (b"u1", b"x" * (1 << 20), 5, b"y", "too-long"),
        (b"u2", b"caf\xc3\xa9", None, None, ""),
    ]
    text = pa.binary()
    users, queries, times, urls, reasons = zip(*rows, strict=True)
    columns = {
        "u": pa.array(users, text),
        "q": pa.array(queries, text),
        "t": pa.array(times),
        "w": pa.array(urls, text),
    }
    log = write(tmp_path / "log.parquet", columns)
    names = {**MAPPED, "time": "t", "url": "w"}
    expected = [(row + 1, reason) for row, reason in enumerate(reasons) if reason not in ("", "blank-query")]
    for batch in (1, 4, 1 << 16):
        monkeypatch.setattr(columnar, "BATCH", batch)
        result = read(log, format="table", columns=names)
        assert result.rows == [("u1", 5, "lilac", None, "http://a.example"), ("u2", None, "café", None, None)]
        assert result.reasons == expected and result.told.dropped == 2
        assert result.rejects[0][3:] == (12, b"u1\t5\tli\0lac\t")
        assert [len(row[4]) for row in result.rejects if row[2] == "too-long"] == [64 << 10]


def test_a_file_that_is_not_parquet(read: Ingest) -> None:
    with pytest.raises(InputError, match="not Parquet"):
        read(b"PAR1 and then nothing", "log.parquet", format="table")


def test_a_parquet_file_cut_off_in_the_middle(read: Ingest, tmp_path: Path) -> None:
    log = write(
        tmp_path / "log.parquet", {"u": [str(i) for i in range(9_999)], "q": ["lilac"] * 9_999}, compression="gzip"
    )
    data = bytearray(log.read_bytes())
    data[40:4000] = np.random.default_rng(1).bytes(3960)
    with pytest.raises(InputError, match="damaged"):
        read(bytes(data), "log.parquet", format="table", columns=MAPPED)


def test_columns_that_are_not_there_or_not_readable(read: Ingest, tmp_path: Path) -> None:
    log = write(tmp_path / "log.parquet", {"u": [1.0], "q": ["lilac"], "n": [[1]]})
    with pytest.raises(ParameterError, match="never guessed"):
        read(log, format="table")
    with pytest.raises(InputError, match="no such column: who") as error:
        read(log, format="table", columns={"user": "who", "query": "q"})
    assert error.value.allowed == "u, q, n"
    with pytest.raises(InputError, match="user cannot be read from the column u"):
        read(log, format="table", columns=MAPPED)
    with pytest.raises(InputError, match="query cannot be read from the column n"):
        read(log, format="table", columns={"user": "q", "query": "n"})


def test_parquet_under_a_text_format(read: Ingest, tmp_path: Path) -> None:
    log = write(tmp_path / "log.parquet", {"u": ["1"], "q": ["lilac"]})
    with pytest.raises(InputError, match="a Parquet file, not text"):
        read(log, format="aol")


def test_what_was_read_is_not_kept_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """pyarrow's own habit is to hold every byte of the file that it has read, until the end."""
    told, opened = [], pq.ParquetFile

    def watched(file: Path, **how: object) -> object:
        told.append(how)
        return opened(file, **how)

    pq.write_table(pa.table({"u": ["1"], "q": ["lilac"]}), tmp_path / "log.parquet")
    monkeypatch.setattr(pq, "ParquetFile", watched)
    with columnar.parquet_file(tmp_path / "log.parquet"):
        assert told == [{"pre_buffer": False}]
