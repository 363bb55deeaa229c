"""Ledgers for tests: entries that no release made, and files as earlier versions of hubbub wrote them.

What an earlier version wrote is written out: it must not follow the code.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from hubbub.privacy.account import Loss
from hubbub.privacy.ledger import Entry, Ledger

ONE = Loss(1.0, 0.0, (), tv=0.0)
"""Without atoms it adds up as it is."""

FIRST = {
    "meta": "key TEXT NOT NULL, value TEXT NOT NULL",
    "entries": "token TEXT NOT NULL, population TEXT NOT NULL, dataset TEXT NOT NULL, mechanism TEXT NOT NULL,"
    " variant TEXT NOT NULL, loss TEXT NOT NULL, private INTEGER NOT NULL, parameters TEXT NOT NULL,"
    " software TEXT NOT NULL, fingerprint TEXT",
    "events": "entry INTEGER NOT NULL, state TEXT NOT NULL",
    "caps": "population TEXT NOT NULL, epsilon REAL NOT NULL, delta REAL NOT NULL",
    "looks": "population TEXT NOT NULL, dataset TEXT NOT NULL, command TEXT NOT NULL",
}
NEVER = "BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;"
TIME = "2026-01-01T00:00:00+00:00"


def spend(book: Ledger, loss: Loss = ONE, **stated: Any) -> Entry:
    """Book a release that nobody makes, with whatever `reserve` is to be told otherwise."""
    release: dict[str, Any] = {"population": "default", "dataset": "default", "mechanism": "crowd", "variant": "strict"}
    return book.reserve(**release | {"loss": loss, "private": True, "parameters": {}, "software": "test"} | stated)


def loss(epsilon: float, delta: float = 0.0) -> dict[str, object]:
    """What a release cost, as version 1 wrote it down: no atoms, so it adds up as it is."""
    return {"epsilon": str(epsilon), "delta": str(delta), "tv": "0.0", "atoms": []}


def entry(population: str, dataset: str = "default", *, epsilon: float = 1.0, **changed: object) -> dict[str, object]:
    """A row of `entries`."""
    return {
        "token": "0123456789abcdef",
        "population": population,
        "dataset": dataset,
        "mechanism": "crowd",
        "variant": "strict",
        "loss": json.dumps(loss(epsilon)),
        "private": 1,
        "parameters": json.dumps({"epsilon": "1"}),
        "software": "hubbub 0.1.0",
        "fingerprint": None,
    } | changed


def write_first_version(path: Path, rows: Mapping[str, list[dict[str, object]]]) -> None:
    """A ledger of version 1 with these rows, each sealed with the one before it."""
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(f"PRAGMA application_id = {0x68756262}")
        for table, columns in FIRST.items():
            db.execute(
                f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, time TEXT NOT NULL, {columns}, seal TEXT NOT NULL)"
            )
            for trigger, when in (("update", "UPDATE"), ("delete", "DELETE")):
                db.execute(f"CREATE TRIGGER {table}_{trigger} BEFORE {when} ON {table} {NEVER}")
            replaces = f"WHEN NEW.id IN (SELECT id FROM {table})"
            db.execute(f"CREATE TRIGGER {table}_replace BEFORE INSERT ON {table} {replaces} {NEVER}")
            seal = ""
            stated: list[dict[str, object]] = [{"key": "version", "value": "1"}] if table == "meta" else []
            for n, row in enumerate([*stated, *rows.get(table, [])], 1):
                full = {"id": n, "time": TIME} | row
                seal = hashlib.sha256(json.dumps([seal, sorted(full.items())]).encode()).hexdigest()
                names = ", ".join([*full, "seal"])
                marks = ", ".join("?" * (len(full) + 1))
                db.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", (*full.values(), seal))


def all_rows(path: Path, tables: Mapping[str, str] = FIRST) -> dict[str, list[tuple[object, ...]]]:
    """Every row of these tables, seals and all."""
    with closing(sqlite3.connect(path)) as db:
        return {table: db.execute(f"SELECT * FROM {table} ORDER BY id").fetchall() for table in tables}
