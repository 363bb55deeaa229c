"""Who held what in which run of a series: tables in an engine, kept as Parquet files from run to run.

    series_users  (person, uid)          series_held  (person, kid, first)   everything she held, with the first run
    series_keys   (kid, query)           series_pool  (person, kid, run)     what stands in her pool, with its run

Persons and keys count from 0 in the order of their text within a run, runs one after the other. A pool is a function of
its own user's records and of the secret: she brings at most D keys of a run that are not in it yet, the first ones by a
hash of (secret, user, key). Nothing ever leaves a pool, but a user who is erased.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from hubbub.series.first_pairs import PAIRS, first_pairs
from hubbub.steps.bound import hashed
from hubbub.steps.counts import Integers
from hubbub.steps.keys import QUERIES

if TYPE_CHECKING:
    from hubbub.engines import Engine

TABLES = {
    "users": pa.schema([("person", pa.int64()), ("uid", pa.string())]),
    "keys": pa.schema([("kid", pa.int64()), ("query", pa.string())]),
    "held": pa.schema([("person", pa.int64()), ("kid", pa.int64()), ("first", pa.int64())]),
    "pool": pa.schema([("person", pa.int64()), ("kid", pa.int64()), ("run", pa.int64())]),
    "erased": pa.schema([("digest", pa.string())]),
    "gone": pa.schema([("kid", pa.int64()), ("digest", pa.string())]),
}
DELTAS = ("users", "keys", "held", "pool", "now")
"""What one run adds, a file each; `now` is every pair of the run, for its counts."""


def digest(secret: bytes, what: str, column: str) -> str:
    """A keyed hash of a user's id or of a key, by which what was erased is known again; as SQL."""
    return f"md5(concat('{secret.hex()}', '{what}', {column}))"


def scanned(engine: Engine, folder: Path, files: Iterable[str], kind: str, view: str, schema: pa.Schema) -> None:
    """All files of one kind as one view."""
    parts = []
    places = {name.split("/")[0] for name in files}  # a file, or the folder that an engine wrote
    for n, name in enumerate(sorted(name for name in places if name.split("-")[0] == kind)):
        engine.scan(f"{view}_{n}", folder / name)
        parts.append(f"SELECT {', '.join(schema.names)} FROM {view}_{n}")
    if not parts:
        engine.register(f"{view}_none", schema.empty_table())
        parts = [f"SELECT * FROM {view}_none"]
    engine.view(view, " UNION ALL ".join(parts))


def written(engine: Engine, table: str, path: Path) -> list[str]:
    """Write a table into the folder of the state: the names of its files, as they stand there."""
    engine.write(table, path)
    files = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    return [str(file.relative_to(path.parent)) for file in files]


