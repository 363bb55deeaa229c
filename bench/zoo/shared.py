"""What subjects of several libraries share: rows of a log, a bound on keys, and many runs as one.

A library on a data engine takes a second for one release, however small. Its subject runs many logs in one: `copies`
of a log that share no user and no key, whose outputs are told `apart` again. That stands for as many runs where a
library treats users and keys independently of each other, as all of these say they do.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

Log = dict[str, list[str]]
dice = random.SystemRandom()


def bounded(log: Log, keys: int) -> Log:
    """At most so many different keys of each user, chosen at random."""
    held = {user: list(dict.fromkeys(keys_of)) for user, keys_of in log.items()}
    return {user: dice.sample(own, min(keys, len(own))) for user, own in held.items()}


def counted(log: Log, keys: int) -> dict[str, int]:
    """How many users hold each key, in the order of keys."""
    return dict(sorted(Counter(key for own in bounded(log, keys).values() for key in own).items()))


def rows(log: Log) -> list[tuple[str, str]]:
    """A row for each user and key, as often as she holds it."""
    return [(user, key) for user, own in log.items() for key in own]


def copies(log: Log, runs: int) -> Log:
    """So many copies of a log in one."""
    return {f"{n}:{user}": [f"{n}:{key}" for key in own] for n in range(runs) for user, own in log.items()}


def apart(released: Any, runs: int) -> list[dict[str, Any]]:
    """What came out of each copy, in the order of keys: these libraries promise no order of rows."""
    outs: list[dict[str, Any]] = [{} for _ in range(runs)]
    for key, count in sorted(released):
        n, _, text = key.partition(":")
        outs[int(n)][text] = count
    return outs
