"""A screened release: records are gone before counting, the card says by which rules, only the owner how many."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from tests.conftest import HEADER, RELEASE, Hubbub, document

from hubbub.card.check import check, load
from hubbub.log import read_log
from hubbub.release.opened import Release


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Everybody asks for the weather, and for somebody's number; clicks carry tokens."""
    lines = [HEADER]
    for user in range(200):
        lines.append(f"{user}\tweather\t2006-03-01 08:00:00\t1\thttp://w.example/?token=s3cr3t-{user % 2}")
        lines.append(f"{user}\tCall 212-555-0123\t2006-03-01 09:00:00\t1\thttp://who.example")
        lines.append(f"{user}\tjane doe\t2006-03-01 10:00:00\t\t")
    path = tmp_path / "log.tsv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_screened_records_count_for_nothing(hubbub: Hubbub, log: Path, tmp_path: Path) -> None:
    deny, out = tmp_path / "deny.txt", tmp_path / "out"
    deny.write_text("jane doe\n", encoding="utf-8")
    how = ("--screen", "default", "--deny", deny, "--tables", "queries,clicks")
    said = document(hubbub("release", log, *RELEASE, *how, "--out", out, "--json"))
    assert said["owner_only"]["screened"] == 400 and said["owner_only"]["rows"] == 200  # type: ignore[index]
    release = Release(out)
    assert release.queries.to_arrow().column("query").to_pylist() == ["weather"]
    assert len(release.clicks) == 0
    assert [finding for finding in check(out) if not finding.holds] == []
    card = load(out)
    screening = card["release"]["screening"]  # type: ignore[index]
    assert screening["version"] == "1" and "telephone" in screening["rules"]
    public = "".join(path.read_text(encoding="utf-8") for path in (out / "public").glob("*[!t]"))
    assert "jane" not in public and "400" not in json.dumps(card["release"]["screening"])  # type: ignore[index]
    assert any("screened before counting" in said for said in card["claim"]["conditions"])  # type: ignore[index]
    run = tomllib.loads((out / "owner-only" / "run.toml").read_text(encoding="utf-8"))
    assert run["screen"] == "default" and run["deny"] == str(deny)
    again = document(hubbub("inspect", log, "--format", "aol", "--screen", "default", "--deny", deny, "--json"))
    assert again["owner_only"]["screened"] == 400  # type: ignore[index]


def test_a_denied_text_of_a_public_list_is_not_released_either(hubbub: Hubbub, log: Path, tmp_path: Path) -> None:
    """A closed domain draws noise for keys of nobody; the rules are asked of what came out, too."""
    pool, deny, out = tmp_path / "pool.tsv", tmp_path / "deny.txt", tmp_path / "out"
    pool.write_text("query\nweather\njane doe\njohn doe\n", encoding="utf-8")
    deny.write_text("glob:*doe\n", encoding="utf-8")
    how = ("--format", "aol", "--mechanism", "safelog", "--epsilon", "4", "--pool", pool, "--tables", "queries")
    hubbub("release", log, *how, "--set", "q_f=1", "--deny", deny, "--out", out)
    assert set(Release(out).queries.to_arrow()["query"].to_pylist()) <= {"weather"}
    assert [finding for finding in check(out) if not finding.holds] == []


def test_without_screening_a_card_says_nothing_of_it(released: Path) -> None:
    assert "screening" not in load(released)["release"]  # type: ignore[operator]


def test_a_card_whose_rules_were_changed_does_not_check(hubbub: Hubbub, log: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    hubbub("release", log, *RELEASE, "--screen", "email", "--out", out)
    path = out / "public" / "card.json"
    card = json.loads(path.read_text(encoding="utf-8"))
    del card["release"]["screening"]
    path.write_text(json.dumps(card), encoding="utf-8")
    broken = [finding.what for finding in check(out) if not finding.holds]
    assert "the card is as it was written" in broken and "claim: every word and number follows" in broken


def test_a_log_of_which_nothing_is_left_says_so(hubbub: Hubbub, log: Path, tmp_path: Path) -> None:
    (tmp_path / "deny.txt").write_text("glob:*\n", encoding="utf-8")
    said = hubbub("release", log, *RELEASE, "--deny", tmp_path / "deny.txt", "--out", tmp_path / "out", code=2)
    assert "took out 600 records" in said.stderr and not (tmp_path / "out").exists()
    said = hubbub("release", log, *RELEASE, "--screen", "emails", "--out", tmp_path / "out", code=2)
    assert "no such screening rule" in said.stderr and "url-token" in said.stderr


def test_an_interrupted_run_does_not_go_on_with_another_list(hubbub: Hubbub, log: Path, tmp_path: Path) -> None:
    """What was read is kept under a name made from what is in the lists, not from their paths."""
    from hubbub.cli.options import NewLogOptions
    from hubbub.cli.release import _resumable
    from hubbub.cli.terminal import Terminal
    from hubbub.mechanisms import build
    from hubbub.privacy.ledger import Ledger
    from hubbub.release.plan import Plan

    deny = tmp_path / "deny.txt"
    mechanism = build("korolova", {"epsilon": 2, "delta": "1e-5", "d": 3})
    keys = []
    for text in ("jane doe\n", "weather\n"):
        deny.write_text(text, encoding="utf-8")
        options = NewLogOptions(log=str(log), format="aol", deny=str(deny), work=str(tmp_path / "work"))
        with (
            Ledger(tmp_path / "book.sqlite") as book,
            _resumable(options, Plan(mechanism, tmp_path / "o"), book, Terminal(quiet=True)) as run,
        ):
            assert run is not None
            keys.append(run.key)
    assert keys[0] != keys[1]


def test_reading_in_python(log: Path) -> None:
    with read_log(log, format="aol", screen="telephone") as screened:
        assert screened.ingested.screened == 200 and screened.ingested.rejected == 0
        found = screened.engine.fetch("SELECT DISTINCT query FROM log ORDER BY query")
        assert found.column("query").to_pylist() == ["jane doe", "weather"]
