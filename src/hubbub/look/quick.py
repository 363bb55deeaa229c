"""How fast a release is on this machine, beside the bare engine on the same made-up log: ratios, in two minutes.

The bare engine does what cannot be left out: it reads the text into a table, counts the users of each query, and writes
that. hubbub reads and cleans the same file, and releases its queries with a card and pages. A trial on a small log
chooses the size of the real one.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import duckdb

from hubbub.log import read_log
from hubbub.mechanisms import build
from hubbub.release import release
from hubbub.synth.presets import preset
from hubbub.synth.run import synthesise

TRIAL = 1_000
MOST = 50_000
AIM = 60.0
"""Seconds that the real run may take, by what the trial took: half of what is promised."""
REPEATS = 2
"""Each is run so often, and the faster time counts: something else may have been at work."""


@dataclass(frozen=True)
class Pace:
    """One job: how long hubbub took, and the bare engine, in seconds."""

    job: str
    ours: float
    bare: float

    @property
    def ratio(self) -> float:
        """How many times as long as the bare engine."""
        return self.ours / self.bare


@dataclass(frozen=True)
class QuickBench:
    """The jobs, and on what they were run."""

    users: int
    rows: int
    bytes: int
    paces: tuple[Pace, ...]

    def record(self) -> dict[str, Any]:
        """For a program."""
        jobs = [{"job": p.job, "hubbub": p.ours, "bare": p.bare, "ratio": p.ratio} for p in self.paces]
        engine = f"duckdb {duckdb.__version__}"
        return {"users": self.users, "rows": self.rows, "bytes": self.bytes, "engine": engine, "jobs": jobs}


def quick(users: int | None, tell: Callable[[str], None]) -> QuickBench:
    """Run it; without a number of users, a trial chooses as many as two minutes allow."""
    if users is None:
        tell("A trial, to choose the size …")
        start = perf_counter()
        _run(TRIAL)
        users = chosen(perf_counter() - start)
    tell(f"Making up a log of {users:,} users, and running both …")
    return _run(users)


def chosen(trial: float) -> int:
    """As many users as fit the time, by how long the trial's took; time grows no faster than users."""
    return max(TRIAL, min(MOST, int(TRIAL * AIM / max(trial, 1e-3)) // 1000 * 1000))


def _run(users: int) -> QuickBench:
    with tempfile.TemporaryDirectory(prefix="hubbub-bench-") as place:
        work = Path(place)
        log = work / "log.tsv"
        made = synthesise(users, log, preset=preset("aol"), seed=0)
        threads = os.cpu_count() or 1
        ours = [_ours(log, work / f"ours-{n}", users) for n in range(REPEATS)]
        bare = [_bare(log, work / f"bare-{n}", threads) for n in range(REPEATS)]
        read, count = (min(times) for times in zip(*ours, strict=True))
        bare_read, bare_count = (min(times) for times in zip(*bare, strict=True))
        paces = (
            Pace("read and clean the log", read, bare_read),
            Pace("count and release queries", count, bare_count),
            Pace("both", read + count, bare_read + bare_count),
        )
        return QuickBench(users, made.rows, log.stat().st_size, paces)


def _ours(log: Path, out: Path, users: int) -> tuple[float, float]:
    out.mkdir()
    start = perf_counter()
    with read_log(log, format="aol") as raw:
        between = perf_counter()
        mechanism = build("crowd", {"epsilon": "1", "delta": "1e-6", "users": str(users)}, tables=["queries"])
        release(raw, mechanism, out / "release", ledger=out / "ledger.sqlite", users_public=users)
        return between - start, perf_counter() - between


def _bare(log: Path, out: Path, threads: int) -> tuple[float, float]:
    out.mkdir()
    with duckdb.connect(config={"threads": threads, "temp_directory": str(out)}) as engine:
        start = perf_counter()
        read = "read_csv(?, delim='\t', header=true, quote='', all_varchar=true)"
        engine.execute(f"COPY (SELECT * FROM {read}) TO '{out}/log.parquet'", [str(log)])
        between = perf_counter()
        counted = f'SELECT "Query", count(DISTINCT "AnonID") AS users FROM \'{out}/log.parquet\' GROUP BY "Query"'
        engine.execute(f"COPY ({counted}) TO '{out}/queries.parquet'")
        return between - start, perf_counter() - between
