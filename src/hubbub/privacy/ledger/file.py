"""A ledger's file: SQLite, append-only, made at the first write and by reading never.

Every row is sealed with a hash over itself and the row before it, so that damage is noticed. A file of an older version
is read as it is; the first write adds the tables that are new and a row that says so, in the transaction of that write.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import secrets
import sqlite3
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from hubbub.errors import LedgerError, OurBug
from hubbub.privacy.ledger import trouble
from hubbub.privacy.ledger.tables import ADDED, COMMON, TABLES, created, parts
from hubbub.privacy.ledger.trouble import ELSEWHERE, damaged, explained

VERSION = 2
MARK = 0x68756262  # SQLite's application id: "hubb"
SAFE_WAL = (3, 51, 3)  # older ones can lose pages when two processes meet (sqlite.org/wal.html#walresetbug)


class LedgerFile:
    """An open ledger file, or the place where the first write will make one."""

    _db: sqlite3.Connection

    def __init__(self, path: Path | None = None) -> None:
        """Open the file if there is one. Where there is none it reads as empty; `exists` says which."""
        self.path = Path(path or default_path()).expanduser()
        with explained(self.path):
            self.path = self.path.resolve()
        self._connect()

    def close(self) -> None:
        """Close the file; nothing is lost without it."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # -------------------------------------------------------------- rows

    def _rows(self, query: str, *values: object) -> list[dict[str, Any]]:
        self._catch_up()
        return self._ask(query, *values)

    def _insert(self, table: str, row: Mapping[str, object]) -> int:
        return _insert(self._db, table, row)

    @contextmanager
    def _transaction(self, kind: str) -> Iterator[None]:
        """One step, whole or not at all. One that writes makes or upgrades the file first, if need be."""
        writes = kind != "DEFERRED"
        with explained(self.path):
            if writes and not self.exists:
                _create(self.path)
            self._catch_up()
            self._db.execute(f"BEGIN {kind}")
            try:
                if writes and self._version() < VERSION:
                    self._uncover()
                    _lay(self._db, ADDED)
                yield
                self._db.execute("COMMIT")
            finally:
                if self._db.in_transaction:
                    with suppress(sqlite3.Error):
                        self._db.execute("ROLLBACK")

    # -------------------------------------------------------------- opening

    def _connect(self) -> None:
        """Open the file, or an empty ledger in memory for as long as there is none."""
        with explained(self.path):
            self.exists = self.path.exists()
            if not self.exists:
                _require_place(self.path.parent)
            elif not self.path.is_file():
                raise LedgerError(f"The ledger {self.path} is not a file.", next=ELSEWHERE)
            address = f"{self.path.as_uri()}?mode=rw" if self.exists else "file::memory:"
            self._db = sqlite3.connect(address, uri=True, timeout=trouble.WAIT_SECONDS, isolation_level=None)
        try:
            self._db.row_factory = sqlite3.Row
            self._db.text_factory = lambda text: text.decode("utf-8", "replace")
            if self.exists:
                with self._transaction("DEFERRED"):  # one moment of the file, whoever writes meanwhile
                    self._refuse_unfit()
                self._settle()
            else:
                _lay(self._db, TABLES | ADDED)
        except (OurBug, LookupError, ValueError) as error:  # every intact ledger answers what is asked
            self.close()
            raise damaged(self.path) from error
        except BaseException:
            self.close()
            raise

    def _refuse_unfit(self) -> None:
        """Refuse what is not an intact ledger that we understand, before anything is written."""
        names = {row["name"] for row in self._ask("SELECT name FROM main.sqlite_master")}
        if self._ask("PRAGMA application_id")[0]["application_id"] != MARK or "meta" not in names:
            raise LedgerError(f"{self.path} is not a ledger; it was left as it is.", next=ELSEWHERE)
        version = [row["value"] for row in self._ask("SELECT value FROM meta WHERE key = 'version' ORDER BY id")][-1:]
        if version not in [[str(n)] for n in range(1, VERSION + 1)]:
            raise LedgerError(
                f"The ledger {self.path} was written by another version of hubbub; it was left as it is.",
                given=f"ledger version {', '.join(version) or 'unknown'}",
                allowed=f"versions 1 to {VERSION}",
                next="use the hubbub that wrote it, or a newer one",
            )
        tables = TABLES if self._version() < VERSION else TABLES | ADDED
        if not parts(tables) <= names or self._ask("PRAGMA quick_check(1)")[0]["quick_check"] != "ok":
            raise damaged(self.path)
        for table in tables:
            before = ""
            for n, row in enumerate(self._ask(f"SELECT * FROM {table} ORDER BY id"), 1):
                seal = row.pop("seal", None)
                if row["id"] != n or seal != (before := _seal(before, row)):
                    raise damaged(self.path)

    def _settle(self) -> None:
        """How this connection writes; and an older file reads as if the new tables were there, and empty."""
        with explained(self.path):
            self._db.execute("PRAGMA synchronous = EXTRA")  # FULL, and the end of a rollback journal is durable too
            self._db.execute("PRAGMA fullfsync = ON")
            self._db.execute("PRAGMA temp_store = MEMORY")
            if sqlite3.sqlite_version_info < SAFE_WAL:
                with suppress(sqlite3.OperationalError):  # read-only, or others are at work: it stays as it is
                    self._db.execute("PRAGMA journal_mode = DELETE")
            if self._version() < VERSION:
                for table, columns in ADDED.items():
                    self._db.execute(f"CREATE TEMP TABLE {table} ({COMMON.format(columns)})")

    def _catch_up(self) -> None:
        """See a file that was made, or upgraded, by somebody else since we opened it."""
        with explained(self.path):
            if not self.exists and self.path.exists():
                self._db.close()
                self._connect()
            if self._covered() and self._version() == VERSION:
                self._uncover()

    def _covered(self) -> list[str]:
        return [row["name"] for row in self._ask("SELECT name FROM sqlite_temp_master WHERE type = 'table'")]

    def _uncover(self) -> None:
        for table in self._covered():
            self._db.execute(f"DROP TABLE temp.{table}")

    def _version(self) -> int:
        return int(self._ask("SELECT value FROM meta WHERE key = 'version' ORDER BY id DESC LIMIT 1")[0]["value"])

    def _ask(self, query: str, *values: object) -> list[dict[str, Any]]:
        with explained(self.path):
            return [dict(row) for row in self._db.execute(query, values)]


