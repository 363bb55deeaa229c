"""The ledger of one population, entry by entry, as the owner's report draws it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hubbub.privacy.guarantee import finite
from hubbub.show.kept import LedgerSnapshot, Spending

if TYPE_CHECKING:
    from hubbub.privacy.ledger import Ledger

LAST = 24
"""Entries that are shown: composing them all again takes longer with each."""


def book_of(ledger: Ledger, population: str, entry: int) -> LedgerSnapshot:
    """The last entries of the ledger up to this one, each with what it and all entries before it cost together."""
    entries = [e for e in ledger.entries(population) if e.id <= entry][-LAST:]
    cap = ledger.cap_of(population)
    spendings = tuple(
        Spending(
            e.id,
            e.time,
            e.dataset,
            e.mechanism,
            finite(e.loss.epsilon) if e.private else None,
            finite(ledger.spent(population, until=e.id).epsilon),
        )
        for e in entries
    )
    return LedgerSnapshot(population, entry, None if cap is None else cap.epsilon, spendings)
