"""Kumar, Novak, Pang, Tomkins: On Anonymizing Query Logs via Token-Based Hashing (2007), which also broke it.

Every word of a query becomes a keyed hash; the key is secret and forgotten. Users get fresh numbers. Clicked addresses
are left out, for they would tell the words. Which words come together, and how often, stays as it was.
"""

from __future__ import annotations

import hashlib
import hmac
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from hubbub.mechanisms.anonymity.base import Anonymity, as_log
from hubbub.mechanisms.anonymity.pseudonyms import renumbered
from hubbub.mechanisms.base import Tables
from hubbub.mechanisms.traits import Wording
from hubbub.privacy.guarantee import Definition
from hubbub.steps.keys import LOG

if TYPE_CHECKING:
    from hubbub.log import SearchLog
    from hubbub.noise import NoiseSource
    from hubbub.steps.mode import RunMode

LETTERS = 16


class TokenHash(Anonymity, register=True):
    """The log with its words hashed."""

    name = "token-hash"
    paper = "Kumar et al. 2007"
    about = "the whole log without clicks, users under fresh numbers, words hashed (not private)"
    offers = {"log": LOG}  # noqa: RUF012
    default_tables = ("log",)
    parameters = ()
    definition = Definition.NONE
    wording = Wording.HASHED
    promise = "users stand under fresh numbers, and no word of a query is in the output"
    weakness = "how often words are used, and with which others, gives the frequent ones away"

    def accounts(self) -> int:
        """One account is enough to learn a hash."""
        return 1

    def users_shown(self, log: pa.Table, queries: Sequence[str], times: Sequence[int]) -> list[int]:
        """The attacker knows when her own account searched, and so what it became."""
        who, own = defaultdict(set), {}
        for row in log.select(["user", "time", "query"]).to_pylist():
            who[row["query"]].add(row["user"])
            own[row["time"]] = row["query"]
        return [len(who[own[at]]) for at in times]

    def missing(self) -> tuple[str, ...]:
        """What is left out."""
        return ("log: ranks and clicked addresses",)

    def measure(self, log: SearchLog, mode: RunMode) -> dict[str, Any]:
        """All searches of the log."""
        return {"log": log.engine.fetch('SELECT DISTINCT uid, "time", query FROM log')}

    def perturb(self, counts: Mapping[str, Any], noise: NoiseSource) -> Tables:
        """All searches, with a fresh number in place of each user and a hash in place of each word."""
        rows: pa.Table = counts["log"]
        query = hashed(rows.column("query"), noise.secret("words"))
        return {"log": as_log(renumbered(rows, noise), {"time": rows.column("time"), "query": query})}


def hashed(queries: pa.ChunkedArray, key: bytes) -> pa.ChunkedArray:
    """Each query with every word hashed, order and repetitions kept."""
    coded = queries.combine_chunks().dictionary_encode()
    split = pc.split_pattern(coded.dictionary, " ")
    words = split.flatten().dictionary_encode()
    names = [_hash(word, key) for word in words.dictionary.to_pylist()]
    again = pa.DictionaryArray.from_arrays(words.indices, pa.array(names, pa.string())).cast(pa.string())
    texts = pc.binary_join(pa.ListArray.from_arrays(split.offsets, again), " ")
    return pa.chunked_array([texts.take(coded.indices)])


def _hash(word: str, key: bytes) -> str:
    return hmac.new(key, word.encode(), hashlib.sha256).hexdigest()[:LETTERS]
