"""Defaults that follow from what the owner states: how many users, how much each of them holds, of what kind.

A fixed rule of public statements, never of the log: who states nothing has the defaults of the parameters. What is set
by name wins over the rule.
"""

from __future__ import annotations

from collections.abc import Mapping

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
SMALLEST_POOL = 20
TIMES_HELD = 4
"""A pool of so many times what a user usually holds takes nearly everything of nearly everybody."""

STATED = (
    Parameter("kind", "choice", "stated: what users hold, searches or items", choices=("searches", "items"), fact=True),
    Parameter("users", "integer", "stated: about how many users there are", low=1, high=10**12, fact=True),
    Parameter("each", "integer", "stated: about how many different queries a user has", low=1, high=10**9, fact=True),
    Parameter("prefer", "choice", "what matters more, rows or counts", choices=("rows", "counts")),
)


def defaults(given: Mapping[str, Value]) -> dict[str, Value]:
    """The parameters that follow from what is stated, without those that are given."""
    found: dict[str, Value] = {}
    if int(given.get("users", FEW_USERS + 1)) <= FEW_USERS:
        found |= OF_FEW_USERS
    if given.get("kind") == "items":
        found |= OF_ITEMS
    if "each" in given:
        found["D"] = min(int(found.get("D", 100)), max(SMALLEST_POOL, TIMES_HELD * int(given["each"])))
    found |= PREFERRED.get(str(given.get("prefer")), {})
    return {name: value for name, value in found.items() if name not in given}
