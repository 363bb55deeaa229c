"""A run that is killed in any of its commits goes on where it was: nothing is lost, and nothing is drawn twice."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.series_made_up import log_of, seeded, year

from hubbub.privacy.ledger import Ledger
from hubbub.series import add, fix, published, show
from hubbub.series import state as state_module

pytestmark = pytest.mark.slow
COMMITS = 7
"""Of a run: what it reads, five rounds, what it publishes."""


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A series of which one period is out, and its ledger."""
    place = tmp_path_factory.mktemp("first")
    with Ledger(place / "book.sqlite") as book, log_of(place, year()) as log:
        fix(seeded(), place / "s", book, new_population=True)
        add(place / "s", log, book)
    return place


@pytest.fixture
def book(first: Path, tmp_path: Path) -> Iterator[Ledger]:
    """The same in a place of its own."""
    shutil.copytree(first, tmp_path / "copy")
    with Ledger(tmp_path / "copy" / "book.sqlite") as opened:
        yield opened


def second(folder: Path, book: Ledger, work: Path) -> None:
    with log_of(work, year()) as log:
        add(folder, log, book, period="2020-02")


def tables(folder: Path) -> dict[str, bytes]:
    """Every byte of every released table."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.glob("2*/public/*.parquet"))}


@pytest.fixture(scope="module")
def whole(first: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What the second period releases if nobody kills it."""
    place = tmp_path_factory.mktemp("whole") / "copy"
    shutil.copytree(first, place)
    with Ledger(place / "book.sqlite") as book:
        second(place / "s", book, place)
    assert published(place / "s") == ["2020-01", "2020-02"]
    return tables(place / "s")


class Killed(BaseException):
    """The process ends here."""


def killing(monkeypatch: pytest.MonkeyPatch, at: int, where: str) -> None:
    """End the process in its n-th commit: before the ledger hears of it, after that, or when all is in place."""
    real_sync, real_replace, seen = state_module._sync, os.replace, [0]

    def sync(path: Path) -> None:
        real_sync(path)
        if path.name == state_module.NEXT:
            seen[0] += 1
            if where == "before" and seen[0] == at:
                raise Killed

    def move(one: Path, other: Path) -> None:
        if where == "booked" and seen[0] == at:
            raise Killed
        real_replace(one, other)
        if where == "placed" and seen[0] == at:
            raise Killed

    monkeypatch.setattr(state_module, "_sync", sync)
    monkeypatch.setattr(os, "replace", move)


WHERE = ("before", "booked", "placed")


@pytest.mark.parametrize("at", range(1, COMMITS + 1))
def test_a_killed_run_goes_on_where_it_was(
    book: Ledger, whole: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    """In every commit, each at another moment of it; afterwards all bytes are those of a run without a kill."""
    folder, where = tmp_path / "copy" / "s", WHERE[at % 3]
    with monkeypatch.context() as patch, pytest.raises(Killed):
        killing(patch, at, where)
        second(folder, book, tmp_path)
    kept, done = at > 1 or where != "before", at == COMMITS and where != "before"
    assert show(folder, book).interrupted == ("2020-02" if kept and not done else None)
    if kept:
        add(folder, None, book, period="2020-02")  # without the log: what the run needs of it is kept
    else:
        second(folder, book, tmp_path)
    assert tables(folder) == whole


CHILD = """
import os, signal, sys
from pathlib import Path
from tests.series_made_up import log_of, year
from hubbub.privacy.ledger import Ledger
from hubbub.series import add, state
place, left = Path(sys.argv[1]), int(sys.argv[2])
def replace(one, other, real=os.replace):
    global left
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)
    real(one, other)
state.os.replace = replace
with Ledger(place / "book.sqlite") as book, log_of(place, year()) as log:
    add(place / "s", log, book, period="2020-02")
"""


def test_kill_nine(book: Ledger, whole: dict[str, bytes], tmp_path: Path) -> None:
    """The same with a process that is really killed, in the third round."""
    place = tmp_path / "copy"
    path = os.pathsep.join([str(Path(__file__).parents[3]), str(Path(state_module.__file__).parents[2])])
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(place), "4"], env=os.environ | {"PYTHONPATH": path}, check=False
    )
    assert done.returncode == -signal.SIGKILL
    assert show(place / "s", book).interrupted == "2020-02"
    add(place / "s", None, book)
    assert tables(place / "s") == whole
