"""What each utility task costs, and how that grows with the log. Run by hand, on Linux.

    python bench/tasks.py [--users 20000 --users 200000] [--held 5] [--task T]… [--memory 2GB] [--data FOLDER]

The log is made by `hubbub synth` with its truth. The release holds every key of five users or more with its exact
number of users, in all five tables: larger than any private one, so that every task has something to do. The tables of
the original are counted first, once, as `hubbub evaluate` does; then each task runs on them. Prints a Markdown table:
seconds, CPU seconds (on a busy machine the ones to compare), the peak memory of the process while the task ran (tables
included), and by how much the CPU seconds grow.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.compute as pc

from hubbub.log import read_log
from hubbub.synth import SYLLABIC
from hubbub.synth.run import synthesise
from hubbub.worth.evidence import TABLES
from hubbub.worth.tasks import Evidence, Truth, build, tasks
from hubbub.worth.tasks.base import need
from hubbub.worth.tasks.run import NOT_EVALUABLE, score

Rows = dict[str, tuple[float, float, float, str]]
"""Seconds, CPU seconds, GB, and words."""


class Peak:
    """The peak memory of this process since it was last forgotten, in GB."""

    def forget(self) -> None:
        """Start again from what is in use now."""
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")

    def read(self) -> float:
        """The highest since then."""
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1e6


def measure(users: int, names: list[str], held: int, memory: str, data: Path) -> Rows:
    """Read the log, count its tables, run each task."""
    path, truth = data / f"tasks-{users}.parquet", data / f"tasks-{users}-truth"
    if not path.exists():
        data.mkdir(parents=True, exist_ok=True)
        synthesise(users, path, truth=truth, vocabulary=SYLLABIC)
    rows: Rows = {}
    peak, begun = Peak(), now()

    def row(name: str, started: tuple[float, float], words: str = "") -> None:
        wall, cpu = (after - before for after, before in zip(now(), started, strict=True))
        rows[name] = (wall, cpu, peak.read(), words)
        print(f"{users:,}: {name} {wall:.1f} s, {cpu:.1f} CPU s, {peak.read():.2f} GB {words}", file=sys.stderr)
        peak.forget()

    with read_log(path, memory=memory) as log:
        row("reading", begun)
        started = now()
        original = Evidence.of_log(log)
        whole = {name: need(original, name, "original") for name in TABLES}
        release = Evidence.of_tables({name: table.filter(pc.field("n") >= held) for name, table in whole.items()})
        row("counting the tables", started, ", ".join(f"{table.num_rows:,} {name}" for name, table in whole.items()))
        for name in names:
            started = now()
            found = score(build(name), original, release, Truth(truth))[0]
            row(name, started, str(found.get(NOT_EVALUABLE, "")))
    most = max(gigabytes for _, _, gigabytes, _ in rows.values())
    row("together", begun)
    rows["together"] = (*rows["together"][:2], most, "")
    return rows


def now() -> tuple[float, float]:
    """The clock on the wall, and the CPU seconds of this process and its children."""
    return time.perf_counter(), sum(os.times()[:4])


def main() -> None:
    """Each size in a process of its own; then the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, action="append")
    parser.add_argument("--held", type=int, default=5)
    parser.add_argument("--task", action="append", choices=list(tasks()))
    parser.add_argument("--memory", default="2GB")
    parser.add_argument("--data", type=Path, default=Path("bench/data"))
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    names, sizes = options.task or list(tasks()), options.users or [20_000, 200_000]
    if options.one:
        print(json.dumps(measure(sizes[0], names, options.held, options.memory, options.data)))
        return
    found: list[Rows] = []
    for users in sizes:
        command = [sys.executable, __file__, "--one", "--users", str(users), "--held", str(options.held)]
        command += ["--memory", options.memory, "--data", str(options.data)]
        command += [part for name in names for part in ("--task", name)]
        found.append(json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout))
    print("| |" + "".join(f" {users:,} users: s | CPU s | GB |" for users in sizes) + " growth |")
    print("|---|" + "--:|--:|--:|" * len(sizes) + "--:|")
    for name in found[0]:
        cells = "".join(f" {rows[name][0]:.1f} | {rows[name][1]:.1f} | {rows[name][2]:.2f} |" for rows in found)
        growth = found[-1][name][1] / max(found[0][name][1], 1e-3)
        print(f"| {name} |{cells} × {growth:.1f} |")


if __name__ == "__main__":
    main()
