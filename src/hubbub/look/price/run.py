"""Samples of users, every mechanism at every ε on each of them, and what the scores come to.

What is finished is kept cell by cell, as in a comparison, so the same command again goes on where it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from hubbub.look.compare.cells import FOLDER
from hubbub.look.compare.draws import CleanedLog
from hubbub.look.compare.run import ComparisonPlan, run, scores_of, threads_for
from hubbub.look.price.request import HEADLINES, PriceRequest
from hubbub.worth.tasks.run import NOT_EVALUABLE

if TYPE_CHECKING:
    from hubbub.log import SearchLog

SIDES = ("original", "release", "floor", "ceiling")


@dataclass(frozen=True)
class Priced:
    """One task of one mechanism at one ε and one number of users: the mean of its draws."""

    task: str
    mechanism: str
    epsilon: str
    users: int
    original: float
    release: float
    floor: float
    ceiling: float

    @property
    def kept(self) -> float | None:
        """The part of what the log adds to public knowledge that the release keeps; None where the log adds nothing."""
        adds = self.original - self.floor
        return None if adds <= 0 else (self.release - self.floor) / adds

    @property
    def pays(self) -> bool:
        """Whether the release beats having none."""
        return self.release > self.floor


@dataclass(frozen=True)
class Prices:
    """All of them, why some are missing, and from where on a release beats having none."""

    cells: list[Priced]
    reasons: dict[str, str]
    """Of mechanisms and of tasks that said nothing."""
    users: list[int]
    epsilons: list[str]

    def turning(self, task: str) -> list[tuple[int, Priced | None]]:
        """For each number of users, the ε from which on some mechanism beats having none, and the best at that ε."""
        found: list[tuple[int, Priced | None]] = []
        for users in self.users:
            paying = [c for c in self.cells if c.task == task and c.users == users and c.pays]
            first: list[Priced] = []
            for epsilon in reversed(self.epsilons):  # from the largest down, as long as one pays
                at = [cell for cell in paying if cell.epsilon == epsilon]
                if not at:
                    break
                first = at
            found.append((users, max(first, key=lambda cell: cell.release) if first else None))
        return found


def computed(
    asked: PriceRequest,
    log: SearchLog,
    folder: Path,
    *,
    jobs: int = 1,
    memory: str = "2GB",
    progress: Callable[[int, int], None] = lambda *_: None,
) -> Prices:
    """Compute what is not there yet. The caller has told the ledger."""
    choices, tasks, truth = (
        asked.choices(),
        asked.chosen(),
        None if asked.truth is None else Path(asked.truth).absolute(),
    )
    sizes, cells, reasons = asked.sizes(log.users()), list[Priced](), dict[str, str]()
    for number, size in enumerate(sizes):
        with sample(log, size, asked.seed) as parquet:
            source = CleanedLog(parquet, log.work, None, truth, asked.seed, memory, threads_for(jobs))
            plan = ComparisonPlan(source, choices, tasks, asked.draws)
            rows = run(
                plan,
                folder / FOLDER,
                jobs,
                lambda n, m, at=number: progress(at * m + n, len(sizes) * m),  # type: ignore[misc]
            )
            for row, of in zip(rows, plan.cells(), strict=True):
                if row.reason:
                    reasons[row.label] = row.reason
                    continue
                for task, draws in scores_of(of, folder / FOLDER).items():
                    found = _mean(task, draws)
                    if isinstance(found, str):
                        reasons[f"{task} of {row.mechanism}, {size:,} users"] = found
                    else:
                        cells.append(Priced(task, row.mechanism, row.given["epsilon"], size, *found))
    epsilons = sorted({cell.epsilon for cell in cells}, key=Fraction)
    return Prices(cells, reasons, sizes, epsilons)


def _mean(task: str, draws: list[dict[str, Any]]) -> tuple[float, float, float, float] | str:
    """The means of the task's headline; or why there is none."""
    metric = HEADLINES[task]
    said = [draw[metric] for draw in draws if draw.get(metric, {}).get("release") is not None]
    if not said:
        return str(next((d[NOT_EVALUABLE] for d in draws if NOT_EVALUABLE in d), f"the log is too small for {metric}"))
    original, release, floor, ceiling = (fmean(float(pair[side] or 0.0) for pair in said) for side in SIDES)
    return original, release, floor, ceiling


@contextmanager
def sample(log: SearchLog, users: int, seed: int) -> Iterator[Path]:
    """The cleaned log of so many users, chosen by a hash: a larger sample holds the smaller ones."""
    chosen = (
        "SELECT uid FROM (SELECT DISTINCT uid FROM log) AS users "
        f"ORDER BY md5(concat('hubbub worth {int(seed)}', '\x1f', uid)), uid LIMIT {int(users)}"
    )
    rows = log.engine.fetch(
        'SELECT l.uid AS "user", l."time" AS "time", l.query AS query, l."rank" AS "rank", l.url AS url '
        f'FROM log AS l JOIN ({chosen}) AS c ON l.uid = c.uid ORDER BY l.uid, l."time", query, "rank", url'
    )
    with TemporaryDirectory(dir=log.work, prefix="sample-") as place:
        path = Path(place) / "log.parquet"
        pq.write_table(rows, path)
        yield path
