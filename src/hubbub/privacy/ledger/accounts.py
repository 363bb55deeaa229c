"""The sums of a ledger: what was spent, what a cap allows, and the envelopes by which it is kept."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import groupby
from typing import Any

from hubbub.errors import OurBug, OverBudget, ParameterError, Refused
from hubbub.plurals import counted
from hubbub.privacy.account import Loss
from hubbub.privacy.compose import Cap, basic_sums, compose, read_loss, written
from hubbub.privacy.envelope import Charge, Envelope, even
from hubbub.privacy.guarantee import typeset
from hubbub.privacy.ledger.budget import ADOPTED, PLANNED, STATED, Booking, OpenEnvelope, Standing, adopted, promise
from hubbub.privacy.ledger.file import LedgerFile
from hubbub.privacy.ledger.names import named
from hubbub.privacy.ledger.records import Entry, Spent
from hubbub.privacy.ledger.words import left_of
from hubbub.privacy.odometer import odometer


class Accounts(LedgerFile):
    """The part of a ledger that adds up: entries, caps, envelopes, and what they come to."""

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
        """The total so far, true whenever one stops; and, at this δ, what holds if all was decided in advance.

        Without a δ that is the cap's, else the sum of the entries' own. With `until` only the entries up to that one
        count: what others reserved meanwhile is left out.
        """
        entries = [e for e in self.entries(population) if until is None or e.id <= until]
        cap = self.cap_of(population)
        losses = [entry.loss for entry in entries if entry.private]
        basic_epsilon, basic_delta = basic_sums(losses)
        if delta is None:
            delta = cap.delta if cap else min(basic_delta, 1.0)
        if void := len(entries) - len(losses):
            return Spent(math.inf, 1.0, math.inf, basic_delta, len(entries), void, math.inf, delta)
        epsilon, on_the_way = odometer(losses)
        in_advance = compose(losses, delta)
        return Spent(epsilon, on_the_way, basic_epsilon, basic_delta, len(entries), 0, in_advance, delta)

    def standing(self, population: str, *, until: int | None = None) -> Standing:
        """The cap, the envelopes with what is left of them, and the releases that none of them bounds."""
        entries = [e for e in self.entries(population) if e.private and (until is None or e.id <= until)]
        cap, charges = self.cap_of(population), self._charges()
        losses = tuple(e.loss for e in entries)
        opened, loose = [], tuple(e.loss for e in entries if e.id not in charges)
        for row in self._rows("SELECT * FROM envelopes WHERE population = ? ORDER BY id", population):
            whole = left = Envelope(Fraction(row["gaussian"]), _slots(row["slots"]), Fraction(row["threshold"]))
            for entry in entries:
                if entry.id in charges and charges[entry.id][0] == row["id"]:
                    left = left.less(charges[entry.id][1])
            pair = Fraction(row["epsilon"]), Fraction(row["delta"])
            opened.append(OpenEnvelope(row["id"], whole, left, *pair, row["origin"]))
        if not opened and cap is not None and losses and self._capped_first(population, entries[0]):
            found = adopted(cap, losses)
            if found is not None:
                return Standing(cap, (found[0],), (), losses)
        return Standing(cap, tuple(opened), loose, losses)

    def promised(self, population: str, *, until: int | None = None) -> tuple[float, float] | None:
        """(ε, δ) that holds for every release so far and for all that still fit the envelopes; None without one."""
        return promise(self.standing(population, until=until))

    # -------------------------------------------------------------- caps and plans

    def cap(self, population: str, epsilon: float, delta: float, *, thresholds: Fraction | None = None) -> str | None:
        """Set the cap that holds from now on; a sentence comes back if more than it was promised or spent already.

        `thresholds` is the share of δ that thresholds may use; without it the first release decides.
        """
        if not (0 < epsilon < math.inf and 0 <= delta < 1):
            given = f"ε = {epsilon}, δ = {delta}"
            raise ParameterError("A cap needs two numbers.", given=given, allowed="0 < ε < ∞ and 0 <= δ < 1")
        with self._transaction("IMMEDIATE"):
            self._insert("caps", {"population": named(population), "epsilon": float(epsilon), "delta": float(delta)})
            if thresholds is not None:
                rest = self.standing(population).unpromised
                if not (rest.epsilon and rest.delta):
                    raise Refused(
                        "Nothing of this cap is left to divide.", given=f"ε = {typeset(epsilon)}, δ = {typeset(delta)}"
                    )
                self._open_envelope(population, even(rest, thresholds), rest, STATED)
        return self._said_of_cap(population, Cap(epsilon, delta))

    def declare(self, population: str, envelope: Envelope) -> OpenEnvelope:
        """Fix the envelope of a plan within what the cap has left, before anything of it is released."""
        with self._transaction("IMMEDIATE"):
            standing = self.standing(population)
            if standing.cap is None:
                raise Refused("A plan needs a cap.", next=f"hubbub ledger cap {population} --epsilon E --delta D")
            rest = standing.unpromised
            if not rest.epsilon or envelope.epsilon(rest.delta) > rest.epsilon:
                raise Refused(
                    "The plan does not fit what the cap has left.",
                    given=f"ε = {typeset(envelope.epsilon(rest.delta))} at δ = {typeset(rest.delta)}",
                    allowed=f"ε = {typeset(rest.epsilon)}; the rest of the cap is promised already, or spent",
                )
            made = self._open_envelope(population, envelope, rest, PLANNED)
            return next(o for o in self.standing(population).opened if o.id == made)

    def would_allow(self, population: str, loss: Loss, private: bool) -> None:
        """The check of `reserve` without writing: raises OverBudget early."""
        if private and not (basic_sums([loss])[0] < math.inf and loss.delta < 1):
            raise OurBug(f"this is no private release: {loss}")
        self._check(named(population), loss, private)

    def allows(self, population: str, loss: Loss) -> bool:
        """Whether a private release with this cost would be booked."""
        try:
            self.would_allow(population, loss, True)
        except OverBudget:
            return False
        return True

    # -------------------------------------------------------------- inside

    def _check(self, population: str, loss: Loss, private: bool) -> Booking | None:
        """How the release is paid, None where no cap asks; OverBudget if it does not fit.

        A NOT PRIVATE one is the owner's choice, cap or no cap.
        """
        standing = self.standing(population)
        if not private or standing.cap is None:
            return None
        cap = standing.cap
        allowed = f"ε = {typeset(cap.epsilon)} at δ = {typeset(cap.delta)} for all releases together; "
        if void := [entry for entry in self.entries(population) if not entry.private]:
            allowed += f"entry {void[0].id} of {void[0].time[:10]} is NOT PRIVATE, so the total is infinite already"
            next = "nothing brings the guarantee back to these users: no cap can hold for this population"
        elif (booking := standing.book(loss)) is not None:
            return booking
        else:
            spent = self.spent(population)
            allowed += f"spent so far: ε = {typeset(spent.epsilon)} at δ = {typeset(spent.delta)} in "
            allowed += f"{counted(spent.releases, 'release')}; {left_of(standing)}"
            next = f"ask for less, or raise the cap: hubbub ledger cap {population} --epsilon E --delta D"
        raise OverBudget(
            f"The cap of the population {population!r} does not allow this release.",
            given=f"ε = {typeset(loss.epsilon)}, δ = {typeset(loss.delta)}",
            allowed=allowed,
            next=next,
        )

    def _charge(self, population: str, entry: int, booking: Booking) -> None:
        """Write how an entry is paid; first, for a ledger that knew no envelopes, how the earlier ones are."""
        into = booking.into.id
        if not into and booking.into.origin == ADOPTED:
            into = self._adopt(population, entry)
        elif not into:
            pair = Cap(float(booking.into.epsilon), float(booking.into.delta))
            into = self._open_envelope(population, booking.into.whole, pair, booking.into.origin)
        self._insert("charges", {"entry": entry, "envelope": into} | _charge_record(booking.charge))

    def _adopt(self, population: str, before: int) -> int:
        entries = [e for e in self.entries(population) if e.private and e.id < before]
        cap = self.cap_of(population)
        found = adopted(cap, [e.loss for e in entries]) if cap is not None else None
        if cap is None or found is None:
            raise OurBug(f"the envelope of {population!r} is gone")
        into = self._open_envelope(population, found[0].whole, cap, ADOPTED)
        for entry, charge in zip(entries, found[1], strict=True):
            self._insert("charges", {"entry": entry.id, "envelope": into} | _charge_record(charge))
        return into

    def _open_envelope(self, population: str, envelope: Envelope, pair: Cap, origin: str) -> int:
        """Write an envelope, which must hold for its (ε, δ) by its own certificate."""
        if envelope.epsilon(pair.delta) > pair.epsilon:
            raise OurBug(f"an envelope for {pair} that costs {envelope.epsilon(pair.delta)}")
        slots = [[str(size), len([*same])] for size, same in groupby(envelope.slots)]
        amounts = {"gaussian": str(envelope.gaussian), "slots": json.dumps(slots), "threshold": str(envelope.threshold)}
        stated = {"epsilon": str(written(pair.epsilon)), "delta": str(written(pair.delta)), "origin": origin}
        return self._insert("envelopes", {"population": population} | amounts | stated)

    def _charges(self) -> dict[int, tuple[int, Charge]]:
        charges = {}
        for row in self._rows("SELECT * FROM charges ORDER BY id"):
            slots = tuple((int(index), Fraction(amount)) for index, amount in json.loads(row["slots"]))
            charge = Charge(Fraction(row["gaussian"]), slots, Fraction(row["threshold"]))
            charges[row["entry"]] = row["envelope"], charge
        return charges

    def _capped_first(self, population: str, first: Entry) -> bool:
        """Whether the cap is older than the first release, and the only one there ever was."""
        caps = self._rows("SELECT time FROM caps WHERE population = ?", population)
        return len(caps) == 1 and caps[0]["time"] < first.time

    def _said_of_cap(self, population: str, cap: Cap) -> str | None:
        """What the owner should know of a cap that is below what has happened."""
        standing, spent = self.standing(population), self.spent(population)
        if spent.epsilon > cap.epsilon or (standing.losses and spent.delta > cap.delta):
            return (
                f"The population {population!r} has spent ε = {typeset(spent.epsilon)} at δ = {typeset(spent.delta)} "
                f"already, more than this cap of ε = {typeset(cap.epsilon)} at δ = {typeset(cap.delta)}: "
                "private releases are refused."
            )
        if standing.lowered:
            epsilon, delta = (float(x) for x in standing.promised)
            return (
                f"ε = {typeset(epsilon)} at δ = {typeset(delta)} was promised under an earlier cap, and stays the "
                "claim; the lower cap only limits further releases."
            )
        return None


def _charge_record(charge: Charge) -> dict[str, Any]:
    slots = json.dumps([[index, str(amount)] for index, amount in charge.slots])
    return {"gaussian": str(charge.gaussian), "slots": slots, "threshold": str(charge.threshold)}


def _slots(text: str) -> tuple[Fraction, ...]:
    return tuple(Fraction(size) for size, count in json.loads(text) for _ in range(count))
