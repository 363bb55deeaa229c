"""Defaults that follow from what the owner states: how many users, how much each of them holds, of what kind.

A fixed rule of public statements, never of the log: who states nothing has the defaults of the parameters. What is set
by name wins over the rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from hubbub.mechanisms.parameter import Parameter, Value
from hubbub.public.words import NONE

FEW_USERS = 20_000
"""With fewer users a smaller pool and more rounds release more (measured on made-up logs, bench/README.md)."""
OF_FEW_USERS: Mapping[str, Value] = {"D": 60, "rounds": 8}
OF_ITEMS: Mapping[str, Value] = {"language": NONE, "D": 20}
"""Baskets, visits, downloads: people hold few, and their names are no queries."""
PREFERRED: Mapping[str, Mapping[str, Value]] = {
    "rows": {"rounds": 12},
    "counts": {"rounds": 5, "recount": 200},
}
"""More rows with counts less exact, or the other way round."""
SMALLEST_POOL, USUAL_POOL = 20, 100
TIMES_HELD = 4
"""A pool of so many times what a user usually holds takes nearly everything of nearly everybody."""

STATED = (
    Parameter("kind", "choice", "stated: what users hold, searches or items", choices=("searches", "items"), fact=True),
    Parameter("users", "integer", "stated: about how many users there are", low=1, high=10**12, fact=True),
    Parameter("each", "integer", "stated: about how many different queries a user has", low=1, high=10**9, fact=True),
    Parameter("prefer", "choice", "what matters more, rows or counts", choices=("rows", "counts")),
)


ASIDE = ("variant", "neighbours", "tables", "serp", "pool", "vocabulary")
"""What may be said besides a budget and stated facts where users vote."""


def votes(given: Mapping[str, Any]) -> bool:
    """Whether each user has one vote: items, queries alone, no list, counts not preferred, no rounds asked for."""
    said = {name for name, value in given.items() if value is not None and value not in ((), [])} - set(ASIDE)
    stated = {"epsilon", "delta", *(p.name for p in STATED)}
    items = given.get("kind") == "items" and given.get("prefer") != "counts"
    return items and tuple(given.get("tables") or ()) == ("queries",) and said <= stated


class ByStatement:
    """Makes the kind of mechanism that fits what the owner states."""

    by_vote: ClassVar[type[ByStatement] | None] = None
    """The one in which users vote; a class that has one knows it by name, and its subclasses do not."""

    def __new__(cls, **given: object) -> Self:
        """The class itself, or the one in which users vote."""
        voting = vars(cls).get("by_vote") if votes(given) else None
        made: Self = super().__new__(voting or cls)
        return made


def defaults(given: Mapping[str, Value]) -> dict[str, Value]:
    """The parameters that follow from what is stated, without those that are given."""
    return {name: value for name, (value, _) in _rule(given).items() if name not in given}


def reasons(settings: Mapping[str, Value]) -> tuple[str, ...]:
    """Why parameters have the values that the rule gives them, one sentence for each thing that was stated."""
    because: dict[str, list[str]] = {}
    for name, (value, why) in _rule(settings).items():
        if settings.get(name) == value:
            because.setdefault(why, []).append(f"{name} = {value}")
    return tuple(f"{' and '.join(chosen)}, because {why}" for why, chosen in because.items())


def _rule(stated: Mapping[str, Value]) -> dict[str, tuple[Value, str]]:
    """Each parameter that the rule decides, with its value and why; a later line wins over an earlier one."""
    found: dict[str, tuple[Value, str]] = {}
    if int(stated.get("users", FEW_USERS + 1)) <= FEW_USERS:
        why = f"about {int(stated['users']):,} users are stated, no more than {FEW_USERS:,}"
        found |= {name: (value, why) for name, value in OF_FEW_USERS.items()}
    if stated.get("kind") == "items":
        found |= {name: (value, "users are stated to hold items") for name, value in OF_ITEMS.items()}
    if "each" in stated:
        most = max(SMALLEST_POOL, TIMES_HELD * int(stated["each"]))
        if most < int(found.get("D", (USUAL_POOL, ""))[0]):
            found["D"] = (most, f"about {stated['each']} queries a user are stated")
    preferred = PREFERRED.get(str(stated.get("prefer")), {})
    return found | {name: (value, f"{stated['prefer']} are preferred") for name, value in preferred.items()}
