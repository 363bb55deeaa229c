"""The ledger's file: what cannot be read or written ends in one message, and is left as it was."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from tests import ledgers

from hubbub.errors import LedgerError
from hubbub.privacy.ledger import MARK, Entry, Ledger


def spend(book: Ledger, note: str = "") -> Entry:
    return ledgers.spend(book, parameters={"note": note})


@pytest.fixture(scope="module")
def thirty(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A ledger with thirty releases."""
    path = tmp_path_factory.mktemp("ledger") / "ledger.sqlite"
    with Ledger(path) as book:
        for _ in range(30):
            spend(book, "x" * 500)
    return path.read_bytes()


@pytest.fixture
def path(tmp_path: Path, thirty: bytes) -> Path:
    (tmp_path / "ledger.sqlite").write_bytes(thirty)
    return tmp_path / "ledger.sqlite"


@contextmanager
def refused(path: Path, *parts: str) -> Iterator[None]:
    """A LedgerError that says these things, with the file and its folder as before."""
    before = {p: p.read_bytes() for p in path.parent.iterdir() if p.is_file()}
    with pytest.raises(LedgerError) as error:
        yield
    for part in (str(path), "next:", *parts):
        assert part in str(error.value)
    assert {p: p.read_bytes() for p in path.parent.iterdir() if p.is_file()} == before


