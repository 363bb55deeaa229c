"""All rows, all draws: which cells are missing, processes that compute them, progress, and what an interrupt leaves.

Processes share nothing but the cleaned log on disk and the folder of cells. Interrupted, they end at once; a cell is
there whole or not at all, so only those being computed are lost.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from hubbub.card.audited import source as code
from hubbub.card.schema import sha256_of
from hubbub.errors import InputError
from hubbub.look.compare.basics import NAME
from hubbub.look.compare.cells import Cell
from hubbub.look.compare.choices import Candidate, read_pool
from hubbub.look.compare.draws import Bench, CleanedLog, DrawJob
from hubbub.worth.tasks import tasks as registered
from hubbub.worth.tasks.base import TRUTH

Progress = Callable[[int, int], None]
Cells = dict[int, dict[str, Cell]]
"""By draw, by task."""


@dataclass(frozen=True)
class ComparisonPlan:
    """What is to be computed, of which log."""

    source: CleanedLog
    choices: Sequence[Candidate]
    tasks: Sequence[str]
    draws: int

    def cells(self) -> list[Cells]:
        """Every cell of every row, in the order of the rows; none for a row that cannot run."""
        log = {"log": sha256_of(self.source.parquet), "period": str(self.source.period or ""), "code": code()}
        truth = {name: _truth(self.source.truth, name) for name in self.tasks}
        return [{} if row.reason else self._cells(row, log, truth) for row in self.choices]

    def _cells(self, row: Candidate, log: Mapping[str, str], truth: Mapping[str, dict[str, str]]) -> Cells:
        mechanism = row.build()
        of = dict(log) | {
            "mechanism": row.mechanism,
            "variant": mechanism.variant,
            "given": row.given,
            "settings": {k: str(v) for k, v in mechanism.settings.items()},
            "tables": list(mechanism.tables),
            "pool": "" if row.pool is None else read_pool(row.pool).sha256,
            "seed": self.source.seed,
        }
        return {
            draw: {task: Cell(of | {"draw": draw, "task": task, "truth": truth[task]}) for task in self.tasks}
            for draw in range(self.draws)
        }


def _truth(folder: Path | None, task: str) -> dict[str, str]:
    """Hashes of the tables of the truth that a task looks at."""
    looked = registered()[task].truth if task != NAME else ()
    files = {name: folder / f"{name}.parquet" for name in TRUTH if folder is not None and name in looked}
    return {name: sha256_of(path) for name, path in files.items() if path.is_file()}


def run(plan: ComparisonPlan, folder: Path, jobs: int, progress: Progress = lambda *_: None) -> list[Candidate]:
    """Compute what is missing; gives the rows again, with the reasons that only the log could tell."""
    cells = plan.cells()
    missing = [_missing(of_row, folder) for of_row in cells]
    total = sum(len(tasks) for of_row in cells for tasks in of_row.values())
    units = list(_units(plan.choices, missing, jobs))
    wanted = [folder / cell.name for of_row in missing for tasks in of_row.values() for cell in tasks.values()]

    def tell() -> None:
        progress(total - sum(not path.exists() for path in wanted), total)

    tell()
    reasons = _here(plan, units, folder, tell) if jobs == 1 else _there(plan, units, folder, jobs, tell)
    return [replace(row, reason=row.reason or reasons.get(row.label, "")) for row in plan.choices]


def _missing(of_row: Cells, folder: Path) -> Cells:
    found = {d: {t: c for t, c in tasks.items() if c.read(folder) is None} for d, tasks in of_row.items()}
    return {draw: tasks for draw, tasks in found.items() if tasks}


def _units(choices: Sequence[Candidate], missing: Sequence[Cells], jobs: int) -> Iterator[DrawJob]:
    """Rows with many tables first, as they take longest; where rows are few, several processes share one's draws."""
    waiting = [(row, cells) for row, cells in zip(choices, missing, strict=True) if cells]
    waiting.sort(key=lambda one: -len(one[0].build().tables))
    parts = 1 if len(waiting) >= 2 * jobs else jobs
    for row, cells in waiting:
        size = -(-len(cells) // parts)
        items = iter(cells.items())
        while some := dict(islice(items, size)):
            yield DrawJob(row, some)


def _here(plan: ComparisonPlan, units: Sequence[DrawJob], folder: Path, tell: Callable[[], None]) -> dict[str, str]:
    """Compute the rows one after the other, in this process."""
    reasons = {}
    with ExitStack() as stack:
        bench = stack.enter_context(Bench.open(plan.source)) if units else None
        for unit in units:
            assert bench is not None
            reasons[unit.choice.label] = bench.run(unit, folder)
            tell()
    return reasons


# ------------------------------------------------------------------ in processes of their own

_bench: Bench | None = None
_open = ExitStack()


def _begin(source: CleanedLog) -> None:
    """What a process does first. An interrupt is the parent's to handle, which then ends this process."""
    global _bench
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _bench = _open.enter_context(Bench.open(source))


def _work(unit: DrawJob, folder: Path) -> str:
    assert _bench is not None
    return _bench.run(unit, folder)


def _there(
    plan: ComparisonPlan, units: Sequence[DrawJob], folder: Path, jobs: int, tell: Callable[[], None]
) -> dict[str, str]:
    """In several. Started afresh, never forked: an engine's threads do not survive that."""
    if not units:
        return {}
    before = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(
        min(jobs, len(units)), multiprocessing.get_context("spawn"), initializer=_begin, initargs=(plan.source,)
    )
    try:
        waiting: dict[Future[str], DrawJob] = {pool.submit(_work, unit, folder): unit for unit in units}
        reasons = {}
        while waiting:
            done, _ = wait(waiting, timeout=0.5, return_when=FIRST_COMPLETED)
            for future in done:
                reasons[waiting.pop(future).choice.label] = future.result()
            tell()
        pool.shutdown()
        return reasons
    except BrokenProcessPool:
        raise InputError(
            "A process of the comparison was ended from outside, most likely for want of memory.",
            given=f"--jobs {jobs}",
            next="run the same command again with fewer --jobs: what is finished is kept",
        ) from None
    finally:
        for child in set(multiprocessing.active_children()) - before:
            child.terminate()
        pool.shutdown(cancel_futures=True)  # waits for its thread, which would else be caught out by the exit


def threads_for(jobs: int) -> int:
    """Threads of each engine: the machine's cores, shared."""
    return max(1, (os.cpu_count() or 1) // jobs)


def scores_of(cells: Cells, folder: Path) -> dict[str, list[dict[str, Any]]]:
    """What every task said, draw by draw."""
    found: dict[str, list[dict[str, Any]]] = {}
    for tasks in cells.values():
        for task, cell in tasks.items():
            scores = cell.read(folder)
            if scores is not None:
                found.setdefault(task, []).append(scores)
    return found
