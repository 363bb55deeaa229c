"""The loop: order, threads and blocks, progress, and what is left behind when it fails."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from tests.unit.ingest.ingest_helper import Ingest, Result, reading

from hubbub.errors import InputError, OutputError, ParameterError
from hubbub.ingest import formats, ingest, lines, output

read = pytest.fixture(reading)

HEADER = b"AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
GOOD = b"%d\tQuery  %d\t2006-03-01 07:17:%02d\t%d\thttp://%d.example\n"
DAMAGED = [b"\n", b"x\n", b"1\t\xff\t\n", b"1\tq\0\t\n", b'2\t"open\t2006-03-01 07:17:12\r\n', b"\tq\t\n", b"3\t-\t\n"]


def damaged_log(users: range = range(40)) -> bytes:
    """A log of which every seventh line or so is damaged; leaving users out leaves the others' lines as they are."""
    made = []
    for user in users:
        rng = np.random.default_rng(user)
        for n in range(25):
            made.append(GOOD % (user, n % 7, n, n, user))
            if rng.random() < 0.3:
                made.append(DAMAGED[rng.integers(len(DAMAGED))])
    return b"".join(made)


@pytest.mark.parametrize(("threads", "block"), [(1, 50), (2, 1), (2, 1000), (5, 333), (5, 8 << 20)])
def test_blocks_and_threads_change_nothing(
    read: Ingest, monkeypatch: pytest.MonkeyPatch, threads: int, block: int
) -> None:
    log = HEADER + damaged_log(range(6)) + HEADER + b"bad\n" + damaged_log(range(2))
    whole = read(log, format="aol", threads=1)
    monkeypatch.setattr(lines, "BLOCK", block)
    monkeypatch.setattr(output, "ROW_GROUP", 100)
    cut = read(log, format="aol", threads=threads)
    assert (cut.rows, cut.rejects, cut.told) == (whole.rows, whole.rejects, whole.told)


def test_removing_one_user_leaves_the_others_as_they_were(read: Ingest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "BLOCK", 333)
    everyone = read(damaged_log(), format="aol")
    gone = 17
    fewer = read(damaged_log(range(gone)) + damaged_log(range(gone + 1, 40)), format="aol")

    def others(result: Result) -> list[tuple[object, ...]]:
        return [row for row in result.rows if row[0] != str(gone) and row[2] != '"open']

    assert others(fewer) == others(everyone)
    assert len(everyone.rows) > len(fewer.rows)


def test_progress_grows_to_the_whole(read: Ingest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "BLOCK", 1000)
    told: list[tuple[int, int]] = []
    log = damaged_log()
    read(log, format="aol", progress=lambda done, total: told.append((done, total)))
    assert told == sorted(told) and len(told) > 10
    assert {total for _, total in told} == {len(log)} and told[-1][0] == len(log)


def test_row_groups_suit_a_parallel_scan(read: Ingest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "BLOCK", 1000)
    monkeypatch.setattr(output, "ROW_GROUP", 300)
    told = read(damaged_log(), format="aol").told
    groups = pq.ParquetFile(told.log).metadata
    sizes = [groups.row_group(at).num_rows for at in range(groups.num_row_groups)]
    assert min(sizes[:-1]) >= 300 and max(sizes) < 400


def test_formats_are_listed_and_others_refused(tmp_path: Path) -> None:
    assert {"aol", "table"} <= set(formats())
    with pytest.raises(ParameterError, match="format is unknown") as error:
        ingest(tmp_path, tmp_path / "work", format="bing")
    assert "aol" in error.value.allowed and error.value.given == "bing"


def test_threads_are_one_or_more(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="thread"):
        ingest(tmp_path, tmp_path / "work", format="aol", threads=0)


def test_nothing_is_left_behind_by_a_failure(read: Ingest, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        read(b"bad\n", format="aol")
    assert list((tmp_path / "work").iterdir()) == []


def test_an_earlier_result_stays_when_a_later_run_fails(read: Ingest) -> None:
    kept = read(damaged_log(), format="aol")
    with pytest.raises(InputError):
        read(b"bad\n", format="aol")
    assert Result(kept.told).rows == kept.rows


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "log.tsv").write_bytes(damaged_log())
    (tmp_path / "work").touch()
    with pytest.raises(OutputError, match="cannot be written"):
        ingest(tmp_path / "log.tsv", tmp_path / "work", format="aol")


@pytest.mark.parametrize("row_group", [100, 1_000_000], ids=["on the way", "at the end"])
def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row_group: int) -> None:
    def full(self: output.PartWriter) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "log.tsv").write_bytes(damaged_log())
    monkeypatch.setattr(output, "ROW_GROUP", row_group)
    monkeypatch.setattr(output.PartWriter, "_flush", full)
    with pytest.raises(OutputError, match="No space left"):
        ingest(tmp_path / "log.tsv", tmp_path / "work", format="aol")
    assert list((tmp_path / "work").iterdir()) == []


def test_a_log_is_not_cleaned_into_its_own_place(read: Ingest, tmp_path: Path) -> None:
    told = read(damaged_log(), format="aol").told
    before = told.log.read_bytes()
    with pytest.raises(ParameterError, match="its own place"):
        ingest(told.log, told.log.parent, format="table")
    with pytest.raises(ParameterError, match="its own place"):
        ingest(tmp_path, tmp_path, format="aol")
    assert told.log.read_bytes() == before


def test_ingest_does_not_load_an_engine() -> None:
    code = "import sys, hubbub.ingest; sys.exit('duckdb' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
