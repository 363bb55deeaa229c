"""Limit one user: keep at most so many of her keys, or of her events, by her own data alone.

Every window is partitioned by user and every tie is broken inside the user, so removing one user
changes nothing about the others. "First" follows time, then the key's text. "Random" follows a
keyed hash of (secret, user, key) that is the same on every engine; the secret is fresh per run.
"""

from __future__ import annotations

from hubbub.errors import OurBug
from hubbub.steps.keys import Keys


def first_keys(keys: Keys, limit: int, log: str = "log") -> str:
    """Each user's first `limit` distinct keys: (uid, key columns)."""
    return _keep(keys, keys.distinct(log), f"first NULLS LAST, {keys.list()}", limit)


def random_keys(keys: Keys, limit: int, secret: bytes, log: str = "log") -> str:
    """A random `limit` of each user's distinct keys: (uid, key columns)."""
    return _keep(keys, keys.distinct(log), f"{hashed(keys, secret)}, {keys.list()}", limit)


def hashed(keys: Keys, secret: bytes) -> str:
    """The keyed hash of (secret, user, key), as SQL.

    MD5 only shuffles here: whatever the order, it is a function of the user's own keys.
    """
    parts = ", '\x1f', ".join(["uid", *keys.columns])
    return f"md5(concat('{_long(secret).hex()}', {parts}))"


def lot(secret: bytes) -> str:
    """The keyed hash of (secret, user), as SQL: an order of users that no record decides."""
    return f"md5(concat('{_long(secret).hex()}', 'lot', '\x1f', uid))"


def seeded(keys: Keys, secret: bytes) -> str:
    """What an engine's own hash takes: a number out of the secret, the user, the key's columns."""
    return f"CAST({int.from_bytes(_long(secret)[:7], 'big')} AS BIGINT), uid, {keys.list()}"


def _long(secret: bytes) -> bytes:
    if len(secret) < 16:
        raise OurBug("the capping secret is too short")
    return secret


def first_events(keys: Keys, limit: int, log: str = "log") -> str:
    """Each user's first `limit` events, repeats included: (uid, key columns)."""
    return _keep(keys, keys.occurrences(log), ", ".join(keys.order), limit)


def _keep(keys: Keys, rows: str, order: str, limit: int) -> str:
    if limit < 1:
        raise OurBug(f"a bound of {limit} {keys.name} a user bounds nothing")
    return (
        f"SELECT uid, {keys.list()} FROM ("
        f"SELECT uid, {keys.list()}, row_number() OVER (PARTITION BY uid ORDER BY {order}) AS ordinal "
        f"FROM ({rows}) AS held) AS ordered WHERE ordinal <= {limit}"
    )
