"""Files: the three forms hold the same log, are whole or absent, and read back without a reject."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.made_up import synthesise

from hubbub.errors import OutputError, ParameterError
from hubbub.ingest import SCHEMA, ingest
from hubbub.synth import MADE_UP, PRESETS
from hubbub.synth import run as running

HEADER = b"AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"


@pytest.mark.parametrize("preset", PRESETS)
def test_every_row_reads_back_as_it_was(tmp_path: Path, preset: str) -> None:
    for name in ("log.tsv", "log.tsv.gz", "log.parquet"):
        made = synthesise(400, tmp_path / name, preset=preset, canaries=MADE_UP)
    written = pq.read_table(tmp_path / "log.parquet")
    assert written.schema.equals(SCHEMA) and len(written) == made.rows
    for name, format in (("log.tsv", "aol"), ("log.tsv.gz", "aol"), ("log.parquet", "table")):
        told = ingest(tmp_path / name, tmp_path / "work", format=format)
        assert (told.kept, told.rejected) == (made.rows, 0)
        assert pq.read_table(told.log).equals(written)
    text = (tmp_path / "log.tsv").read_bytes()
    assert text.startswith(HEADER) and text.count(HEADER) == 1
    assert gzip.decompress((tmp_path / "log.tsv.gz").read_bytes()) == text
    assert {line.count(b"\t") for line in text.splitlines()} == {4}


@pytest.mark.parametrize("name", ["log.tsv", "log.tsv.gz", "log.parquet"])
def test_the_bytes_do_not_depend_on_the_chunks(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hubbub.synth.write.ROW_GROUP", 5_000)
    found = []
    for chunk_users in (50, 191, 4096):
        synthesise(300, tmp_path / name, chunk_users=chunk_users)
        found.append((tmp_path / name).read_bytes())
        (tmp_path / name).unlink()
    assert found[0] == found[1] == found[2]


def test_row_groups_are_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hubbub.synth.write.ROW_GROUP", 2_000)
    made = synthesise(300, tmp_path / "log.parquet")
    groups = pq.ParquetFile(tmp_path / "log.parquet").metadata
    sizes = [groups.row_group(n).num_rows for n in range(groups.num_row_groups)]
    assert sum(sizes) == made.rows and set(sizes[:-1]) == {2_000}


def test_nothing_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "log.tsv").write_text("mine")
    (tmp_path / "truth").mkdir()
    with pytest.raises(OutputError, match="exists"):
        synthesise(10, tmp_path / "log.tsv")
    with pytest.raises(OutputError, match="exists"):
        synthesise(10, tmp_path / "new.tsv", truth=tmp_path / "truth")
    assert (tmp_path / "log.tsv").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix != ".sqlite") == ["log.tsv", "truth"]


def test_a_file_that_appears_meanwhile_is_left_alone(tmp_path: Path) -> None:
    out = tmp_path / "log.tsv"

    def meanwhile(done: int, total: int) -> None:
        out.write_text("mine")

    with pytest.raises(OutputError, match="exists"):
        synthesise(10, out, progress=meanwhile)
    assert out.read_text() == "mine"


@pytest.mark.parametrize("name", ["log", "log.csv", "log.gz", ".tsv", "log.tsv.zst"])
def test_an_unknown_form_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(OutputError, match="how to write"):
        synthesise(10, tmp_path / name)


def test_the_log_cannot_lie_inside_its_truth(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="inside"):
        synthesise(10, tmp_path / "truth" / "log.tsv", truth=tmp_path / "truth")


@pytest.mark.parametrize("name", ["log.tsv", "log.tsv.gz", "log.parquet"])
def test_a_failure_leaves_nothing_behind(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    folder = tmp_path / "here"
    folder.mkdir()
    with pytest.raises(KeyboardInterrupt):
        synthesise(100, folder / name, truth=folder / "truth", chunk_users=50, progress=stop)
    assert list(folder.iterdir()) == []

    def full(*given: object, **options: object) -> object:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(running, "generate", full)
    with pytest.raises(OSError, match="No space"):
        synthesise(100, folder / name)


def test_a_closed_folder_is_a_plain_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="Cannot write here"):
        synthesise(10, tmp_path / "file" / "log.tsv")
