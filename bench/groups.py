"""Rows by country at the same (ε, δ): crowd beside every rival that treats (country, query) as the key.

    python bench/groups.py [--users 200000] [--epsilon 2] [--delta 1e-6] [--draws 2] [--data FOLDER] [--only NAME,…]

The log is made up, with 20 countries (`hubbub synth --groups`). Each rival runs at its best bound, chosen by looking at
the result (in its favour); crowd runs at its defaults. `plain` is crowd without groups, for what the global table pays.
Experiments only: noise is seeded, nothing is released. Prints Markdown.
"""

from __future__ import annotations

import argparse
import resource
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from hubbub.log import SearchLog, read_log
from hubbub.mechanisms import build
from hubbub.mechanisms.measured import half_width
from hubbub.noise import SeededNoise
from hubbub.public.groups import group_by
from hubbub.release.rows import named_rows
from hubbub.steps.mode import RunMode
from hubbub.synth.groups import COUNTRIES
from hubbub.synth.run import synthesise

MODE = RunMode(b"bench/groups.py, 16 bytes")
TABLE = "queries_by_country"
RIVALS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "korolova": [("korolova", {"d": d, "keep": "random"}) for d in (1, 2, 5)],
    "zealous": [("zealous", {"m": m, "keep": "random"}) for m in (1, 2, 5)],
    "gaussian": [("gaussian", {"d": d}) for d in (5, 20)],
    "gaussian sqrt": [("gaussian", {"d": d, "weights": "sqrt"}) for d in (20, 50)],
    "sips": [("sips", {"d": d}) for d in (20, 50)],
    "adaptive": [("adaptive", {"d": 100, "rounds": 4, "margin": m}) for m in (1, 2)],
}
OURS = {"plain": ["queries"], "crowd": ["queries", TABLE]}


def seconds() -> float:
    """CPU seconds of this process so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def ran(
    log: SearchLog, name: str, settings: dict[str, Any], draws: int, **more: Any
) -> tuple[dict[str, float], Any, float]:
    """Rows of each table, the mean over some draws; the last draw; and what one draw costs in CPU seconds."""
    country = group_by("country", "country", COUNTRIES)
    grouped = {} if more.get("tables") == OURS["plain"] and name == "crowd" else {"by": [country]}
    made = build(name, settings, **grouped, **more)
    rows: dict[str, list[int]] = {}
    started = seconds()
    for seed in range(draws):
        measured = made.measure(log, MODE)
        found = made.draw(measured, SeededNoise(seed))
        for table, released in found.items():
            rows.setdefault(table, []).append(int(released.ids.size))
    spent = (seconds() - started) / draws
    last = {t: named_rows(log, made, t, measured, found) for t in made.tables}
    return {table: float(np.mean(n)) for table, n in rows.items()}, last, spent


def lines(log: SearchLog, budget: dict[str, Any], draws: int, only: list[str]) -> Iterator[str]:
    """One line of the table for every mechanism."""
    for name, tables in OURS.items():
        if not only or name in only:
            rows, last, spent = ran(log, "crowd", budget, draws, tables=tables)
            note = _error(log, last[TABLE]) if TABLE in last else ""
            yield f"| {name} | {rows['queries']:.0f} | {rows.get(TABLE, 0):.0f} | {spent:.1f} | {note} |"
    for name, choices in RIVALS.items():
        if not only or name in only:
            tried = [(ran(log, kind, {**budget, **more}, draws), more) for kind, more in choices]
            (rows, _, spent), more = max(tried, key=lambda one: one[0][0][TABLE])
            said = ", ".join(f"{key} = {value}" for key, value in more.items())
            yield f"| {name} | | {rows[TABLE]:.0f} | {spent:.1f} | {said} |"


def _error(log: SearchLog, rows: Any) -> str:
    """The median relative error of the counts, by size of the country: the smallest five, and all."""
    log.engine.register("shown", rows)
    exact = log.engine.fetch(
        "SELECT s.country, s.users, s.noise_sd, count(DISTINCT l.uid) AS n FROM shown AS s LEFT JOIN log AS l "
        "ON l.query = s.query AND l.by_country = lower(s.country) GROUP BY s.country, s.query, s.users, s.noise_sd"
    )
    country = np.array(exact.column("country").to_pylist())
    users, n = (exact.column(name).to_numpy().astype(float) for name in ("users", "n"))
    off = np.abs(users - n) / np.maximum(n, 1)
    held = np.abs(users - n) <= half_width(users, exact.column("noise_sd").to_numpy())
    order, tenth = np.argsort(-users, kind="stable"), max(1, users.size // 10)
    regions = ", ".join(f"{held[at].mean():.1%}" for at in np.split(order, [tenth, users.size - tenth]))
    small = np.isin(country, COUNTRIES[-5:])
    of_small = f"{np.median(off[small]):.0%} in {small.sum()} rows" if small.any() else "no rows"
    return (
        f"median error {np.median(off):.0%}; of the five smallest countries {of_small}; "
        f"rows of nobody {(n == 0).sum()}; intervals hold in {regions} of the largest, the middle, the smallest"
    )


def main() -> None:
    """Make the log if it is not there, run, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=200_000)
    parser.add_argument("--epsilon", default="2")
    parser.add_argument("--delta", default="1e-6")
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--data", type=Path, default=Path("bench/data"))
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    asked.data.mkdir(parents=True, exist_ok=True)
    path = asked.data / f"groups-{asked.users}.parquet"
    if not path.exists():
        synthesise(asked.users, path, groups=True)
    sys.stdout.write("| | queries | (country, query) | CPU s | |\n|---|--:|--:|--:|---|\n")
    with read_log(path, by={"country": "country"}) as log:
        budget = {"epsilon": asked.epsilon, "delta": asked.delta}
        for line in lines(log, budget, asked.draws, [name for name in asked.only.split(",") if name]):
            sys.stdout.write(line + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
