"""The synthetic log beside what is published of the real ones, and how fast it is made. Run by hand.

    python bench/synth.py speed   [--users 183000] [--preset aol]     rows per second and peak memory, for each format
    python bench/synth.py totals  [--users 657426]                    the totals of the AOL log, and of a tenth of it
    python bench/synth.py zealous [--users 500000]                    ZEALOUS' Tables 3 and 4 on the preset gotz
    python bench/synth.py fears   [--users 200000] [--preset aol]     users who ask each "fear of …"

The log is streamed and counted in DuckDB with 1 GB of memory; texts are counted by a 64-bit hash. Each prints a table
in Markdown: docs/synthetic-log.md holds what they printed.
"""

from __future__ import annotations

import argparse
import math
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hubbub.synth import PRESETS, SYLLABIC, generate
from hubbub.synth.run import synthesise

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

SESSION_GAP = 1800
AOL = {  # the README of the collection; page events are its new queries and requests for a next page together
    "rows": 36_389_567,
    "click rows": 19_442_629,
    "distinct queries": 10_154_742,
    "new query instances": 21_011_340,
    "page events": 28_898_362,
}
TENTH = {  # Hong et al. 2012, Table 3: 51,922 clicking users of "over 65,000"
    "clicking users": 51_922,
    "click tuples": 1_864_860,
    "distinct queries": 583_084,
    "distinct URLs": 373_837,
    "distinct query-URL pairs": 1_190_491,
}
M = (1, 4, 8, 20, 40)
DISTINCT = {  # Götz et al. 2009, Table 3 A
    "keywords": (6667, 6043, 5372, 4062, 2964),
    "queries": (3334, 2087, 1440, 751, 408),
    "clicks": (2813, 1576, 1001, 486, 246),
    "pairs": (331, 169, 100, 40, 13),
}
TOTAL = {  # Table 3 B, thousands
    "keywords": (329, 1157, 1894, 3106, 3871),
    "queries": (147, 314, 402, 464, 439),
    "clicks": (118, 234, 286, 317, 290),
    "pairs": (8, 14, 15, 12, 7),
}
PER_USER = {"keywords": 56, "queries": 20, "clicks": 14, "pairs": 7}
EVERYONE = {"keywords": 1.0e6, "queries": 3.0e6, "clicks": 4.5e6, "pairs": 3.0e6}
EPSILON, DELTA, USERS = 5.0, 0.001, 500_000


class Searches:
    """Where searches, sessions and page events begin in a batch, by the rule of a query that differs or 30 minutes."""

    def __init__(self, batch: pa.RecordBatch) -> None:
        user, query = (_codes(batch[name]) for name in ("user", "query"))
        time = batch["time"].to_numpy()
        gap = np.diff(time) > SESSION_GAP
        self.session = _starts((np.diff(user) != 0) | gap)
        self.search = self.session | _starts(np.diff(query) != 0)
        self.event = self.search | _starts(np.diff(time) != 0)


def _codes(column: pa.Array) -> Ints:
    return np.asarray(column.dictionary_encode().indices.to_numpy().astype(np.int64))


def _starts(change: Mask) -> Mask:
    return np.append(True, change)


def difference(published: float, found: float) -> str:
    """How far the log is from what was published."""
    return f"{found / published - 1:+.1%}"


def database(folder: str) -> duckdb.DuckDBPyConnection:
    """A database that spills to disk."""
    config: dict[str, str | bool | int | float | list[str]] = {"memory_limit": "1GB", "threads": 1}
    return duckdb.connect(f"{folder}/bench.duckdb", config=config | {"preserve_insertion_order": False})


def scalar(engine: duckdb.DuckDBPyConnection, query: str) -> int:
    """The one number a query gives."""
    row = engine.execute(query).fetchone()
    return int(row[0]) if row and row[0] is not None else 0


# ------------------------------------------------------------------ the totals of the AOL log


