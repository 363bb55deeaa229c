"""The state between runs: of two copies of a series, one goes on."""

from __future__ import annotations

import shutil
from collections.abc import Callable
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
        names = [row["name"] for row in book.export()["outputs"]]  # type: ignore[attr-defined]
        assert len(names) == len(set(names))
        with pytest.raises(Refused, match="not the one that the ledger knows as the last"):
            run(folder, lambda _: None)
