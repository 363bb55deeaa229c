"""Peak memory of reading a log of two sizes: flat, if the log may be larger than memory.

    python bench/memory.py [--rows 1000000 10000000] [--shapes csv jsonl postgresql]

Each log is read and cleaned in a process of its own, imports included, whose largest resident size is told. The server
of PostgreSQL (`make databases`) is not counted; the copy of its rows, which is a file, is read in the same process.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
FILES = {"csv": "(FORMAT csv)", "jsonl": "(FORMAT json)"}
ROWS = """SELECT 'user ' || n % {users} AS who, 'query number ' || (n * 7919) % 400000 AS what,
    {time} AS seen, n % 10 AS rank, 'http://www.example.org/' || n % 9999 AS url FROM {numbers}"""
READ = """
import pathlib, sys
from hubbub.log import read_log
source, work = sys.argv[1:]
table = "searches" if "://" in source else None
columns = {"user": "who", "query": "what", "time": "seen", "rank": "rank", "url": "url"}
read_log(source, format="table", columns=columns, table=table, threads=2, work=pathlib.Path(work)).close()
"""


@contextmanager
def made(shape: str, rows: int, folder: Path) -> Iterator[str]:
    """A log of so many rows."""
    words = {"users": rows // 50}
    if shape == "postgresql":
        from tests import servers

        driver = import_module("adbc_driver_postgresql.dbapi")
        numbers = f"generate_series(1::bigint, {rows}) AS n"
        time = "timestamp '2006-03-01' + (n % 7000000) * interval '1 second'"
        with servers.postgresql() as address:
            with driver.connect(address, autocommit=True) as connection, connection.cursor() as cursor:
                cursor.execute(f"CREATE TABLE searches AS {ROWS.format(**words, time=time, numbers=numbers)}")
            yield address
        return
    file = folder / f"log.{shape}"
    select = ROWS.format(**words, time="1141171200 + n % 7000000", numbers=f"range(1, {rows} + 1) AS r(n)")
    quiet = "import duckdb; duckdb.sql('SET enable_progress_bar = false')"
    code = f"{quiet}; duckdb.sql('''COPY ({select}) TO '{file}' {FILES[shape]}''')"
    subprocess.run([sys.executable, "-c", code], check=True)
    yield str(file)
    file.unlink()


def peak(source: str, work: Path) -> float:
    """The largest resident size of a process that reads a log, in MB."""
    child = subprocess.Popen([sys.executable, "-c", READ, source, str(work)], env={**os.environ, "COLUMNS": "80"})
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"a run ended with {child.returncode}")
    return usage.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--shapes", nargs="+", default=["csv", "jsonl", "postgresql"])
    given = parser.parse_args()
    print("| log | " + " | ".join(f"{rows:,} rows, MB" for rows in given.rows) + " |")
    print("|---|" + "--:|" * len(given.rows))
    for shape in given.shapes:
        found = []
        for rows in given.rows:
            with tempfile.TemporaryDirectory() as folder, made(shape, rows, Path(folder)) as source:
                found.append(f"{peak(source, Path(folder)):,.0f}")
        print(f"| {shape} | {' | '.join(found)} |", flush=True)


if __name__ == "__main__":
    main()
