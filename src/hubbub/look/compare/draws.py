"""One row: measure the log once, draw its noise again and again, score every draw.

The noise repeats itself (a seed for each draw), so that no draw can ever be a release and every one can be had again.
What a mechanism samples before the noise (which keys of a user count) is fixed by the first seed: the draws differ by
noise alone.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from hubbub.engines.duckdb import DuckDB
from hubbub.errors import UserError
from hubbub.ingest import SCHEMA
from hubbub.log import Period, SearchLog
from hubbub.look.compare.basics import NAME, Basics
from hubbub.look.compare.cells import Cell
from hubbub.look.compare.choices import Candidate, in_words
from hubbub.look.estimate.scale import start_over
from hubbub.mechanisms import Mechanism, Tables
from hubbub.mechanisms.base import Rows
from hubbub.noise import SeededNoise
from hubbub.release.rows import as_lists, named_rows
from hubbub.steps.mode import RunMode
from hubbub.worth.tasks import Evidence, Setup, Truth, build
from hubbub.worth.tasks.run import score


@dataclass(frozen=True)
class CleanedLog:
    """The cleaned log that every process opens for itself, and what else the scores depend on."""

    parquet: Path
    work: Path
    period: Period | None
    truth: Path | None
    seed: int
    memory: str
    threads: int | None


@dataclass(frozen=True)
class DrawJob:
    """Draws of one row that one process does, and the cells that are still missing: by draw, by task."""

    choice: Candidate
    missing: Mapping[int, Mapping[str, Cell]]


@dataclass
class Bench:
    """One process: the log opened, the original's side of the tasks counted once."""

    source: CleanedLog
    log: SearchLog
    stack: ExitStack
    truth: Truth | None
    originals: dict[str, Evidence] = field(default_factory=dict)

    @staticmethod
    @contextmanager
    def open(source: CleanedLog) -> Iterator[Bench]:
        """A bench over the log, closed with everything that it opened."""
        with ExitStack() as stack:
            work = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=source.work, prefix="bench-")))
            log = stack.enter_context(opened(source.parquet, work, source))
            yield Bench(source, log, stack, None if source.truth is None else Truth(source.truth))

    def original(self, counts: str) -> Evidence:
        """The log, counted as a release counts."""
        if counts not in self.originals:
            self.originals[counts] = self.stack.enter_context(Evidence.of_log(self.log, counts))
        return self.originals[counts]

    def run(self, unit: DrawJob, cells: Path) -> str:
        """Every missing cell, written as it is finished; or why this log cannot be measured so."""
        mechanism = unit.choice.build()
        try:
            measured = mechanism.measure(self.log, RunMode(SeededNoise(self.source.seed).secret("bounding")))
        except UserError as error:
            return in_words(error)
        for draw, missing in unit.missing.items():
            tables = drawn(mechanism, measured, self.source.seed + draw)
            with self.released(mechanism, measured, tables) as release:
                original = self.original(release.counts)
                for task, cell in missing.items():
                    cell.write(cells, self.score(task, mechanism, original, release))
        return ""

    def score(self, task: str, mechanism: Mechanism, original: Evidence, release: Evidence) -> dict[str, Any]:
        """One task's numbers, or why it has none."""
        if task != NAME:
            return score(build(task), original, release, self.truth, self.source.seed)[0]
        options = {"tables": mechanism.tables, "searches": self.original("count")}
        return dict(Basics().score(original, release, Setup(options=options)))

    @contextmanager
    def released(self, mechanism: Mechanism, measured: Mapping[str, Any], tables: Tables) -> Iterator[Evidence]:
        """A draw as the tables that a release would have published."""
        found, log = {}, None
        with ExitStack() as stack:
            for name in mechanism.tables:
                one = tables[name]
                if isinstance(one, Rows):
                    work = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=self.source.work, prefix="log-")))
                    pq.write_table(one.rows.select(SCHEMA.names), work / "log.parquet")
                    log = stack.enter_context(opened(work / "log.parquet", work, self.source, synthetic=True))
                else:
                    rows = named_rows(self.log, mechanism, name, measured, tables)
                    found[name] = as_lists(rows, mechanism.offers[name])
            counts = mechanism.value_column if found else "count"
            yield stack.enter_context(Evidence(counts, found, log))


def drawn(mechanism: Mechanism, measured: Mapping[str, Any], seed: int) -> Tables:
    """One draw; what a draw before this one used up starts over."""
    start_over(measured)
    return mechanism.draw(measured, SeededNoise(seed))


def opened(parquet: Path, work: Path, source: CleanedLog, *, synthetic: bool = False) -> SearchLog:
    """A cleaned log in an engine of its own."""
    engine = DuckDB(work, memory=source.memory, threads=source.threads)
    engine.connection.execute("SET enable_progress_bar = false")  # a process without a script counts as interactive
    return SearchLog.over(parquet, engine, work, None if synthetic else source.period)
