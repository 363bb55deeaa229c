"""A release in the ledger: reserved before the first draw, told to the card, committed when it stands."""

from __future__ import annotations

from typing import Any

import hubbub
from hubbub.card.facts import ELSEWHERE, ON_THE_WAY, Booked
from hubbub.errors import LedgerError, Refused
from hubbub.privacy.compose import loss_record
from hubbub.privacy.fingerprint import Fingerprint
from hubbub.privacy.guarantee import number
from hubbub.privacy.ledger import Entry, Ledger
from hubbub.privacy.ledger.budget import promise
from hubbub.release.refusals import Admitted


def reserve(ledger: Ledger, admitted: Admitted, data: Fingerprint, token: str | None) -> Entry:
    """Reserve, or go on with what an interrupted run reserved for this very release."""
    plan, mechanism, reserved = admitted.plan, admitted.plan.mechanism, admitted.reserved
    wanted: dict[str, Any] = {
        "population": plan.population,
        "dataset": plan.dataset,
        "mechanism": mechanism.name,
        "variant": mechanism.variant,
        "private": admitted.guarantee.private,
        "parameters": {k: str(v) for k, v in mechanism.settings.items()},
        "software": f"hubbub {hubbub.__version__}",
    }
    if reserved is None:
        kept = ledger.keep(data)
        return ledger.reserve(
            **wanted, loss=admitted.loss, token=token, fingerprint=kept, announced=plan.new_population
        )
    if any(getattr(reserved, name) != value for name, value in wanted.items()) or loss_record(
        reserved.loss
    ) != loss_record(admitted.loss):
        raise Refused(
            "The reservation of the interrupted run is not what this release costs.",
            given=f"entry {reserved.id} of the ledger: {reserved.mechanism}, ε = {number(reserved.loss.epsilon)}",
            next=f"remove the folder of that run in {plan.run.get('work', '--work')} and run again",
        )
    return reserved


def booked(ledger: Ledger, entry: Entry, data: Fingerprint) -> Booked:
    """The entry and those before it; what other processes reserve meanwhile is theirs to tell."""
    before, after = (ledger.spent(entry.population, until=last) for last in (entry.id - 1, entry.id))
    cap, standing = ledger.cap_of(entry.population), ledger.standing(entry.population, until=entry.id)
    return Booked(
        entry.population,
        entry.dataset,
        entry.id,
        before.epsilon,
        after.epsilon,
        None if cap is None else (cap.epsilon, cap.delta),
        tuple(f"{e.dataset}-r{e.id}" for e in ledger.entries(entry.population) if e.id < entry.id),
        tuple(
            look.command + (ELSEWHERE if look.elsewhere else "")
            for look in ledger.looks(entry.population, entry.dataset, data)
        ),
        delta_after=after.delta,
        in_advance=(after.advance_epsilon, after.advance_delta),
        promised=promise(standing),
        basis=standing.opened[-1].origin if standing.opened else ON_THE_WAY,
    )


def commit(ledger: Ledger, entry: Entry, *, draft: bool = False) -> str:
    """The release stands and is spent, whether or not the ledger can still be written: a warning if not."""
    try:
        ledger.drafted(entry) if draft else ledger.committed(entry)
    except LedgerError as error:
        return f"the release is whole and its budget spent, but its entry {entry.id} stays marked as drawing: {error}"
    return ""
