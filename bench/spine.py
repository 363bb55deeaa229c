"""The spine's cost beside the floor: DuckDB's bare GROUP BY on the same Parquet, in one process.

    python bench/spine.py --rows 10000000 [--memory 2GB] [--repeats 3] [--data FOLDER]

Ours is everything from the cleaned log to the written tables: bounding, histogram, noise for korolova (strict,
d = 20); pools, rounds, recount for crowd, its later tables too where named. Process start is not counted. Prints a
Markdown table: wall, CPU, ratio, and the peak memory of the process. The runs alternate; the best of each counts.
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
from fractions import Fraction
from pathlib import Path

import duckdb
import numpy as np

from hubbub.engines.duckdb import DuckDB
from hubbub.log import SearchLog
from hubbub.mechanisms import build
from hubbub.noise import SecureNoise
from hubbub.release.rows import write_tables
from hubbub.steps.mode import run_mode


def floor(parquet: Path, work: Path, memory: str) -> int:
    """What nobody can go below: GROUP BY user, query."""
    connection = duckdb.connect(config={"memory_limit": memory, "temp_directory": str(work)})
    connection.execute(
        f'CREATE TABLE floor AS SELECT "user", query, count(*) AS n FROM \'{parquet}\' GROUP BY "user", query'
    )
    rows = connection.execute("SELECT count(*) FROM floor").fetchall()[0][0]
    connection.close()
    return int(rows)


def released(
    settings: tuple[str, dict[str, object]], tables: tuple[str, ...] = ("queries",)
) -> Callable[[Path, Path, str], int]:
    """A mechanism from the cleaned log to the written tables."""

    def run(parquet: Path, work: Path, memory: str) -> int:
        mechanism = build(*settings, tables=tables)
        with SearchLog.over(parquet, DuckDB(work, memory=memory), work) as log:
            noise = SecureNoise()
            counts = mechanism.measure(log, run_mode(log.engine, noise, noise.secret("bounding")))
            written = write_tables(work, log, mechanism, counts, mechanism.draw(counts, noise))
            rows = sum(written.values())
        return rows

    return run


CROWD: tuple[str, dict[str, object]] = ("crowd", {"epsilon": 1, "delta": "1e-6"})
ALL = ("queries", "clicks", "transitions", "sessions", "keywords")
RUNS: dict[str, tuple[str, Callable[[Path, Path, str], int]]] = {
    "floor": ("GROUP BY user, query", floor),
    "korolova": ("korolova", released(("korolova", {"epsilon": 1, "delta": "1e-6", "d": 20}))),
    "zealous": ("zealous", released(("zealous", {"epsilon": 1, "delta": "1e-6", "m": 5}))),
    "sessions": ("sessions", released(("sessions", {"epsilon": 1, "delta": "1e-6", "l_q": 3}), ("sessions",))),
    "crowd": ("crowd", released(CROWD)),
    "most": ("crowd, queries, clicks, transitions", released(CROWD, ("queries", "clicks", "transitions"))),
    "all": ("crowd, all tables", released(CROWD, ALL)),
}


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
    parser.add_argument("--only", action="append", choices=list(RUNS), help="run just these")
    options = parser.parse_args()
    parquet = options.data / f"log-{options.rows}.parquet"
    if not parquet.exists():
        options.data.mkdir(parents=True, exist_ok=True)
        generate = [sys.executable, str(Path(__file__).with_name("generate.py"))]
        subprocess.run([*generate, "--rows", str(options.rows), "--out", str(parquet)], check=True)
    SecureNoise().laplace("warm", Fraction(20), 10)
    chosen = {name: run for name, (_, run) in RUNS.items() if name in (options.only or RUNS)}
    best: dict[str, tuple[float, float, int]] = {}
    for _ in range(options.repeats):
        for name, run in chosen.items():
            seen = timed(run, parquet, options.memory)
            best[name] = min(best.get(name, seen), seen)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"\n{options.rows:,} rows, memory limit {options.memory}, best of {options.repeats}; peak {peak:.2f} GB\n")
    print("| run | wall s | CPU s | rows | × floor |\n|---|---|---|---|---|")
    base = best.get("floor", (float(np.nan),))[0]
    for name, (wall, cpu, rows) in best.items():
        print(f"| {RUNS[name][0]} | {wall:.2f} | {cpu:.2f} | {rows:,} | {wall / base:.2f} |")


if __name__ == "__main__":
    main()
