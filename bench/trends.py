"""How many of the trends of a series are false, and how many are found: on a made-up log whose truth is known.

    python bench/trends.py [USERS] [DRAWS] [NOISE_SD]

A log of 14 weeks in which needs rise, fall and burst, and users arrive and leave. Its exact users by week get the noise
of a series' counts (sd about 31 in a period at ε = 2, δ = 1e-6), numbers below three noise_sd are taken away, and
queries come out over time, the popular first. Each line: what was listed, how much of it was false, how much of what
changed was listed, over so many draws of noise. A query is said to change if its need does: a rise is false if the
share of its need does not grow from the first half of the query's periods to the second; a burst is false if its need
does not burst in that week.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq

from hubbub.show.series.published import SHOWN, SeriesNumbers
from hubbub.show.series.trends import find_trends
from hubbub.synth import PRESETS, SYLLABIC, Changes, lasting
from hubbub.synth.run import synthesise

SD = 31
OUT = (71, 150, 240, 339, 470, 610, 770, 935, 1130, 1350, 1580, 1827, 1827, 1827)
"""Queries out after each period."""
Table = npt.NDArray[np.float64]


def truth(users: int, seed: int = 0, changing: int = 35) -> tuple[list[str], list[str], Table, Mapping[str, Table]]:
    """The weeks, the popular queries, their exact users by week, and the shares of those that change."""
    changes = Changes("week", changing, changing, changing, 0, ranks=(2, 1200), arriving=0.2, leaving=0.2)
    shape = replace(lasting(PRESETS["aol"], "2025-01-06", 98), changes=changes)
    with TemporaryDirectory() as folder:
        made = synthesise(
            users,
            Path(folder) / "log.parquet",
            preset=shape,
            seed=seed,
            truth=Path(folder) / "truth",
            vocabulary=SYLLABIC,
        )
        told = pq.read_table(made.truth["periods"])
        changed = pq.read_table(made.truth["changes"]).to_pylist()
    weeks = sorted(set(told["period"].to_pylist()))
    place: dict[str, int] = {}
    for query in told["query"].to_pylist():
        place.setdefault(query, len(place))
    exact = np.zeros((len(place), len(weeks)))
    rows = [place[query] for query in told["query"].to_pylist()]
    exact[rows, [weeks.index(week) for week in told["period"].to_pylist()]] = told["users"].to_numpy()
    best = np.argsort(-exact.sum(axis=1), kind="stable")[: OUT[-1]]
    shares: dict[str, list[float]] = {}
    for row in changed:
        shares.setdefault(row["query"], []).append(row["share"])
    names = list(place)
    return weeks, [names[n] for n in best], exact[best], {query: np.array(share) for query, share in shares.items()}


def publish(
    weeks: list[str], queries: list[str], exact: Table, noise: np.random.Generator, sd: float = SD
) -> SeriesNumbers:
    """What a series would have published of these numbers."""
    came_out = np.searchsorted(np.array(OUT[: len(weeks)]), np.arange(len(queries)), side="right")
    out = np.arange(len(weeks)) >= came_out[:, None]
    noisy = exact + np.rint(noise.normal(0, sd, exact.shape))
    shown = np.where(out & (noisy >= SHOWN * sd), noisy, np.nan)
    nothing = np.full_like(exact, np.nan)
    return SeriesNumbers(
        tuple(weeks), tuple(queries), came_out, shown, np.where(out, sd, np.nan), nothing, nothing, whole=True
    )


def score(numbers: SeriesNumbers, shares: Mapping[str, Table]) -> dict[str, tuple[int, int, int]]:
    """By list: how many are listed, how many of them falsely, how many could have been."""
    found = find_trends(numbers)
    steady = np.ones(numbers.periods)
    share = [shares.get(query, steady) for query in numbers.queries]

    def drift(query: int) -> float:
        mine = share[query][numbers.came_out[query] :]
        half = len(mine) // 2
        return float(mine[-half:].mean() - mine[:half].mean()) if half else 0.0

    tested = np.flatnonzero((numbers.shown.sum(axis=1) >= 1) & (numbers.there.sum(axis=1) >= 2)).tolist()
    bursting = {
        (n, t)
        for n in range(len(share))
        for t in range(numbers.periods)
        if share[n][t] == 1 and (share[n] < 0.2).sum() == numbers.periods - 1
    }
    burst = [(one.query, one.period) for one in found.bursts]
    return {
        "rising": (
            len(found.rising),
            sum(drift(t.query) <= 0 for t in found.rising),
            sum(drift(n) > 0 for n in tested),
        ),
        "falling": (
            len(found.falling),
            sum(drift(t.query) >= 0 for t in found.falling),
            sum(drift(n) < 0 for n in tested),
        ),
        "bursts": (
            len(burst),
            sum(one not in bursting for one in burst),
            sum(bool(numbers.shown[n, t]) and numbers.there[n].sum() >= 4 for n, t in bursting),
        ),
    }


def main(users: int = 120_000, draws: int = 20, sd: int = SD) -> None:
    """Print the table."""
    weeks, queries, exact, shares = truth(users)
    noise = np.random.default_rng(7)
    each = [score(publish(weeks, queries, exact, noise, sd), shares) for _ in range(draws)]
    print(f"{users:,} users, {len(weeks)} weeks, {len(queries):,} queries, noise sd {sd}, {draws} draws of noise")
    print("| list | listed, mean | false, mean share | found of those that changed |\n|---|---|---|---|")
    for name in each[0]:
        listed, false, could = (np.array([one[name][n] for one in each], float) for n in range(3))
        share = np.mean(false / np.maximum(listed, 1))
        print(f"| {name} | {listed.mean():.1f} | {share:.3f} | {(listed - false).sum() / max(could.sum(), 1):.2f} |")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
