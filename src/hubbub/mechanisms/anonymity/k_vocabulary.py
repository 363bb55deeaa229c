"""Liu and Wang: Enforcing Vocabulary k-Anonymity by Semantic Similarity Based Clustering (ICDM 2010; KAIS 2013).

A user's vocabulary is the bag of words of her queries. Users with similar vocabularies are clustered, at least k
together, and for each of them the typical vocabulary of her cluster is published: every vocabulary is there k times.

Taken from the abstracts; the papers' own texts were not at hand. They measure how near two words are on WordNet, and
two vocabularies by the best matching of their words. Ours: words are near only if they are equal, for which the best
matching is what both bags have in common; and the typical vocabulary is what more than half of a cluster have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from hubbub.mechanisms.anonymity.base import Anonymity, as_log, by_text, fresh_numbers
from hubbub.mechanisms.anonymity.groups import grouped
from hubbub.mechanisms.anonymity.k_session import Sets
from hubbub.mechanisms.base import Tables
from hubbub.mechanisms.traits import Wording
from hubbub.steps.keys import LOG
from hubbub.steps.keys.keywords import words
from hubbub.steps.sessions import SEPARATOR

if TYPE_CHECKING:
    from hubbub.log import SearchLog
    from hubbub.noise import NoiseSource
    from hubbub.steps.mode import RunMode


class KVocabulary(Anonymity, register=True):
    """Users as bags of words, each k times."""

    name = "k-vocabulary"
    paper = "Liu and Wang 2010"
    about = "each user's words as a bag, that of her cluster of k similar users; one row per user (not private)"
    offers = {"log": LOG}  # noqa: RUF012
    default_tables = ("log",)
    promise = "every published vocabulary is one of at least {k} that are equal"
    wording = Wording.CHANGED
    weakness = "some of these users may be accounts of one attacker, who then learns about the last one for certain"

    def thresholds(self) -> dict[str, int]:
        """The number of users that must be alike."""
        return {"log": self.k}

    def accounts(self) -> int:
        """k of them stay as they are, and k + 1 can be told from k."""
        return self.k

    def users_shown(self, log: pa.Table, queries: Sequence[str], times: Sequence[int]) -> list[int]:
        """One row per user, her words in the order of the alphabet."""
        shown = Counter(log.column("query").to_pylist())
        return [shown[" ".join(sorted(query.split()))] for query in queries]

    def spurious(self) -> str:
        """Words are added."""
        return "a vocabulary may show words that were added to make it equal to others"

    def missing(self) -> tuple[str, ...]:
        """What is deleted."""
        return ("log: words that at most half of a cluster of users have; times, order, queries and clicks",)

    def measure(self, log: SearchLog, mode: RunMode) -> dict[str, Any]:
        """The words of every user, as often as she used them: used twice, it is (word, 0) and (word, 1)."""
        words(log)
        rows = log.engine.fetch(
            "SELECT s.uid AS uid, w.keyword AS keyword, count(*) AS n "
            'FROM (SELECT DISTINCT uid, "time", query FROM log) AS s JOIN words AS w ON s.query = w.query '
            "GROUP BY s.uid, w.keyword"
        )
        n = rows.column("n").to_numpy()
        user, word = np.repeat(by_text(rows.column("uid")), n), rows.column("keyword").to_pylist()
        items = [f"{w}{SEPARATOR}{i}" for w, times in zip(word, n.tolist(), strict=True) for i in range(times)]
        return {"log": Sets.of(user, pa.array(items, pa.string()))}

    def perturb(self, counts: Mapping[str, Any], noise: NoiseSource) -> Tables:
        """One row per user: the typical words of her cluster, in the order of the alphabet."""
        sets: Sets = counts["log"]
        texts: list[str] = []
        for members in grouped(sets, self.k):
            typical = sets.text.take(pa.array(sets.majority(members))).to_pylist()
            if typical:
                texts += [" ".join(sorted(item.partition(SEPARATOR)[0] for item in typical))] * members.size
        query = pa.array(sorted(texts), pa.string())
        return {"log": as_log(fresh_numbers(len(query), "numbers of users", noise), {"query": query})}