def totals(users: int, preset: str, seed: int, folder: str) -> Iterator[str]:
    """The published totals, scaled to the number of users where it is smaller."""
    engine, found = database(folder), dict.fromkeys(AOL, 0)
    tenth = 100 + 37 * 65_742
    engine.execute("CREATE TABLE queries (q UBIGINT)")
    engine.execute('CREATE TABLE clicks ("user" BIGINT, q UBIGINT, u UBIGINT)')
    for batch in generate(users, seed, preset, vocabulary=SYLLABIC):
        places = Searches(batch)
        found["rows"] += batch.num_rows
        found["click rows"] += batch.num_rows - batch["url"].null_count
        found["new query instances"] += int(places.search.sum())
        found["page events"] += int(places.event.sum())
        engine.register("batch", pa.Table.from_batches([batch]))
        engine.execute("INSERT INTO queries SELECT DISTINCT hash(query) FROM batch")
        engine.execute(
            f"""INSERT INTO clicks SELECT "user"::BIGINT, hash(query), hash(url) FROM batch
                WHERE url IS NOT NULL AND "user"::BIGINT < {tenth}"""
        )
    found["distinct queries"] = scalar(engine, "SELECT count(DISTINCT q) FROM queries")
    scale = min(1.0, users / 657_426)
    yield "| | published | generated | difference |\n|---|---|---|---|"
    for name, published in AOL.items():
        yield f"| {name} | {published * scale:,.0f} | {found[name]:,} | {difference(published * scale, found[name])} |"
    yield "\n| clicks of 65,742 users | published | generated | difference |\n|---|---|---|---|"
    for (name, published), what in zip(
        TENTH.items(), ('DISTINCT "user"', "*", "DISTINCT q", "DISTINCT u", "DISTINCT (q, u)"), strict=True
    ):
        count = scalar(engine, f"SELECT count({what}) FROM clicks")
        yield f"| {name} | {published:,} | {count:,} | {difference(published, count)} |"


# ------------------------------------------------------------------ ZEALOUS

ITEMS = {
    "keywords": "SELECT \"user\", hash(unnest(string_split(query, ' '))) FROM searches",
    "queries": 'SELECT "user", hash(query) FROM searches',
    "clicks": 'SELECT "user", hash(query || chr(9) || url) FROM batch WHERE url IS NOT NULL',
    "pairs": 'SELECT "user", hash(query || chr(9) || following) FROM searches WHERE following IS NOT NULL',
}


def thresholds(m: int) -> tuple[float, int, float]:
    """λ, τ and τ' by Proposition 4 and Theorem 2."""
    scale = 2 * m / EPSILON
    first = math.ceil(scale)
    gap = max(-scale * math.log(2 - 2 * math.exp(-1 / scale)), -scale * math.log(2 * DELTA * first / (USERS * m)))
    return scale, first, first + gap


