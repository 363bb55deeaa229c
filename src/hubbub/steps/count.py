"""Add up bounded keys: exact integers, with ids that follow the text of the keys.

Ids number the present keys, in the order of their text where a run must be repeatable. They never leave the
process: a release is sorted by its noisy values.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hubbub.errors import OurBug
from hubbub.log import SearchLog
from hubbub.steps.keys import Keys

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Held:
    """Keys that somebody holds, of a domain known without the log: their ids, their counts, the domain's size."""

    ids: Integers
    n: Integers
    size: int

    def at_least(self, least: int) -> tuple[Integers, Integers]:
        """The keys that reach a count, and their counts."""
        shown = self.n >= least
        return self.ids[shown], self.n[shown]

    def holds(self, ids: Integers) -> Flags:
        """Which of these keys somebody holds."""
        return np.isin(ids, self.ids)


@dataclass(frozen=True)
class Counts:
    """Exact counts of one kind of key; position = key id."""

    n: Integers
    keys: str = ""
    """The engine's table that holds the keys' text, by `kid`."""
    parent: Integers | None = None
    """For a closed domain: the key of another table each key depends on (a click's query)."""

    def held(self) -> Held:
        """Those above zero, of a domain that is all of them."""
        ids = np.flatnonzero(self.n)
        return Held(ids, self.n[ids], self.n.size)

    def somebody(self) -> bool:
        """Whether anybody holds any of them."""
        return bool(self.n.any())

    def at_least(self, least: int) -> tuple[Integers, Integers]:
        """The keys that reach a count, and their counts."""
        return self.held().at_least(least)

    def under(self, parents: Integers) -> tuple[Integers, Integers]:
        """Every key of these parents, and its count."""
        if self.parent is None:
            raise OurBug("these keys have no parents")
        ids = np.flatnonzero(np.isin(self.parent, parents))
        return ids, self.n[ids]


@dataclass(frozen=True)
class Spread:
    """Exact counts that stay in the engine, in its table `keys` as `n`, by `kid`: asked where they lie.

    It answers what `Counts` and `Held` answer; what is brought is what the answer names.
    """

    keys: str
    log: SearchLog = field(repr=False, compare=False)
    size: int = 0

    def held(self) -> Spread:
        """Those above zero, of a domain that is all of them."""
        size = self.log.engine.fetch(f"SELECT count(*) AS n FROM {self.keys}").column("n")[0].as_py()
        self.log.engine.view(f"held_{self.keys}", f"SELECT kid, n FROM {self.keys} WHERE n > 0")
        return Spread(f"held_{self.keys}", self.log, size)

    def somebody(self) -> bool:
        """Whether anybody holds any of them."""
        return bool(self.log.engine.fetch(f"SELECT kid FROM {self.keys} WHERE n > 0 LIMIT 1").num_rows)

    def at_least(self, least: int) -> tuple[Integers, Integers]:
        """The keys that reach a count, and their counts."""
        return self._brought(f"SELECT kid, n FROM {self.keys} WHERE n >= {least}")

    def under(self, parents: Integers) -> tuple[Integers, Integers]:
        """Every key of these parents, and its count."""
        self.log.engine.register("chosen_parents", pa.table({"kid": parents}))
        return self._brought(
            f"SELECT k.kid AS kid, k.n AS n FROM {self.keys} AS k JOIN chosen_parents AS p ON p.kid = k.parent"
        )

    def holds(self, ids: Integers) -> Flags:
        """Which of these keys somebody holds."""
        self.log.engine.register("asked_keys", pa.table({"kid": ids}))
        held = f"SELECT k.kid AS kid FROM {self.keys} AS k JOIN asked_keys AS a ON a.kid = k.kid"
        return np.isin(ids, self.log.engine.fetch(held).column("kid").to_numpy())

    def _brought(self, sql: str) -> tuple[Integers, Integers]:
        rows = self.log.engine.fetch(sql).sort_by("kid")
        return rows.column("kid").to_numpy(), rows.column("n").to_numpy()


