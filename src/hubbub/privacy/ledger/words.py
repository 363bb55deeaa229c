"""What a population has spent and was promised, in words: for the terminal and the studio."""

from __future__ import annotations

from collections.abc import Iterator

from hubbub.plurals import counted
from hubbub.privacy.guarantee import typeset
from hubbub.privacy.ledger.budget import Standing, rooms
from hubbub.privacy.ledger.records import Spent


def totals_of(spent: Spent) -> str:
    """The total so far, and the smaller one that holds if nothing was decided on the way."""
    so_far = f"ε = {typeset(spent.epsilon)} at δ = {typeset(spent.delta)}"
    if spent.not_private or not spent.releases:
        return so_far
    if spent.releases == 1:
        alone = f"ε = {typeset(spent.basic_epsilon)} at δ = {typeset(spent.basic_delta)}"
        return so_far if alone == so_far else f"{so_far}, whatever follows (this release alone: {alone})"
    advance = f"ε = {typeset(spent.advance_epsilon)} at δ = {typeset(spent.advance_delta)}"
    return f"{so_far} (if all releases were decided in advance: {advance})"


FIXED_BY = {
    "first release": "divided by the first release",
    "stated": "divided as stated with the cap",
    "plan": "a declared plan",
    "adopted": "read off the first release of an older ledger; holds for outputs on which all of these fit",
}


def standing_of(standing: Standing) -> Iterator[str]:
    """What is promised, and how much of it is used."""
    for opened in rooms(standing.opened):
        pair = f"ε = {typeset(float(opened.epsilon))}, δ = {typeset(float(opened.delta))}"
        used = ", ".join(f"{share:.1%} of {name}" for name, share in opened.used().items())
        yield f"promised: {pair} for all releases charged to it ({FIXED_BY[opened.origin]}); used: {used}"
    if standing.cap is not None and standing.loose and not standing.opened:
        yield (
            f"{counted(len(standing.loose), 'release')} charged to no envelope, counted as made; a ledger of version "
            "1 summed them as if decided in advance, which is the smaller number and holds only then"
        )
    if standing.opened and standing.loose:
        yield f"{counted(len(standing.loose), 'release')} before that, counted as made; what is promised comes on top"


def left_of(standing: Standing) -> str:
    """What is left: ε and δ where releases are charged by their own proofs, otherwise shares of the clocks."""
    rest, parts = standing.unpromised, []
    if rest.epsilon or not standing.opened:
        parts.append(f"ε = {typeset(rest.epsilon)} at δ = {typeset(rest.delta)} for all that follow together")
    for room in rooms(standing.opened):
        if room.adds:
            parts.append(f"ε = {typeset(float(room.left.slots[0]))} at δ = {typeset(float(room.left.threshold))}")
        else:
            parts.append(", ".join(f"{1 - used:.1%} of {name}" for name, used in room.used().items()))
    return "left: " + "; ".join(parts)
