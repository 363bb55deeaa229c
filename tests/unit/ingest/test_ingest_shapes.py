"""One log in the shapes that people have: each of them gives the same records, and is released with one command."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest
from tests.conftest import Hubbub
from tests.unit.ingest.ingest_helper import Ingest, reading
from typer.testing import CliRunner

from hubbub.cli import app
from hubbub.errors import InputError, ParameterError
from hubbub.ingest import Stated, ingest

read = pytest.fixture(reading)

NAMES = {"user": "who", "query": "what", "time": "when"}
ROWS = [(f"u{n % 3}", f"Weiße Rose; {n}", f"2006-03-01T07:17:{n:02d}Z") for n in range(12)]
EXPECTED = [(f"u{n % 3}", 1_141_197_420 + n, f"weisse rose; {n}", None, None) for n in range(12)]


def delimited(mark: str, names: tuple[str, ...] | None = ("who", "what", "when")) -> str:
    """The log as delimited text, every field in quotation marks."""
    lines = ([names] if names else []) + ROWS
    return "".join(mark.join(f'"{field}"' for field in line) + "\n" for line in lines)


def objects() -> str:
    """The log as JSON lines."""
    return "".join(json.dumps({"who": u, "what": q, "when": t}) + "\n" for u, q, t in ROWS)


def arrow() -> pa.Table:
    """The log as a table."""
    return pa.table({name: [row[at] for row in ROWS] for at, name in enumerate(("who", "what", "when"))})


def excel(path: Path) -> None:
    """The log as an Excel file with an empty row."""
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    for row in [("who", "what", "when"), *ROWS, (None, None, None)]:
        sheet.append(row)
    book.save(path)


def stream(path: Path) -> None:
    """The log as a stream of Arrow."""
    with ipc.new_stream(path, arrow().schema) as sink:
        sink.write_table(arrow(), max_chunksize=5)


def zipped(path: Path) -> None:
    """The log as two members of an archive, with what archives hold besides."""
    head, *lines = delimited(",").splitlines(keepends=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("logs/", "")
        archive.writestr("logs/a.csv", head + "".join(lines[:5]))
        archive.writestr("logs/b.csv.gz", gzip.compress((head + "".join(lines[5:])).encode()))
        archive.writestr("__MACOSX/a.csv", "nothing")


def text(content: str, encoding: str = "utf-8", pack: Callable[[bytes], bytes] = bytes) -> Callable[[Path], object]:
    """Writes text."""
    return lambda path: path.write_bytes(pack(content.encode(encoding)))


SHAPES: dict[str, tuple[str, Callable[[Path], object], dict[str, str]]] = {
    "commas": ("log.csv", text(delimited(",")), {}),
    "semicolons": ("log.csv", text(delimited(";")), {}),
    "bars": ("log.txt", text(delimited("|")), {}),
    "tabs": ("log.tsv", text(delimited("\t")), {}),
    "another separator": ("log.dat", text(delimited("~")), {"separator": "~"}),
    "Latin-1": ("log.csv", text(delimited(";"), "latin-1"), {"encoding": "latin-1"}),
    "Windows": ("log.csv", text(delimited(",").replace("\n", "\r\n"), "cp1252"), {"encoding": "cp1252"}),
    "UTF-8 with a mark": ("log.csv", text(delimited(","), "utf-8-sig"), {}),
    "UTF-16 with a mark": ("log.csv", text(delimited("\t"), "utf-16"), {}),
    "UTF-16 without a mark": ("log.csv", text(delimited(","), "utf-16-be"), {"encoding": "utf-16-be"}),
    "JSON lines": ("log.jsonl", text(objects()), {}),
    "JSON lines in UTF-16": ("log.ndjson", text(objects(), "utf-16"), {}),
    "gzip": ("log.csv.gz", text(delimited(","), pack=gzip.compress), {}),
    "xz": ("log.csv.xz", text(delimited(","), pack=lzma.compress), {}),
    "bzip2": ("log.jsonl.bz2", text(objects(), pack=bz2.compress), {}),
    "Zstandard": ("log.csv.zst", text(delimited(","), pack=lambda b: pa.compress(b, "zstd", asbytes=True)), {}),
    "zip": ("log.zip", zipped, {}),
    "Parquet": ("log.parquet", lambda path: pq.write_table(arrow(), path), {}),
    "Arrow": ("log.arrow", lambda path: feather.write_feather(arrow(), path, compression="uncompressed"), {}),
    "Feather": ("log.feather", lambda path: feather.write_feather(arrow(), path), {}),
    "a stream of Arrow": ("log.ipc", stream, {}),
    "Excel": ("log.xlsx", excel, {}),
}
every = pytest.mark.parametrize(("file", "write", "stated"), SHAPES.values(), ids=list(SHAPES))


@every
def test_every_shape_gives_the_same_records(
    read: Ingest, tmp_path: Path, file: str, write: Callable[[Path], object], stated: dict[str, str]
) -> None:
    write(tmp_path / file)
    result = read(tmp_path / file, format="table", columns=NAMES, stated=Stated(**stated))
    assert result.rows == EXPECTED
    assert stated.items() <= result.told.stated.items() or "latin-1" in stated.values()


@every
def test_every_shape_is_released_with_one_command(
    hubbub: Hubbub, tmp_path: Path, file: str, write: Callable[[Path], object], stated: dict[str, str]
) -> None:
    write(tmp_path / file)
    options = [word for name, value in stated.items() for word in (f"--{name}", value)]
    columns = ",".join(f"{role}={name}" for role, name in NAMES.items())
    hubbub(
        *("release", tmp_path / file, "--format", "table", "--columns", columns, *options, "--mechanism", "korolova"),
        *(
            "--epsilon",
            "1",
            "--delta",
            "1e-6",
            "--ledger",
            tmp_path / "ledger.db",
            "--out",
            tmp_path / "out",
            "--quiet",
        ),
    )
    facts = json.loads((tmp_path / "out" / "owner-only" / "facts.json").read_text())
    assert (facts["rows"], facts["users"], facts["dropped"], facts["rejects"]) == (12, 3, 0, 0)


def test_what_the_head_says_is_written_down_as_options(hubbub: Hubbub, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text(delimited(";"), encoding="utf-16")
    told = hubbub(
        *("release", tmp_path / "log.csv", "--format", "table", "--columns", "user=who,query=what"),
        *("--mechanism", "korolova", "--epsilon", "1", "--delta", "1e-6"),
        *("--ledger", tmp_path / "ledger.db", "--out", tmp_path / "out"),
    )
    assert "The head of the log says --separator ';' --encoding utf-16." in told.stdout
    run = (tmp_path / "out" / "owner-only" / "run.toml").read_text(encoding="utf-8")
    assert 'separator = ";"\n' in run and 'encoding = "utf-16"\n' in run


def test_standard_input_is_read_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = tmp_path / "work"
    for name, format, data in (
        ("text", "table", delimited(";").encode()),
        ("objects", "jsonl", objects().encode()),
        ("packed", "table", gzip.compress(delimited(";").encode())),
    ):
        seen: list[int] = []
        monkeypatch.setattr("hubbub.ingest.run.resolve", _watched(seen))
        command = (
            *("release", "-", "--format", format, "--columns", "user=who,query=what,time=when", "--work", work),
            *("--mechanism", "korolova", "--epsilon", "1", "--delta", "1e-6", "--quiet"),
            *("--ledger", tmp_path / f"{name}.db", "--out", tmp_path / name),
        )
        told = CliRunner().invoke(app, [str(word) for word in command], input=data)
        assert told.exit_code == 0, told.output
        facts = json.loads((tmp_path / name / "owner-only" / "facts.json").read_text())
        assert (facts["rows"], seen) == (12, [0o600])
        assert 'log = "-"\n' in (tmp_path / name / "owner-only" / "run.toml").read_text()
        assert list(work.iterdir()) == []


def _watched(seen: list[int]) -> Callable[[Any], dict[Path, int]]:
    """`resolve`, noting who may read the files."""
    from hubbub.ingest.sources import resolve

    def watched(source: Any) -> dict[Path, int]:
        files = resolve(source)
        seen.extend(stat.S_IMODE(os.stat(file).st_mode) for file in files)
        return files

    return watched


@pytest.mark.parametrize("shape", ["gzip", "xz", "bzip2", "zip", "Parquet", "Arrow", "Excel"])
def test_a_file_that_was_cut_off_is_one_clear_error(tmp_path: Path, shape: str) -> None:
    file, write, _ = SHAPES[shape]
    write(tmp_path / file)
    data = (tmp_path / file).read_bytes()
    (tmp_path / file).write_bytes(data[: len(data) * 2 // 3])
    with pytest.raises(InputError, match=r"damaged|cut off") as error:
        ingest(tmp_path / file, tmp_path / "work", format="table", columns=NAMES)
    assert error.value.next and not list((tmp_path / "work").glob("*.parquet"))


def test_files_without_a_header_take_the_separator_from_their_name_or_the_owner(read: Ingest) -> None:
    places = {"user": "1", "query": "2"}
    stated = Stated(separator="semicolon")
    bare = delimited(";", names=None).encode()
    assert len(read(bare, "log.dat", format="table", columns=places, stated=stated).rows) == 12
    with pytest.raises(InputError, match="without a header") as error:
        read(bare, "log.dat", format="table", columns=places)
    assert "--separator" in error.value.next


@pytest.mark.parametrize(
    "stated",
    [Stated(separator=";;"), Stated(separator='"'), Stated(separator="§"), Stated(encoding="utf-7"), Stated("", "x")],
)
def test_statements_that_cannot_be(read: Ingest, stated: Stated) -> None:
    with pytest.raises(ParameterError, match=r"--separator is one character|--encoding is not one"):
        read(b"who,what\n1,lilac\n", "log.csv", format="table", columns={"user": "who", "query": "what"}, stated=stated)


def test_a_format_that_fixes_them_refuses_statements(read: Ingest) -> None:
    with pytest.raises(ParameterError, match="fixes its separator and its encoding"):
        read(b"1\tlilac\t2006-03-01 07:17:12\n", format="aol", stated=Stated(separator=";", encoding="latin-1"))


def test_excel_says_what_to_install(read: Ingest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    excel(tmp_path / "log.xlsx")
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    with pytest.raises(InputError, match="openpyxl") as error:
        read(tmp_path / "log.xlsx", format="table", columns=NAMES)
    assert error.value.next == "pip install 'hubbub[excel]'"
