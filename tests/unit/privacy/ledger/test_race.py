"""Releases at the same time: the last of a cap is spent once, a folder is written by one, a card knows its place."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.conftest import RELEASE, Hubbub

from hubbub.card import check
from hubbub.privacy.ledger import Ledger

PAUSED = """
import sys
from hubbub.privacy.ledger import Ledger
real = Ledger.reserve
def reserve(self, **what):  # every check that can be made early has been made
    print("ready", file=sys.stderr, flush=True)
    sys.stdin.readline()
    return real(self, **what)
Ledger.reserve = reserve
from hubbub.cli import main
main()
"""


def start(log: Path, folder: Path, name: str) -> subprocess.Popen[str]:
    where = ["--out", str(folder / name), "--ledger", str(folder / "ledger.sqlite"), "--population", "us"]
    command = [sys.executable, "-c", PAUSED, "release", str(log), *RELEASE, *where, "--quiet"]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_until_ready(process: subprocess.Popen[str]) -> None:
    assert process.stderr is not None
    assert process.stderr.readline() == "ready\n"


@pytest.mark.slow
def test_four_releases_race_for_the_last_of_a_cap(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    """Each spends ε = 2; five allow two of them."""
    book = tmp_path / "ledger.sqlite"
    hubbub("ledger", "cap", "us", "--epsilon", "5", "--delta", "1e-4", "--ledger", book)
    runs = {name: start(log_file, tmp_path, name) for name in "abcd"}
    for run in runs.values():
        wait_until_ready(run)
    for run in runs.values():
        assert run.stdin is not None
        run.stdin.write("\n")
        run.stdin.flush()
    said = {name: run.communicate()[1] for name, run in runs.items()}
    won = [name for name, run in runs.items() if run.returncode == 0]
    lost = [name for name, run in runs.items() if run.returncode == 2]
    assert (len(won), len(lost)) == (2, 2), said
    for name in lost:
        assert "The cap of the population 'us' does not allow this release." in said[name]
        assert "in 2 releases; left: ε = 1 at δ = 8.749" in said[name]
        assert said[name].count("hubbub: ") == 1
    assert {path.name for path in tmp_path.iterdir()} == {*won, "ledger.sqlite"}, "losers leave nothing"
    with Ledger(book) as ledger:
        assert [entry.state for entry in ledger.entries("us")] == ["committed", "committed"]
        assert ledger.spent("us").epsilon == 4
    cards = [json.loads((tmp_path / name / "public" / "card.json").read_text()) for name in won]
    before = {c["accounting"]["ledger"]["entry"]: c["accounting"]["ledger"]["epsilon_before"] for c in cards}
    assert before == {1: 0, 2: pytest.approx(2, rel=0.01)}, "each card counts the entries before its own"
    assert sorted(c["accounting"]["earlier_releases"] for c in cards) == [[], ["default-r1"]]


@pytest.mark.slow
def test_one_folder_is_written_by_one_run(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    first = start(log_file, tmp_path, "out")
    wait_until_ready(first)
    second = hubbub("release", log_file, *RELEASE, "--out", tmp_path / "out", code=2)
    assert "Another run is writing this folder." in second.stderr
    assert first.communicate("\n")[0] is None
    assert first.returncode == 0
    assert all(finding.holds for finding in check(tmp_path / "out"))
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        assert [entry.population for entry in ledger.entries()] == ["us"], "the second one spent nothing"
    assert {path.name for path in tmp_path.iterdir()} == {"out", "ledger.sqlite"}
