"""The whole command `hubbub release LOG.parquet` beside DuckDB's GROUP BY user, query on the same file.

    python bench/command.py [--rows 1000000 --rows 11000000] [--tables queries] [--repeats 3] [--data FOLDER]

CPU seconds of whole processes, start and imports included on both sides, and their peak memory. The two alternate and
the best of each counts. The log is `hubbub synth`, in SearchLog's columns. Python may keep its compiled modules, as it
does for anybody, so that the first run compiles them and the others do not.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
FLOOR = """
import sys, duckdb
connection = duckdb.connect(config={"memory_limit": "2GB", "temp_directory": sys.argv[2]})
connection.execute(f'''CREATE TABLE floor AS SELECT "user", query, count(*) AS n FROM '{sys.argv[1]}'
    GROUP BY "user", query''')
"""


def cost(command: list[str]) -> tuple[float, float]:
    """CPU seconds and peak resident MB of one process."""
    usual = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=usual)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"a run ended with {child.returncode}")
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / unit


def release(log: Path, folder: str, tables: str) -> list[str]:
    """The command, with a ledger of its own."""
    words = ["release", str(log), "--mechanism", "crowd", "--epsilon", "1", "--delta", "1e-6", "--tables", tables]
    words += ["--out", f"{folder}/out", "--ledger", f"{folder}/ledger.sqlite", "--quiet"]
    return [sys.executable, "-m", "hubbub", *words]


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, action="append", help="rows of the log; several times for several sizes")
    parser.add_argument("--tables", default="queries")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--data", type=Path, default=HERE / "data")
    given = parser.parse_args()
    given.data.mkdir(parents=True, exist_ok=True)
    print("| rows | GROUP BY, CPU s | the command, CPU s | ratio | peak MB |\n|--:|--:|--:|--:|--:|")
    for rows in given.rows or [1_000_000, 11_000_000]:
        log = given.data / f"log-{rows}.parquet"
        if not log.exists():
            words = [
                "synth",
                "--vocabulary",
                "made-up",
                "--users",
                str(round(rows / 54.7)),
                "--out",
                str(log),
                "--quiet",
            ]
            subprocess.run([sys.executable, "-m", "hubbub", *words], check=True)
        floors, ours = [], []
        for _ in range(given.repeats):
            with tempfile.TemporaryDirectory() as folder:
                floors.append(cost([sys.executable, "-c", FLOOR, str(log), folder]))
                ours.append(cost(release(log, folder, given.tables)))
        floor, mine = min(floors)[0], min(ours)
        print(f"| {rows:,} | {floor:.2f} | {mine[0]:.2f} | {mine[0] / floor:.2f} | {mine[1]:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
