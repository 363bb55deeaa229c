"""The promise of `hubbub compare`: every private mechanism, two tasks, five draws, one page, under 15 minutes. By hand.

    python bench/compare.py [--users 50000] [--draws 5] [--jobs 2] [--epsilon 1] [--delta 1e-6] [--data FOLDER]

The log is made by `hubbub synth`, the pool that safelog needs by `hubbub pool build` from n-grams of the web; making
them is not counted. Then one command runs, as a user would type it. Prints its table, seconds, CPU seconds (on a busy
machine the ones to compare) and the peak memory of its largest process. A comparison that is there already is removed,
or nothing would be computed.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

from hubbub.public.pool import build as build_pool
from hubbub.synth import SYLLABIC
from hubbub.synth.run import synthesise

POOL = 100_000


def main() -> None:
    """Make what is needed, run the command, tell what it took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, default=50_000)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--delta", default="1e-6")
    parser.add_argument("--data", type=Path, default=Path("bench/data"))
    options = parser.parse_args()
    options.data.mkdir(parents=True, exist_ok=True)
    log, pool, out = (options.data / name for name in (f"compare-{options.users}.parquet", "pool.parquet", "compared"))
    if not log.exists():
        synthesise(options.users, log, vocabulary=SYLLABIC)
    if not pool.exists():
        build_pool(pool, size=POOL)
    shutil.rmtree(out, ignore_errors=True)
    command = [sys.executable, "-m", "hubbub", "compare", str(log), "--out", str(out), "--pool", str(pool)]
    command += ["--epsilon", options.epsilon, "--delta", options.delta, "--task", "counts", "--task", "suggestion"]
    command += ["--draws", str(options.draws), "--jobs", str(options.jobs)]
    command += ["--ledger", str(options.data / "ledger.sqlite")]
    before, started = sum(os.times()[2:4]), time.perf_counter()
    subprocess.run(command, check=True)
    seconds, cpu = time.perf_counter() - started, sum(os.times()[2:4]) - before
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6
    took = f"{seconds:.0f} s, {cpu:.0f} CPU s, largest process {peak:.1f} GB"
    print(f"{options.users:,} users, {options.draws} draws: {took}")


if __name__ == "__main__":
    main()
