"""A release with screening beside the same one without: CPU seconds of whole processes, alternating, best of each.

    python bench/screening.py [--rows 10000000] [--repeats 2] [--deny 1000000] [--mechanism korolova]

The log is that of generate.py, with a number of 1 to 12 digits behind every tenth query, so that the rules have
something to look at, and a deny list of so many texts. korolova is the quickest release, and so the hardest case.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from generate import CHUNK, chunk


def measure(command: list[str]) -> tuple[float, float]:
    """CPU and wall seconds of a process and its threads."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, time.monotonic() - started


def write_log(rows: int, file: Path) -> None:
    """The log as Parquet, chunk by chunk."""
    writer = None
    for number in range(-(-rows // CHUNK)):
        table = chunk(number, min(CHUNK, rows - number * CHUNK), rows, seed=0)
        places = np.arange(table.num_rows, dtype=np.int64) + number * CHUNK
        numbers = pa.array((places * 2_654_435_761) % 10 ** (1 + places % 12)).cast(pa.string())
        query = table.column("query")
        longer = pc.binary_join_element_wise(query, numbers, " ")
        column = pc.if_else(pa.array(places % 10 == 0), longer, query)
        table = table.set_column(table.schema.get_field_index("query"), "query", column)
        writer = writer or pq.ParquetWriter(file, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def main() -> None:
    """Measure both, and print the ratio."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--deny", type=int, default=1_000_000)
    parser.add_argument("--mechanism", default="korolova")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work, log, deny = Path(folder), Path(folder, "log.parquet"), Path(folder, "deny.txt")
        write_log(given.rows, log)
        deny.write_text("\n".join(f"somebody {n}" for n in range(given.deny)), encoding="utf-8")
        command = [sys.executable, "-m", "hubbub", "release", str(log), "--format", "table", "--threads", "2", "-q"]
        command += ["--mechanism", given.mechanism, "--epsilon", "1", "--delta", "1e-6", "--tables", "queries"]
        command += ["--ledger", str(work / "book.sqlite")]
        hows = {
            "without": [],
            "--screen default": ["--screen", "default"],
            "and --deny": ["--screen", "default", "--deny", str(deny)],
        }
        best: dict[str, tuple[float, float]] = {}
        for turn in range(given.repeats):
            for n, (name, how) in enumerate(hows.items()):
                took = measure([*command, *how, "--out", str(work / f"out-{turn}-{n}")])
                best[name] = min(took, best.get(name, took))
        first = best["without"]
        for name, (cpu, wall) in best.items():
            print(f"{name:18} {cpu:7.1f} CPU s  {wall:7.1f} s  ratio {cpu / first[0]:.2f} ({wall / first[1]:.2f})")


if __name__ == "__main__":
    main()
