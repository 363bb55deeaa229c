"""How fast a release is on this machine, beside the bare engine on the same made-up log: ratios, in two minutes.

The bare engine does what cannot be left out: it reads the text into a table, counts the users of each query, and writes
that. hubbub reads and cleans the same file, and releases its queries with a card and pages. The log grows until the
next size might not fit the time: the first runs pay for what any release costs, however small.
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

SIZES = (2_000, 10_000, 50_000)
MOST = SIZES[-1]
AIM = 110.0
"""Seconds for all sizes together; two minutes are promised."""
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


def quick(users: int | None, tell: Callable[[str], None], clock: Callable[[], float] = perf_counter) -> QuickBench:
    """Run it; without a number of users, on the largest log that two minutes allow."""
    began = clock()
    sizes = SIZES if users is None else (users,)
    for size, larger in zip(sizes, (*sizes[1:], None), strict=True):
        tell(f"Making up a log of {size:,} users, and running both …")
        start = clock()
        found = _run(size)
        took = clock() - start
        if larger is None or took * larger / size > AIM - (start + took - began):  # time grows no faster than users
            break
    return found


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
