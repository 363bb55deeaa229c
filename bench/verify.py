"""Generate and verify: does a further stage over queries made of released words win against the budget that it takes?

    python bench/verify.py [--draws 5] [--logs heavy,natural,aol,excite] [--users 20000] [--data FOLDER] [--clicks]

Candidates are all ordered pairs of the words of released queries, and the domains of these words; a closed stage of
crowd's own code tests them with a share of the budget. Beside it: crowd as it is, with all of the budget, and the most
that any choice of candidates could add, an oracle that names the most frequent queries that were not released.
Experiments only: noise is seeded, nothing is released.

The stand-ins (heavy, natural) are made up in favour of the stage: the words of every popular pair are popular queries
themselves. `excite` needs the folder of the small real data. Clicks on queries' own domains need no stage: they are
known keys of the stage of clicks (`urls`).
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from hubbub.log import SearchLog, read_log
from hubbub.mechanisms import build
from hubbub.mechanisms.crowd.calibrate import Stage, StagePlan, calibrate
from hubbub.mechanisms.crowd.chain import CodedDomain, select_known, text_of
from hubbub.mechanisms.pairs import drawn
from hubbub.noise import SeededNoise
from hubbub.public.prior import SUFFIXES
from hubbub.public.words import ENGLISH, vocabulary
from hubbub.steps.keys import QUERIES
from hubbub.steps.mode import RunMode
from hubbub.steps.pools import fixed
from made_up import make_log

MODE = RunMode(b"bench/verify.py.")
SHARES = (Fraction(1, 20), Fraction(1, 10), Fraction(1, 5), Fraction(2, 5))
BUDGETS = {"heavy": ("4", "1e-4"), "natural": ("4", "1e-4"), "aol": ("1", "1e-6"), "excite": ("8", "1e-3")}
FORMS = ("word", "pair", "two", "three", "long", "domain", "other")
AMONG_ALL = np.array([3.5, 1.2, 18, 23, 37, 0.2, 16.4])
BY_USERS = {
    20: np.array([59, 18, 8, 6, 1, 6, 1]),
    10: np.array([46, 16, 28, 6, 1, 3, 1]),
    5: np.array([34, 13, 30, 13, 2, 4, 3]),
}
"""Shares of forms by how many users ask a query, after the table of known words in bench/README.md."""
MOST = 400
"""Words of released queries that make candidates."""


# ------------------------------------------------------------------ logs


def stand_in(users: int, usual: float, scale: float, rng: np.random.Generator) -> pa.Table:
    """Made-up users: popular queries by a power law, the rest of what they hold their own; forms by popularity."""
    words = vocabulary(ENGLISH).words.column("query").slice(0, 60_000).to_pylist()
    listed = vocabulary(ENGLISH).pairs.column("query").to_pylist()
    degrees = np.maximum(1, np.exp(rng.normal(np.log(usual), 0.9, users))).astype(int)
    at = rng.choice(users, p=degrees / degrees.sum(), size=4 * users)
    holders = [int(scale * 20 * (83 / k) ** (1 / 1.72)) for k in range(1, 14_000)]
    popular = iter(rng.permutation(20_000))
    heads: list[str] = []
    rows: set[tuple[int, str]] = set()

    def text(n: int) -> str:
        shares = next((s for least, s in BY_USERS.items() if n >= least), AMONG_ALL)
        form = rng.choice(FORMS, p=shares / shares.sum())
        a, b = (heads[int(i)] for i in rng.integers(0, len(heads), 2)) if len(heads) > 30 else ("web", "mail")
        if form == "word":
            heads.append(words[int(next(popular))])
            return heads[-1]
        if form in ("pair", "two"):  # in favour of the stage: of words that are popular by themselves
            return listed[int(rng.integers(len(listed)))] if form == "pair" else f"{a} {b}"
        if form == "domain":
            return f"www.{a}.{SUFFIXES[int(rng.integers(len(SUFFIXES)))]}"
        if form == "other":
            return f"{rng.integers(1 << 60):x}"
        more = words[int(rng.integers(60_000))]
        return f"{a} {b} {more}" if form == "three" else f"{a} {b} {more} {rng.integers(1 << 40):x}"

    for n in (n for n in holders if n >= 2):
        query = text(n)
        rows |= {(int(u), query) for u in rng.choice(at, size=min(2 * n, at.size), replace=False)[:n]}
    short = degrees - np.bincount([u for u, _ in rows], minlength=users)
    rows |= {(u, text(1)) for u in range(users) for _ in range(max(0, short[u]))}
    held = sorted(rows)
    return pa.table({"user": [f"u{u}" for u, _ in held], "query": [query for _, query in held]})


@contextmanager
def opened(name: str, options: argparse.Namespace) -> Iterator[SearchLog]:
    """The log of this name."""
    with tempfile.TemporaryDirectory() as folder:
        if name == "aol":
            source: Any = f"{folder}/log.tsv"
            make_log(source, options.users)
            reading: dict[str, Any] = {"format": "aol"}
        elif name == "excite":
            source, reading = f"{options.data}/excite-small.log", {"format": "excite"}
        else:
            shape = {"heavy": (1000, 170, 1.0), "natural": (1017, 17, 0.45)}[name]
            source = stand_in(*shape, np.random.default_rng(23))
            reading = {"format": "table", "columns": {"user": "user", "query": "query"}}
        with read_log(source, work=Path(folder), **reading) as log:
            yield log


# ------------------------------------------------------------------ the further stage


@dataclass(frozen=True)
class Found:
    """What a draw released: by the first selection, by the further stage, and how many of these nobody asked."""

    first: int
    added: int
    nobodys: int


def words_of(texts: list[str]) -> list[str]:
    """Words of released queries, in the order they are met."""
    return list(dict.fromkeys(w for text in texts for w in text.split() if "." not in w))[:MOST]


def generated(texts: list[str]) -> list[str]:
    """Pairs and domains of released words that are not released."""
    words = words_of(texts)
    pairs = (f"{a} {b}" for a, b in permutations(words, 2))
    domains = (f"{start}{w}.{end}" for w in words for start in ("", "www.") for end in SUFFIXES)
    return sorted({*pairs, *domains} - set(texts))


def one(log: SearchLog, crowd: Any, stages: tuple[Stage, ...], seed: int, exact: dict[str, int], best: int) -> Found:
    """A draw: crowd's first selection, and with a second stage the candidates, or `best` by an oracle."""
    first, noise = stages[0], SeededNoise(seed)
    pools = fixed(log, QUERIES, first.rounds.limit, first.rounds.bits, MODE, None, crowd.prior)
    known = [(domain, false / len(stages)) for domain, false in crowd._domains()]
    found = drawn(select_known(pools, first, *known), noise)
    texts = pools.text(log.engine, QUERIES, found.ids).column("query").to_pylist()
    if len(stages) == 1:
        return Found(len(texts), 0, sum(t not in exact for t in texts))
    left = set(exact) - set(texts)
    wanted = sorted(sorted(left, key=lambda q: -exact[q])[:best]) if best else generated(texts)
    table = pa.table({"query": pa.array(wanted, pa.string())})
    log.engine.register("candidates", table)
    events = 'SELECT l.uid AS uid, l."time" AS "time", l.query AS query FROM {log} AS l JOIN candidates AS c '
    kind = replace(QUERIES, name="generated", events=events + "ON l.query = c.query")
    further = fixed(log, kind, stages[1].rounds.limit, stages[1].rounds.bits, MODE)
    more = drawn(CodedDomain(table.num_rows, table.take).select(further, stages[1], Fraction(1, 2)), noise)
    added = further.text(log.engine, kind, more.ids).column("query").to_pylist()
    return Found(len(texts), len(added), sum(t not in exact for t in [*texts, *added]))