@pytest.mark.parametrize(
    "content", [b"", b"x", b"SQLite format 3\0", bytes(range(256)) * 40, b"user\ttime\tquery\n" * 500]
)
def test_something_else_entirely(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "ledger.sqlite"
    path.write_bytes(content)
    with refused(path, "left as it is"):
        Ledger(path)


@pytest.mark.parametrize("share", [0.0, 0.002, 0.1, 0.5, 0.99])
def test_a_truncated_ledger_is_never_a_new_budget(path: Path, share: float) -> None:
    os.truncate(path, int(path.stat().st_size * share))
    with refused(path, "left as it is"):
        Ledger(path)


def test_pages_overwritten(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(path.stat().st_size - 4096))
    with refused(path, "damaged"):
        Ledger(path)


@pytest.mark.slow
def test_no_damage_changes_a_total(path: Path) -> None:
    """Sixteen bytes anywhere: refused, or they held nothing."""
    whole, refusals = path.read_bytes(), 0
    for start in range(100, len(whole), 307):
        path.write_bytes(whole[:start] + b"\xc35\x00\x01damaged\x00here" + whole[start + 16 :])
        try:
            with Ledger(path) as book:
                assert (book.spent("default").epsilon, len(book.entries())) == (30.0, 30)
        except LedgerError as error:
            assert "left as it is" in str(error)
            refusals += 1
    assert refusals > 50


@pytest.mark.parametrize("mark", [0, MARK])
@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
def test_another_programs_database(tmp_path: Path, mark: int, mode: str) -> None:
    path = tmp_path / "ledger.sqlite"
    with closing(sqlite3.connect(path)) as db:
        db.executescript(f"PRAGMA journal_mode = {mode}; PRAGMA application_id = {mark}; CREATE TABLE entries (id);")
    with refused(path, "not a ledger"):
        Ledger(path)


@pytest.mark.parametrize("version", ["3", "0", "x"])
def test_another_version(path: Path, version: str) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("INSERT INTO meta (time, key, value, seal) VALUES ('', 'version', ?, '')", (version,))
    with refused(path, f"ledger version {version}", "versions 1 to 2"):
        Ledger(path)


def test_a_ledger_without_its_triggers(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("DROP TRIGGER entries_delete")
    with refused(path, "damaged"):
        Ledger(path)


def test_a_folder_or_a_file_in_the_way(tmp_path: Path) -> None:
    with refused(tmp_path, "not a file"):
        Ledger(tmp_path)
    with refused(Path(os.devnull), "not a file"):
        Ledger(Path(os.devnull))
    (tmp_path / "note").write_text("")
    with pytest.raises(LedgerError, match="cannot be opened"):
        Ledger(tmp_path / "note" / "ledger.sqlite")


def test_a_link_to_a_ledger_is_that_ledger(path: Path) -> None:
    link = path.parent / "link"
    link.symlink_to(path)
    with Ledger(link) as book:
        assert (book.path, len(book.entries())) == (path.resolve(), 30)


@pytest.fixture
def ordinary_user() -> Iterator[Path]:
    """A folder, and an effective user whom permission bits bind: root is never refused."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    user = os.geteuid()
    try:
        yield folder
    finally:
        os.seteuid(user)
        folder.chmod(0o700)
        shutil.rmtree(folder)


@pytest.mark.parametrize(("file_mode", "folder_mode"), [(0o444, 0o755), (0o644, 0o555)])
def test_read_only(ordinary_user: Path, file_mode: int, folder_mode: int) -> None:
    path = ordinary_user / "ledger.sqlite"
    with Ledger(path) as book:
        spend(book)
    path.chmod(file_mode)
    ordinary_user.chmod(folder_mode)
    if os.geteuid() == 0:
        os.chown(path, 65534, -1)
        os.chown(ordinary_user, 65534, -1)
        os.seteuid(65534)
    with Ledger(path) as book:
        assert len(book.entries()) == 1, "reading is not refused"
        for write in (
            lambda: spend(book),
            lambda: book.cap("default", 1.0, 0.0),
            lambda: book.drawing(book.entries()[0]),
        ):
            with refused(path, "writable"):
                write()
        assert book.spent("default").epsilon == 1.0
    if folder_mode == 0o555:
        with pytest.raises(LedgerError, match="Permission denied"):
            Ledger(ordinary_user / "another.sqlite")


def test_unreadable(ordinary_user: Path) -> None:
    path = ordinary_user / "ledger.sqlite"
    with Ledger(path) as book:
        spend(book)
    path.chmod(0o000)
    if os.geteuid() == 0:
        os.seteuid(65534)
    with pytest.raises(LedgerError, match="cannot be opened"):
        Ledger(path)


def test_no_room_in_the_database(path: Path) -> None:
    with Ledger(path) as book:
        pages = book._db.execute("PRAGMA page_count").fetchone()[0]
        book._db.execute(f"PRAGMA max_page_count = {pages}")
        with refused(path, "disk is full", "the room on it"):
            for _ in range(30):
                kept = len(book.entries())
                spend(book, "x" * 3000)
        assert len(book.entries()) == kept


FILL = """
import resource, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from test_ledger_file import spend
from hubbub.errors import LedgerError
from hubbub.privacy.ledger import Ledger
path = Path(sys.argv[1])
with Ledger(path) as book:
    limit = path.stat().st_size + 20000
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    try:
        while True:
            spend(book, "x" * 3000)
            print("spent", flush=True)
    except LedgerError as error:
        print(error, file=sys.stderr)
"""


def test_no_room_for_the_file(path: Path) -> None:
    """A real write that fails half-way: what was granted is in the book, and nothing else."""
    done = subprocess.run(
        [sys.executable, "-c", FILL, str(path), str(Path(__file__).parent)], capture_output=True, text=True, check=True
    )
    assert "room on" in done.stderr
    granted = done.stdout.count("spent")
    with Ledger(path) as book:
        assert granted > 0
        assert len(book.entries()) == 30 + granted
        spend(book)


def test_locked(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hubbub.privacy.ledger.trouble.WAIT_SECONDS", 0.1)
    with Ledger(path) as book, closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerError, match="in use by another process"):
            spend(book)
        assert len(book.entries()) == 30
        other.execute("ROLLBACK")
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(LedgerError, match="in use by another process"):
            Ledger(path)
        other.execute("ROLLBACK")
        spend(book)


@pytest.mark.parametrize(("safe", "mode"), [((3, 7, 0), "wal"), ((99, 0, 0), "delete")])
def test_both_journals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, safe: tuple[int, ...], mode: str) -> None:
    """Write-ahead logging where SQLite is new enough for it to be safe, a rollback journal elsewhere."""
    monkeypatch.setattr("hubbub.privacy.ledger.file.SAFE_WAL", safe)
    path = tmp_path / "ledger.sqlite"
    with Ledger(path) as book, Ledger(path) as other:
        spend(book)
        spend(other)
        assert book._db.execute("PRAGMA journal_mode").fetchone()[0] == mode
        assert book._db.execute("PRAGMA synchronous").fetchone()[0] == 3
        assert book.spent("default").releases == 2
    assert [p.name for p in tmp_path.iterdir()] == ["ledger.sqlite"]
    monkeypatch.setattr("hubbub.privacy.ledger.file.SAFE_WAL", (99, 0, 0))
    with Ledger(path) as book:
        assert book._db.execute("PRAGMA journal_mode").fetchone()[0] == "delete"
        assert book.spent("default").releases == 2


def test_a_marked_file_that_does_not_answer(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    with closing(sqlite3.connect(path)) as db:
        db.executescript(f"PRAGMA application_id = {MARK}; CREATE TABLE meta (id);")
    with refused(path, "damaged"):
        Ledger(path)