class SeriesRecords:
    """The records of a series inside an engine."""

    def __init__(self, engine: Engine, folder: Path, files: Iterable[str], secret: bytes) -> None:
        self.engine, self.folder, self.secret = engine, folder, secret
        for table, schema in TABLES.items():
            scanned(engine, folder, files, table, f"series_{table}", schema)

    # -------------------------------------------------------------- a new period

    def known_users(self) -> tuple[int, int]:
        """How many users the log has, and how many of them earlier runs knew."""
        mine = "(SELECT DISTINCT uid FROM log) AS n LEFT JOIN series_users AS u ON n.uid = u.uid"
        found = self.engine.fetch(f"SELECT count(*) AS users, count(u.uid) AS known FROM {mine}").to_pydict()
        return int(found["users"][0]), int(found["known"][0])

    def read(self, t: int, users: int, keys: int, limit: int, out: Integers) -> None:
        """Make the tables `series_new_…` that run t adds, from the view `log`."""
        engine, events = self.engine, QUERIES.events.format(log="log")
        engine.save("series_asked", f"SELECT DISTINCT uid, query FROM ({events}) AS events{self.unerased()}")
        strangers = "SELECT DISTINCT uid FROM series_asked AS a WHERE NOT EXISTS " + _same("users", "uid")
        engine.number("series_strangers", strangers, ["uid"], "place")
        engine.save("series_new_users", f"SELECT place + {users} AS person, uid FROM series_strangers")
        self._name_keys(keys)
        everybody = "SELECT person, uid FROM series_users UNION ALL SELECT person, uid FROM series_new_users"
        engine.view("series_everybody", everybody)
        engine.save(
            "series_now",
            "SELECT u.person AS person, k.kid AS kid, a.uid AS uid, a.query AS query FROM series_asked AS a "
            "JOIN series_everybody AS u ON a.uid = u.uid JOIN series_named AS k ON a.query = k.query",
        )
        engine.view("series_new_now", "SELECT person, kid FROM series_now")
        unheld = f"SELECT person, kid, CAST({t} AS BIGINT) AS first FROM series_now AS n WHERE NOT EXISTS "
        engine.save("series_new_held", unheld + _pair("held"))
        self._fill_pools(t, limit, out)

    def unerased(self) -> str:
        """What leaves erased users out, as SQL after a FROM."""
        still = f"{digest(self.secret, 'user', 'uid')} NOT IN (SELECT digest FROM series_erased)"
        return f" WHERE {still}" if self._count("series_erased") else ""

    def _name_keys(self, keys: int) -> None:
        """Ids for keys that are new, and the text back for those whose text was erased."""
        engine = self.engine
        engine.save(
            "series_texts",
            "SELECT t.query AS query, min(k.kid) AS kid FROM (SELECT DISTINCT query FROM series_asked) AS t "
            "LEFT JOIN series_keys AS k ON t.query = k.query GROUP BY t.query",
        )
        unknown = "(SELECT query FROM series_texts WHERE kid IS NULL)"
        back = f"{unknown} AS n JOIN series_gone AS g ON {digest(self.secret, 'key', 'n.query')} = g.digest"
        engine.save("series_back", f"SELECT DISTINCT g.kid AS kid, n.query AS query FROM {back}")
        fresh = f"SELECT query FROM {unknown} AS a WHERE NOT EXISTS " + _same("back", "query")
        engine.number("series_fresh", fresh, ["query"], "place")
        numbered = f"SELECT place + {keys} AS kid, query FROM series_fresh"
        engine.save("series_new_keys", f"{numbered} UNION ALL SELECT kid, query FROM series_back")
        named = "SELECT kid, query FROM series_texts WHERE kid IS NOT NULL UNION ALL SELECT kid, query FROM"
        engine.view("series_named", f"{named} series_new_keys")

    def _fill_pools(self, t: int, limit: int, out: Integers) -> None:
        engine = self.engine
        engine.register("series_out", pa.table({"kid": out}))
        engine.save(
            "series_candidates",
            "SELECT person, kid, uid, query FROM series_now AS n WHERE NOT EXISTS "
            f"{_pair('pool')} AND NOT EXISTS (SELECT 1 FROM series_out AS o WHERE o.kid = n.kid)",
        )
        crowded = f"SELECT person FROM series_candidates GROUP BY person HAVING count(*) > {limit}"
        chosen = f"SELECT * FROM series_candidates WHERE person IN ({crowded})"
        tied = ("person", "query", "kid")  # by text: ids depend on what others asked
        engine.smallest("series_chosen", chosen, tied, hashed(QUERIES, self.secret), limit)
        entered = f"SELECT person, kid, CAST({t} AS BIGINT) AS run FROM"
        engine.save(
            "series_new_pool",
            f"{entered} series_candidates WHERE person NOT IN ({crowded}) UNION ALL {entered} series_chosen",
        )

    def write(self, t: int, folder: Path) -> list[str]:
        """Write what run t adds; the names of the files."""
        new = {table: folder / f"{table}-{t:03}.parquet" for table in DELTAS}
        return [name for table, path in new.items() for name in written(self.engine, f"series_new_{table}", path)]

    def added(self, table: str) -> int:
        """How many rows run t adds to a table; of keys, only the new ones."""
        return self._count("series_fresh" if table == "keys" else f"series_new_{table}")

    # -------------------------------------------------------------- counts

    def held(self, t: int) -> tuple[str, str]:
        """Pairs (person, kid, first) of everything that users held; and (person, kid) of this period. As SQL."""
        self.engine.scan("series_now_kept", self.folder / f"now-{t:03}.parquet")
        return "SELECT person, kid, first FROM series_held", "SELECT person, kid FROM series_now_kept"

    def counted(self, pairs: str, allowed: Integers) -> tuple[pa.Table, pa.Table]:
        """Of these pairs, for each user the first `allowed` by hash: users by key, and keys by user."""
        return first_pairs(self.engine, QUERIES, self.secret, pairs, COUNTED_TEXTS, allowed)

    def texts(self, ids: Integers) -> dict[int, tuple[str, ...]]:
        """The text of keys by id."""
        self.engine.register("series_wanted", pa.table({"kid": ids}))
        joined = "series_keys AS k JOIN series_wanted AS w ON k.kid = w.kid"
        found = self.engine.fetch(f"SELECT DISTINCT k.kid AS kid, k.query AS query FROM {joined}")
        return {kid: (text,) for kid, text in zip(*found.to_pydict().values(), strict=True)}

    def _count(self, what: str) -> int:
        return int(self.engine.fetch(f"SELECT count(*) AS n FROM {what}").column("n")[0].as_py())


