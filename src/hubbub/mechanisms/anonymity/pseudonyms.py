"""The AOL release of 2006: a fresh number for every user, everything else as it is in the log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hubbub.mechanisms.anonymity.base import REST, Anonymity, as_log, by_text, fresh_numbers
from hubbub.mechanisms.base import Tables
from hubbub.privacy.guarantee import Definition
from hubbub.steps.counts import Integers
from hubbub.steps.keys import LOG

if TYPE_CHECKING:
    import pyarrow as pa

    from hubbub.log import SearchLog
    from hubbub.noise import NoiseSource
    from hubbub.steps.mode import RunMode


class Pseudonyms(Anonymity, register=True):
    """The log under other names."""

    name = "pseudonyms"
    paper = "the AOL release of 2006"
    about = "the whole log, users under fresh numbers (not private)"
    offers = {"log": LOG}  # noqa: RUF012
    default_tables = ("log",)
    parameters = ()
    definition = Definition.NONE
    promise = "users stand under fresh numbers"
    weakness = "whoever knows a few of her searches finds all the others under the same number"

    def accounts(self) -> int:
        """Whoever knows her searches needs none."""
        return 0

    def measure(self, log: SearchLog, mode: RunMode) -> dict[str, Any]:
        """All rows of the log."""
        return {"log": log.engine.fetch('SELECT uid, "time", query, "rank", url FROM log')}

    def perturb(self, counts: Mapping[str, Any], noise: NoiseSource) -> Tables:
        """All rows, with a fresh number in place of each user."""
        rows: pa.Table = counts["log"]
        return {"log": as_log(renumbered(rows, noise), {name: rows.column(name) for name in REST})}


def renumbered(rows: pa.Table, noise: NoiseSource) -> Integers:
    """A fresh number for every user, at each of her rows."""
    user = by_text(rows.column("uid"))
    return fresh_numbers(int(user.max(initial=-1)) + 1, "numbers of users", noise)[user]
