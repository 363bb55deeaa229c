"""Releases at the same time: the last of a cap is spent once, a folder is written by one, a card knows its place."""

from __future__ import annotations

import json
import multiprocessing
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import RELEASE, Hubbub
from tests.forked import begun, ended, run_hubbub

from hubbub.card import check
from hubbub.privacy.ledger import Ledger


class Racer:
    """A release in a process of its own, which waits where every check that can be made early has been made."""

    def __init__(self, log: Path, folder: Path, name: str) -> None:
        context = multiprocessing.get_context("forkserver")
        self.said, self.ready, self.go = folder.parent / f"{folder.name}-{name}", context.Event(), context.Event()
        where = ["--out", str(folder / name), "--ledger", str(folder / "ledger.sqlite"), "--population", "us"]
        words = ["release", str(log), *RELEASE, *where, "--quiet"]
        self.process = begun(paused, words, self.said, self.ready, self.go)

    def wait_until_ready(self) -> None:
        assert self.ready.wait(60), self.told()

    def end(self) -> int | None:
        """Let it go, and see how it ends."""
        self.go.set()
        return ended(self.process)

    def told(self) -> str:
        return self.said.read_text(encoding="utf-8")


def paused(words: list[str], said: Path, ready: Event, go: Event) -> None:
    """In the process."""
    real = Ledger.reserve

    def reserve(book: Ledger, **what: Any) -> Any:
        ready.set()
        go.wait()
        return real(book, **what)

    Ledger.reserve = reserve  # type: ignore[assignment,method-assign]
    run_hubbub(words, said)


@pytest.mark.slow
def test_four_releases_race_for_the_last_of_a_cap(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    """Each spends ε = 2; five allow two of them."""
    book = tmp_path / "ledger.sqlite"
    hubbub("ledger", "cap", "us", "--epsilon", "5", "--delta", "1e-4", "--ledger", book)
    runs = {name: Racer(log_file, tmp_path, name) for name in "abcd"}
    for run in runs.values():
        run.wait_until_ready()
    for run in runs.values():
        run.go.set()
    codes = {name: run.end() for name, run in runs.items()}
    said = {name: run.told() for name, run in runs.items()}
    won = [name for name, code in codes.items() if code == 0]
    lost = [name for name, code in codes.items() if code == 2]
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
    first = Racer(log_file, tmp_path, "out")
    first.wait_until_ready()
    second = hubbub("release", log_file, *RELEASE, "--out", tmp_path / "out", code=2)
    assert "Another run is writing this folder." in second.stderr
    assert first.end() == 0, first.told()
    assert all(finding.holds for finding in check(tmp_path / "out"))
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        assert [entry.population for entry in ledger.entries()] == ["us"], "the second one spent nothing"
    assert {path.name for path in tmp_path.iterdir()} == {"out", "ledger.sqlite"}
