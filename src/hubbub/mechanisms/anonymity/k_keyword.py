"""He and Naughton: Anonymization of Set-Valued Data via Top-Down, Local Generalization (2009), as Götz et al. read it.

A keyword is shortened until k users share the prefix; prefixes and the number of users of each are published. From the
longest to the shortest: what k users or more hold at a length stays, the rest loses its last letter. So a keyword ends
as the longest published string that it begins with, and keywords that end as nothing are dropped.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hubbub.mechanisms.anonymity.base import Anonymity, at_least
from hubbub.mechanisms.base import Tables
from hubbub.steps.keys import KEYWORDS

if TYPE_CHECKING:
    from hubbub.log import SearchLog
    from hubbub.noise import NoiseSource
    from hubbub.steps.mode import RunMode

LONGEST = 64
"""Letters of a keyword that count."""


class KKeyword(Anonymity, register=True):
    """A histogram of keywords, shortened to prefixes that k users share."""

    name = "k-keyword"
    paper = "He and Naughton 2009, as in Götz et al. 2009"
    about = "keywords shortened to prefixes that at least k users share, exactly (not private)"
    offers = {"keywords": KEYWORDS}  # noqa: RUF012
    default_tables = ("keywords",)
    promise = "every published prefix stands for keywords of at least {k} users"
    weakness = "some of these users may be accounts of one attacker, who then learns about the last one for certain"

    def measure(self, log: SearchLog, mode: RunMode) -> dict[str, Any]:
        """Users of each prefix that has k of them, from the longest to the shortest."""
        from hubbub.steps.counts import EngineCounts

        KEYWORDS.ready(log)
        engine = log.engine
        engine.save("held", f"SELECT DISTINCT uid, substr(keyword, 1, {LONGEST}) AS keyword FROM (" + HELD + ") AS h")
        engine.save("left_over", "SELECT uid, keyword FROM held WHERE 1 = 0")
        longest = engine.fetch("SELECT coalesce(max(length(keyword)), 0) AS n FROM held").column("n")[0].as_py()
        levels = []
        for length in range(longest, 0, -1):
            engine.save(
                "here",
                f"SELECT uid, keyword FROM held WHERE length(keyword) = {length} "
                f"UNION SELECT uid, substr(keyword, 1, {length}) AS keyword FROM left_over",
            )
            level = f"prefixes_{length}"
            engine.save(level, f"SELECT keyword, count(*) AS n FROM here GROUP BY keyword HAVING count(*) >= {self.k}")
            engine.save(
                "left_over",
                f"SELECT here.uid AS uid, here.keyword AS keyword FROM here LEFT JOIN {level} AS p "
                f"ON here.keyword = p.keyword WHERE p.keyword IS NULL",
            )
            levels.append(level)
        every = " UNION ALL ".join(f"SELECT keyword, n FROM {level}" for level in levels)
        engine.number("prefixes", every or "SELECT keyword, 0 AS n FROM held", mode.order(["keyword"]), "kid")
        for name in (*levels, "held", "here", "left_over"):
            engine.drop(name)
        return {"keywords": EngineCounts("prefixes", engine).local()}

    def perturb(self, counts: Mapping[str, Any], noise: NoiseSource) -> Tables:
        """Prefixes and their exact counts."""
        return {"keywords": at_least(counts["keywords"], self.k)}


HELD = KEYWORDS.distinct()