class _Pairs:
    """Ordered pairs of other keys: a pair's id is both ids in one word, so that a pair nobody holds has one, too."""

    keys_of: str
    """The engine's table that holds the text of the keys that make a pair, by `kid`."""

    @staticmethod
    def ids(first: Integers, second: Integers) -> Integers:
        """The id of each pair."""
        return (first << 32) | second

    @staticmethod
    def at(places: Integers, keys: Integers) -> Integers:
        """The ids at these places of all ordered pairs of different keys; they rise with the place if the keys do."""
        first, rest = np.divmod(places, max(keys.size - 1, 1))
        return Pairs.ids(keys[first], keys[rest + (rest >= first)])

    def text(self, log: SearchLog, keys: Keys, ids: Integers) -> pa.Table:
        """The text of pairs, in the order of `ids`."""
        single = Keys("single", keys.columns[:1], "", ())
        sides = dict(zip(keys.columns, (ids >> 32, ids & 0xFFFFFFFF), strict=True))
        known = np.unique(np.concatenate(list(sides.values())))
        texts = names(log, Counts(known, self.keys_of), single, known).column(0).combine_chunks()
        return pa.table({c: texts.take(pa.array(np.searchsorted(known, side))) for c, side in sides.items()})


@dataclass(frozen=True)
class Pairs(_Pairs):
    """Exact counts of ordered pairs of other keys; only the pairs that somebody holds, sorted."""

    n: Integers
    first: Integers
    second: Integers
    keys_of: str

    def among(self, keys: Integers) -> Held:
        """The held pairs of these keys, of all ordered pairs of different ones."""
        both = np.isin(self.first, keys) & np.isin(self.second, keys)
        return Held(self.ids(self.first[both], self.second[both]), self.n[both], keys.size * (keys.size - 1))


@dataclass(frozen=True)
class SpreadPairs(_Pairs):
    """The same, in the engine: its table `pairs` holds their counts as `n`, by `one` and `two`."""

    pairs: str
    keys_of: str
    log: SearchLog = field(repr=False, compare=False)

    def among(self, keys: Integers) -> Spread:
        """The held pairs of these keys, of all ordered pairs of different ones."""
        table = f"{self.pairs}_among"
        self.log.engine.register("chosen_sides", pa.table({"kid": keys}))
        self.log.engine.save(
            table,
            f"SELECT p.one * {1 << 32} + p.two AS kid, p.n AS n FROM {self.pairs} AS p "
            "JOIN chosen_sides AS a ON a.kid = p.one JOIN chosen_sides AS b ON b.kid = p.two",
        )
        return Spread(table, self.log, keys.size * (keys.size - 1))


def count(log: SearchLog, keys: Keys, bounded: str) -> Counts:
    """How many bounded rows each key has: users for distinct keys, events for occurrences.

    Where noise is drawn inside the engine, they stay there (`Spread`).
    """
    keys.ready(log)
    table = f"counted_{keys.name}"
    counted = f"SELECT {keys.list()}, count(*) AS n FROM ({bounded}) AS bounded GROUP BY {keys.list()}"
    log.engine.number(table, counted, log.order(keys.columns), "kid")
    if log.spread:
        return cast(Counts, Spread(table, log))
    rows = log.engine.fetch(f"SELECT kid, n FROM {table}")
    return Counts(_by_id(rows, "n"), table)


def count_under(log: SearchLog, keys: Keys, bounded: str, parents: str, listed: str = "") -> Counts:
    """Counts of keys whose first column is a key of another table, which is their parent; those of no parent are left.

    `listed` names a public table with the key's columns: then every listed key counts, zero where nobody holds it.
    """
    keys.ready(log)
    table, parent = f"counted_{keys.name}", keys.columns[0]
    counted = f"SELECT {keys.list()}, count(*) AS n FROM ({bounded}) AS bounded GROUP BY {keys.list()}"
    if listed:
        on = " AND ".join(f"list.{column} = held.{column}" for column in keys.columns)
        counted = (
            f"SELECT {keys.list('list')}, coalesce(held.n, 0) AS n FROM {listed} AS list LEFT JOIN ({counted}) AS held "
            f"ON {on}"
        )
    log.engine.number(
        table,
        f"SELECT {keys.list('k')}, p.kid AS parent, k.n AS n FROM ({counted}) AS k "
        f"JOIN {parents} AS p ON p.{parent} = k.{parent}",
        log.order(keys.columns),
        "kid",
    )
    if log.spread:
        return cast(Counts, Spread(table, log))
    rows = log.engine.fetch(f"SELECT kid, parent, n FROM {table}")
    return Counts(_by_id(rows, "n"), table, _by_id(rows, "parent"))


def names(log: SearchLog, counts: Counts | Spread | _Pairs, keys: Keys, ids: Integers) -> pa.Table:
    """The text of released keys, in the order of `ids`."""
    if isinstance(counts, _Pairs):
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
