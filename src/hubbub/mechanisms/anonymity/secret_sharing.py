"""Adar: User 4XXXXX9, Anonymizing Query Logs (2007), its first solution: threshold cryptography.

Every query is encrypted under a key of its own, which is split by Shamir's scheme: each user who asks it leaves one
share, and from k shares of different users anybody can compute the key. So queries of k users or more can be read, and
nothing has to be counted before the log is published. The polynomial follows from the query and a secret that is
forgotten; the same user leaves the same share however often she asks.

Taken from the abstract and from how later papers describe it; the paper's own text was not at hand. Ours: which hash,
which field, users under fresh numbers, and no clicks, as in `k_query`.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from hubbub.mechanisms.anonymity.base import Anonymity, as_log
from hubbub.mechanisms.anonymity.pseudonyms import renumbered
from hubbub.mechanisms.base import Tables
from hubbub.mechanisms.traits import Wording
from hubbub.steps.keys import LOG

if TYPE_CHECKING:
    from hubbub.log import SearchLog
    from hubbub.noise import NoiseSource
    from hubbub.steps.mode import RunMode

PRIME = 2**127 - 1
SIZE = 16
Share = tuple[int, int]
"""A point of the polynomial whose value at 0 is the key."""


class SecretSharing(Anonymity, register=True):
    """The log with every query encrypted, and one share of its key in each row."""

    name = "secret-sharing"
    paper = "Adar 2007, threshold cryptography"
    about = "the whole log without clicks, queries encrypted; k users' shares open one (not private)"
    offers = {"log": LOG}  # noqa: RUF012
    default_tables = ("log",)
    wording = Wording.SEALED
    promise = "a query can be read from the shares of {k} users who asked it, and not from fewer"
    weakness = "an attacker's accounts leave shares too, and how many users asked an unread query can be counted"

    def thresholds(self) -> dict[str, int]:
        """How many users' shares open a query."""
        return {"log": self.k}

    def users_shown(self, log: pa.Table, queries: Sequence[str], times: Sequence[int]) -> list[int]:
        """The attacker opens what can be opened."""
        who = defaultdict(set)
        for user, query in zip(
            log.column("user").to_pylist(), opened(log.column("query").to_pylist(), self.k), strict=True
        ):
            who[query].add(user)
        return [len(who[query]) for query in queries]

    def missing(self) -> tuple[str, ...]:
        """What cannot be read."""
        return (f"log: the text of queries that fewer than {self.k} users asked; ranks and clicked addresses",)

    def measure(self, log: SearchLog, mode: RunMode) -> dict[str, Any]:
        """All searches of the log."""
        return {"log": log.engine.fetch('SELECT DISTINCT uid, "time", query FROM log')}

    def perturb(self, counts: Mapping[str, Any], noise: NoiseSource) -> Tables:
        """All searches, with a fresh number in place of each user, and each query sealed with one share of its key."""
        rows: pa.Table = counts["log"]
        pairs = zip(rows.column("uid").to_pylist(), rows.column("query").to_pylist(), strict=True)
        query = pa.array(sealed(pairs, self.k, noise.secret("shares")), pa.string())
        return {"log": as_log(renumbered(rows, noise), {"time": rows.column("time"), "query": query})}


def sealed(pairs: Iterable[tuple[str, str]], k: int, secret: bytes) -> list[str]:
    """For each (user, query): the encrypted query, and the user's share of its key."""
    polynomials: dict[str, tuple[str, list[int]]] = {}
    rows = []
    for user, query in pairs:
        if query not in polynomials:
            drawn = hashlib.shake_256(secret + b"polynomial" + query.encode()).digest(SIZE * k)
            numbers = [int.from_bytes(drawn[i : i + SIZE], "big") % PRIME for i in range(0, SIZE * k, SIZE)]
            polynomials[query] = _cipher(query.encode(), numbers[0]).hex(), numbers
        text, numbers = polynomials[query]
        named = b"\x1f".join((secret, b"user", user.encode(), query.encode()))
        x = 1 + int.from_bytes(hashlib.shake_256(named).digest(SIZE), "big") % (PRIME - 1)
        y = 0
        for coefficient in reversed(numbers):
            y = (y * x + coefficient) % PRIME
        rows.append(f"{text}.{x:x}.{y:x}")
    return rows


def opened(rows: Iterable[str], k: int) -> list[str | None]:
    """The query of each row that k different shares open; None for the others. Anybody can compute this."""
    parts = [(text, (int(x, 16), int(y, 16))) for text, x, y in (row.split(".") for row in rows)]
    shares: dict[str, set[Share]] = defaultdict(set)
    for text, share in parts:
        shares[text].add(share)
    texts = {text: open_with(text, sorted(found)[:k]) for text, found in shares.items() if len(found) >= k}
    return [texts.get(text) for text, _ in parts]


def open_with(text: str, shares: Sequence[Share]) -> str:
    """What these shares make of an encrypted query: the query if they are enough, nonsense otherwise."""
    key = 0
    for x, y in shares:
        factor = y
        for other, _ in shares:
            if other != x:
                factor = factor * other * pow(other - x, -1, PRIME) % PRIME
        key = (key + factor) % PRIME
    return _cipher(bytes.fromhex(text), key).decode(errors="replace")


def _cipher(text: bytes, key: int) -> bytes:
    """The text and a stream made of the key, each byte changed by the other; twice is not at all."""
    stream = hashlib.shake_256(key.to_bytes(SIZE, "big")).digest(len(text))
    return bytes(a ^ b for a, b in zip(text, stream, strict=True))
