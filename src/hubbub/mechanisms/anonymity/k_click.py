"""KA of Zhang and Yang (2017): [query, url, users] of every click that more than k users made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hubbub.mechanisms.anonymity.base import Anonymity, at_least
from hubbub.mechanisms.base import Tables
from hubbub.steps.keys import CLICKS

if TYPE_CHECKING:
    from hubbub.log import SearchLog
    from hubbub.noise import NoiseSource
    from hubbub.steps.mode import RunMode


class KClick(Anonymity, register=True):
    """Clicks of more than k users."""

    name = "k-click"
    paper = "KA of Zhang and Yang 2017"
    about = "clicks (query, url) made by more than k users, exactly (not private)"
    offers = {"clicks": CLICKS}  # noqa: RUF012
    default_tables = ("clicks",)
    promise = "every published click was made by more than {k} users"
    weakness = "some of these users may be accounts of one attacker, who then learns about the last one for certain"

    def thresholds(self) -> dict[str, int]:
        """The paper's `c > K` on integers."""
        return {"clicks": self.k + 1}

    def measure(self, log: SearchLog, mode: RunMode) -> dict[str, Any]:
        """Step 2: c(q, d), the number of users."""
        from hubbub.steps.count import count

        return {"clicks": count(log, CLICKS, CLICKS.distinct(), mode)}

    def perturb(self, counts: Mapping[str, Any], noise: NoiseSource) -> Tables:
        """Step 3: all tuples with c > k."""
        return {"clicks": at_least(counts["clicks"], self.k + 1)}
