"""The tables of a ledger. Rows are added and never changed or taken away; so are tables, from version to version."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

TABLES = {
    "meta": "key TEXT NOT NULL, value TEXT NOT NULL",
    "entries": """token TEXT NOT NULL, population TEXT NOT NULL, dataset TEXT NOT NULL, mechanism TEXT NOT NULL,
        variant TEXT NOT NULL, loss TEXT NOT NULL, private INTEGER NOT NULL, parameters TEXT NOT NULL,
        software TEXT NOT NULL, fingerprint TEXT""",
    "events": "entry INTEGER NOT NULL, state TEXT NOT NULL",
    "caps": "population TEXT NOT NULL, epsilon REAL NOT NULL, delta REAL NOT NULL",
    "looks": "population TEXT NOT NULL, dataset TEXT NOT NULL, command TEXT NOT NULL",
}
ADDED = {  # by version 2; a ledger of version 1 has none of them, and reads as if they were empty
    "secrets": "name TEXT NOT NULL, value TEXT NOT NULL",
    "envelopes": """population TEXT NOT NULL, gaussian TEXT NOT NULL, slots TEXT NOT NULL, threshold TEXT NOT NULL,
        epsilon TEXT NOT NULL, delta TEXT NOT NULL, origin TEXT NOT NULL""",
    "charges": """entry INTEGER NOT NULL, envelope INTEGER NOT NULL, gaussian TEXT NOT NULL, slots TEXT NOT NULL,
        threshold TEXT NOT NULL""",
    "fingerprints": "users TEXT NOT NULL",
    "sights": "look INTEGER NOT NULL, fingerprint TEXT NOT NULL",
    "outputs": "entry INTEGER NOT NULL, name TEXT NOT NULL, sha256 TEXT NOT NULL, queries TEXT",
}
KEPT_IN = ("secrets", "fingerprints")
"""Tables that an export leaves out: they tell of the raw log, or would let others ask it."""
BUDGETS = ("entries", "caps", "envelopes")
"""Tables in which a population begins to have a budget."""
COMMON = "id INTEGER PRIMARY KEY, time TEXT NOT NULL, {}, seal TEXT NOT NULL"
NEVER = "BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END"


def created(tables: Mapping[str, str]) -> Iterator[str]:
    """The statements that make these tables and the triggers that guard them."""
    for name, columns in tables.items():
        yield f"CREATE TABLE {name} ({COMMON.format(columns)})"
        yield f"CREATE TRIGGER {name}_update BEFORE UPDATE ON {name} {NEVER}"
        yield f"CREATE TRIGGER {name}_delete BEFORE DELETE ON {name} {NEVER}"
        # REPLACE takes a row away without asking the delete trigger
        replaces = f"NEW.id IN (SELECT id FROM {name})"
        yield f"CREATE TRIGGER {name}_replace BEFORE INSERT ON {name} WHEN {replaces} {NEVER}"


def parts(tables: Iterable[str]) -> set[str]:
    """What the file must contain for these tables to be whole."""
    return {f"{name}{rest}" for name in tables for rest in ("", "_update", "_delete", "_replace")}
