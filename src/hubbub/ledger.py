"""The budget book: every release of a population, what it cost, and the cap it must stay under.

One SQLite file, append-only. A reservation is checked against the cap and written in one
exclusive transaction before the first noise is drawn, and counts for ever, whatever happens to
the process afterwards: two processes cannot both spend the last of a cap, a crash gives nothing back.
Every row is sealed with a hash over itself and the row before it, so that damage is noticed.

Who is protected is a *population*, named by the owner; a *data set* is one of its periods.
Budgets add over all data sets of a population. A file's fingerprint only warns: if it named the
budget, adding one row would buy a new one.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import secrets
import sqlite3
import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hubbub.account import Loss
from hubbub.compose import Cap, basic_sums, compose, loss_record, read_loss
from hubbub.errors import LedgerError, OurBug, OverBudget, ParameterError
from hubbub.guarantee import number

VERSION = 1
DEFAULT = "default"  # the population and the data set of an owner who names none
STATES = ("reserved", "drawing", "committed")
WAIT_SECONDS = 30.0
MARK = 0x68756262  # SQLite's application id: "hubb"
SAFE_WAL = (3, 51, 3)  # older ones can lose pages when two processes meet (sqlite.org/wal.html#walresetbug)

TABLES = {
    "meta": "key TEXT NOT NULL, value TEXT NOT NULL",
    "entries": """token TEXT NOT NULL, population TEXT NOT NULL, dataset TEXT NOT NULL, mechanism TEXT NOT NULL,
        variant TEXT NOT NULL, loss TEXT NOT NULL, private INTEGER NOT NULL, parameters TEXT NOT NULL,
        software TEXT NOT NULL, fingerprint TEXT""",
    "events": "entry INTEGER NOT NULL, state TEXT NOT NULL",
    "caps": "population TEXT NOT NULL, epsilon REAL NOT NULL, delta REAL NOT NULL",
    "looks": "population TEXT NOT NULL, dataset TEXT NOT NULL, command TEXT NOT NULL",
}
NEVER = "BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;"
SCHEMA = "".join(
    f"CREATE TABLE {name} (id INTEGER PRIMARY KEY, time TEXT NOT NULL, {columns}, seal TEXT NOT NULL);"
    f"CREATE TRIGGER {name}_update BEFORE UPDATE ON {name} {NEVER}"
    f"CREATE TRIGGER {name}_delete BEFORE DELETE ON {name} {NEVER}"
    # REPLACE takes a row away without asking the delete trigger
    f"CREATE TRIGGER {name}_replace BEFORE INSERT ON {name} WHEN NEW.id IN (SELECT id FROM {name}) {NEVER}"
    for name, columns in TABLES.items()
)


@dataclass(frozen=True)
class Entry:
    """One release, spent from the moment of its reservation. The token is random: fit for a public card."""

    id: int
    time: str
    token: str
    population: str
    dataset: str
    mechanism: str
    variant: str
    loss: Loss
    private: bool
    parameters: Mapping[str, object]
    software: str
    fingerprint: str | None
    state: str


@dataclass(frozen=True)
class Spent:
    """What the releases of a population cost together: infinite once one of them is NOT PRIVATE."""

    epsilon: float
    delta: float
    basic_epsilon: float
    basic_delta: float
    releases: int
    not_private: int


@dataclass(frozen=True)
class Look:
    """A command that showed the owner something of the raw log."""

    time: str
    command: str


class Ledger(AbstractContextManager["Ledger"]):
    """An open budget book; `with Ledger(path) as book:` closes it."""

    def __init__(self, path: Path | None = None) -> None:
        """Open the ledger, or create it: `created` says which."""
        self.path = Path(path or default_path()).expanduser()
        with _explained(self.path):
            self.path = self.path.resolve()
            self.created = not self.path.exists() and _create(self.path)
            if not self.path.is_file():
                raise LedgerError(f"The ledger {self.path} is not a file.", next=ELSEWHERE)
            address = f"{self.path.as_uri()}?mode=rw"
            self._db = sqlite3.connect(address, uri=True, timeout=WAIT_SECONDS, isolation_level=None)
        try:
            self._db.row_factory = sqlite3.Row
            self._db.text_factory = lambda text: text.decode("utf-8", "replace")
            self._open()
        except (OurBug, LookupError) as error:  # every intact ledger answers what _open asks
            self.close()
            raise _damaged(self.path) from error
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file; nothing is lost without it."""
        self._db.close()

    def __exit__(self, *exception: object) -> None:
        self.close()

    # -------------------------------------------------------------- spending

    def reserve(
        self,
        *,
        population: str,
        dataset: str,
        mechanism: str,
        variant: str,
        loss: Loss,
        private: bool,
        parameters: Mapping[str, object],
        software: str,
        fingerprint: str | None = None,
        token: str | None = None,
    ) -> Entry:
        """Spend before the first draw: check the cap and write the entry as one step, or raise OverBudget.

        The `token` is random; a run that may be interrupted brings the one by which it finds its entry again.
        """
        costs = {"loss": json.dumps(loss_record(loss)), "private": int(private)}
        what = {"mechanism": mechanism, "variant": variant, "software": software, "fingerprint": fingerprint}
        how = {
            "parameters": json.dumps(parameters, sort_keys=True, default=str),
            "token": token or secrets.token_hex(8),
        }
        self.would_allow(population, loss, private)  # the slow sums, before anyone has to wait for us
        with self._transaction("IMMEDIATE"):
            self._check(population, loss, private)
            entry = self._insert("entries", {"population": population, "dataset": named(dataset)} | costs | what | how)
            self._insert("events", {"entry": entry, "state": STATES[0]})
            return next(e for e in self.entries(population) if e.id == entry)

    def drawing(self, entry: Entry) -> None:
        """The first noise is about to be drawn."""
        self._advance(entry, "drawing")

    def committed(self, entry: Entry) -> None:
        """The release stands in its place."""
        self._advance(entry, "committed")

    def would_allow(self, population: str, loss: Loss, private: bool) -> None:
        """The check of `reserve` without writing: raises OverBudget early."""
        if private and not (basic_sums([loss])[0] < math.inf and loss.delta < 1):
            raise OurBug(f"this is no private release: {loss}")
        self._check(named(population), loss, private)

    def cap(self, population: str, epsilon: float, delta: float) -> str | None:
        """Set the cap that holds from now on; a sentence comes back if more than it is spent already."""
        if not (0 < epsilon < math.inf and 0 <= delta < 1):
            given = f"ε = {epsilon}, δ = {delta}"
            raise ParameterError("A cap needs two numbers.", given=given, allowed="0 < ε < ∞ and 0 <= δ < 1")
        with self._transaction("IMMEDIATE"):
            self._insert("caps", {"population": named(population), "epsilon": float(epsilon), "delta": float(delta)})
        spent = self.spent(population, delta)
        if spent.epsilon <= epsilon:
            return None
        return (
            f"The population {population!r} has spent ε = {number(spent.epsilon)} at δ = {number(delta)} already, "
            f"more than this cap of ε = {number(epsilon)}: private releases are refused."
        )

    def looked(self, population: str, dataset: str, command: str) -> None:
        """Note that a command (inspect, estimate, compare, evaluate) read the raw log without a mechanism."""
        with self._transaction("IMMEDIATE"):
            self._insert("looks", {"population": named(population), "dataset": named(dataset), "command": command})

    # -------------------------------------------------------------- reading

    def entries(self, population: str | None = None) -> list[Entry]:
        """All entries, or those of one population, in order."""
        state = "(SELECT state FROM events WHERE entry = e.id ORDER BY id DESC LIMIT 1) AS state"
        query = f"SELECT *, {state} FROM entries e WHERE population = coalesce(?, population) ORDER BY id"
        entries = []
        for row in self._rows(query, population):
            del row["seal"]
            row |= {"loss": read_loss(json.loads(row["loss"])), "private": bool(row["private"])}
            row["parameters"] = json.loads(row["parameters"], parse_constant=str)
            entries.append(Entry(**row))
        return entries

    def cap_of(self, population: str) -> Cap | None:
        """The cap that holds; none unless the owner set one."""
        rows = self._rows("SELECT epsilon, delta FROM caps WHERE population = ? ORDER BY id DESC LIMIT 1", population)
        return Cap(**rows[0]) if rows else None

    def spent(self, population: str, delta: float | None = None, *, until: int | None = None) -> Spent:
        """The composed total at δ: the one given, else the cap's, else the sum of the entries' own.

        With `until` only the entries up to that one count: what others reserved meanwhile is left out.
        """
        entries = [e for e in self.entries(population) if until is None or e.id <= until]
        cap = self.cap_of(population)
        losses = [entry.loss for entry in entries if entry.private]
        basic_epsilon, basic_delta = basic_sums(losses)
        if delta is None:
            delta = cap.delta if cap else min(basic_delta, 1.0)
        if void := len(entries) - len(losses):
            return Spent(math.inf, delta, math.inf, basic_delta, len(entries), void)
        return Spent(compose(losses, delta), delta, basic_epsilon, basic_delta, len(entries), 0)

    def changed_fingerprint(self, dataset: str, fingerprint: str, population: str | None = None) -> bool:
        """Whether the last release of this data set read another file: a warning, never a new budget."""
        known = [e.fingerprint for e in self.entries(population) if e.dataset == dataset and e.fingerprint]
        return bool(known) and known[-1] != fingerprint

    def looks(self, population: str, dataset: str) -> list[Look]:
        """The commands that read this data set's raw log, in order."""
        query = "SELECT time, command FROM looks WHERE population = ? AND dataset = ? ORDER BY id"
        return [Look(**row) for row in self._rows(query, population, dataset)]

    def export(self) -> dict[str, object]:
        """Every row of every table, ready for JSON; fractions, and the numbers of a loss, are text."""
        with self._transaction("DEFERRED"):
            tables = {table: self._rows(f"SELECT * FROM {table} ORDER BY id") for table in TABLES}
        for row in tables["entries"]:
            row |= {key: json.loads(row[key], parse_constant=str) for key in ("loss", "parameters")}
            row["private"] = bool(row["private"])
        return {"format": "hubbub-ledger", "version": VERSION, "exported": _now()} | tables

    # -------------------------------------------------------------- inside

    def _open(self) -> None:
        """Refuse what is not an intact ledger of this version, before anything is written."""
        names = {row["name"] for row in self._rows("SELECT name FROM sqlite_master")}
        if self._rows("PRAGMA application_id")[0]["application_id"] != MARK or "meta" not in names:
            raise LedgerError(f"{self.path} is not a ledger; it was left as it is.", next=ELSEWHERE)
        version = [row["value"] for row in self._rows("SELECT value FROM meta WHERE key = 'version' ORDER BY id")][-1:]
        if version != [str(VERSION)]:
            raise LedgerError(
                f"The ledger {self.path} was written by another version of hubbub; it was left as it is.",
                given=f"ledger version {', '.join(version) or 'unknown'}",
                allowed=f"version {VERSION}",
                next="use the hubbub that wrote it, or a newer one",
            )
        whole = {f"{table}{rest}" for table in TABLES for rest in ("", "_update", "_delete", "_replace")} <= names
        if not whole or self._rows("PRAGMA quick_check(1)")[0]["quick_check"] != "ok":
            raise _damaged(self.path)
        for table in TABLES:
            before = ""
            for n, row in enumerate(self._rows(f"SELECT * FROM {table} ORDER BY id"), 1):
                seal = row.pop("seal", None)
                if row["id"] != n or seal != (before := _seal(before, row)):
                    raise _damaged(self.path)
        self._rows("PRAGMA synchronous = EXTRA")  # FULL, and the end of a rollback journal is durable too
        self._rows("PRAGMA fullfsync = ON")
        if sqlite3.sqlite_version_info < SAFE_WAL:
            with suppress(sqlite3.OperationalError):  # read-only, or others are at work: it stays as it is
                self._db.execute("PRAGMA journal_mode = DELETE")

    def _check(self, population: str, loss: Loss, private: bool) -> None:
        """Raise OverBudget unless the release fits. A NOT PRIVATE one is the owner's choice, cap or no cap."""
        cap = self.cap_of(population)
        if not private or cap is None:
            return
        entries = self.entries(population)
        losses = [entry.loss for entry in entries]
        allowed = f"ε = {number(cap.epsilon)} at δ = {number(cap.delta)} for all releases together; "
        if void := [entry for entry in entries if not entry.private]:
            allowed += f"entry {void[0].id} of {void[0].time[:10]} is NOT PRIVATE, so the total is infinite already"
            next = "nothing brings the guarantee back to these users: no cap can hold for this population"
        elif cap.allows([*losses, loss]):
            return
        else:
            spent, total = compose(losses, cap.delta), compose([*losses, loss], cap.delta)
            allowed += f"spent so far: ε = {number(spent)} in {len(losses)} releases; "
            allowed += f"left: ε = {number(max(0.0, cap.epsilon - spent))}; with this release: ε = {number(total)}"
            next = f"ask for less, or raise the cap: hubbub ledger cap {population} --epsilon E --delta D"
        raise OverBudget(
            f"The cap of the population {population!r} does not allow this release.",
            given=f"ε = {number(loss.epsilon)}, δ = {number(loss.delta)}",
            allowed=allowed,
            next=next,
        )

    def _advance(self, entry: Entry, state: str) -> None:
        with self._transaction("IMMEDIATE"):
            past = [row["state"] for row in self._rows("SELECT state FROM events WHERE entry = ?", entry.id)]
            if (*past, state) != STATES[: len(past) + 1]:
                raise OurBug(f"ledger entry {entry.id} cannot become {state!r}: it was {past}")
            self._insert("events", {"entry": entry.id, "state": state})

    def _rows(self, query: str, *values: object) -> list[dict[str, Any]]:
        with _explained(self.path):
            return [dict(row) for row in self._db.execute(query, values)]

    def _insert(self, table: str, row: dict[str, Any]) -> int:
        last = self._rows(f"SELECT id, seal FROM {table} ORDER BY id DESC LIMIT 1") or [{"id": 0, "seal": ""}]
        row = {"id": last[0]["id"] + 1, "time": _now()} | row
        row["seal"] = _seal(last[0]["seal"], row)
        marks = ", ".join("?" * len(row))
        self._db.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", tuple(row.values()))
        return int(row["id"])

    @contextmanager
    def _transaction(self, kind: str) -> Iterator[None]:
        with _explained(self.path):
            self._db.execute(f"BEGIN {kind}")
            try:
                yield
                self._db.execute("COMMIT")
            finally:
                if self._db.in_transaction:
                    with suppress(sqlite3.Error):
                        self._db.execute("ROLLBACK")


