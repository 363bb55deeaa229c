"""A series of twelve periods beside twelve releases of crowd on all data so far, on one synthetic log.

    python bench/series.py [--users 120000] [--seed 5205] [--epsilon 2] [--counts 0.3] [--parts keys,counts,split,cost]
                           [--tables queries,clicks,…] [--language en]

    keys     released so far after each period, all budget for the selection
    counts   the same with a share for counts, and how far the numbers are off
    split    crowd on all data so far, twelve times, at the largest ε at which twelve fit (ε, δ) together
    cost     CPU seconds of a whole series and of twelve plain releases of crowd, each of one period: their ratio

Experiments only: noise is seeded, nothing is released. The seed of the log is one that nothing was tuned on.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from hubbub.card.owner import Owner
from hubbub.engines.duckdb import DuckDB
from hubbub.log import Period, SearchLog, read_log
from hubbub.mechanisms import Mechanism, build
from hubbub.mechanisms.series import Series
from hubbub.noise import SeededNoise
from hubbub.privacy import fitting
from hubbub.privacy.ledger import Ledger
from hubbub.public.words import known_list
from hubbub.release.plan import Plan
from hubbub.release.story import run_release
from hubbub.series import SeriesPlan, add, fix
from hubbub.steps.mode import RunMode
from hubbub.synth import SYLLABIC
from hubbub.synth.run import synthesise

PERIODS, LENGTH, DELTA = 12, "8 days", "1e-6"
MODE = RunMode(b"bench/series.py !")


def main() -> None:
    """Run the parts that were asked for, and print them."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--users", type=int, default=120_000)
    options.add_argument("--seed", type=int, default=5205)
    options.add_argument("--epsilon", default="2")
    options.add_argument("--counts", default="0.3")
    options.add_argument("--language", default="none", help="whose words are a list of known queries")
    options.add_argument("--tables", default="queries")
    options.add_argument("--parts", default="keys,counts,split,cost")
    options.add_argument("--data", type=Path, default=None)
    asked = options.parse_args()
    with tempfile.TemporaryDirectory() as work:
        place = Path(work)
        path = asked.data or place / "clean.parquet"
        if not path.exists():
            synthesise(asked.users, place / "log.tsv", preset="aol", seed=asked.seed, vocabulary=SYLLABIC)
            with read_log(place / "log.tsv", format="aol", work=place) as log:
                shutil.copy(log.ingested.log, path)
        parts = asked.parts.split(",")
        chosen = (asked.tables, asked.language)
        if "keys" in parts:
            run, seconds = whole_series(path, place / "keys", series(asked.epsilon, "0", *chosen))
            print(f"series, even, keys alone: {[len(keys) for keys in run]} ({seconds:.0f} CPU s)", flush=True)
        if "counts" in parts:
            run, seconds = whole_series(path, place / "counts", series(asked.epsilon, asked.counts, *chosen))
            print(
                f"series, even, counts {asked.counts}: {[len(keys) for keys in run]} ({seconds:.0f} CPU s)", flush=True
            )
            print(errors(path, place / "counts"), flush=True)
            print(rows_of(place / "counts"), flush=True)
        if "split" in parts:
            print(f"crowd on all data so far, split evenly: {split(path, place, asked.epsilon)}", flush=True)
        if "cost" in parts:
            print(cost(path, place, asked.epsilon, asked.counts), flush=True)


def series(epsilon: str, counts: str, tables: str = "queries", language: str = "none") -> Series:
    """Twelve even periods."""
    words = None if language == "none" else known_list(language)
    plan: dict[str, Any] = {"epsilon": epsilon, "delta": DELTA, "periods": PERIODS, "counts": counts}
    return Series(**plan, first="2006-03-01", length=LENGTH, tables=tables.split(","), public_list=words)


def opened(path: Path, work: Path, period: Period | None = None) -> SearchLog:
    """The cleaned log, cut to a period if one is given."""
    return SearchLog.over(path, DuckDB(work), work, period)


def whole_series(path: Path, place: Path, mechanism: Series) -> tuple[list[list[str]], float]:
    """The queries that are out after each period, and the CPU seconds of all of them."""
    place.mkdir()
    seconds, found = 0.0, []
    with Ledger(place / "ledger.sqlite") as book:
        fix(SeriesPlan(mechanism, seed=1, not_private=True), place / "series", book)
        for _ in range(PERIODS):
            with opened(path, place) as log:
                start = time.process_time()
                made = add(place / "series", log, book)
                seconds += time.process_time() - start
            found.append(pq.read_table(made.folder / "public" / "queries.parquet").column("query").to_pylist())
    return found, seconds


