"""What sessions cost beside the floor: DuckDB's bare GROUP BY on the same Parquet.

    hubbub synth --vocabulary made-up --users 30000 --out log.parquet
    python bench/sessions.py log.parquet [--l_q 3] [--memory 4GB]

Ours is everything from the cleaned log to the written tables of sessions (and clicks with --clicks). Each run is a
process of its own, so that its peak memory is its own; the best of the repeats counts, and the runs alternate.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb
import pyarrow.parquet as pq


def floor(parquet: Path, work: Path, memory: str) -> int:
    """What nobody can go below: GROUP BY user, query."""
    connection = duckdb.connect(config={"memory_limit": memory, "temp_directory": str(work)})
    connection.execute(
        f'CREATE TABLE floor AS SELECT "user", query, count(*) AS n FROM \'{parquet}\' GROUP BY "user", query'
    )
    return int(connection.execute("SELECT count(*) FROM floor").fetchall()[0][0])


def released(parquet: Path, work: Path, memory: str, l_q: int, l_s: int, clicks: bool) -> int:
    """The mechanism from the cleaned log to the written tables."""
    from hubbub.engines.duckdb import DuckDB
    from hubbub.log import SearchLog
    from hubbub.mechanisms import build
    from hubbub.noise import SecureNoise
    from hubbub.release.rows import named_rows, sort_rows
    from hubbub.steps.mode import run_mode

    settings = {"b": 1, "K": 20, "l_q": l_q, "l_s": l_s}
    mechanism = build("sessions", settings, tables=["sessions", *(["clicks"] if clicks else [])])
    found = 0
    with SearchLog.over(parquet, DuckDB(work, memory=memory), work) as log:
        noise = SecureNoise()
        counts = mechanism.measure(log, run_mode(log.engine, noise, noise.secret("bounding")))
        tables = mechanism.draw(counts, noise)
        for table in mechanism.tables:
            out = sort_rows(named_rows(log, mechanism, table, counts, tables))
            pq.write_table(out, work / f"{table}.parquet", compression="zstd")
            found += out.num_rows
    return found


def one(name: str, options: argparse.Namespace) -> None:
    """One run in this process: its seconds and peak as a line of JSON."""
    with tempfile.TemporaryDirectory() as folder:
        work, start = Path(folder), time.perf_counter()
        if name == "floor":
            rows = floor(options.log, work, options.memory)
        else:
            import hubbub.mechanisms  # noqa: F401  (imports are not counted)

            start = time.perf_counter()
            rows = released(options.log, work, options.memory, options.l_q, options.l_s, options.clicks)
        seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(json.dumps({"seconds": seconds, "rows": rows, "peak": peak}))


def main() -> None:
    """Both in turn, best of the repeats."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("log", type=Path)
    parser.add_argument("--l_q", type=int, default=3)
    parser.add_argument("--l_s", type=int, default=1)
    parser.add_argument("--clicks", action="store_true")
    parser.add_argument("--memory", default="4GB")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", choices=["floor", "sessions"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only:
        one(options.only, options)
        return
    best: dict[str, dict[str, float]] = {}
    for _ in range(options.repeats):
        for name in ("floor", "sessions"):
            ran = subprocess.run(
                [sys.executable, *sys.argv, "--only", name], capture_output=True, check=True, text=True
            )
            seen = json.loads(ran.stdout)
            best[name] = min(best.get(name, seen), seen, key=lambda run: run["seconds"])
    rows, limits = pq.read_metadata(options.log).num_rows, f"l_q = {options.l_q}, l_s = {options.l_s}"
    print(f"\n{rows:,} rows, {limits}, memory limit {options.memory}, best of {options.repeats}\n")
    print("| run | s | rows | peak GB | × floor |\n|---|---|---|---|---|")
    for name, run in best.items():
        ratio = run["seconds"] / best["floor"]["seconds"]
        print(f"| {name} | {run['seconds']:.2f} | {run['rows']:,} | {run['peak']:.2f} | {ratio:.1f} |")


if __name__ == "__main__":
    main()
