"""Spending, caps and looks, and reading them again.

A reservation is checked against the cap and written in one exclusive transaction before the first noise is drawn, and
counts for ever, whatever happens to the process afterwards: two processes cannot both spend the last of a cap, a crash
gives nothing back.

Who is protected is a *population*, named by the owner; a *data set* is one of its periods.
Budgets add over all data sets of a population. What the data is like only warns or refuses (seen.py): if it named the
budget, adding one row would buy a new one.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping

from hubbub.errors import OurBug
from hubbub.privacy.account import Loss
from hubbub.privacy.compose import loss_record
from hubbub.privacy.ledger.accounts import Accounts
from hubbub.privacy.ledger.file import VERSION, now
from hubbub.privacy.ledger.names import named, refuse_new
from hubbub.privacy.ledger.records import DRAFT, STATES, Entry
from hubbub.privacy.ledger.seen import STATE, SeenLogs
from hubbub.privacy.ledger.tables import ADDED, BUDGETS, KEPT_IN, TABLES


class Ledger(Accounts, SeenLogs):
    """An open budget book; `with Ledger(path) as book:` closes it."""

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
        announced: bool = True,
    ) -> Entry:
        """Spend before the first draw: check the cap and write the entry as one step, or raise OverBudget.

        `announced` says that the population may be new to a ledger that knows others. The `token` is random; a run that
        may be interrupted brings the one by which it finds its entry again.
        """
        costs = {"loss": json.dumps(loss_record(loss)), "private": int(private)}
        what = {"mechanism": mechanism, "variant": variant, "software": software, "fingerprint": fingerprint}
        how = {
            "parameters": json.dumps(parameters, sort_keys=True, default=str),
            "token": token or secrets.token_hex(8),
        }
        self.would_allow(named(population), loss, private)  # the slow sums, before anyone has to wait for us
        with self._transaction("IMMEDIATE"):
            refuse_new(population, self.populations(), stated=announced)
            booking = self._check(population, loss, private)
            entry = self._insert("entries", {"population": population, "dataset": named(dataset)} | costs | what | how)
            self._insert("events", {"entry": entry, "state": STATES[0]})
            if booking is not None:
                self._charge(population, entry, booking)
            return next(e for e in self.entries(population) if e.id == entry)

    def drawing(self, entry: Entry) -> None:
        """The first noise is about to be drawn."""
        self._advance(entry, "drawing")

    def drafted(self, entry: Entry) -> None:
        """What was drawn stands as a draft, and somebody has yet to approve it."""
        self._advance(entry, DRAFT)

    def committed(self, entry: Entry) -> None:
        """The release stands in its place."""
        self._advance(entry, "committed")

    def looked(self, population: str, dataset: str, command: str, fingerprint: str | None = None) -> None:
        """Note that a command (inspect, estimate, compare, evaluate) read the raw log of this kept fingerprint."""
        names = {"population": named(population), "dataset": named(dataset)}
        with self._transaction("IMMEDIATE"):
            look = self._insert("looks", names | {"command": command})
            if fingerprint is not None:
                self._insert("sights", {"look": look, "fingerprint": fingerprint})

    # -------------------------------------------------------------- reading

    def populations(self) -> list[str]:
        """Whoever has a budget here, by name: a release, a cap or a plan. A look opens none."""
        each = " UNION ".join(f"SELECT population FROM {table}" for table in BUDGETS)
        return sorted(row["population"] for row in self._rows(each))

    def export(self) -> dict[str, object]:
        """Every row, ready for JSON; fractions, and the numbers of a loss, are text.

        Key and fingerprints stay here, and so do the hashes of a series' state, which is the owner's alone.
        """
        shown = [table for table in TABLES | ADDED if table not in KEPT_IN]
        with self._transaction("DEFERRED"):
            tables = {table: self._rows(f"SELECT * FROM {table} ORDER BY id") for table in shown}
        tables["outputs"] = [row for row in tables["outputs"] if not row["name"].startswith(f"{STATE} ")]
        for row in tables["entries"]:
            row |= {key: json.loads(row[key], parse_constant=str) for key in ("loss", "parameters")}
            row["private"] = bool(row["private"])
        return {"format": "hubbub-ledger", "version": VERSION, "exported": now()} | tables

    # -------------------------------------------------------------- inside

    def _advance(self, entry: Entry, state: str) -> None:
        with self._transaction("IMMEDIATE"):
            past = [row["state"] for row in self._rows("SELECT state FROM events WHERE entry = ?", entry.id)]
            known = [one for one in (*past, state) if one != DRAFT]
            after = past[-1:] == [STATES[1]] if state == DRAFT else tuple(known) == STATES[: len(known)]
            if not after:
                raise OurBug(f"ledger entry {entry.id} cannot become {state!r}: it was {past}")
            self._insert("events", {"entry": entry.id, "state": state})
