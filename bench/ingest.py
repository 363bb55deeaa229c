"""Ingest of a text log beside DuckDB's own reader of the same file, into memory and into Parquet.

    python bench/ingest.py [--rows 10000000] [--form tsv|csv|jsonl] [--keep FILE]

Each run is a process of its own, imports included, and Python may keep its compiled modules; they alternate and the
best of three counts. DuckDB only types the columns. Ingest also cleans every record, tests it, sets the bad ones
aside, and writes Parquet. The budget is a ratio of 2 to reading into memory.
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
COLUMNS = "{'user': 'VARCHAR', 'query': 'VARCHAR', 'time': 'TIMESTAMP', 'rank': 'INTEGER', 'url': 'VARCHAR'}"
READERS = {
    "tsv": f"read_csv('LOG', delim = '\\t', header = true, quote = '', columns = {COLUMNS})",
    "csv": f"read_csv('LOG', header = true, columns = {COLUMNS})",
    "jsonl": f"read_json('LOG', format = 'newline_delimited', columns = {COLUMNS})",
}
START = """
import sys, duckdb
duckdb.sql("SET threads = 2; SET enable_progress_bar = false")
reader = sys.argv[3].replace("LOG", sys.argv[1])
"""
MEMORY = START + 'duckdb.sql(f"CREATE TABLE log AS FROM {reader}")'
PARQUET = START + """duckdb.sql(f"COPY (FROM {reader}) TO '{sys.argv[2]}/log.parquet'")"""
CONVERT = (
    START
    + """
form = "json" if sys.argv[2].endswith(".jsonl") else "csv, header"
duckdb.sql(f"COPY (FROM {reader}) TO '{sys.argv[2]}' (FORMAT {form})")
"""
)
HUBBUB = """
import sys, pathlib
from hubbub.ingest import ingest
roles = None if sys.argv[1].endswith(".tsv") else {name: name for name in ("user", "query", "time", "rank", "url")}
ingest(sys.argv[1], pathlib.Path(sys.argv[2]), format="table" if roles else "aol", columns=roles, threads=2)
"""


def run(code: str, log: Path, reader: str) -> tuple[float, float, float]:
    """Wall seconds, CPU seconds and peak resident MB of one process."""
    with tempfile.TemporaryDirectory(dir=log.parent) as into:
        start = time.perf_counter()
        usual = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        child = subprocess.Popen([sys.executable, "-c", code, str(log), into, reader], env=usual)
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
    parser.add_argument("--form", choices=READERS, default="tsv")
    parser.add_argument("--keep", type=Path, help="use this log, or make it here and keep it")
    given = parser.parse_args()
    reader = READERS[given.form]
    with tempfile.TemporaryDirectory() as folder:
        log = given.keep or Path(folder) / f"log.{given.form}"
        if not log.exists():
            text = log.with_suffix(".tsv")
            # In a process of its own: a child's peak memory is never less than its parent's at the fork.
            subprocess.run([sys.executable, GENERATE, "--rows", str(given.rows), "--out", text], check=True)
            if text != log:
                subprocess.run([sys.executable, "-c", CONVERT, text, log, READERS["tsv"]], check=True)
        runs = [tuple(run(code, log, reader) for code in (MEMORY, PARQUET, HUBBUB)) for _ in range(given.repeats)]
        size = log.stat().st_size
    memory, parquet, ours = (min(measured) for measured in zip(*runs, strict=True))
    print(f"{given.rows:,} rows, {size / 1e6:,.0f} MB, best of {given.repeats}\n")
    print("| reader | wall s | CPU s | peak MB |\n|---|---:|---:|---:|")
    found = {"DuckDB → memory": memory, "DuckDB → Parquet": parquet, "hubbub ingest → Parquet": ours}
    for name, (wall, cpu, peak) in found.items():
        print(f"| {name} | {wall:.2f} | {cpu:.2f} | {peak:,.0f} |")
    for name, other in (("memory", memory), ("Parquet", parquet)):
        print(f"| × {name} | " + " | ".join(f"{a / b:.2f}" for a, b in zip(ours, other, strict=True)) + " |")


if __name__ == "__main__":
    main()