def rows_of(place: Path) -> str:
    """How many rows each table of the last period has, and how many of them have a number."""
    last = place / "series" / series("2", "0.3").calendar.label(PERIODS - 1) / "public"
    said = []
    for file in sorted(last.glob("*.parquet")):
        rows = pq.read_table(file)
        to_date, here = (rows.num_rows - rows[name].null_count for name in ("users", "users_in_period"))
        said.append(f"  {file.stem}: {rows.num_rows} rows; users to date shown for {to_date}, in the period for {here}")
    return "\n".join(said)


def exact(path: Path, place: Path, period: Period) -> dict[str, int]:
    """How many users asked each query in a period, exactly."""
    with opened(path, place, period) as log:
        rows = log.engine.fetch("SELECT query, count(DISTINCT uid) AS n FROM log GROUP BY query")
    return dict(zip(rows.column("query").to_pylist(), rows.column("n").to_pylist(), strict=True))


def errors(path: Path, place: Path) -> str:
    """How far the numbers are off that are shown, after a third of the periods and after all."""
    calendar, said = series("2", "0.3").calendar, []
    for n in (3, PERIODS - 1):
        rows = pq.read_table(place / "series" / calendar.label(n) / "public" / "queries.parquet")
        for column, first in (("users", 0), ("users_in_period", n)):
            true = exact(path, place, calendar.span(first, n))  # a listed query may be nobody's
            shown = zip(rows["query"].to_pylist(), rows[column].to_pylist(), strict=True)
            known = [(query, value) for query, value in shown if value is not None and query in true]
            off = [abs(value - true[query]) / true[query] for query, value in known]
            middle = float(np.median(off)) if off else float("nan")
            numbers = f"{len(off)} of {rows.num_rows} shown, median relative error {middle:.3f}"
            said.append(f"  after {n + 1}, {column}: {numbers}")
    return "\n".join(said)


def equal(epsilon: str, place: Path) -> Mechanism:
    """crowd at the largest ε at which twelve releases together stay within (ε, δ), each with its part of δ."""
    with Ledger(place / "cap.sqlite") as book:
        book.cap("default", float(epsilon), float(DELTA))
        budget: dict[str, Any] = {"epsilon": epsilon, "delta": fitting.part_of(Fraction(DELTA), Fraction(1, PERIODS))}
        one = build("crowd", budget, tables=["queries"])
        return fitting.plan(book, "default", PERIODS, fitting.another(one)).mechanism


def drawn(mechanism: Mechanism, log: SearchLog, seed: int) -> set[str]:
    """The queries that one run would release."""
    measured = mechanism.measure(log, MODE)
    table = mechanism.draw(measured, SeededNoise(seed))["queries"]
    text = table.text or measured["queries"].text(log.engine, mechanism.offers["queries"], table.ids)
    return set(text.column("query").to_pylist())


def split(path: Path, place: Path, epsilon: str) -> list[int]:
    """How many distinct queries are out after each of twelve releases of all data so far."""
    mechanism, calendar, out, found = equal(epsilon, place), series(epsilon, "0").calendar, set[str](), []
    for n in range(PERIODS):
        with opened(path, place, calendar.span(0, n)) as log:
            out |= drawn(mechanism, log, n)
        found.append(len(out))
    return found


def cost(path: Path, place: Path, epsilon: str, counts: str) -> str:
    """CPU seconds of a series beside those of twelve plain releases of a period each; reading is left out of both."""
    _, own = whole_series(path, place / "cost", series(epsilon, counts))
    plain, mechanism, calendar = 0.0, equal(epsilon, place / "cost"), series(epsilon, "0").calendar
    with Ledger(place / "cost" / "plain.sqlite") as book:
        for n in range(PERIODS):
            span = calendar.span(n, n)
            stated = {"seed": 1, "not_private": True, "drop_outside": True, "new_population": True}
            plan = Plan(mechanism, place / f"plain-{n}", Owner(period=span), **stated)  # type: ignore[arg-type]
            with opened(path, place, span) as log:
                start = time.process_time()
                run_release(log, plan, book)
                plain += time.process_time() - start
    return f"series {own:.1f} CPU s, twelve plain releases {plain:.1f}, ratio {own / plain:.2f}"


if __name__ == "__main__":
    main()
