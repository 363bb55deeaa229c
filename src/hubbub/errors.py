"""Every exception hubbub raises on purpose.

    HubbubError
    ├── UserError           exit 2: something the user gave or asked for
    │   ├── InputError      a log, list or configuration that cannot be read
    │   │   └── NotInstalled  a package that only some uses need is missing
    │   ├── ParameterError  a parameter out of its range, unknown, or missing
    │   ├── OutputError     the place to write to exists, is full or is closed
    │   ├── LedgerError     the budget book cannot be read or written
    │   └── Refused         well-formed, but not private enough
    │       └── OverBudget  a cap would be broken
    ├── CheckFailed         exit 1: a card, an audit or a reproduction did not hold
    └── OurBug              exit 3: an invariant of ours broke; please report it

A message says what was given, what is allowed, and what to do next. An error that depends on the log says which of the
conditions on which a release exists (privacy/existence.py) did not hold: `because`, of the error or of its class.
"""

from __future__ import annotations

import re
from difflib import get_close_matches

from hubbub.privacy.existence import Cause


def nearest(given: object, allowed: str) -> str:
    """The allowed name that is nearly the one that was given; nothing, where none is, or where these are no names."""
    if not isinstance(given, str) or not given[:1].isalpha():
        return ""
    names = [name for name in re.split(r"[,;:] ", allowed) if " " not in name]
    found = get_close_matches(given.lower(), [name.lower() for name in names], n=1)
    return next(name for name in names if name.lower() == found[0]) if found and given not in names else ""


class HubbubError(Exception):
    """Base of all of hubbub's exceptions."""

    exit_code = 3
    because: Cause | None = None
    """Which condition on the log, or on the run, did not hold; None: no log decides about this error."""


class UserError(HubbubError):
    """A mistake of the user's: one message, no traceback."""

    exit_code = 2

    def __init__(
        self,
        what: str,
        *,
        given: object = None,
        allowed: str = "",
        next: str = "",
        because: Cause | None = None,
        typed: str = "",
    ) -> None:
        """`typed` is the name that somebody got wrong, where `given` is something else."""
        self.what, self.given, self.allowed, self.next = what, given, allowed, next
        if because is not None:
            self.because = because
        meant = nearest(typed or given, allowed)
        lines = [f"{what} Did you mean {meant}?" if meant else what]
        if given is not None:
            lines.append(f"  given:   {given}")
        if allowed:
            lines.append(f"  allowed: {allowed}")
        if next:
            lines.append(f"  next:    {next}")
        super().__init__("\n".join(lines))


class InputError(UserError):
    """A log, list or configuration file that cannot be read."""

    because: Cause | None = Cause.READABLE


class NotInstalled(InputError):
    """A package that only some uses need is not installed: the message has the line to type."""

    because = None


class ParameterError(UserError):
    """A parameter that is unknown, missing or out of its range."""


class OutputError(UserError):
    """The release cannot be written where it was asked for."""

    because = Cause.ENDED


class LedgerError(UserError):
    """The budget book cannot be opened, read or written."""


class Refused(UserError):
    """What was asked for is not private enough to be done without saying so."""


class OverBudget(Refused):
    """The release would spend more than a cap allows."""


class CheckFailed(HubbubError):
    """A check of a card, an audit or a reproduction did not hold."""

    exit_code = 1


class OurBug(HubbubError):
    """An invariant of hubbub's own does not hold: nothing the user did."""

    exit_code = 3
    because = Cause.ENDED
