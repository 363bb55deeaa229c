"""A strict safelog release over a large pool beside one over a small pool, and beside reading the large pool.

    python bench/safelog.py --users 100000 [--large 500000] [--small 5000] [--repeats 3] [--data FOLDER]

Both pools hold queries of the made-up log itself, the most frequent first, so that they meet it as well as pools can:
the worst case for the large one. A run is everything from the cleaned log to the written tables, without reading the
pool; process start is not counted. The runs alternate; the best of each counts.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import duckdb
import pyarrow.parquet as pq

from hubbub.engines.duckdb import DuckDB
from hubbub.log import SearchLog
from hubbub.mechanisms import build
from hubbub.noise import SecureNoise
from hubbub.public.lists import QueryPool, read_pool
from hubbub.release.rows import named_rows, sort_rows
from hubbub.steps.mode import run_mode
from hubbub.synth import SYLLABIC
from hubbub.synth.run import synthesise


def released(parquet: Path, pool: QueryPool, epsilon: int) -> tuple[float, dict[str, int]]:
    """Seconds from the cleaned log to the written tables, and their rows."""
    mechanism = build("safelog", {"epsilon": epsilon}, pool=pool)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        start = time.perf_counter()
        with SearchLog.over(parquet, DuckDB(work), work) as log:
            noise = SecureNoise()
            counts = mechanism.measure(log, run_mode(log.engine, noise, noise.secret("bounding")))
            tables = mechanism.draw(counts, noise)
            for table in mechanism.tables:
                out = sort_rows(named_rows(log, mechanism, table, counts, tables))
                pq.write_table(out, work / f"{table}.parquet", compression="zstd")
        return time.perf_counter() - start, {table: released.ids.size for table, released in tables.items()}


def pool_of(parquet: Path, size: int, out: Path) -> None:
    """The queries of the log that most users ask: made up, so nobody's."""
    duckdb.sql(
        f"COPY (SELECT query FROM (SELECT query, count(DISTINCT \"user\") AS n FROM '{parquet}' GROUP BY query "
        f"ORDER BY n DESC, query LIMIT {size})) TO '{out}'"
    )


def main() -> None:
    """Make up the log and the pools if needed, run both in turn, print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=100_000)
    parser.add_argument("--large", type=int, default=500_000)
    parser.add_argument("--small", type=int, default=5_000)
    parser.add_argument("--epsilon", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--data", type=Path, default=Path("bench/data"))
    options = parser.parse_args()
    options.data.mkdir(parents=True, exist_ok=True)
    parquet = options.data / f"synth-{options.users}.parquet"
    if not parquet.exists():
        synthesise(options.users, parquet, vocabulary=SYLLABIC)
    best: dict[int, tuple[float, dict[str, int]]] = {}
    pools, reading = {}, {}
    for size in (options.small, options.large):
        path = options.data / f"pool-{options.users}-{size}.parquet"
        if not path.exists():
            pool_of(parquet, size, path)
        start = time.perf_counter()
        pools[size] = read_pool(path)
        reading[size] = time.perf_counter() - start
    for _ in range(options.repeats):
        for size, pool in pools.items():
            seen = released(parquet, pool, options.epsilon)
            best[size] = min(best.get(size, seen), seen, key=lambda run: run[0])
    print(f"\n{options.users:,} users, ε = {options.epsilon}, best of {options.repeats}\n")
    print("| queries in the pool | release s | reading the pool s | rows | × small |\n|---|---|---|---|---|")
    base = best[options.small][0]
    for size, (wall, rows) in best.items():
        shown = ", ".join(f"{table} {n:,}" for table, n in rows.items())
        print(f"| {pools[size].size:,} | {wall:.2f} | {reading[size]:.2f} | {shown} | {wall / base:.2f} |")


if __name__ == "__main__":
    main()
