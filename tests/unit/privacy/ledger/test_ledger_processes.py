"""The ledger between processes: races for the last of a cap, and processes that die."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.ledgers import spend

from hubbub.errors import OverBudget
from hubbub.privacy.ledger import Ledger

ROOT = Path(__file__).parents[4]
START = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from tests.ledgers import spend
from hubbub.errors import OverBudget
from hubbub.privacy.ledger import Ledger
def ready():
    print("ready", flush=True)
    sys.stdin.readline()
"""
RACE = """
ready()
with Ledger(Path(sys.argv[1])) as book:
    for _ in range(3):
        try:
            spend(book)
            print("won", flush=True)
        except OverBudget:
            print("refused", flush=True)
"""
DIE = """
book = Ledger(Path(sys.argv[1]))
entry = spend(book)
if "{state}" != "reserved":
    book.drawing(entry)
ready()
"""
DIE_WRITING = """
book = Ledger(Path(sys.argv[1]))
book._db.execute("PRAGMA cache_size = 1")  # so that half of the transaction reaches the file
with book._transaction("IMMEDIATE"):
    for n in range(200):
        book._insert("looks", dict(population="x" * 1000, dataset="x" * 1000, command="x" * 1000))
    ready()
"""


@contextmanager
def process(path: Path, code: str) -> Iterator[subprocess.Popen[str]]:
    arguments = [sys.executable, "-c", START + code, str(path), str(ROOT)]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        try:
            yield child
        finally:
            child.kill()


def wait(child: subprocess.Popen[str]) -> None:
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"


@pytest.mark.slow
def test_exactly_the_cap_is_won(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    with Ledger(path) as book:
        book.cap("default", 5.0, 0.0)
    with process(path, RACE) as a, process(path, RACE) as b, process(path, RACE) as c:
        for child in (a, b, c):
            wait(child)
        for child in (a, b, c):
            assert child.stdin is not None
            child.stdin.write("\n")
            child.stdin.flush()
        said = "".join(child.communicate()[0] for child in (a, b, c))
    assert (said.count("won"), said.count("refused")) == (5, 4)
    with Ledger(path) as book:
        assert book.spent("default").epsilon == 5.0
        assert {entry.id for entry in book.entries()} == {1, 2, 3, 4, 5}


def test_a_new_ledger_is_made_once(tmp_path: Path) -> None:
    path = tmp_path / "new" / "ledger.sqlite"
    with process(path, RACE) as a, process(path, RACE) as b, process(path, RACE) as c:
        for child in (a, b, c):
            wait(child)
        said = "".join(child.communicate("\n")[0] for child in (a, b, c))
    assert said.count("won") == 9
    with Ledger(path) as book:
        assert book.spent("default").releases == 9
    assert [p.name for p in path.parent.iterdir()] == ["ledger.sqlite"]


@pytest.mark.parametrize("state", ["reserved", "drawing"])
def test_a_killed_process_has_spent(tmp_path: Path, state: str) -> None:
    path = tmp_path / "ledger.sqlite"
    with Ledger(path) as book:
        book.cap("default", 1.0, 0.0)
    with process(path, DIE.format(state=state)) as child:
        wait(child)
        child.send_signal(signal.SIGKILL)
        child.wait()
    with Ledger(path) as book:
        assert [entry.state for entry in book.entries()] == [state]
        assert book.spent("default").epsilon == 1.0
        with pytest.raises(OverBudget):
            spend(book)


def test_a_process_killed_while_writing_leaves_the_ledger_whole(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    with Ledger(path) as book:
        book.cap("default", 2.0, 0.0)
        spend(book)
    size = path.stat().st_size
    with process(path, DIE_WRITING) as child:
        wait(child)
        assert path.stat().st_size > size, "half of the transaction is in the file"
        child.send_signal(signal.SIGKILL)
        child.wait()
    with Ledger(path) as book:
        assert book.looks("x" * 1000, "x" * 1000) == []
        assert book.spent("default").epsilon == 1.0
        spend(book)
        with pytest.raises(OverBudget):
            spend(book)
    assert [p.name for p in tmp_path.iterdir()] == ["ledger.sqlite"]
