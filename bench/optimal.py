"""optimal at the paper's size and beyond: how near to the proven bound, in which time and memory.

    python bench/optimal.py [--size paper|drawn|20k|200k|note|note-20k|note-200k] [--seconds S] [--goals size,diverse]
        [--seed 1]

`note`, `note-20k` and `note-200k` have about the statistics of the instances on which the aims were set; see `Clicks`.

Otherwise the log is made up by `hubbub.synth`. The paper draws 2,500 users, of whom 1,980 share 6,043 pairs; so many
shared pairs need busier users than a made-up log has on average. `drawn` draws 2,500 in proportion to their clicks,
which keeps light users and very busy ones; `paper`, `20k` and `200k` leave out users with few clicks instead: users are
then more alike, and the optimum is harder to prove. B = ln 2 (δ = 1/2, ε above it). Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import duckdb
import numpy as np

from hubbub.mechanisms.optimal.published.certificate import Certificate
from hubbub.mechanisms.optimal.published.diverse import most_pairs
from hubbub.mechanisms.optimal.published.problem import Limit, Problem
from hubbub.mechanisms.optimal.published.size import largest, optimum
from hubbub.mechanisms.optimal.words import seconds_ahead
from hubbub.synth import SYLLABIC
from hubbub.synth.run import synthesise

LN2 = Limit(Fraction(7, 10), Fraction(1, 2))
SIZES = {
    "paper": (60_000, 80, 2_050, 45),
    "drawn": (60_000, 1, 2_500, 45),
    "20k": (300_000, 40, 21_000, 120),
    "200k": (657_426, 8, 210_000, 600),
}
"""Users of the made-up log, least clicks of a user, users drawn from these, seconds for a goal."""
NOTES = {"note": (1, 45), "note-20k": (10, 120), "note-200k": (100, 600)}
"""How many times the users, pairs and clicks of `Clicks`, seconds for a goal."""
ANY = "md5(uid)"
BY_CLICKS = "-ln((('0x' || substr(md5(uid), 1, 8))::BIGINT + 1) / 4294967297.0) / count(*)"
"""The order in which users are drawn; exponential clocks that tick once per click draw in proportion to clicks."""


@dataclass(frozen=True)
class Clicks:
    """Users click pairs, each click for itself; who shares a pair with many clicks it again and again.

    Pair r is clicked in proportion to (r + offset)^−exponent, by a user in proportion to her activity, which is
    log-normal. A pair that h users hold is then clicked again by each of them, Poisson with mean repeats·ln(h/2) times
    a log-normal liking of mean 1. The eight numbers are fitted to the statistics that are known of the instances on
    which the aims were set, and to nothing else (`aim`; `had` for seed 1):

    | | users | pairs | entries | |D| | usable at B = 0.105, 0.223, 0.531, ln 2, 0.833 | V(ln 2) |
    |---|---|---|---|---|---|---|
    | aim | 1,978 | 6,073 | 24k | 50.9k | 16, 158, 1174, 5861, 5862 | 751.2 |
    | had | 1,980 | 6,258 | 22.8k | 53.9k | 13, 135, 1405, 5841, 5889 | 750.7 |
    | aim, 20k | 20,091 | 60,299 | 300k | 690k | | 7,442.8 |
    | had, 20k | 20,143 | 58,703 | 239k | 669k | | 7,464 |
    | aim, 200k | 204,259 | 602,999 | 3.55M | 8.7M | | 74,755 to 75,007 |
    | had, 200k | 201,518 | 565,247 | 2.44M | 7.7M | | 74,165 to 74,385 |
    """

    users: int = 2_286
    pairs: int = 185_000
    clicks: int = 46_930
    offset: float = 13.75
    exponent: float = 0.7747
    activity: float = 1.313
    repeats: float = 1.291
    liking: float = 1.232

    def draw(self, times: int, seed: int) -> Problem:
        """So many times as many users, pairs and clicks."""
        dice = np.random.default_rng(seed)
        popular = np.cumsum((np.arange(1, times * self.pairs + 1) + self.offset) ** -self.exponent)
        active = np.cumsum(dice.lognormal(0, self.activity, times * self.users))
        j, k = (np.searchsorted(w, dice.random(times * self.clicks) * w[-1]) for w in (popular, active))
        entry, n = np.unique(j * active.size + k, return_counts=True)
        j, k = np.divmod(entry, active.size)
        holders = np.bincount(j)[j]
        j, k, n, holders = (column[holders >= 2] for column in (j, k, n, holders))
        liking = dice.lognormal(-(self.liking**2) / 2, self.liking, n.size)
        n = n + dice.poisson(self.repeats * np.log(holders / 2) * liking)
        return Problem.of(np.unique(k, return_inverse=True)[1], np.unique(j, return_inverse=True)[1], n)


def instance(size: str, seed: int) -> Problem:
    """The shared pairs of some users of a made-up log."""
    if size in NOTES:
        return Clicks().draw(NOTES[size][0], seed)
    users, least, drawn, _ = SIZES[size]
    order = BY_CLICKS if size == "drawn" else ANY
    with tempfile.TemporaryDirectory(prefix="hubbub-bench-") as folder:
        path = Path(folder) / "log.parquet"
        synthesise(users, path, seed=seed, vocabulary=SYLLABIC)
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
    parser.add_argument("--size", choices=[*SIZES, *NOTES], default="paper")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--goals", default="size,diverse")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    seconds = asked.seconds or (SIZES | NOTES)[asked.size][-1]
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
