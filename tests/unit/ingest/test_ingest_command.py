"""`--format` on the command line: left out, `auto`, and the choices that must be made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.conftest import Hubbub, document
from tests.unit.ingest.ingest_samples import SAMPLES, click, ubi

import hubbub as library

BUDGET = ("--mechanism", "korolova", "--epsilon", "2", "--delta", "1e-5")


@pytest.mark.parametrize("format", [(), ("--format", "auto")], ids=["left out", "auto"])
def test_a_format_that_is_recognised_is_said_and_kept(
    hubbub: Hubbub, log_file: Path, tmp_path: Path, format: tuple[str, ...]
) -> None:
    result = hubbub("release", log_file, *format, *BUDGET, "--out", tmp_path / "out")
    assert "The log looks like aol: it begins with the format's header. Using --format aol." in result.stdout
    assert 'format = "aol"\n' in (tmp_path / "out" / "owner-only" / "run.toml").read_text(encoding="utf-8")
    quiet = hubbub("release", log_file, *format, *BUDGET, "--out", tmp_path / "two", "--json")
    assert document(quiet)["out"] and "looks like aol" in quiet.stderr


def test_a_format_that_was_given_is_not_looked_for(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    result = hubbub("release", log_file, "--format", "aol", *BUDGET, "--out", tmp_path / "out")
    assert "looks like" not in result.output


@pytest.mark.parametrize("name", ["table", "ubi"])
def test_a_format_that_leaves_the_user_open_must_be_given(hubbub: Hubbub, tmp_path: Path, name: str) -> None:
    sample = SAMPLES[name]
    (tmp_path / sample.file).write_bytes(sample.log(sample.lines))
    result = hubbub("release", tmp_path / sample.file, *BUDGET, "--out", tmp_path / "out", code=2)
    for text in ("format is not recognised", "--format", "--columns", "cannot be guessed"):
        assert text in result.stderr
    asked = hubbub("release", tmp_path / sample.file, "--format", name, *BUDGET, "--out", tmp_path / "out", code=2)
    assert "--columns" in asked.stderr
    assert not (tmp_path / "out").exists()


def test_a_release_of_ubi_names_its_unit(hubbub: Hubbub, tmp_path: Path) -> None:
    log = tmp_path / "log.ndjson"
    lines = [
        line for n in range(200) for line in (ubi(client_id=f"c{n}"), click(client_id=f"c{n}", action="item_click"))
    ]
    log.write_bytes(b"".join(line + b"\n" for line in lines))
    columns = ("--format", "ubi", "--columns", "user=client_id,click=click+item_click")
    hubbub("release", log, *columns, *BUDGET, "--tables", "queries,clicks", "--out", tmp_path / "out")
    card = json.loads((tmp_path / "out" / "public" / "card.json").read_text(encoding="utf-8"))
    assert card["unit"]["column"] == "client_id"
    released = library.Release(tmp_path / "out")
    assert len(released.queries) == len(released.clicks) == 1


def test_a_log_says_what_it_was_taken_for(log_file: Path) -> None:
    with library.read_log(log_file) as log:
        assert log.ingested.format == "aol"