def default_path() -> Path:
    """HUBBUB_LEDGER, else one file in the user's data directory."""
    if given := os.environ.get("HUBBUB_LEDGER"):
        return Path(given)
    data = Path(os.environ.get("XDG_DATA_HOME", ""))
    if not data.is_absolute():  # as its specification asks; a relative one would be a new budget in every folder
        data = Path("~/Library/Application Support" if sys.platform == "darwin" else "~/.local/share")
    return data.expanduser() / "hubbub" / "ledger.sqlite"


def now() -> str:
    """The present time, as rows of the ledger keep it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _require_place(folder: Path) -> None:
    """Refuse at once where no file could be made later."""
    place = next(parent for parent in (folder, *folder.parents) if parent.exists())
    if not place.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(place))
    effective = os.access in os.supports_effective_ids
    if not os.access(place, os.W_OK | os.X_OK, effective_ids=effective):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(place))


def _create(path: Path) -> None:
    """Write a new ledger beside its place and link it there whole: an empty or half-made one never exists."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    try:
        with closing(sqlite3.connect(draft, isolation_level=None)) as db:
            db.row_factory = sqlite3.Row
            db.execute(f"PRAGMA application_id = {MARK}")
            db.execute("BEGIN")
            _lay(db, TABLES | ADDED)
            db.execute("COMMIT")
            if sqlite3.sqlite_version_info >= SAFE_WAL:
                db.execute("PRAGMA journal_mode = WAL")
        with suppress(FileExistsError):  # another process was first
            os.link(draft, path)
    finally:
        draft.unlink()


def _lay(db: sqlite3.Connection, tables: Mapping[str, str]) -> None:
    """Add these tables, and the row that says which version they make."""
    for statement in created(tables):
        db.execute(statement)
    _insert(db, "meta", {"key": "version", "value": str(VERSION)})
    _insert(db, "secrets", {"name": "fingerprint", "value": secrets.token_hex(32)})


def _insert(db: sqlite3.Connection, table: str, row: Mapping[str, object]) -> int:
    last = db.execute(f"SELECT id, seal FROM {table} ORDER BY id DESC LIMIT 1").fetchone() or {"id": 0, "seal": ""}
    full = {"id": last["id"] + 1, "time": now()} | dict(row)
    full["seal"] = _seal(last["seal"], full)
    marks = ", ".join("?" * len(full))
    db.execute(f"INSERT INTO {table} ({', '.join(full)}) VALUES ({marks})", tuple(full.values()))
    return int(full["id"])


def _seal(before: str, row: Mapping[str, object]) -> str:
    """The hash of a row and, through the seal before it, of all earlier ones."""
    return hashlib.sha256(json.dumps([before, sorted(row.items())], default=str).encode()).hexdigest()
