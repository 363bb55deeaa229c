"""Whether two logs hold the same records, told by a keyed sample of each: names cannot hide a look or a release.

A fingerprint is a few users, picked by a keyed hash of their ids, and for each a few of her searches, picked and kept
as keyed hashes of (user, time, query). The key is the ledger's own and stays there. The same log in another order, in
another format, compressed, with rows added or taken away, has a fingerprint that shares much; logs of other people
share next to nothing, though their ids be the same numbers. It is made from the raw log: for the ledger alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from hubbub.log import SearchLog
    from hubbub.privacy.ledger import Ledger

USERS, RECORDS = 256, 16  # of a log, of each of these users
LETTERS = 12  # of a hash: 48 bits
KEY = "fingerprint_key"
"""The engine's table that holds the key while it is asked."""
SHARE = 5
"""Logs are taken for the same data if one record in so many of the smaller one is in the other."""


@dataclass(frozen=True)
class Fingerprint:
    """Sampled users by their hash, each with the smallest hashes of her records, in order."""

    users: Mapping[str, tuple[str, ...]]

    def same(self, other: Fingerprint) -> bool:
        """Whether the two logs share so many records that they are about the same people."""
        mine, theirs = _below([self.users, other.users], USERS)
        shared = ours = others = 0
        for who in mine | theirs:
            a, b = (set(part) for part in _below([dict.fromkeys(f.users.get(who, ())) for f in (self, other)], RECORDS))
            shared, ours, others = shared + len(a & b), ours + len(a), others + len(b)
        return 0 < min(ours, others) <= SHARE * shared

    def text(self) -> str:
        """The fingerprint as text, as the ledger keeps it."""
        return json.dumps(self.users, separators=(",", ":"))

    @staticmethod
    def read(text: str) -> Fingerprint:
        """A fingerprint from the text that the ledger kept."""
        return Fingerprint({who: tuple(records) for who, records in json.loads(text).items()})


def _below(samples: list[Mapping[str, object]], full: int) -> tuple[set[str], ...]:
    """What each sample holds up to where the first of them ends: there both are whole."""
    last = min((max(sample) for sample in samples if len(sample) >= full), default="g")  # no hash comes after that
    return tuple({hashed for hashed in sample if hashed <= last} for sample in samples)


def fingerprint(log: SearchLog, key: str) -> Fingerprint:
    """The fingerprint of a log under this key, the same on every engine: one scan for ids, one for rows."""
    log.engine.register(KEY, pa.table({"secret": [key]}))  # never in the text of a query, which plans and logs show
    who = f"substr(md5(concat(secret, uid)), 1, {LETTERS})"
    parts = "uid, '\x1f', coalesce(CAST(\"time\" AS STRING), ''), '\x1f', query"
    what = f"substr(md5(concat(secret, {parts})), 1, {LETTERS})"
    users = "SELECT DISTINCT uid AS uid FROM log"
    picked = f"SELECT uid AS owner, {who} AS who FROM ({users}) AS users CROSS JOIN {KEY} ORDER BY who LIMIT {USERS}"
    joined = f"log JOIN ({picked}) AS picked ON uid = owner CROSS JOIN {KEY}"
    records = f"SELECT DISTINCT who, {what} AS record FROM {joined}"
    placed = f"SELECT *, row_number() OVER (PARTITION BY who ORDER BY record) AS place FROM ({records}) AS records"
    found = log.engine.fetch(f"SELECT who, record FROM ({placed}) AS placed WHERE place <= {RECORDS}")
    held: dict[str, list[str]] = {}
    for row in found.to_pylist():
        held.setdefault(row["who"], []).append(row["record"])
    return Fingerprint({user: tuple(sorted(held[user])) for user in sorted(held)})


def look(book: Ledger, log: SearchLog, population: str, dataset: str, command: str) -> None:
    """Note in the ledger that a command read this raw log without a mechanism, even if the log cannot be scanned."""
    seen = None
    try:
        seen = book.keep(fingerprint(log, book.key()))
    finally:
        book.looked(population, dataset, command, seen)
