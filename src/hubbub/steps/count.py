"""Add up bounded keys: exact integers, with ids that follow the text of the keys.

Ids number the present keys, in the order of their text where a run must be repeatable. They never leave the
process: a release is sorted by its noisy values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hubbub.log import SearchLog
from hubbub.steps.keys import Keys

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Counts:
    """Exact counts of one kind of key; position = key id."""

    n: Integers
    keys: str = ""
    """The engine's table that holds the keys' text, by `kid`."""
    parent: Integers | None = None
    """For a closed domain: the key of another table each key depends on (a click's query)."""


@dataclass(frozen=True)
class Spread:
    """Exact counts that stay in the engine: its table `keys` holds them as `n`, by `kid`."""

    keys: str


@dataclass(frozen=True)
class Pairs:
    """Exact counts of ordered pairs of other keys; only the pairs that somebody holds, sorted."""

    n: Integers
    first: Integers
    second: Integers
    keys_of: str
    """The engine's table that holds the text of the keys that make a pair, by `kid`."""

    @staticmethod
    def ids(first: Integers, second: Integers) -> Integers:
        """A pair's id: both ids in one word, so that a pair nobody holds has one too."""
        return (first << 32) | second

    def text(self, log: SearchLog, keys: Keys, ids: Integers) -> pa.Table:
        """The text of pairs, in the order of `ids`."""
        single = Keys("single", keys.columns[:1], "", ())
        sides = dict(zip(keys.columns, (ids >> 32, ids & 0xFFFFFFFF), strict=True))
        known = np.unique(np.concatenate(list(sides.values())))
        texts = names(log, Counts(known, self.keys_of), single, known).column(0).combine_chunks()
        return pa.table({c: texts.take(pa.array(np.searchsorted(known, side))) for c, side in sides.items()})


def count(log: SearchLog, keys: Keys, bounded: str) -> Counts:
    """How many bounded rows each key has: users for distinct keys, events for occurrences.

    Where noise is drawn inside the engine, they stay there (`Spread`).
    """
    keys.ready(log)
    table = f"counted_{keys.name}"
    counted = f"SELECT {keys.list()}, count(*) AS n FROM ({bounded}) AS bounded GROUP BY {keys.list()}"
    log.engine.number(table, counted, log.order(keys.columns), "kid")
    if log.spread:
        return cast(Counts, Spread(table))
    rows = log.engine.fetch(f"SELECT kid, n FROM {table}")
    return Counts(_by_id(rows, "n"), table)


def count_listed(log: SearchLog, keys: Keys, bounded: str, listed: str, parents: Counts) -> Counts:
    """Counts over a public list: every listed key of a present parent, zero where nobody holds it.

    `listed` names a table with the key's columns; the parent's key is the first of them.
    """
    keys.ready(log)
    parent = keys.columns[0]
    table = f"listed_{keys.name}"
    on = " AND ".join(f"list.{column} = held.{column}" for column in keys.columns)
    log.engine.number(
        table,
        f"SELECT {keys.list('list')}, parents.kid AS parent, coalesce(held.n, 0) AS n FROM {listed} AS list "
        f"JOIN {parents.keys} AS parents ON parents.{parent} = list.{parent} "
        f"LEFT JOIN (SELECT {keys.list()}, count(*) AS n FROM ({bounded}) AS bounded GROUP BY {keys.list()}) AS held "
        f"ON {on}",
        log.order(keys.columns),
        "kid",
    )
    rows = log.engine.fetch(f"SELECT kid, parent, n FROM {table}")
    return Counts(_by_id(rows, "n"), table, _by_id(rows, "parent"))


def names(log: SearchLog, counts: Counts | Pairs, keys: Keys, ids: Integers) -> pa.Table:
    """The text of released keys, in the order of `ids`."""
    if isinstance(counts, Pairs):
        return counts.text(log, keys, ids)
    log.engine.register("released_ids", pa.table({"kid": ids, "at": np.arange(ids.size)}))
    rows = log.engine.fetch(
        f"SELECT released_ids.at AS at, {keys.list('k')} FROM {counts.keys} AS k "
        f"JOIN released_ids ON released_ids.kid = k.kid"
    )
    return rows.sort_by("at").drop_columns(["at"])


def _by_id(rows: pa.Table, column: str) -> Integers:
    kid, found = rows.column("kid").to_numpy(), rows.column(column).to_numpy()
    if np.array_equal(kid, np.arange(kid.size)):
        return np.asarray(found, np.int64)
    values = np.empty(kid.size, np.int64)
    values[kid] = found
    return values
