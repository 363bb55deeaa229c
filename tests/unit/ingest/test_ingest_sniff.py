"""Sniffing: what is recognised and why, what is refused, and that the user is never guessed."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.unit.ingest.ingest_helper import Ingest, reading
from tests.unit.ingest.ingest_samples import SAMPLES, ubi

from hubbub.errors import InputError, ParameterError
from hubbub.ingest import SCHEMA, sniff
from hubbub.ingest.sniff import LINES

read = pytest.fixture(reading)

AOL, EXCITE, SOGOU = (SAMPLES[name] for name in ("aol", "excite", "sogou"))


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log.txt"


@pytest.mark.parametrize("format", ["aol", "excite", "sogou"])
@pytest.mark.parametrize("dressing", ["plain", "gzip", "CR LF", "no last newline", "byte order mark"])
def test_formats_are_recognised_by_every_line(log: Path, format: str, dressing: str) -> None:
    data = b"\n".join(SAMPLES[format].lines * 20)
    dressed = {
        "gzip": gzip.compress(data),
        "CR LF": data.replace(b"\n", b"\r\n") + b"\r\n",
        "no last newline": data,
        "byte order mark": b"\xef\xbb\xbf" + data,
    }
    log.write_bytes(dressed.get(dressing, data + b"\n"))
    found = sniff(log)
    assert found.format == format and found.why.startswith("each of its first lines is ")


def test_a_header_settles_it(log: Path) -> None:
    log.write_bytes(AOL.log([b"damaged", *AOL.lines]))
    assert sniff(log).format == "aol" and "header" in sniff(log).why


def test_parquet_with_exactly_the_columns_of_a_log(tmp_path: Path, read: Ingest) -> None:
    path = tmp_path / "log.parquet"
    pq.write_table(pa.table({name: pa.array([None], SCHEMA.field(name).type) for name in SCHEMA.names}), path)
    assert sniff(path).format == "table" and "user, time, query, rank, url" in sniff(path).why
    pq.write_table(pa.table({"user": ["1"], "query": ["lilac"]}), path)
    with pytest.raises(InputError, match="exactly the columns"):
        sniff(path)


def test_a_log_is_read_without_being_told_its_format(read: Ingest) -> None:
    for name in ("aol", "excite", "sogou"):
        sample = SAMPLES[name]
        result = read(sample.log(sample.lines), sample.file)
        assert (result.told.format, result.rows[0], result.rows[8]) == (name, sample.first, sample.ninth)
        assert read(sample.log(sample.lines), sample.file, format="auto").rows == result.rows


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"who,what\n1,lilac\n", "not all of one format"),
        (b"who\twhat\n1\tlilac\n", "not all of one format"),
        (ubi() + b"\n", "say --format jsonl (for UBI documents: ubi) and --columns user="),
        (b"\n", "not all of one format"),
        (EXCITE.log(EXCITE.lines[:5] + AOL.lines[:5]), "not all of one format"),
        (EXCITE.log(EXCITE.lines * 5 + [b"damaged"]), "not all of one format"),
        (b"A7\t970916071712\t2006-03-01 07:17:12\n", "not all of one format"),
        (b"x" * (2 << 20), "not all of one format"),
    ],
    ids=["csv", "tsv", "ubi", "empty line", "mixed", "one damaged", "fits two formats", "endless line"],
)
def test_other_logs_are_refused(log: Path, data: bytes, why: str) -> None:
    log.write_bytes(data)
    with pytest.raises(InputError, match="format is not recognised") as error:
        sniff(log)
    assert why in str(error.value)
    for text in ("--format", "aol", "ubi", "--columns", "cannot be guessed", "log.txt"):
        assert text in str(error.value)


def test_a_line_that_fits_two_formats_speaks_for_none(log: Path) -> None:
    """Otherwise the lines of one user could decide between two answers."""
    both = b"A7\t970916071712\t2006-03-01 07:17:12"
    for sample in (AOL, EXCITE):
        log.write_bytes(b"\n".join([*sample.lines, both]))
        with pytest.raises(InputError, match="not recognised"):
            sniff(log)


def test_only_the_first_lines_are_looked_at(log: Path) -> None:
    assert len(EXCITE.lines * 9) > LINES
    log.write_bytes(EXCITE.log([*EXCITE.lines * 9, b"damaged"]))
    assert sniff(log).format == "excite"


def test_all_files_agree(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "a").write_bytes(AOL.log(AOL.lines))
    (folder / "b").write_bytes(b"\n".join(AOL.lines))
    (folder / "c").touch()
    assert sniff(folder).format == "aol" and "each of its first lines" in sniff(folder).why
    (folder / "d").write_bytes(EXCITE.log(EXCITE.lines))
    with pytest.raises(InputError, match="it looks like excite, and a like aol"):
        sniff(str(folder / "*"))


def test_columns_need_a_format(log: Path, read: Ingest) -> None:
    log.write_bytes(AOL.log(AOL.lines))
    with pytest.raises(ParameterError, match="--columns needs --format"):
        read(log, columns={"user": "1"})