def zealous(users: int, preset: str, seed: int, folder: str) -> Iterator[str]:
    """Released items, and the sum of their noisy counts."""
    engine, instances = database(folder), dict.fromkeys(ITEMS, 0)
    for name in ITEMS:
        engine.execute(f'CREATE TABLE {name} ("user" BIGINT, item UBIGINT)')
    for batch in generate(users, seed, preset, vocabulary=SYLLABIC):
        places = Searches(batch)
        first = np.flatnonzero(places.search)
        query = batch["query"].take(pa.array(first))
        following = pc.if_else(
            pa.array(np.append(~places.session[first][1:], False)),
            pa.concat_arrays([query.slice(1), pa.nulls(1, pa.string())]),
            None,
        )
        user = batch["user"].take(pa.array(first))
        engine.register("searches", pa.table({"user": user, "query": query, "following": following}))
        engine.register("batch", pa.Table.from_batches([batch]))
        for name, items in ITEMS.items():
            instances[name] += scalar(engine, f"SELECT count(*) FROM ({items})")
            engine.execute(f"INSERT INTO {name} SELECT DISTINCT * FROM ({items})")
    noise = np.random.default_rng(seed)
    for name in ITEMS:
        engine.execute(
            f"""CREATE TABLE {name}_chosen AS SELECT item, place FROM
                (SELECT item, row_number() OVER (PARTITION BY "user" ORDER BY hash("user", item)) AS place FROM {name})
                WHERE place <= {max(M)}"""
        )
    yield "| released, published / generated | " + " | ".join(f"m = {m}" for m in M) + " |\n|---|" + "---|" * len(M)
    sums = []
    for name in ITEMS:
        cells, second = [], []
        for place, m in enumerate(M):
            scale, low, high = thresholds(m)
            rows = engine.execute(
                f"SELECT count(*) FROM {name}_chosen WHERE place <= {m} GROUP BY item HAVING count(*) >= {low}"
            )
            counts = rows.fetchnumpy()["count_star()"] + 0.0
            counts = counts + noise.laplace(0, scale, len(counts))
            kept = counts[counts > high]
            published, total = DISTINCT[name][place], TOTAL[name][place]
            cells.append(f"{published} / {len(kept)} ({difference(published, len(kept))})")
            second.append(f"{total} / {kept.sum() / 1000:.0f} ({difference(total, kept.sum() / 1000)})")
        yield f"| {name} | " + " | ".join(cells) + " |"
        sums.append(f"| {name} | " + " | ".join(second) + " |")
    yield "\n| total count, thousands | " + " | ".join(f"m = {m}" for m in M) + " |\n|---|" + "---|" * len(M)
    yield from sums
    yield "\n| | instances a user | distinct, millions |\n|---|---|---|"
    for name in ITEMS:
        mean, distinct = instances[name] / users, scalar(engine, f"SELECT count(DISTINCT item) FROM {name}")
        yield f"| {name} | {PER_USER[name]} / {mean:.1f} | {EVERYONE[name] / 1e6:.1f} / {distinct / 1e6:.2f} |"


# ------------------------------------------------------------------ the rest


def fears(users: int, preset: str, seed: int, folder: str) -> Iterator[str]:
    """How many users ask each completion."""
    asked: dict[str, set[str]] = {}
    for batch in generate(users, seed, preset, vocabulary=SYLLABIC):
        for row in batch.filter(pc.starts_with(batch["query"], "fear of ")).select(["user", "query"]).to_pylist():
            asked.setdefault(row["query"], set()).add(row["user"])
    yield "| query | users |\n|---|---|"
    for query, who in sorted(asked.items(), key=lambda item: -len(item[1]))[:20]:
        yield f"| {query} | {len(who)} |"


def speed(users: int, preset: str, seed: int, folder: str) -> Iterator[str]:
    """Rows per second into each kind of file, then with the truth tables; memory is the peak so far."""
    yield "| | rows | wall s | CPU s | rows / CPU s | peak MB |\n|---|---|---|---|---|---|"
    for name in ("log.parquet", "log.tsv", "log.tsv.gz", "with truth.parquet"):
        out = Path(folder, name)
        wall, cpu = time.perf_counter(), time.process_time()
        truth = Path(folder, "truth") if "truth" in name else None
        made = synthesise(users, out, preset=preset, seed=seed, truth=truth, vocabulary=SYLLABIC)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        yield f"| {name} | {made.rows:,} | {wall:.1f} | {cpu:.1f} | {made.rows / cpu:,.0f} | {peak:.0f} |"
        out.unlink()


WORK: dict[str, tuple[Callable[[int, str, int, str], Iterator[str]], str, int]] = {
    "speed": (speed, "aol", 183_000),
    "totals": (totals, "aol", 657_426),
    "zealous": (zealous, "gotz", USERS),
    "fears": (fears, "aol", 200_000),
}


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=WORK)
    parser.add_argument("--users", type=int)
    parser.add_argument("--preset", choices=PRESETS)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    work, preset, users = WORK[given.what]
    with tempfile.TemporaryDirectory() as folder:
        for line in work(given.users or users, given.preset or preset, given.seed, folder):
            print(line, flush=True)
    print(f"\npeak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
