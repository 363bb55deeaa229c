"""Carpineto and Romano: Semantic Search Log k-Anonymization with Generalized k-Cores (ECIR 2013; IPM 2015).

A query is safe if k users asked it or something like it: queries whose affinity is Θ or more are neighbours, and of the
queries the largest part is published in which each has k users among its neighbours and its own. Whatever has fewer
is deleted, which may leave others with fewer, until nothing changes: a generalized k-core.

Taken from the abstracts; the papers' own texts were not at hand. They expand a query by weighted concepts, n-grams
mined from the log, and compare what comes out. Ours: the affinity of two queries is the Jaccard index of their words.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa

from hubbub.mechanisms.anonymity.base import Anonymity, K, at_least, by_text
from hubbub.mechanisms.base import Parameter, Tables
from hubbub.steps.counts import Flags, Integers
from hubbub.steps.keys import QUERIES

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from hubbub.log import SearchLog
    from hubbub.noise import NoiseSource
    from hubbub.steps.mode import RunMode

BLOCK = 2000
"""Queries compared with all others at once: the result of one comparison has to fit into memory."""


class KCore(Anonymity, register=True):
    """Queries that k users asked, or something like them."""

    name = "k-core"
    paper = "Carpineto and Romano 2013"
    about = "queries that at least k users asked or asked something like, exactly (not private)"
    offers = {"queries": QUERIES}  # noqa: RUF012
    default_tables = ("queries",)
    parameters: ClassVar[tuple[Parameter, ...]] = (
        K,
        Parameter(
            "theta",
            "number",
            "Θ: the least affinity (Jaccard index of the words) of queries alike",
            Fraction(1, 2),
            low=0,
            open_low=True,
            high=1,
        ),
    )
    promise = "for every published query at least {k} users asked it or a published query of affinity {theta} to it"
    weakness = "a query of one user shows with its exact number, and the others may be accounts of one attacker"

    def thresholds(self) -> dict[str, int]:
        """How many users must have asked a query or its neighbours."""
        return {"queries": self.k}

    def missing(self) -> tuple[str, ...]:
        """What is deleted."""
        return (f"queries: asked, with all that are like them and published, by fewer than {self.k} users",)

    def measure(self, log: SearchLog, mode: RunMode) -> dict[str, Any]:
        """The users of each query in the core."""
        from hubbub.steps.count import count
        from hubbub.steps.counts import EngineCounts

        counts = count(log, QUERIES, QUERIES.distinct(), mode)
        engine = log.engine
        texts = engine.fetch(f"SELECT kid, query FROM {counts.keys}").sort_by("kid").column("query").to_pylist()
        asked = engine.fetch(
            f"SELECT DISTINCT c.kid AS kid, l.uid AS uid FROM log AS l JOIN {counts.keys} AS c ON c.query = l.query"
        )
        inside = core(texts, asked.column("kid").to_numpy(), by_text(asked.column("uid")), self.k, self.theta)
        engine.register("core_kids", pa.table({"kid": np.flatnonzero(inside)}))
        engine.number(
            "core_queries",
            f"SELECT c.query AS query, c.n AS n FROM {counts.keys} AS c JOIN core_kids AS k ON k.kid = c.kid",
            mode.order(["query"]),
            "kid",
        )
        return {"queries": EngineCounts("core_queries", engine).local()}

    @property
    def theta(self) -> Fraction:
        """How alike neighbouring queries are."""
        return Fraction(self.settings["theta"])

    def perturb(self, counts: Mapping[str, Any], noise: NoiseSource) -> Tables:
        """The whole core, with exact counts."""
        return {"queries": at_least(counts["queries"], 1)}


def core(texts: list[str], query: Integers, user: Integers, k: int, theta: Fraction) -> Flags:
    """Which queries are in the core; `query` and `user` name who asked what, each pair once."""
    from scipy.sparse import csr_array

    inside = np.ones(len(texts), np.bool_)
    if not texts:
        return inside
    affine = neighbours(texts, theta)
    while True:
        kept = inside[query]
        cells, shape = (query[kept], user[kept]), (len(texts), int(user.max()) + 1)
        asked = csr_array((np.ones(cells[0].size, np.int32), cells), shape)
        enough = np.diff(csr_array(affine @ asked).indptr) >= k  # distinct users among what is alike
        if (inside <= enough).all():
            return inside
        inside &= enough


def neighbours(texts: list[str], theta: Fraction) -> csr_array:
    """Which queries are alike, each like itself: common · q >= p · (all their words), for Θ = p/q in integers."""
    from scipy.sparse import csr_array, vstack

    sets = [sorted(set(text.split(" "))) for text in texts]
    places = {word: i for i, word in enumerate(sorted({word for words in sets for word in words}))}
    size = np.array([len(words) for words in sets])
    at = np.array([places[word] for words in sets for word in words])
    words = csr_array((np.ones(at.size, np.int32), at, np.append(0, np.cumsum(size))), (len(texts), len(places)))
    found = []
    for start in range(0, len(texts), BLOCK):
        common = (words[start : start + BLOCK] @ words.T).tocoo()
        both = size[start + common.row] + size[common.col] - common.data
        alike = common.data.astype(np.int64) * theta.denominator >= both * theta.numerator
        rows = min(BLOCK, len(texts) - start)
        cells = (common.row[alike], common.col[alike])
        found.append(csr_array((np.ones(int(alike.sum()), np.int32), cells), (rows, len(texts))))
    return csr_array(vstack(found, format="csr"))