# ------------------------------------------------------------------ the file


def default_path() -> Path:
    """HUBBUB_LEDGER, else one file in the user's data directory."""
    if given := os.environ.get("HUBBUB_LEDGER"):
        return Path(given)
    data = Path(os.environ.get("XDG_DATA_HOME", ""))
    if not data.is_absolute():  # as its specification asks; a relative one would be a new budget in every folder
        data = Path("~/Library/Application Support" if sys.platform == "darwin" else "~/.local/share")
    return data.expanduser() / "hubbub" / "ledger.sqlite"


def _create(path: Path) -> bool:
    """Write a new ledger beside its place and link it there whole: an empty or half-made one never exists."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    try:
        with closing(sqlite3.connect(draft, isolation_level=None)) as db:
            db.executescript(f"PRAGMA application_id = {MARK}; BEGIN; {SCHEMA}")
            first = {"id": 1, "time": _now(), "key": "version", "value": str(VERSION)}
            db.execute("INSERT INTO meta VALUES (?, ?, ?, ?, ?)", (*first.values(), _seal("", first)))
            db.execute("COMMIT")
            if sqlite3.sqlite_version_info >= SAFE_WAL:
                db.execute("PRAGMA journal_mode = WAL")
        os.link(draft, path)
    except FileExistsError:  # another process was first
        return False
    finally:
        draft.unlink()
    return True


def _seal(before: str, row: Mapping[str, object]) -> str:
    """The hash of a row and, through the seal before it, of all earlier ones."""
    return hashlib.sha256(json.dumps([before, sorted(row.items())], default=str).encode()).hexdigest()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def named(name: str) -> str:
    """A population or data set as its owner calls it; a stray blank must not open a new budget."""
    if not name or name != name.strip() or not name.isprintable():
        allowed = "printable text without blanks around it"
        raise ParameterError("A population or data set needs a name.", given=repr(name), allowed=allowed)
    return name


# ------------------------------------------------------------------ what can go wrong with it

ELSEWHERE = "name another file with --ledger or HUBBUB_LEDGER"
WRITABLE = f"make the file and its folder readable and writable, or {ELSEWHERE}"
DAMAGED = "is damaged; it was left as it is", f"restore it from a copy, or {ELSEWHERE}"
TROUBLE = {
    ("SQLITE_BUSY",): (f"has been in use by another process for {WAIT_SECONDS:.0f} s", "let it finish, and run again"),
    ("SQLITE_FULL", "SQLITE_IOERR"): ("cannot be written", "check the disk and the room on it, and run again"),
    ("SQLITE_READONLY", "SQLITE_CANTOPEN"): ("cannot be opened or written", WRITABLE),
    ("SQLITE_CORRUPT", "SQLITE_NOTADB"): DAMAGED,
}


def _damaged(path: Path) -> LedgerError:
    return LedgerError(f"The ledger {path} {DAMAGED[0]}.", next=DAMAGED[1])


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Say in the user's words what the file system or SQLite refused. What was not written is not spent."""
    try:
        yield
    except OSError as error:
        raise LedgerError(f"The ledger {path} cannot be opened.", given=error, next=WRITABLE) from error
    except UnicodeDecodeError as error:  # SQLite quotes what it cannot parse
        raise _damaged(path) from error
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", "")
        for kinds, (what, next) in TROUBLE.items():
            if name.startswith(kinds):
                raise LedgerError(f"The ledger {path} {what}.", given=error, next=next) from error
        raise OurBug(f"ledger {path}: {error}") from error
