"""How a log is read, as its owner says it on the page: which column of an unknown file is what, which days and rules.

The page shows what `hubbub inspect` proposes: separator, encoding, columns, and the shape of three values of each.
Which column is the user is never chosen for her. A choice is the name of a column of the file; no path comes from the
page.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from hubbub.card.owner import read_owner
from hubbub.errors import ParameterError
from hubbub.ingest.encodings import UTF8
from hubbub.ingest.proposal import ROLES, Proposal
from hubbub.public.screening import DEFAULT
from hubbub.public.screening.rules import RULES

if TYPE_CHECKING:
    from hubbub.cli.options import NewLogOptions
    from hubbub.log import Period

NEEDED = {
    "user": "Nobody is protected until you say which column is the user.",
    "query": "Nothing can be counted until you say which column is the query.",
}


def chosen(proposal: Proposal, given: object) -> dict[str, str]:
    """The columns that the page sent, by role; refuses what is missing, unknown or named twice."""
    sent = given if isinstance(given, Mapping) else {}
    names = [column.name for column in proposal.columns]
    found = {role: str(sent[role]) for role in ROLES if sent.get(role)}
    for role, why in NEEDED.items():
        if role not in found:
            raise ParameterError(why, allowed=", ".join(names), next=f"choose a column for the {role}")
    for role, name in found.items():
        if name not in names:
            what = f"The file has no such column (for the {role})."
            raise ParameterError(what, given=name, allowed=", ".join(names))
        if "," in name:
            what = "A column whose name holds a comma cannot be named by --columns."
            raise ParameterError(what, given=name, next="rename it in the file")
    if len(set(found.values())) < len(found):
        twice = ", ".join(f"{role}: {name}" for role, name in found.items())
        raise ParameterError("One column cannot be two things.", given=twice, next="choose another for one of them")
    return found


def stated(log: NewLogOptions, proposal: Proposal, columns: Mapping[str, str]) -> NewLogOptions:
    """The options of the command line, and what was chosen and proposed beside them."""
    encoding = None if proposal.encoding == UTF8 else proposal.encoding
    return replace(
        log,
        format=proposal.format,
        columns=",".join(f"{role}={name}" for role, name in columns.items()),
        separator=log.separator or proposal.separator,
        encoding=log.encoding or encoding,
    )


def period_of(given: Mapping[str, object]) -> Period | None:
    """The days that the page states; none, if it states neither."""
    first, last = (str(given.get(name) or "").strip() for name in ("first", "last"))
    if not first and not last:
        return None
    return read_owner({"period": {"from": first, "to": last}}).period


def screen_of(given: Mapping[str, object]) -> str | None:
    """The screening rules that are ticked, as --screen says them."""
    ticked = given.get("rules")
    rules = [rule for rule in RULES if isinstance(ticked, list) and rule in ticked]
    if len(rules) == len(RULES):
        return DEFAULT
    return ",".join(rules) or None


def preselected(proposal: Proposal, before: Mapping[str, str]) -> dict[str, str]:
    """What the boxes show at first: what was chosen before; else, but for the user, the first candidate by its name."""
    first = {role: next(iter(proposal.candidates[role]), "") for role in ROLES}
    return dict(before) if before else first | {"user": ""}
