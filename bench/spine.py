"""The spine's cost beside the floor: DuckDB's bare GROUP BY on the same Parquet, in one process.

    python bench/spine.py --rows 10000000 [--memory 2GB] [--repeats 3] [--data FOLDER]

Ours is bounding, histogram, noise and writing of `queries` (korolova strict, d = 20), process start not
counted. Prints a Markdown table: wall, CPU, peak memory, ratio. The runs alternate; the best of each counts.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pyarrow.parquet as pq

from hubbub.engines.duckdb import DuckDB
from hubbub.ingest import Ingested
from hubbub.log import SearchLog
from hubbub.mechanisms import build
from hubbub.noise import SecureNoise
from hubbub.release import named_rows, sort_rows


def floor(parquet: Path, work: Path, memory: str) -> int:
    """What nobody can go below: GROUP BY user, query."""
    connection = duckdb.connect(config={"memory_limit": memory, "temp_directory": str(work)})
    connection.execute(
        f'CREATE TABLE floor AS SELECT "user", query, count(*) AS n FROM \'{parquet}\' GROUP BY "user", query'
    )
    rows = connection.execute("SELECT count(*) FROM floor").fetchall()[0][0]
    connection.close()
    return int(rows)


def ours(parquet: Path, work: Path, memory: str) -> int:
    """Bound, count, noise, write."""
    mechanism = build("korolova", {"epsilon": 1, "delta": "1e-6", "d": 20})
    rows = pq.read_metadata(parquet).num_rows
    ingested = Ingested(parquet, parquet, rows, rows, 0, {}, "table", {"user": "user"})
    with SearchLog(DuckDB(work, memory=memory), ingested, work) as log:
        noise = SecureNoise()
        log.repeatable = False
        counts = mechanism.measure(log, noise.secret("bounding"))
        tables = mechanism.perturb(counts, noise)
        released = sort_rows(named_rows(log, mechanism, "queries", counts["queries"], tables))
        pq.write_table(released, work / "queries.parquet", compression="zstd")
    return released.num_rows


def timed(run: Callable[[Path, Path, str], int], parquet: Path, memory: str) -> tuple[float, float, int]:
    """Wall seconds, CPU seconds, rows."""
    with tempfile.TemporaryDirectory() as work:
        start, cpu = time.perf_counter(), sum(os.times()[:2])
        rows = run(parquet, Path(work), memory)
        return time.perf_counter() - start, sum(os.times()[:2]) - cpu, rows


def main() -> None:
    """Generate if needed, run both in turn, print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--memory", default="4GB")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--data", type=Path, default=Path("bench/data"))
    parser.add_argument("--only", choices=["floor", "ours"])
    options = parser.parse_args()
    parquet = options.data / f"log-{options.rows}.parquet"
    if not parquet.exists():
        options.data.mkdir(parents=True, exist_ok=True)
        generate = [sys.executable, str(Path(__file__).with_name("generate.py"))]
        subprocess.run([*generate, "--rows", str(options.rows), "--out", str(parquet)], check=True)
    SecureNoise().laplace("warm", build("korolova", {"epsilon": 1, "delta": "1e-6", "d": 20}).steps()[0].scale, 10)
    runs = {"floor": floor, "ours": ours}
    chosen = {k: v for k, v in runs.items() if options.only in (None, k)}
    best: dict[str, tuple[float, float, int]] = {}
    for _ in range(options.repeats):
        for name, run in chosen.items():
            seen = timed(run, parquet, options.memory)
            best[name] = min(best.get(name, seen), seen)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"\n{options.rows:,} rows, memory limit {options.memory}, best of {options.repeats}; peak {peak:.2f} GB\n")
    print("| run | wall s | CPU s | rows | × floor |\n|---|---|---|---|---|")
    base = best.get("floor", (float(np.nan),))[0]
    labels = {"floor": "GROUP BY user, query", "ours": "hubbub: bound, count, noise, write"}
    for name, (wall, cpu, rows) in best.items():
        print(f"| {labels[name]} | {wall:.2f} | {cpu:.2f} | {rows:,} | {wall / base:.2f} |")


if __name__ == "__main__":
    main()
