"""Hong, He, Vaidya, Adam, Atluri: Effective Anonymization of Query Logs (CIKM 2009): k users of similar queries.

Every published user has at least k − 1 others whose queries are similar to hers, to the degree δ: queries are added to
users and suppressed until it is so. (The paper calls it k^δ-anonymity; δ is the parameter `similar` here.)

Known to us by its abstract and by what later papers say of it; its own text was not at hand. Ours: similar is by the
Jaccard index of two users' sets of queries; groups are made as for `k_vocabulary`; what more than half of a group ask
is added to all of it, c queries, and of her own each keeps the first ⌊c (1 − δ)/(2δ)⌋, the frequent ones before the
rare: two users then have c queries in common, of at most c/δ.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa

from hubbub.mechanisms.anonymity.base import Anonymity, K, as_log, by_text, fresh_numbers
from hubbub.mechanisms.anonymity.groups import grouped
from hubbub.mechanisms.anonymity.k_session import Sets
from hubbub.mechanisms.base import Parameter, Tables
from hubbub.mechanisms.traits import Wording
from hubbub.steps.counts import Integers
from hubbub.steps.keys import LOG

if TYPE_CHECKING:
    from hubbub.log import SearchLog
    from hubbub.noise import NoiseSource
    from hubbub.steps.mode import RunMode


class KSimilar(Anonymity, register=True):
    """Users as sets of queries, each similar to k − 1 others."""

    name = "k-similar"
    paper = "Hong et al. 2009"
    about = "each user's queries, added to and suppressed until k users are similar; no clicks (not private)"
    offers = {"log": LOG}  # noqa: RUF012
    default_tables = ("log",)
    parameters: ClassVar[tuple[Parameter, ...]] = (
        K,
        Parameter(
            "similar",
            "number",
            "δ of the paper: the least Jaccard index of similar users",
            Fraction(1, 2),
            low=0,
            open_low=True,
            high=1,
        ),
    )
    promise = (
        "every published user has at least {k} − 1 others whose queries have a Jaccard index of {similar} with hers"
    )
    wording = Wording.CHANGED
    weakness = "what she alone asked may still be there, and some of the others may be accounts of one attacker"

    @property
    def similar(self) -> Fraction:
        """How similar the users of a group are."""
        return Fraction(self.settings["similar"])

    def thresholds(self) -> dict[str, int]:
        """The number of users that must be similar."""
        return {"log": self.k}

    def accounts(self) -> int:
        """k of them stay as they are, and k + 1 can be told from k."""
        return self.k

    def spurious(self) -> str:
        """Queries are added."""
        return "a user may show queries that were added to make her similar to others"

    def missing(self) -> tuple[str, ...]:
        """What is suppressed."""
        return ("log: queries of a user that few of her group ask; times, order and clicks",)

    def measure(self, log: SearchLog, mode: RunMode) -> dict[str, Any]:
        """The queries of every user."""
        rows = log.engine.fetch("SELECT DISTINCT uid, query FROM log")
        return {"log": Sets.of(by_text(rows.column("uid")), rows.column("query").combine_chunks())}

    def perturb(self, counts: Mapping[str, Any], noise: NoiseSource) -> Tables:
        """One row per user and query."""
        sets: Sets = counts["log"]
        users = [held for members in grouped(sets, self.k) for held in alike(sets, members, self.similar)]
        number = fresh_numbers(len(users), "numbers of users", noise)
        items = np.concatenate([*users, np.zeros(0, np.int64)])
        query = sets.text.take(pa.array(items))
        return {"log": as_log(np.repeat(number, [held.size for held in users]), {"query": query})}


def alike(sets: Sets, members: Integers, similar: Fraction) -> list[Integers]:
    """What each member of a group shows; nothing where most have nothing in common."""
    common = sets.majority(members)
    if not common.size:
        return []
    own = int(common.size * (1 - similar) / (2 * similar))
    return [np.append(common, np.setdiff1d(sets.of_one(member), common)[:own]) for member in members]
