"""The experiments on somebody's own log: that log and no other, for its owner's eyes only, and as far as it goes."""

from __future__ import annotations

import json
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Hubbub, document, run_hubbub
from tests.made_up import synthesise

from hubbub.log import read_log
from hubbub.papers.experiments import draws, experiments
from hubbub.papers.experiments.own import OwnLog
from hubbub.privacy.ledger import Ledger

pytestmark = pytest.mark.slow

USERS = 300


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("own") / "log.tsv"
    synthesise(USERS, path, preset="aol", seed=11)
    return path


@dataclass(frozen=True)
class Reproduced:
    """One run on that log, which several tests look at: what was asked, said and booked."""

    asked: tuple[str, ...]
    out: Path
    said: str
    looks: list[str]
    entries: int


@pytest.fixture(scope="module")
def run(log: Path, tmp_path_factory: pytest.TempPathFactory) -> Reproduced:
    place = tmp_path_factory.mktemp("reproduced")
    names = ("--population", "staff", "--dataset", "spring", "--ledger", str(place / "ledger.db"))
    reading = ("--log", str(log), "--format", "aol", "--draws", "2")
    asked = ("korolova/fractions", "--experiments", *reading, *names, "--out", str(place / "out"))
    said = run_hubbub("reproduce", *asked).output
    with Ledger(place / "ledger.db") as book:
        looks = [look.command for look in book.looks("staff", "spring")]
        return Reproduced(asked, place / "out", said, looks, len(book.entries("staff")))


def test_the_rows_are_of_that_log_and_stay_with_its_owner(
    hubbub: Hubbub, run: Reproduced, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "OWNER ONLY" in run.said and "On the log staff/spring." in run.said
    assert "records this look at staff/spring" in " ".join(run.said.split())
    folder = run.out / "owner-only"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700 and "DO NOT PUBLISH" in (folder / "NOT-PRIVATE.txt").read_text()
    kept = json.loads((folder / "rows.json").read_text(encoding="utf-8"))
    assert "NOT PRIVATE. DO NOT PUBLISH." in (folder / "papers.html").read_text(encoding="utf-8")
    assert kept["log"] == "staff/spring" and "--log LOG" in kept["command"]
    distinct = {line.split("\t")[1] for line in log.read_text(encoding="utf-8").splitlines()[1:]}
    for row in kept["rows"]:
        assert row["evaluated"]["distinct in the log"]["draws"] == [len(distinct)] * 2, "both draws are of this log"
        assert row["parameters"].startswith("the log;")
    monkeypatch.setattr(draws, "draw", lambda *_: pytest.fail("run again"))
    again: dict[str, Any] = document(hubbub("reproduce", *run.asked, "--json"))
    assert again["rows"] == kept["rows"], "what is there is not run again"


def test_the_look_is_in_the_ledger(run: Reproduced) -> None:
    assert run.looks == ["reproduce"]
    assert not run.entries, "nothing is spent"


def test_rows_of_two_logs_are_not_mixed(hubbub: Hubbub, run: Reproduced, log: Path, tmp_path: Path) -> None:
    other, asked = tmp_path / "other.tsv", list(run.asked)
    synthesise(USERS, other, preset="aol", seed=12)
    asked[asked.index(str(log))] = str(other)
    assert "rows of another log" in hubbub("reproduce", *asked, code=2).output
    asked[asked.index(str(run.out))] = str(tmp_path)
    assert "something else" in hubbub("reproduce", *asked, code=2).output


def test_what_the_log_lacks_is_said_and_the_rest_goes_on(tmp_path: Path) -> None:
    """A table of users and queries: no clicks, no times."""
    path = tmp_path / "log.csv"
    lines = [f"u{user},query {user % 7 if n else user}" for user in range(150) for n in range(4)]
    path.write_text("who,what\n" + "\n".join(lines) + "\n", encoding="utf-8")
    with read_log(path, format="table", columns={"user": "who", "query": "what"}, threads=1) as opened:
        own = OwnLog.of(opened, "a/b")
        assert own.users == 150 and own.has == set()
        rows = {row.id: row for row in experiments(own=own, draws=2, workers=1)}
    why = {id.rpartition("/")[0]: row.why for id, row in rows.items()}
    assert why["hong/table-4"] == "Not run: the log has no clicked URLs."
    assert why["sessions/table-5"] == why["gotz/table-3"] == "Not run: the log has no clicked URLs, times."
    assert why["gotz/figure-8"] == "Not run: the log has no times."
    assert why["gotz/figure-6"].startswith("Not run: the log has no document frequencies")
    assert why["korolova/keywords"].startswith("Not run: the log has no clicked URLs, public result pages")
    assert why["safelog/table-4"].startswith("Not run: the log has no clicked URLs, topics of queries")
    assert why["korolova/fears"].startswith("Nothing to evaluate"), "run, and nobody asks for fears here"
    assert {row.verdict for row in rows.values() if row.why.startswith("Not run")} == {"not shown"}
    share = rows["korolova/fractions/volume-non-negligible"]
    assert share.verdict == "shown" and all("preset" not in row.parameters for row in rows.values())
    assert all("ircular" not in row.caution for row in rows.values()), "no preset was fitted to anything"


def test_fewer_users_of_the_log(log: Path, tmp_path: Path) -> None:
    from hubbub.papers.experiments.lab import Lab

    with read_log(log, format="aol", threads=1) as opened, Lab(USERS, 5, tmp_path, 1, opened.ingested.log) as lab:
        some, whole = lab.log("aol", 40), lab.log("gotz")
        assert some.users() == 40 and whole.users() == USERS == opened.users() and whole is lab.log("aol")
        distinct = [each.engine.fetch("SELECT DISTINCT uid FROM log").column("uid") for each in (some, whole)]
        people = [set(column.to_pylist()) for column in distinct]
        assert people[0] < people[1]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (["--experiments", "--format", "aol"], "add --log LOG"),
        (["--log", "log.tsv"], "add --experiments"),
        (["--experiments", "--log", "log.tsv", "--users", "500"], "--users is about synthetic logs"),
    ],
)
def test_mistakes(hubbub: Hubbub, wrong: list[str], said: str) -> None:
    assert said in hubbub("reproduce", *wrong, code=2).output
