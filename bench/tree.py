"""What a process and everything it started cost: wall and CPU seconds between READY and DONE, and peak memory (Linux).

The library that is measured does not measure itself: a JVM, a pool of workers and threads all count.
"""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

TICK = os.sysconf("SC_CLK_TCK")
EVERY = 0.05


@dataclass
class Cost:
    """One run. `why` says what went wrong, if something did."""

    wall: float = 0.0
    cpu: float = 0.0
    peak: float = 0.0
    why: str = ""


def family(root: int) -> list[int]:
    """The process and its descendants."""
    found, queue = [], [root]
    while queue:
        pid = queue.pop()
        found.append(pid)
        for task in Path(f"/proc/{pid}/task").glob("*/children"):
            try:
                queue += [int(child) for child in task.read_text().split()]
            except OSError:
                continue
    return found


class Watch:
    """What the processes of a tree have used, the ended ones included, as far as somebody looked in time.

    A parent that waits for its children has their seconds in its own row; Spark's daemon of Python workers does not
    wait. So both are counted, what waiting parents say and what was last seen of every process, and the larger holds.
    """

    def __init__(self, root: int) -> None:
        self.root = root
        self.seen: dict[tuple[int, str], float] = {}
        self.lock = threading.Lock()

    def look(self) -> tuple[float, float]:
        """CPU seconds up to now, and gigabytes of memory that nobody shares twice."""
        with self.lock:
            waited = memory = 0.0
            for pid in family(self.root):
                try:
                    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                    own, ended = (sum(int(fields[i]) for i in pair) / TICK for pair in ((11, 12), (13, 14)))
                    self.seen[pid, fields[19]] = own
                    waited += own + ended
                    memory += int(fields[21]) * os.sysconf("SC_PAGE_SIZE") / 1e9
                except (OSError, IndexError):
                    continue
            return max(waited, sum(self.seen.values())), memory


def measure(command: Sequence[str], limit: float, folder: Path) -> Cost:
    """Run a command that says READY and DONE in a folder; it is stopped, with all it started, after `limit` seconds."""
    cost, marks, ended = Cost(), {}, threading.Event()
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, cwd=folder
    )

    watch = Watch(process.pid)

    def listen() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            if line.strip() in ("READY", "DONE"):
                marks[line.strip()] = (time.perf_counter(), watch.look()[0])
                if line.strip() == "DONE":
                    ended.set()
        ended.set()

    errors: list[str] = []
    threading.Thread(target=listen, daemon=True).start()
    threading.Thread(target=lambda: errors.extend(process.stderr or ()), daemon=True).start()
    started = time.perf_counter()
    while not ended.wait(EVERY):
        cost.peak = max(cost.peak, watch.look()[1])
        if time.perf_counter() - started > limit:
            cost.why = f"did not finish in {limit:.0f} s"
            break
    if "DONE" in marks:
        cost.wall, cost.cpu = (after - before for before, after in zip(marks["READY"], marks["DONE"], strict=True))
    elif not cost.why:
        process.wait()
        cost.why = next((line.strip() for line in reversed(errors) if line.strip()), f"exit {process.returncode}")[:200]
    for pid in reversed(family(process.pid)):
        try:
            os.kill(pid, 9)
        except ProcessLookupError:
            continue
    process.wait()
    return cost