QUERY_TEXTS = "(SELECT DISTINCT kid, query FROM series_keys)"
"""The text of every query by id; one whose text was erased may have come back with it."""
COUNTED_TEXTS = f"(SELECT DISTINCT kid, query FROM series_keys WHERE kid IN (SELECT kid FROM {PAIRS}))"


def _same(table: str, column: str) -> str:
    return f"(SELECT 1 FROM series_{table} AS k WHERE k.{column} = a.{column})"


def _pair(table: str) -> str:
    return f"(SELECT 1 FROM series_{table} AS h WHERE h.person = n.person AND h.kid = n.kid)"


class EngineSeriesPools:
    """The pools of a series inside a distributed engine, without keys that are out."""

    def __init__(self, engine: Engine, t: int, users: int, keys: int, out: Integers, pool: str = "series_pool") -> None:
        self._engine, self._users, self._keys = engine, users, keys
        engine.register("series_out", pa.table({"kid": out}))
        engine.save(
            "series_live",
            f"SELECT person, kid, run = {t} AS entered FROM {pool} AS n "
            "WHERE NOT EXISTS (SELECT 1 FROM series_out AS o WHERE o.kid = n.kid)",
        )

    def squares(self, old: Integers, new: Integers) -> Integers:
        """For each user, the sum of the squared scores of her pairs."""
        engine, some = self._engine, np.flatnonzero(np.maximum(old, new))
        engine.register("series_scores", pa.table({"kid": some, "old": old[some], "new": new[some]}))
        score = "CASE WHEN p.entered THEN s.new ELSE s.old END"
        engine.save(
            "series_scored",
            f"SELECT p.person AS person, p.kid AS kid, {score} AS score FROM series_live AS p "
            f"JOIN series_scores AS s ON p.kid = s.kid WHERE {score} > 0",
        )
        sums = "SELECT person AS at, CAST(sum(score * score) AS BIGINT) AS total FROM series_scored GROUP BY person"
        return _placed(engine.fetch(sums), self._users)

    def sums(self, units: Integers) -> Integers:
        """For each key, the sum over its pairs of score times the user's unit."""
        some = np.flatnonzero(units)
        self._engine.register("series_units", pa.table({"person": some, "unit": units[some]}))
        sums = (
            "SELECT p.kid AS at, CAST(sum(p.score * u.unit) AS BIGINT) AS total FROM series_scored AS p "
            "JOIN series_units AS u ON p.person = u.person GROUP BY p.kid"
        )
        return _placed(self._engine.fetch(sums), self._keys)


def _placed(found: pa.Table, size: int) -> Integers:
    sums = np.zeros(size, np.int64)
    sums[found.column("at").to_numpy()] = found.column("total").to_numpy()
    return sums
