"""Which files a log consists of, how they are compressed, and what is said when they cannot be read."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pyarrow as pa
import pytest
from tests.unit.ingest.ingest_helper import Ingest, reading

from hubbub.errors import InputError
from hubbub.ingest.sources import resolve

read = pytest.fixture(reading)

LINES = [b"%d\tquery %d\t2006-03-01 07:17:%02d\t\t\n" % (n % 3, n, n % 60) for n in range(1000)]
LOG = b"".join(LINES)


def zstd(data: bytes) -> bytes:
    compressed: bytes = pa.compress(data, codec="zstd", asbytes=True)
    return compressed


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("log.gz", gzip.compress(LOG)),
        ("log.txt.gz", gzip.compress(LOG[:5000]) + gzip.compress(LOG[5000:])),
        ("log.zst", zstd(LOG)),
        ("log.tsv.zst", zstd(LOG[:5000]) + zstd(LOG[5000:])),
        ("log.tsv", gzip.compress(LOG)),
        ("log.tsv.GZ", gzip.compress(LOG)),
    ],
    ids=["gzip", "gzip in two members", "zstd", "zstd in two frames", "gzip without its name", "upper case"],
)
def test_compressed_files_are_streams(read: Ingest, name: str, data: bytes) -> None:
    assert read(data, name, format="aol").rows == read(LOG, "plain.tsv", format="aol").rows


def test_compressed_tables(read: Ingest) -> None:
    result = read(gzip.compress(b"u,q\n1,Lilac\n"), "log.csv.gz", format="table", columns={"user": "u", "query": "q"})
    assert result.rows == [("1", None, "lilac", None, None)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of three parts and of things to pass over."""
    logs = tmp_path / "logs"
    (logs / "deeper").mkdir(parents=True)
    (logs / "part-2.tsv").write_bytes(b"".join(LINES[400:]))
    (logs / "part-1.tsv.gz").write_bytes(gzip.compress(b"".join(LINES[:400])))
    (logs / "part-3.tsv").write_bytes(b"")
    (logs / ".hidden.tsv").write_bytes(LOG)
    (logs / "_SUCCESS").write_bytes(b"x")
    (logs / "deeper" / "part-4.tsv").write_bytes(LOG)
    return logs


def test_a_folder_is_its_files_in_the_order_of_their_names(read: Ingest, folder: Path) -> None:
    result = read(folder, format="aol")
    assert result.rows == read(LOG, format="aol").rows


def test_a_glob(read: Ingest, folder: Path) -> None:
    assert len(read(str(folder / "part-[23].tsv"), format="aol").rows) == 600
    assert len(read(str(folder / "**" / "part-*"), format="aol").rows) == 2000


def test_a_name_that_looks_like_a_glob_is_first_a_name(read: Ingest) -> None:
    assert len(read(LOG, "log[1].tsv", format="aol").rows) == 1000


def test_rejects_name_their_file_and_line(read: Ingest, folder: Path) -> None:
    (folder / "part-2.tsv").write_bytes(LINES[0] + b"bad\n" + LINES[1])
    (folder / "part-3.tsv").write_bytes(b"bad\n" + LINES[1])
    rejects = read(folder, format="aol").rejects
    assert [(Path(file).name, line) for file, line, *_ in rejects] == [("part-2.tsv", 2), ("part-3.tsv", 1)]


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("empty.tsv", b"", "The log is empty"),
        ("log.gz", gzip.compress(LOG)[:-20], "gzip stream is damaged or cut off"),
        ("log.gz", gzip.compress(LOG)[:200] + b"?" * 50 + gzip.compress(LOG)[250:], "gzip stream is damaged"),
        ("log.zst", zstd(LOG)[:-20], "zstd stream is damaged or cut off"),
        ("log.tsv.gz", LOG, "named .gz but not compressed so"),
        ("empty.gz", gzip.compress(b"", mtime=0), "a header and no record"),
        ("log.tsv", b"PK\x03\x04" + LOG, "zip archive"),
        ("log.tsv", b"BZh91AY&SY" + LOG, "bzip2"),
        ("log.tsv", b"\xfd7zXZ\x00" + LOG, "xz"),
        ("log.tsv", LOG.decode().encode("utf-16"), "UTF-16"),
        ("log.tsv", bytes(range(256)) * 40, "No record of the log can be used"),
    ],
)
def test_files_that_cannot_be_read(read: Ingest, name: str, data: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message) as error:
        read(data, name, format="aol")
    assert name in str(error.value.given) and error.value.next


def test_text_that_begins_like_an_archive_is_text(read: Ingest) -> None:
    log = b"PAR1\tlilac\t\nBZh\trose\t\n"
    assert [row[0] for row in read(log, format="aol").rows] == ["PAR1", "BZh"]


def test_sources_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        resolve(tmp_path / "nothing.tsv")
    with pytest.raises(InputError, match="No file matches"):
        resolve(str(tmp_path / "*.tsv"))
    with pytest.raises(InputError, match="holds no files"):
        resolve(tmp_path)
    (tmp_path / "empty.tsv").touch()
    with pytest.raises(InputError, match="is empty"):
        resolve(tmp_path)


def test_entries_that_cannot_be_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.tsv").write_bytes(LOG)
    (tmp_path / "b.tsv").symlink_to(tmp_path / "gone.tsv")
    with pytest.raises(InputError, match=r"No such file") as error:
        resolve(tmp_path)
    assert str(tmp_path / "b.tsv") in str(error.value)
    (tmp_path / "b.tsv").unlink()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="not a regular file"):
        resolve(tmp_path)

    def denied(path: Path) -> bool:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "is_dir", denied)
    with pytest.raises(InputError, match="Permission denied"):
        resolve(tmp_path)
