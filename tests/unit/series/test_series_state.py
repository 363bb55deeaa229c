"""The state between runs: of two copies of a series, one goes on."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests.series_made_up import log_of, seeded, year

from hubbub.errors import Refused
from hubbub.privacy.ledger import Ledger
from hubbub.series import add, fix, published

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("before", [0, 1])
def test_of_two_copies_that_run_at_once_one_is_refused(tmp_path: Path, before: int) -> None:
    """Both were opened with the last state; the copy runs its period while the first one still reads."""
    folder, copy = tmp_path / "s", tmp_path / "copy"

    def run(where: Path, say: Callable[[str], None]) -> None:
        with log_of(tmp_path, year()) as log:
            add(where, log, book, say=say)

    def meanwhile(step: str) -> None:
        if step == "reading the period":
            run(copy, lambda _: None)

    with Ledger(tmp_path / "book.sqlite") as book:
        fix(seeded(), folder, book, new_population=True)
        for _ in range(before):
            run(folder, lambda _: None)
        shutil.copytree(folder, copy)
        with pytest.raises(Refused, match="went on elsewhere"):
            run(folder, meanwhile)
        assert (len(published(folder)), len(published(copy))) == (before, before + 1)
        with closing(sqlite3.connect(tmp_path / "book.sqlite")) as opened:
            names = [name for (name,) in opened.execute("SELECT name FROM outputs")]
        assert len(names) == len(set(names))  # no state was booked twice
        with pytest.raises(Refused, match="not the one that the ledger knows as the last"):
            run(folder, lambda _: None)


def test_an_export_of_the_ledger_tells_nothing_of_the_state(tmp_path: Path) -> None:
    with Ledger(tmp_path / "book.sqlite") as book, log_of(tmp_path, year()) as log:
        fix(seeded(), tmp_path / "s", book, new_population=True)
        add(tmp_path / "s", log, book)
        exported = book.export()["outputs"]
    assert isinstance(exported, list)
    assert sorted(row["name"] for row in exported) == ["2020-01 queries", "plan"]
