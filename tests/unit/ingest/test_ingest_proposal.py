"""`hubbub inspect` on an unknown file: what it proposes, and that no value of the log is shown; rejects on request."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.conftest import Hubbub

from hubbub.errors import InputError
from hubbub.ingest import ingest
from hubbub.ingest.proposal import masked, propose

LOG = 'visitor id;what;when\nanna7;"lilac; white";2006-03-01 07:17:12\nbert8;rose;2006-03-01 07:18:00\n'


def test_an_unknown_file_is_shown_masked_with_a_command_to_paste(hubbub: Hubbub, tmp_path: Path) -> None:
    (tmp_path / "log.dat").write_text(LOG, encoding="utf-8")
    told = hubbub("inspect", tmp_path / "log.dat").stdout
    assert "aaaa0  |  aaaa0" in told and "aaaaa; aaaaa" in told and "0000-00-00 00:00:00" in told
    assert not any(value in told for value in ("anna", "bert", "lilac", "rose", "2006"))
    assert "user=USER,query=what,time=when --separator ';'" in told, "the user is never guessed"
    assert "perhaps visitor id" in told
    document = json.loads(hubbub("inspect", tmp_path / "log.dat", "--json").stdout)
    command = document["owner_only"]["proposal"]["command"].replace("USER", "visitor id")
    assert command.endswith("--separator ';'")
    columns = "user=visitor id,query=what,time=when"
    told = hubbub("inspect", tmp_path / "log.dat", "--format", "table", "--columns", columns, "--separator", ";").stdout
    assert "2 read, 0 dropped, 0 rejected, 2 rows" in told


@pytest.mark.parametrize(
    ("name", "data", "kind", "encoding", "columns", "command"),
    [
        (
            "a.log",
            b"anna7|lilac|1141197432\n",
            "delimited text",
            "utf-8",
            ["1", "2", "3"],
            "user=USER,query=QUERY,time=3",
        ),
        ("a.csv", "q;u\nweiß;anna\n".encode("latin-1"), "delimited text", "latin-1", ["q", "u"], "--encoding latin-1"),
        ("a.txt", "q\tu\nrose\tanna\n".encode("utf-16"), "delimited text", "utf-16", ["q", "u"], "--encoding utf-16"),
        ("a.log", b'{"u": {"id": 7}, "q": "rose"}\n', "JSON lines", "utf-8", ["u.id", "q"], "--format jsonl"),
        ("a.jsonl", b'{"u": 7, "q": "rose"}\n{"u"\n', "JSON lines", "utf-8", ["u", "q"], "--format table"),
    ],
)
def test_shapes(
    tmp_path: Path, name: str, data: bytes, kind: str, encoding: str, columns: list[str], command: str
) -> None:
    (tmp_path / name).write_bytes(data)
    found = propose(tmp_path / name, name)
    assert (found.kind, found.encoding, [column.name for column in found.columns]) == (kind, encoding, columns)
    assert command in found.command


def test_columns_of_parquet(tmp_path: Path) -> None:
    pq.write_table(pa.table({"account": ["anna7"], "query": ["rose"]}), tmp_path / "log.parquet")
    found = propose(tmp_path / "log.parquet", "log.parquet")
    assert [(c.name, c.samples) for c in found.columns] == [("account", ("aaaa0",)), ("query", ("aaaa",))]
    assert found.candidates["user"] == ("account",)


def test_masks_keep_the_shape_alone() -> None:
    assert masked("Straße 7, Ünï") == "aaaaaa 0, aaa"
    assert masked("x" * 50) == "a" * 40 + "…"


def test_rejected_lines_are_kept_for_the_owner_alone(hubbub: Hubbub, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_bytes(b"u,q,t\n1,lilac,\n2,rose,yesterday\n3,\xff,\n4,,\n")
    command = ("inspect", tmp_path / "log.csv", "--format", "table", "--columns", "user=u,query=q,time=t")
    kept = tmp_path / "rejects.tsv"
    hubbub(*command, "--rejects", kept)
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    rows = [line.split("\t")[1:] for line in kept.read_text(encoding="utf-8").splitlines()]
    assert rows[1:] == [["3", "bad-time", "16", "2,rose,yesterday"], ["4", "bad-encoding", "4", "3,\\xff,"]]
    assert "cannot be written" in hubbub(*command, "--rejects", kept, code=2).output, "nothing is overwritten"


def test_the_error_shows_the_line_it_stumbled_over(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_bytes(b"u,q,t\n2,rose,yesterday\n")
    with pytest.raises(InputError) as error:
        ingest(tmp_path / "log.csv", tmp_path / "w", format="table", columns={"user": "u", "query": "q", "time": "t"})
    assert "'2,rose,yesterday'" in str(error.value.given) and "hubbub inspect" in error.value.next
