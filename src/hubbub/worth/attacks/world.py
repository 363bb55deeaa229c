"""The log as it would be with some users away and fake accounts added, and a mechanism run on it in memory.

Nothing is booked and nothing is written: the noise is seeded, as in an audit. Each target is away from one of two
worlds, by the toss of a coin, and in the other: as many trials as controls.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hubbub.engines.duckdb import DuckDB
from hubbub.ingest.schema import NOTHING, SCHEMA
from hubbub.log import SearchLog
from hubbub.mechanisms.base import Rows
from hubbub.noise import SeededNoise
from hubbub.release.rows import named_rows
from hubbub.steps.bound import hashed
from hubbub.steps.keys import CLICKS, KEYWORDS, LOG, QUERIES, Keys
from hubbub.steps.mode import RunMode
from hubbub.steps.sessions import SEPARATOR
from hubbub.worth.attacks.base import AttackSetup, NotAttackable

if TYPE_CHECKING:
    from hubbub.mechanisms import Mechanism

Flags = npt.NDArray[np.bool_]
PREFERRED = (QUERIES, CLICKS, KEYWORDS)
APART = 60  # seconds between the searches of a fake account
NOBODY = pa.Table.from_batches([NOTHING])


def attacked(mechanism: Mechanism) -> tuple[str, Keys]:
    """The table that an attacker looks at, and the keys in it; a log is read for its queries, or for its clicks."""
    table = next((k.name for k in PREFERRED if k.name in mechanism.tables), mechanism.tables[0])
    kind = mechanism.offers[table]
    if kind is LOG:
        return table, mechanism.logged
    return table, kind


def lone_keys(setup: AttackSetup, kind: Keys) -> pa.Table:
    """Targets and one key of each that nobody else holds: canaries where there are any, else any users."""
    log, columns = setup.log, kind.list()
    kind.ready(log)
    canaries = ""
    if setup.canaries is not None:
        log.engine.register("canaries", setup.canaries.select(["user", "query"]).rename_columns(["uid", "query"]))
        match = " AND c.query = a.query" if "query" in kind.columns else ""
        canaries = f" WHERE EXISTS (SELECT 1 AS one FROM canaries AS c WHERE c.uid = a.uid{match})"
    alone = f"SELECT min(uid) AS uid, {columns} FROM ({kind.distinct()}) AS held GROUP BY {columns} HAVING count(*) = 1"
    order = hashed(kind, setup.secret)
    one = (
        f"SELECT uid, {columns}, {order} AS ticket, row_number() OVER (PARTITION BY uid ORDER BY {order}) AS n "
        f"FROM (SELECT a.uid AS uid, {kind.list('a')} FROM ({alone}) AS a{canaries}) AS chosen"
    )
    found = log.engine.fetch(
        f"SELECT uid, {columns} FROM ({one}) AS ranked WHERE n = 1 ORDER BY ticket LIMIT {setup.targets}"
    )
    if not found.num_rows:
        raise NotAttackable(f"no target: none of the {kind.name} belongs to one user alone")
    return found


def coins(setup: AttackSetup, count: int) -> Flags:
    """Which targets are in the first world; the others are in the second."""
    heads: Flags = np.random.default_rng(setup.seed).permutation(count) < (count + 1) // 2
    return heads


def fakes(keys: pa.Table, kind: Keys, each: int, before: int) -> pa.Table:
    """`each` accounts for every key that hold it and nothing else, on a day of its own before the log begins."""
    rows: list[dict[str, object]] = []
    for i, key in enumerate(keys.to_pylist()):
        if kind.sequence:
            searches = [(query, None) for query in key[kind.columns[0]].split(SEPARATOR)]
        elif kind.name == "transitions":
            searches = [(key["query"], None), (key["next_query"], None)]
        else:
            searches = [(key.get("query") or key["keyword"], key.get("url"))]
        rows += [
            {"user": f"fake {i} {j}", "time": at(i, before) + APART * t, "query": q, "rank": 1 if u else None, "url": u}
            for j in range(each)
            for t, (q, u) in enumerate(searches)
        ]
    return pa.Table.from_pylist(rows, schema=SCHEMA) if rows else NOBODY


def at(i: int, before: int) -> int:
    """When the accounts around target i search: only they do then."""
    return before - 86_400 * (i + 1)


def begins(log: SearchLog) -> int:
    """The first time in the log."""
    first = log.engine.fetch('SELECT min("time") AS first FROM log').column("first")[0].as_py()
    return 0 if first is None else int(first)


@contextmanager
def world(setup: AttackSetup, away: pa.Array, added: pa.Table = NOBODY) -> Iterator[SearchLog]:
    """The log without some users and with some rows more."""
    with tempfile.TemporaryDirectory(prefix="hubbub-attack-") as folder:
        engine = DuckDB(Path(folder), memory=setup.memory, threads=setup.threads)
        raw = setup.log
        with SearchLog(
            engine, raw.ingested, Path(folder), raw.period, max_searches_a_day=raw.max_searches_a_day
        ) as log:
            engine.register("away", pa.table({"uid": away}))
            engine.register("added", added)
            inside = ""
            if log.period is not None:
                start, after = log.period.seconds
                inside = f' AND "time" >= {start} AND "time" < {after}'
            log.show(
                f'SELECT "user" AS uid, "time", query, "rank", url FROM cleaned '
                f'WHERE "user" NOT IN (SELECT uid FROM away){inside} '
                f'UNION ALL SELECT "user" AS uid, "time", query, "rank", url FROM added',
            )
            yield log


def release_in_memory(mechanism: Mechanism, log: SearchLog, seed: int) -> dict[str, pa.Table]:
    """What a release of this log would publish, by the very code that a release runs."""
    noise = SeededNoise(seed)
    counts = mechanism.measure(log, RunMode(noise.secret("bounding")))
    released = mechanism.draw(counts, noise)
    return {
        table: out.rows if isinstance(out, Rows) else named_rows(log, mechanism, table, counts, released)
        for table, out in released.items()
    }
