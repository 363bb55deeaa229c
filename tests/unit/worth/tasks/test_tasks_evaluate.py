"""`hubbub evaluate`: scores for the owner only, every task present, public/ untouched, the look recorded."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.conftest import RELEASE, Hubbub, document

import hubbub
from hubbub.errors import OutputError, ParameterError
from hubbub.ingest import SCHEMA
from hubbub.privacy.ledger import Ledger
from hubbub.worth.tasks import tasks
from hubbub.worth.tasks.run import keep, read

QUICK = ("--task", "counts", "--task", "fears")


@pytest.fixture
def released(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> Path:
    """A release of its own."""
    out = tmp_path / "released"
    hubbub("release", log_file, *RELEASE, "--out", out)
    return out


def hashes(folder: Path) -> dict[str, str]:
    return {str(p): hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_help_has_an_example(hubbub: Hubbub) -> None:
    text = " ".join(hubbub("evaluate", "--help").stdout.split())
    assert "Example: hubbub evaluate release --log" in text and "--json" in text and "--truth" in text


def test_every_task_is_there_and_public_is_as_before(hubbub: Hubbub, log_file: Path, released: Path) -> None:
    before, modes = hashes(released / "public"), {p: p.stat().st_mtime_ns for p in (released / "public").iterdir()}
    result = hubbub("evaluate", released, "--log", log_file, "--json")
    found = document(result)
    assert set(found) == set(tasks())
    assert hashes(released / "public") == before
    assert {p: p.stat().st_mtime_ns for p in (released / "public").iterdir()} == modes
    hubbub("card", released, "--check")
    for name, scores in found.items():
        assert isinstance(scores, dict) and scores, name
        if "not_evaluable" in scores:
            assert len(scores) == 1 and scores["not_evaluable"]
        else:
            assert all({"original", "release"} <= set(pair) for pair in scores.values())
    assert found["counts"]["queries.coverage@all"]["release"] > 0  # type: ignore[index]
    assert "not_evaluable" in found["fears"]  # type: ignore[operator]
    path = released / "owner-only/scores.json"
    kept = json.loads(path.read_text(encoding="utf-8"))
    assert kept.pop("details")["counts"]["queries"] and kept == found
    assert path.stat().st_mode & 0o777 == 0o600
    assert not [p for p in path.parent.iterdir() if p.name.startswith(".")], "a temporary file was left"
    assert "counts (" in result.stderr and f"of {len(tasks())})" in result.stderr


def test_one_task_leaves_the_others_scores(hubbub: Hubbub, log_file: Path, released: Path) -> None:
    hubbub("evaluate", released, "--log", log_file, *QUICK)
    found = document(hubbub("evaluate", released, "--log", log_file, "--task", "frequent-pairs", "--json"))
    assert set(found) == set(tasks()) and found["counts"] == {"not_evaluable": "not asked for"}
    kept = read(released / "owner-only")
    assert set(kept) == {"counts", "fears", "frequent-pairs", "details"}
    assert "queries.distinct" in kept["counts"] and "counts" in kept["details"]
    keep(released / "owner-only", "counts", {"not_evaluable": "now"}, {})
    again = read(released / "owner-only")
    assert again["counts"] == {"not_evaluable": "now"} and "counts" not in again["details"]


def test_a_person_reads_a_table(hubbub: Hubbub, log_file: Path, released: Path) -> None:
    text = hubbub("evaluate", released, "--log", log_file, *QUICK).stdout
    assert text.startswith("OWNER ONLY") and "records this look at default/default" in text
    assert "not evaluable: no query of the original begins with" in text
    assert any(line.split()[:3] == ["queries.coverage", "1", "@10"] for line in text.splitlines())
    assert hubbub("evaluate", released, "--log", log_file, *QUICK, "--quiet").output == ""


def test_the_look_is_recorded_where_the_release_was(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    book = ("--ledger", tmp_path / "other.sqlite", "--population", "people", "--dataset", "march")
    out = tmp_path / "out"
    hubbub("release", log_file, *RELEASE, "--out", out, *book)
    hubbub("evaluate", out, *QUICK)  # run.toml says which log, which ledger, who and when
    with Ledger(tmp_path / "other.sqlite") as ledger:
        assert [look.command for look in ledger.looks("people", "march")] == ["release", "evaluate"]
        spent = ledger.spent("people")
    assert spent.releases == 1 and spent.epsilon == pytest.approx(2)
    hubbub("release", log_file, *RELEASE, "--out", tmp_path / "next", *book)
    card = json.loads((tmp_path / "next/public/card.json").read_text(encoding="utf-8"))
    assert "evaluate" in card["data_dependent_choices"][0]["note"]


def test_mistakes_are_told(hubbub: Hubbub, log_file: Path, released: Path, tmp_path: Path) -> None:
    def says(*arguments: object) -> str:
        return hubbub("evaluate", *arguments, code=2).stderr

    assert "There is no such task" in says(released, "--log", log_file, "--task", "horoscopes")
    assert "no release here" in says(tmp_path / "nowhere", "--log", log_file)
    assert "no truth in this folder" in says(released, "--log", log_file, "--truth", tmp_path)
    assert "nothing.tsv" in says(released, "--log", tmp_path / "nothing.tsv", "--format", "aol")
    (released / "owner-only/run.toml").unlink()
    assert "--log LOG is missing" in says(released)
    assert not (released / "owner-only/scores.json").exists()
    (released / "owner-only/scores.json").write_text("[1", encoding="utf-8")
    assert "Earlier scores cannot be read" in says(released, "--log", log_file, *QUICK)
    alone = tmp_path / "copy"
    (released / "public").rename(alone)
    assert "Scores have no place here" in says(alone, "--log", log_file)
    with Ledger() as ledger:
        assert [look.command for look in ledger.looks("default", "default")] == ["release", "evaluate"]


def test_another_log_may_have_another_format(hubbub: Hubbub, released: Path, tmp_path: Path) -> None:
    rows = [{"user": "u", "time": 1, "query": "weather", "rank": None, "url": None}]
    pq.write_table(pa.Table.from_pylist(rows, schema=SCHEMA), tmp_path / "other.parquet")
    found = document(hubbub("evaluate", released, "--log", tmp_path / "other.parquet", "--task", "counts", "--json"))
    assert found["counts"]["queries.distinct"]["original"] == 1  # type: ignore[index]


def test_from_python(log_file: Path, released: Path, own_ledger: Path) -> None:
    scores = hubbub.evaluate(released, log_file, tasks=["counts"])
    assert set(scores) == set(tasks()) and scores["counts"]["queries.total"]["original"] > 0
    said: list[str] = []
    with hubbub.read_log(log_file) as log:
        again = hubbub.evaluate(hubbub.Release(released), log, tasks=["counts"], say=said.append)
        with pytest.raises(ParameterError, match="no such task"):
            hubbub.evaluate(released, log, tasks=["horoscopes"])
    assert again == scores and said[0] == "counts (1 of 1)"
    with Ledger(own_ledger) as ledger:
        assert [look.command for look in ledger.looks("default", "default")] == ["release", "evaluate", "evaluate"]
    (released / "public").rename(released / "elsewhere")
    with pytest.raises(OutputError, match="no place"):
        hubbub.evaluate(released / "elsewhere", log_file)


def test_scores_without_a_place_make_one(log_file: Path, released: Path, tmp_path: Path) -> None:
    """A public folder that came alone gets an owner-only beside it, closed to others."""
    (released / "owner-only").rename(tmp_path / "away")
    hubbub.evaluate(released, log_file, tasks=["fears"])
    folder = released / "owner-only"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {p.name for p in folder.iterdir()} == {"NOT-PRIVATE.txt", "report.html", "scores.json"}
