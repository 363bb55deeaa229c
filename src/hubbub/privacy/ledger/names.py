"""Names of populations and data sets: what may be one, and that a mistyped one opens no new budget in silence."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from hubbub.errors import ParameterError, Refused

DEFAULT = "default"  # the population and the data set of an owner who names none


def named(name: str) -> str:
    """A population or data set as its owner calls it; a stray blank must not open a new budget."""
    if not name or name != name.strip() or not name.isprintable():
        allowed = "printable text without blanks around it"
        raise ParameterError("A population or data set needs a name.", given=repr(name), allowed=allowed)
    return name


def require_known(name: str, known: Sequence[str]) -> None:
    """Refuse to look up what is not there."""
    if name not in known:
        raise ParameterError(
            "The ledger knows no such population.",
            given=name,
            allowed=", ".join(known) or "none yet",
            next=_meant(name, known) or "hubbub ledger show lists them all",
        )


def refuse_new(name: str, known: Sequence[str], *, stated: bool) -> None:
    """A second population is a second budget: the owner has to say that it is meant."""
    if known and name not in known and not stated:
        raise Refused(
            f"The ledger knows no population {name!r}, and a new one is a new budget.",
            given=f"population {name}",
            allowed=", ".join(known),
            next=(_meant(name, known) or "Name one of those with --population.")
            + " If the log is about other people than all of those, say --new-population.",
        )


def _meant(name: str, known: Sequence[str]) -> str:
    folded = {other.casefold(): other for other in known}
    close = [folded[found] for found in get_close_matches(name.casefold(), folded)]
    return f"Did you mean {' or '.join(close)}?" if close else ""