def measured(log: SearchLog, name: str, draws: int) -> None:
    """One row per share of the budget."""
    epsilon, delta = BUDGETS[name]
    crowd: Any = build("crowd", {"epsilon": epsilon, "delta": delta}, tables=["queries"])
    rows = log.engine.fetch("SELECT query, count(DISTINCT uid) AS n FROM log GROUP BY query")
    exact = dict(zip(rows.column("query").to_pylist(), rows.column("n").to_pylist(), strict=True))
    for share in (Fraction(0), *SHARES):
        counts = [StagePlan("queries", 1 - share, 100, (930, 60, 10), 10, 60)]
        if share:
            counts.append(StagePlan("generated", share, 50, (1000, 0, 0), 10, 60, open=False))
        stages = calibrate(counts, Fraction(epsilon), Fraction(delta), 5, "bench")
        for label, best in (("generated", 0), ("oracle", 300)) if share else (("crowd as it is", 0),):
            found = [one(log, crowd, stages, seed, exact, best) for seed in range(draws)]
            first, added, nobodys = np.mean([[f.first, f.added, f.nobodys] for f in found], axis=0)
            print(
                f"| {name}, {epsilon}, {delta} | {label} | {float(share):.0%} | {first:,.1f} | {added:,.1f} | "
                f"{first + added:,.1f} | {nobodys:.1f} |",
                flush=True,
            )


def own_clicks(log: SearchLog, name: str, draws: int) -> None:
    """Clicks without and with the queries' own domains as known ones, which takes nothing of the budget."""
    held = log.engine.fetch("SELECT DISTINCT query, url FROM log WHERE url IS NOT NULL")
    exact = set(zip(held.column("query").to_pylist(), held.column("url").to_pylist(), strict=True))
    for epsilon, delta in (("1", "1e-6"), ("4", "1e-5")):
        for label, stated in (("clicks", {}), ("clicks, urls=http", {"urls": "http"})):
            crowd = build("crowd", {"epsilon": epsilon, "delta": delta} | stated, tables=["queries", "clicks"])
            found = []
            for seed in range(draws):
                rows = text_of(crowd.draw(crowd.measure(log, MODE), SeededNoise(seed))["clicks"])
                shown = zip(rows.column("query").to_pylist(), rows.column("url").to_pylist(), strict=True)
                found.append((rows.num_rows, sum(row not in exact for row in shown)))
            released, nobodys = np.mean(found, axis=0)
            print(f"| {name}, {epsilon}, {delta} | {label} | | | | {released:,.1f} | {nobodys:.1f} |", flush=True)


def main() -> None:
    """Every log that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--logs", default="heavy,natural,aol")
    parser.add_argument("--users", type=int, default=20_000)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--clicks", action="store_true", help="clicks alone")
    options = parser.parse_args()
    print("| log, ε, δ | | share | first | added | together | of nobody |\n|---|---|--:|--:|--:|--:|--:|")
    for name in options.logs.split(","):
        with opened(name, options) as log:
            if not options.clicks:
                measured(log, name, options.draws)
            if name == "aol":  # the others have no clicks
                own_clicks(log, name, options.draws)


if __name__ == "__main__":
    main()
