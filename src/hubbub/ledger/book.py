"""Spending, caps and looks, and reading them again.

A reservation is checked against the cap and written in one exclusive transaction before the first noise is drawn, and
counts for ever, whatever happens to the process afterwards: two processes cannot both spend the last of a cap, a crash
gives nothing back.

Who is protected is a *population*, named by the owner; a *data set* is one of its periods.
Budgets add over all data sets of a population. A file's fingerprint only warns: if it named the
budget, adding one row would buy a new one.
"""

from __future__ import annotations

import json
import math
import secrets
from collections.abc import Mapping

from hubbub.account import Loss
from hubbub.compose import Cap, basic_sums, compose, loss_record, read_loss
from hubbub.errors import OurBug, OverBudget, ParameterError
from hubbub.guarantee import number
from hubbub.ledger.file import VERSION, File, now
from hubbub.ledger.names import named
from hubbub.ledger.records import STATES, Entry, Look, Spent
from hubbub.ledger.tables import ADDED, BUDGETS, TABLES


class Ledger(File):
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

    def populations(self) -> list[str]:
        """Whoever has a budget here, by name: a release or a cap. A look opens none."""
        each = " UNION ".join(f"SELECT population FROM {table}" for table in BUDGETS)
        return sorted(row["population"] for row in self._rows(each))

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
            tables = {table: self._rows(f"SELECT * FROM {table} ORDER BY id") for table in TABLES | ADDED}
        for row in tables["entries"]:
            row |= {key: json.loads(row[key], parse_constant=str) for key in ("loss", "parameters")}
            row["private"] = bool(row["private"])
        return {"format": "hubbub-ledger", "version": VERSION, "exported": now()} | tables

    # -------------------------------------------------------------- inside

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
