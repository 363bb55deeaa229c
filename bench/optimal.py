"""optimal at the paper's size and beyond: how near to the proven bound, in which time and memory.

    python bench/optimal.py [--size paper|drawn|20k|200k] [--seconds S] [--goals size,diverse] [--seed 1]

The log is made up by `hubbub.synth`. The paper draws 2,500 users, of whom 1,980 share 6,043 pairs; so many shared pairs
need busier users than a made-up log has on average. `drawn` draws 2,500 in proportion to their clicks, which keeps
light users and very busy ones; `paper`, `20k` and `200k` leave out users with few clicks instead: users are then more
alike, and the optimum is harder to prove. B = ln 2 (δ = 1/2, ε above it). Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from fractions import Fraction
from pathlib import Path

import duckdb
import numpy as np

from hubbub.mechanisms.optimal.certificate import Certificate
from hubbub.mechanisms.optimal.diverse import most_pairs
from hubbub.mechanisms.optimal.problem import Limit, Problem
from hubbub.mechanisms.optimal.size import largest, optimum
from hubbub.mechanisms.optimal.words import seconds_ahead
from hubbub.synth.run import synthesise

LN2 = Limit(Fraction(7, 10), Fraction(1, 2))
SIZES = {
    "paper": (60_000, 80, 2_050, 45),
    "drawn": (60_000, 1, 2_500, 45),
    "20k": (300_000, 40, 21_000, 120),
    "200k": (657_426, 8, 210_000, 600),
}
"""Users of the made-up log, least clicks of a user, users drawn from these, seconds for a goal."""
ANY = "md5(uid)"
BY_CLICKS = "-ln((('0x' || substr(md5(uid), 1, 8))::BIGINT + 1) / 4294967297.0) / count(*)"
"""The order in which users are drawn; exponential clocks that tick once a click draw in proportion to clicks."""


def instance(size: str, seed: int) -> Problem:
    """The shared pairs of some users of a made-up log."""
    users, least, drawn, _ = SIZES[size]
    order = BY_CLICKS if size == "drawn" else ANY
    with tempfile.TemporaryDirectory(prefix="hubbub-bench-") as folder:
        path = Path(folder) / "log.parquet"
        synthesise(users, path, seed=seed)
        sql = duckdb.connect()
        sql.execute(
            f"""CREATE TABLE held AS WITH log AS (SELECT "user" AS uid, query, url FROM '{path}' WHERE url IS NOT NULL),
            busy AS (SELECT uid FROM log GROUP BY uid HAVING count(*) >= {least} ORDER BY {order} LIMIT {drawn})
            SELECT uid, query, url, count(*) AS n FROM log JOIN busy USING (uid) GROUP BY ALL"""
        )
        sql.execute("CREATE TABLE pairs AS SELECT query, url FROM held GROUP BY ALL HAVING count(*) >= 2")
        rows = sql.execute(
            """SELECT dense_rank() OVER (ORDER BY uid) - 1 AS k, dense_rank() OVER (ORDER BY query, url) - 1 AS j, n
            FROM held JOIN pairs USING (query, url)"""
        ).fetchnumpy()
    return Problem.of(*(np.asarray(rows[name]).astype(np.int64) for name in ("k", "j", "n")))


def main() -> None:
    """One table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", choices=SIZES, default="paper")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--goals", default="size,diverse")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    seconds = asked.seconds or SIZES[asked.size][3]
    problem = instance(asked.size, asked.seed)
    say(seconds_ahead(problem.counts.size, *problem.shape, seconds))
    say(f"|D| = {problem.size}, usable pairs {problem.usable(LN2).size}, before: {memory():.2f} GB")
    rows = []
    started = time.monotonic()
    relaxed = optimum(problem, seconds)
    say(f"V(ln 2) = {LN2.bound * relaxed.bound:.1f}, {time.monotonic() - started:.1f} s")
    for goal in asked.goals.split(","):
        started = time.monotonic()
        solve = largest if goal == "size" else most_pairs
        found: Certificate = solve(problem, LN2, seconds, say).certificate
        rows.append((goal, found, time.monotonic() - started))
    started = time.monotonic()
    paper = most_pairs(problem, LN2, 30, say, spe=True).certificate
    rows.append(("diverse, SPE", paper, time.monotonic() - started))
    print("\n| goal | reached | proven upper bound | gap | seconds |\n|---|---|---|---|---|")
    for goal, found, took in rows:
        print(f"| {goal} | {found.objective:.0f} | {found.upper_bound:.0f} | {found.gap:.1%} | {took:.1f} |")
    print(f"\nPeak memory {memory():.2f} GB.")


def say(text: str) -> None:
    """Progress, as it comes."""
    print(f"  {text}", flush=True)


def memory() -> float:
    """The most memory this process held, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


if __name__ == "__main__":
    main()
