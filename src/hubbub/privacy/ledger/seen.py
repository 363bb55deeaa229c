"""What data a look or a release was about, by fingerprint; and what was released, by hash: names cannot hide either."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from hubbub.privacy.fingerprint import Fingerprint
from hubbub.privacy.ledger.file import LedgerFile
from hubbub.privacy.ledger.records import Entry, Look

STATE = "state"
"""How the owner's state of a series is named beside what was drawn: this word and how many there were before it."""


@dataclass(frozen=True)
class Output:
    """A released table: the hash of its file, and of the set of its queries if it has a column of them."""

    sha256: str
    queries: str | None = None


class SeenLogs(LedgerFile):
    """The part of a ledger that knows data again."""

    def key(self) -> str:
        """The key of all fingerprints of this ledger, made with it. Nothing that leaves the ledger holds it."""
        with self._transaction("IMMEDIATE"):  # where there is no file yet, there is no key
            return str(self._rows("SELECT value FROM secrets WHERE name = 'fingerprint'")[0]["value"])

    def keep(self, fingerprint: Fingerprint) -> str:
        """Keep a fingerprint, each once; what comes back names it."""
        text = fingerprint.text()
        with self._transaction("IMMEDIATE"):
            known = self._rows("SELECT id FROM fingerprints WHERE users = ?", text)
            return str(known[0]["id"] if known else self._insert("fingerprints", {"users": text}))

    def same(self, fingerprint: Fingerprint) -> set[str]:
        """The kept fingerprints of what is largely the same data, by name."""
        rows = self._rows("SELECT id, users FROM fingerprints")
        return {str(row["id"]) for row in rows if fingerprint.same(Fingerprint.read(row["users"]))}

    def looked_under(self, kept: set[str], command: str) -> set[str]:
        """The populations under which this command has read data of these fingerprints, by name."""
        rows = self._rows(
            "SELECT l.population, s.fingerprint FROM looks l JOIN sights s ON s.look = l.id WHERE l.command = ?",
            command,
        )
        return {row["population"] for row in rows if row["fingerprint"] in kept}

    def looks(self, population: str, dataset: str, fingerprint: Fingerprint | None = None) -> list[Look]:
        """The commands that read this data set's raw log, in order: by its name, or by its data whatever its name."""
        same = set() if fingerprint is None else self.same(fingerprint)
        query = """SELECT l.time, l.command, l.population = ? AND l.dataset = ? AS named, s.fingerprint
            FROM looks l LEFT JOIN sights s ON s.look = l.id ORDER BY l.id"""
        return [
            Look(row["time"], row["command"], elsewhere=not row["named"])
            for row in self._rows(query, population, dataset)
            if row["named"] or row["fingerprint"] in same
        ]

    def released(self, entry: Entry, outputs: Mapping[str, Output], refuse: Callable[[], None] | None = None) -> None:
        """Remember what was drawn for an entry, before anybody can read it.

        `refuse` is asked in the same step, while nobody else can write: what it raises keeps all from being written.
        """
        with self._transaction("IMMEDIATE"):
            if refuse is not None:
                refuse()
            for name, output in outputs.items():
                row = {"entry": entry.id, "name": name, "sha256": output.sha256, "queries": output.queries}
                self._insert("outputs", row)

    def outputs(self) -> dict[int, dict[str, Output]]:
        """What was drawn for each entry: its tables, by name. Entries of version 1 are not there."""
        found: dict[int, dict[str, Output]] = {}
        for row in self._rows("SELECT entry, name, sha256, queries FROM outputs ORDER BY id"):
            found.setdefault(row["entry"], {})[row["name"]] = Output(row["sha256"], row["queries"])
        return found
