"""What can go wrong with a ledger's file, in the user's words. What was not written is not spent."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hubbub.errors import LedgerError, OurBug

WAIT_SECONDS = 30.0
ELSEWHERE = "name another file with --ledger or HUBBUB_LEDGER"
WRITABLE = f"make the file and its folder readable and writable, or {ELSEWHERE}"
DAMAGED = "is damaged; it was left as it is", f"restore it from a copy, or {ELSEWHERE}"
TROUBLE = {
    ("SQLITE_BUSY",): (f"has been in use by another process for {WAIT_SECONDS:.0f} s", "let it finish, and run again"),
    ("SQLITE_FULL", "SQLITE_IOERR"): ("cannot be written", "check the disk and the room on it, and run again"),
    ("SQLITE_READONLY", "SQLITE_CANTOPEN"): ("cannot be opened or written", WRITABLE),
    ("SQLITE_CORRUPT", "SQLITE_NOTADB"): DAMAGED,
}


def damaged(path: Path) -> LedgerError:
    """The error of a ledger that is not intact."""
    return LedgerError(f"The ledger {path} {DAMAGED[0]}.", next=DAMAGED[1])


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Say in the user's words what the file system or SQLite refused."""
    try:
        yield
    except OSError as error:
        raise LedgerError(f"The ledger {path} cannot be opened.", given=error, next=WRITABLE) from error
    except UnicodeDecodeError as error:  # SQLite quotes what it cannot parse
        raise damaged(path) from error
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", "")
        for kinds, (what, next) in TROUBLE.items():
            if name.startswith(kinds):
                raise LedgerError(f"The ledger {path} {what}.", given=error, next=next) from error
        raise OurBug(f"ledger {path}: {error}") from error
