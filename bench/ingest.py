"""Ingest of an AOL-shaped log beside DuckDB's `read_csv` → Parquet of the same file.

    python bench/ingest.py [--rows 10000000] [--keep FILE.tsv]

Each run is a process of its own, imports included; the two alternate and the best of three counts. DuckDB only types
the columns. Ingest also cleans every record, tests it, and sets the bad ones aside. The budget is a ratio of 3.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GENERATE = Path(__file__).with_name("generate.py")
DUCKDB = """
import sys, duckdb
duckdb.sql("SET threads = 2; SET enable_progress_bar = false")
duckdb.sql(f'''COPY (FROM read_csv('{sys.argv[1]}', delim = '\\t', header = true, quote = '', columns = {{
    'user': 'VARCHAR', 'query': 'VARCHAR', 'time': 'TIMESTAMP', 'rank': 'INTEGER', 'url': 'VARCHAR'}}))
    TO '{sys.argv[2]}/log.parquet' ''')
"""
HUBBUB = """
import sys, pathlib
from hubbub.ingest import ingest
ingest(sys.argv[1], pathlib.Path(sys.argv[2]), format='aol', threads=2)
"""


def run(code: str, log: Path) -> tuple[float, float, float]:
    """Wall seconds, CPU seconds and peak resident MB of one process."""
    with tempfile.TemporaryDirectory(dir=log.parent) as into:
        start = time.perf_counter()
        child = subprocess.Popen([sys.executable, "-c", code, str(log), into])
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"a run ended with {child.returncode}")
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / unit


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--keep", type=Path, help="use this log, or make it here and keep it")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        log = given.keep or Path(folder) / "log.tsv"
        if not log.exists():
            # In a process of its own: a child's peak memory is never less than its parent's at the fork.
            subprocess.run([sys.executable, GENERATE, "--rows", str(given.rows), "--out", log], check=True)
        runs = [(run(DUCKDB, log), run(HUBBUB, log)) for _ in range(given.repeats)]
        size = log.stat().st_size
    duck, ours = (min(measured) for measured in zip(*runs, strict=True))
    print(f"{given.rows:,} rows, {size / 1e6:,.0f} MB, best of {given.repeats}\n")
    print("| reader | wall s | CPU s | peak MB |\n|---|---:|---:|---:|")
    for name, (wall, cpu, peak) in (("DuckDB read_csv → Parquet", duck), ("hubbub ingest → Parquet", ours)):
        print(f"| {name} | {wall:.2f} | {cpu:.2f} | {peak:,.0f} |")
    print(f"| ratio | {ours[0] / duck[0]:.2f} | {ours[1] / duck[1]:.2f} | {ours[2] / duck[2]:.2f} |")


if __name__ == "__main__":
    main()
