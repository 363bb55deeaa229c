"""A ledger of an earlier version: read as it is, upgraded whole by the first write, nothing lost."""

from __future__ import annotations

import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from tests.ledgers import all_rows, entry, spend, write_first_version

from hubbub.errors import LedgerError, OverBudget
from hubbub.privacy.ledger import ADDED, Ledger


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "ledger.sqlite"
    states = ("reserved", "drawing", "committed")
    write_first_version(
        path,
        {
            "entries": [entry("default"), entry("library", "May", epsilon=0.5), entry("library", "June", epsilon=0.5)],
            "events": [{"entry": n, "state": state} for n in (1, 2, 3) for state in states],
            "caps": [{"population": "default", "epsilon": 2.0, "delta": 0.0}],
            "looks": [{"population": "library", "dataset": "May", "command": "inspect"}],
        },
    )
    return path


def version(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as db:
        return [value for (value,) in db.execute("SELECT value FROM meta WHERE key = 'version' ORDER BY id")]


def tables(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as db:
        return {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def test_reading_changes_nothing(old: Path) -> None:
    before = old.read_bytes()
    with Ledger(old) as book:
        assert [(e.population, e.state) for e in book.entries()] == [
            ("default", "committed"),
            ("library", "committed"),
            ("library", "committed"),
        ]
        assert (book.spent("default").epsilon, book.spent("library").epsilon) == (1.0, 1.0)
        assert [look.command for look in book.looks("library", "May")] == ["inspect"]
        out = book.export()
        assert len(out["entries"]) == 3  # type: ignore[arg-type]
        cap = book.cap_of("default")
        assert cap is not None and cap.epsilon == 2.0
    assert old.read_bytes() == before
    assert [p.name for p in old.parent.iterdir()] == [old.name]


def test_a_refused_write_changes_nothing(old: Path) -> None:
    with Ledger(old) as book:
        book.cap("default", 1.0, 0.0)
    shutil.copy(old, before := old.with_name("copy"))
    with Ledger(before) as book, pytest.raises(OverBudget):
        spend(book)
    assert all_rows(before) == all_rows(old)


def test_the_first_write_upgrades_and_keeps_every_row(old: Path) -> None:
    before = all_rows(old)
    with Ledger(old) as book:
        spend(book)
        assert len(book.entries()) == 4
    after = all_rows(old)
    assert version(old) == ["1", "2"]
    assert tables(old) >= set(ADDED)
    for table, rows in before.items():
        assert after[table][: len(rows)] == rows, "seals and all"
    with Ledger(old) as book:
        assert book.spent("default").epsilon == 2.0
        with pytest.raises(OverBudget):
            spend(book)
    assert version(old) == ["1", "2"], "once"


def test_two_that_opened_the_old_one(old: Path) -> None:
    """The second finds the ledger upgraded by the first, when it reads and when it writes."""
    with Ledger(old) as one, Ledger(old) as two:
        assert [t for t in ADDED if one._rows(f"SELECT * FROM {t}")] == []
        spend(two)
        assert len(one.entries()) == 4
        assert {t: len(one._rows(f"SELECT * FROM {t}")) for t in ADDED} == {
            t: len(two._rows(f"SELECT * FROM {t}")) for t in ADDED
        }
        one.looked("default", "default", "inspect")
    assert version(old) == ["1", "2"]


HALF = """
import sys
from pathlib import Path
from hubbub.privacy.ledger import Ledger
from hubbub.privacy.ledger import file
real = file._insert
def insert(db, table, row):
    if table == "looks":
        print("ready", flush=True)
        sys.stdin.readline()
    return real(db, table, row)
file._insert = insert
book = Ledger(Path(sys.argv[1]))
book._db.execute("PRAGMA cache_size = 1")  # so that half of the upgrade reaches the file
book.looked("x", "x", "x")
"""


def test_an_upgrade_that_is_interrupted_never_was(old: Path) -> None:
    before, size = all_rows(old), old.stat().st_size
    with subprocess.Popen(
        [sys.executable, "-c", HALF, str(old)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None and child.stdout.readline() == "ready\n"
        assert old.stat().st_size > size, "half of the upgrade is in the file"
        child.send_signal(signal.SIGKILL)
        child.wait()
    with Ledger(old) as book:
        assert len(book.entries()) == 3
    assert (all_rows(old), version(old)) == (before, ["1"])
    assert not tables(old) & set(ADDED)
    with Ledger(old) as book:
        spend(book)
    assert version(old) == ["1", "2"]


@pytest.mark.parametrize("table", ADDED)
def test_a_new_version_without_a_new_table_is_damaged(old: Path, table: str) -> None:
    with Ledger(old) as book:
        spend(book)
    with closing(sqlite3.connect(old)) as db:
        db.execute(f"DROP TABLE {table}")
    with pytest.raises(LedgerError, match="damaged"):
        Ledger(old)


def test_an_old_one_that_cannot_be_written_is_read(old: Path) -> None:
    old.chmod(0o444)
    with Ledger(old) as book:
        assert book.spent("library").epsilon == 1.0
