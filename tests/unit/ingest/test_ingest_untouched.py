"""A log that is clean already: copied and not written anew, and the same records either way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.unit.ingest.ingest_helper import Ingest, reading

from hubbub.errors import InputError
from hubbub.ingest import SCHEMA, run, untouched

read = pytest.fixture(reading)
CLEAN = [
    ("u1", 1_141_171_301, "weather berlin", 1, "http://a.example"),
    ("u 2", None, "züri", None, None),
    ("3", 0, "a", 0, "x"),
]
DIRTY: dict[str, tuple[Any, ...]] = {
    "a capital letter": ("u", 1, "Weather", None, None),
    "a capital letter outside ASCII": ("u", 1, "Öl", None, None),
    "another form of a letter": ("u", 1, "e\u0301", None, None),
    "two blanks": ("u", 1, "a  b", None, None),
    "a blank before": ("u", 1, " a", None, None),
    "a tab inside": ("u", 1, "a\tb", None, None),
    "a blank query": ("u", 1, "", None, None),
    "a user with a blank": ("u ", 1, "a", None, None),
    "no user": ("", 1, "a", None, None),
    "a url with a blank": ("u", 1, "a", None, "x "),
    "an empty url": ("u", 1, "a", None, ""),
    "a NUL": ("u", 1, "a\0", None, None),
    "milliseconds": ("u", 1_141_171_301_000, "a", None, None),
    "no time": ("u", 1 << 60, "a", None, None),
    "no rank": ("u", 1, "a", -1, None),
    "too long": ("u", 1, "a", None, "x" * (1 << 20)),
}


def write(path: Path, rows: list[tuple[Any, ...]], **options: Any) -> Path:
    """The rows as a file in SearchLog's columns, in groups of two rows."""
    columns = [pa.array(values, field.type) for values, field in zip(zip(*rows, strict=True), SCHEMA, strict=True)]
    pq.write_table(pa.Table.from_arrays(columns, schema=SCHEMA), path, **{"row_group_size": 2} | options)
    return path


@pytest.fixture(params=["by group", "by batch"])
def pieces(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The copy is looked at a row group at a time with its distinct values, or a few rows at a time."""
    monkeypatch.setattr(untouched, "BATCH", 2)
    if request.param == "by batch":
        monkeypatch.setattr(untouched, "AT_ONCE", 0)


@pytest.mark.usefixtures("pieces")
@pytest.mark.parametrize("codec", ["none", "snappy", "gzip", "zstd"])
def test_a_clean_file_is_copied_byte_by_byte(read: Ingest, tmp_path: Path, codec: str) -> None:
    log = write(tmp_path / "log.parquet", CLEAN, compression=codec)
    found = read(log)
    assert found.rows == CLEAN and found.told.read == found.told.kept == 3
    assert found.told.log.read_bytes() == log.read_bytes()
    assert sorted(path.name for path in found.told.log.parent.iterdir()) == ["log.parquet", "rejects.parquet"]


@pytest.mark.usefixtures("pieces")
@pytest.mark.parametrize("dictionary", [True, False])
@pytest.mark.parametrize("name", DIRTY)
def test_one_row_that_is_not_clean_changes_nothing_else(
    read: Ingest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, dictionary: bool
) -> None:
    log = write(tmp_path / "log.parquet", [*CLEAN, DIRTY[name]], use_dictionary=dictionary)
    found = read(log)
    assert found.told.log.read_bytes() != log.read_bytes()
    monkeypatch.setattr(run, "alike", lambda _: False)
    always = read(log)
    assert (found.rows, found.rejects) == (always.rows, always.rejects)
    assert found.rows[:3] == CLEAN
    assert sorted(path.name for path in found.told.log.parent.iterdir()) == ["log.parquet", "rejects.parquet"]


def test_what_is_laid_out_otherwise_is_written_anew(
    read: Ingest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = write(tmp_path / "packed.parquet", CLEAN, compression="lz4")
    wide = tmp_path / "wide.parquet"
    pq.write_table(pq.read_table(packed).append_column("more", pa.array([1, 2, 3])), wide)
    typed = tmp_path / "typed.parquet"
    pq.write_table(pq.read_table(packed).set_column(3, "rank", pa.array([1, 2, 3])), typed)
    large = write(tmp_path / "large.parquet", CLEAN, row_group_size=3)
    assert untouched.alike(large)
    monkeypatch.setattr(untouched, "LARGEST", 2)
    assert not any(untouched.alike(file) for file in (packed, wide, typed, large, tmp_path / "log.csv"))
    assert read(packed).rows == CLEAN


def test_a_mapping_a_time_format_or_canonical_urls_leave_no_short_way(read: Ingest, tmp_path: Path) -> None:
    log = write(tmp_path / "log.parquet", [("u", 1_141_171_301, "a", None, "HTTP://A.example/b/../c")])
    assert read(log, format="table", canonical_urls=True).rows[0][4] != "HTTP://A.example/b/../c"
    assert read(log, format="table", columns={"user": "user", "query": "query"}).rows == [("u", None, "a", None, None)]
    swapped = {"user": "query", "query": "user"}
    assert read(log, format="table", columns=swapped).rows[0][:3] == ("a", None, "u")


def test_a_screen_leaves_no_short_way(tmp_path: Path) -> None:
    log = write(tmp_path / "log.parquet", CLEAN)
    found = run.ingest(log, tmp_path / "work", screen=lambda records: records.slice(0, records.num_rows - 1))
    assert (found.read, found.kept, found.screened) == (3, 2, 1)


def test_a_damaged_file_is_named_as_its_owner_calls_it(read: Ingest, tmp_path: Path) -> None:
    log = write(tmp_path / "log.parquet", [("u", 1, "a" * 50, None, None)] * 500, compression="none")
    data = bytearray(log.read_bytes())
    data[4:40] = b"\xff" * 36  # the first page
    log.write_bytes(data)
    with pytest.raises(InputError, match=r"damaged") as error:
        read(log)
    assert str(log) in str(error.value)
