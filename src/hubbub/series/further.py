"""Clicks, transitions and keywords of a series in an engine: who held which of them, and which take part.

    series_T_held  (person, key columns, first)   everything she held of table T, with the first run
    series_T_keys  (kid, key columns)             keys of T that have stood in a pool, or are out; no other has an id
    series_T_pool  (person, kid, run)             what stands in her pool, with its run

A pair of queries, or of a query and a page, may take part from the run on in which its queries are out. What enters
a pool is a function of one user's records, of what is out, and of the secret: at most so many of hers a run that are
not in it yet, the first ones by a hash. Keywords have no pools: they are the words of queries that are out, and who
held a query has held its words.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hubbub.mechanisms.series.tables import TABLES
from hubbub.series.first_pairs import first_pairs
from hubbub.series.kept import prefix
from hubbub.series.records import QUERY_TEXTS, scanned, written
from hubbub.steps.bound import hashed
from hubbub.steps.chosen import WordsIn, words_of
from hubbub.steps.keys.keywords import WORDS

if TYPE_CHECKING:
    from hubbub.engines import Engine
    from hubbub.steps.counts import Integers

INTEGER = pa.int64()
POOL = pa.schema([("person", INTEGER), ("kid", INTEGER), ("run", INTEGER)])


def schemas(table: str) -> dict[str, pa.Schema]:
    """What is kept of a further table, by kind: none of a pool where nothing is selected."""
    kind = TABLES[table]
    key = [(column, pa.string()) for column in kind.keys.columns]
    keys = {"keys": pa.schema([("kid", INTEGER), *key])}
    if kind.limit is None:
        return keys
    return {"held": pa.schema([("person", INTEGER), *key, ("first", INTEGER)]), **keys, "pool": POOL}


class FurtherRecords:
    """The records of one table beyond the queries; those of the queries are in the same engine."""

    def __init__(self, engine: Engine, folder: Path, files: Iterable[str], secret: bytes, table: str) -> None:
        self.engine, self.folder, self.secret, self.table = engine, folder, secret, table
        self.keys, self.made_of = TABLES[table].keys, TABLES[table].made_of
        for kind, schema in schemas(table).items():
            scanned(engine, folder, files, prefix(table) + kind, self._name(kind), schema)

    def _name(self, kind: str) -> str:
        return f"series_{self.table}_{kind}"

    @property
    def pool(self) -> str:
        """The view of its pools."""
        return self._name("pool")

    def _file(self, kind: str, t: int) -> Path:
        return self.folder / f"{prefix(self.table)}{kind}-{t:03}.parquet"

    def _write(self, t: int, *kinds: str) -> list[str]:
        return [name for kind in kinds for name in written(self.engine, self._name(f"new_{kind}"), self._file(kind, t))]

    # -------------------------------------------------------------- a new period

    def read(self, t: int, unerased: str) -> list[str]:
        """Write what users held of it in the period, from the view `log`; the names of the files."""
        engine, listed = self.engine, self.keys.list()
        events = self.keys.events.format(log="log")
        engine.save(self._name("asked"), f"SELECT DISTINCT uid, {listed} FROM ({events}) AS events{unerased}")
        engine.save(
            self._name("new_now"),
            f"SELECT u.person AS person, {self.keys.list('a')} FROM {self._name('asked')} AS a "
            "JOIN series_everybody AS u ON a.uid = u.uid",
        )
        same = f"h.person = n.person AND {self.keys.same('h', 'n')}"
        engine.save(
            self._name("new_held"),
            f"SELECT person, {listed}, CAST({t} AS BIGINT) AS first FROM {self._name('new_now')} AS n "
            f"WHERE NOT EXISTS (SELECT 1 FROM {self._name('held')} AS h WHERE {same})",
        )
        return self._write(t, "now", "held")

    def fill(self, t: int, limit: int, size: int, out: Integers) -> tuple[list[str], int]:
        """Fill its pools; the queries that are out are in `series_out_queries`: the files, how many keys are new."""
        engine, listed = self.engine, self.keys.list()
        engine.register("series_out", pa.table({"kid": out}))
        asked = "".join(
            f" JOIN series_out_queries AS c{n} ON h.{column} = c{n}.query" for n, column in enumerate(self.made_of)
        )
        known = f"SELECT 1 FROM {self._name('keys')} AS k JOIN {{0}} AS p ON k.kid = p.kid WHERE {{1}}"
        pooled = known.format(self.pool, f"p.person = h.person AND {self.keys.same('k', 'h')}")
        released = known.format("series_out", self.keys.same("k", "h"))
        engine.save(
            "series_candidates",
            f"SELECT h.person AS person, u.uid AS uid, {_columns(self.keys.columns)} FROM {self._name('held')} AS h "
            f"JOIN series_users AS u ON h.person = u.person{asked} "
            f"WHERE NOT EXISTS ({pooled}) AND NOT EXISTS ({released})",
        )
        engine.smallest(
            "series_chosen_pairs",
            "SELECT * FROM series_candidates",
            ("person", *self.keys.columns),
            hashed(self.keys, self.secret),
            limit,
        )
        same = f"(SELECT 1 FROM {self._name('keys')} AS k WHERE {self.keys.same('k', 'e')})"
        fresh = f"SELECT DISTINCT {listed} FROM series_chosen_pairs AS e WHERE NOT EXISTS {same}"
        engine.number("series_fresh_keys", fresh, self.keys.columns, "place")
        engine.save(self._name("new_keys"), f"SELECT place + {size} AS kid, {listed} FROM series_fresh_keys")
        every = f"SELECT kid, {listed} FROM {self._name('keys')} UNION ALL SELECT kid, {listed} FROM {{0}}"
        engine.save(
            self._name("new_pool"),
            f"SELECT e.person AS person, k.kid AS kid, CAST({t} AS BIGINT) AS run FROM series_chosen_pairs AS e "
            f"JOIN ({every.format(self._name('new_keys'))}) AS k ON {self.keys.same('k', 'e')}",
        )
        new = int(engine.fetch("SELECT count(*) AS n FROM series_fresh_keys").column("n")[0].as_py())
        return self._write(t, "keys", "pool"), new

    # -------------------------------------------------------------- numbers

    def held(self, t: int) -> tuple[str, str]:
        """Pairs (person, kid, first) of everything that users held; and (person, kid) of this period. As SQL."""
        on = f"JOIN {self._name('keys')} AS k ON {self.keys.same('k', 'h')}"
        self.engine.scan(self._name("now"), self._file("now", t))
        return (
            f"SELECT h.person AS person, k.kid AS kid, h.first AS first FROM {self._name('held')} AS h {on}",
            f"SELECT h.person AS person, k.kid AS kid FROM {self._name('now')} AS h {on}",
        )

    def counted(self, pairs: str, allowed: Integers) -> tuple[pa.Table, pa.Table]:
        """Of these pairs, for each user the first `allowed` by hash: users by key, and keys by user."""
        return first_pairs(self.engine, self.keys, self.secret, pairs, self._name("keys"), allowed)

    def texts(self, ids: Integers) -> dict[int, tuple[str, ...]]:
        """The text of keys by id."""
        self.engine.register("series_wanted", pa.table({"kid": ids}))
        joined = f"{self._name('keys')} AS k JOIN series_wanted AS w ON k.kid = w.kid"
        found = self.engine.fetch(f"SELECT k.kid AS kid, {self.keys.list('k')} FROM {joined}").to_pydict()
        kids, *columns = found.values()
        return dict(zip(kids, zip(*columns, strict=True), strict=True))


class KeywordRecords(FurtherRecords):
    """The words of queries that are out: each has an id from the run on in which the first query with it came out."""

    def named(self, t: int, queries: pa.Array) -> tuple[list[str], Integers]:
        """Write the words that are new among those of released queries: the file, and their ids."""
        kept = self.engine.fetch(f"SELECT kid, keyword FROM {self._name('keys')}").sort_by("kid")
        known = kept.column("keyword").combine_chunks()
        words = words_of(queries.cast(pa.string()))
        fresh = words.filter(pc.invert(pc.is_in(words, value_set=known.cast(pa.string()))))
        ids = np.arange(len(known), len(known) + len(fresh))
        self.engine.register(self._name("new_keys"), pa.table({"kid": ids, "keyword": fresh}))
        every = pa.concat_arrays([known.cast(pa.string()), fresh])
        self.engine.register(self._name("every"), pa.table({"kid": np.arange(len(every)), "keyword": every}))
        split = WordsIn(every)
        self.engine.map_batches(self._name("words"), "SELECT DISTINCT query FROM series_keys", split, WORDS)
        return self._write(t, "keys"), ids

    def held(self, t: int) -> tuple[str, str]:
        """Who held a query has held its words, first in the run in which she held the first of them."""
        self.engine.scan("series_keywords_now", self.folder / f"now-{t:03}.parquet")
        on = (
            f"JOIN {QUERY_TEXTS} AS k ON h.kid = k.kid JOIN {self._name('words')} AS s ON k.query = s.query "
            f"JOIN {self._name('every')} AS w ON s.keyword = w.keyword"
        )
        return (
            f"SELECT h.person AS person, w.kid AS kid, min(h.first) AS first FROM series_held AS h {on} "
            "GROUP BY h.person, w.kid",
            f"SELECT DISTINCT h.person AS person, w.kid AS kid FROM series_keywords_now AS h {on}",
        )

    def counted(self, pairs: str, allowed: Integers) -> tuple[pa.Table, pa.Table]:
        """By the text of the words, those that are new in this run included."""
        return first_pairs(self.engine, self.keys, self.secret, pairs, self._name("every"), allowed)

    def texts(self, ids: Integers) -> dict[int, tuple[str, ...]]:
        """All of them are out."""
        found = self.engine.fetch(f"SELECT kid, keyword FROM {self._name('every')}").to_pydict()
        return {kid: (word,) for kid, word in zip(found["kid"], found["keyword"], strict=True)}


def _columns(columns: tuple[str, ...]) -> str:
    return ", ".join(f"h.{column} AS {column}" for column in columns)
