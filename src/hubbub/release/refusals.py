"""Why a planned release must not be made after all: what the ledger or the log says against it, before a draw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hubbub.card.facts import LOOK
from hubbub.errors import InputError, ParameterError, Refused
from hubbub.plurals import counted
from hubbub.privacy.existence import Cause
from hubbub.privacy.fitting import require_room
from hubbub.privacy.ledger import refuse_new
from hubbub.release.earlier import settled

if TYPE_CHECKING:
    from hubbub.card.owner import Owner
    from hubbub.log import SearchLog
    from hubbub.privacy.account import Loss
    from hubbub.privacy.fingerprint import Fingerprint
    from hubbub.privacy.guarantee import Guarantee
    from hubbub.privacy.ledger import Entry, Ledger
    from hubbub.release.plan import Draft, Plan


@dataclass(frozen=True)
class Admitted:
    """A plan that the ledger has room for: what it costs, what it proves, the reservation that it goes on with."""

    plan: Plan
    loss: Loss
    guarantee: Guarantee
    reserved: Entry | None


def admit(draft: Draft, ledger: Ledger, reserved: Entry | None = None) -> Admitted:
    """What the ledger alone says against a release, before the log is read; an interrupted run has its room."""
    plan = refuse_by_ledger(ledger, draft.plan) if reserved is None else settled(ledger, draft.plan)
    if plan.mechanism is not draft.plan.mechanism:  # a list was an earlier release: the card says so
        plan.drafted()
    return Admitted(plan, plan.mechanism.loss(), plan.guarantee(), reserved)


def refuse_by_ledger(ledger: Ledger, plan: Plan, *, quickly: bool = False) -> Plan:
    """A new population, a full budget, an unknown release as a list; the plan with its lists as the ledger knows them.

    Quickly: without looking for what would fit.
    """
    refuse_new(plan.population, ledger.populations(), stated=plan.new_population)
    if quickly:
        ledger.would_allow(plan.population, plan.mechanism.loss(), plan.guarantee().private)
    else:
        require_room(ledger, plan.population, plan.mechanism, plan.guarantee().private)
    return settled(ledger, plan)


def refuse_known_data(ledger: Ledger, plan: Plan, data: Fingerprint) -> None:
    """The same records under another name would be a second budget for the same people."""
    if not plan.other_people:
        refuse_same_records(ledger, plan.population, data)


def refuse_same_records(ledger: Ledger, population: str, data: Fingerprint) -> None:
    """Unless the owner states that these are other people."""
    same = ledger.same(data)
    booked = {e.population for e in ledger.entries() if e.fingerprint in same}
    others = (booked | ledger.looked_under(same, LOOK)) - {population}  # each run of a series is a look
    if others:
        named = " and ".join(sorted(others))
        raise Refused(
            "Largely the same records were released before, under another population.",
            given=f"population {population}; the ledger has these records under {named}",
            next=f"give --population {sorted(others)[0]}, so that budgets add up; or say --other-people, if none of "
            "them is in this log",
            because=Cause.UNKNOWN,
        )


def refuse_other_period(log: SearchLog, owner: Owner) -> None:
    """The card states the period that was applied to the log, and no other."""
    if log.period != owner.period:
        raise ParameterError(
            "The period on the card must be the one the log was cut to.",
            given=f"read_log: {log.period or 'no period'}; Owner: {owner.period or 'no period'}",
            allowed="the same period in both, or in neither",
            next="give one Period to both: read_log(…, period=p) and Owner(…, period=p)",
        )


def refuse_damaged(log: SearchLog, most: float) -> None:
    """Stop before the first draw if too many lines were unreadable; the card says so."""
    ingested = log.ingested
    if ingested.rejected > most * ingested.read:
        reasons = ", ".join(f"{reason}: {n}" for reason, n in sorted(ingested.reasons.items(), key=lambda r: -r[1]))
        raise InputError(
            "Too many lines could not be read.",
            given=f"{ingested.rejected:,} of {counted(ingested.read, 'line')} ({reasons})",
            allowed=f"at most {most:.3g} of them",
            next="check --format and --columns, or raise --max-rejects if the log really looks like this",
            because=Cause.REJECTS,
        )


def refuse_elsewhere(plan: Plan, inside: int, rows: int) -> None:
    """A log that is not of the stated period: what would be lost, and the word that lets it go."""
    period = plan.owner.period
    if period is None:
        return
    if inside == 0 and not plan.allow_empty:
        raise InputError(
            f"No row of the log lies {period}: the release would be of nothing.",
            given=f"{counted(rows, 'row')}, all outside the stated period or without a time",
            next="correct the period, or the column of times; or say --allow-empty --drop-outside if that is meant",
            because=Cause.INSIDE,
        )
    if inside < rows and not plan.drop_outside:
        raise InputError(
            "Part of the log lies outside the stated period. The release would leave it out.",
            given=f"{rows - inside:,} of {rows:,} rows are not {period}, or have no time",
            next="correct the period, or say --drop-outside to go on without these rows",
            because=Cause.OUTSIDE,
        )
