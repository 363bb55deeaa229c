"""All tables from one budget, beside strict ZEALOUS at the same total; and what a public list adds.

    python bench/utility.py --joint [--users 200000] [--draws 5] [--data FOLDER]

crowd at its defaults; ZEALOUS splits ε and δ equally over its tables and runs at its best m, chosen by looking at the
result. The list is 30 % of the true top 20,000 queries with five times as many that nobody asked.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from hubbub.log import SearchLog
from hubbub.mechanisms import Mechanism, build
from hubbub.noise import SeededNoise
from hubbub.public.lists import QueryPool
from hubbub.steps.mode import RunMode

TABLES = ("queries", "clicks", "transitions")
BUDGETS = (("2", "1e-6"), ("1", "1e-6"), ("4", "1e-7"))
MODE = RunMode(b"bench/joint.py..")


def sizes(log: SearchLog, mechanism: Mechanism, draws: int) -> dict[str, float]:
    """Mean number of rows of each table."""
    found: dict[str, list[int]] = {}
    measured = mechanism.measure(log, MODE)
    for seed in range(draws):
        if hasattr(measured["queries"], "again"):
            measured["queries"].again()
        for table, released in mechanism.draw(measured, SeededNoise(seed)).items():
            found.setdefault(table, []).append(int(released.ids.size))
    return {table: float(np.mean(n)) for table, n in found.items()}


def joint(log: SearchLog, epsilon: str, delta: str, draws: int) -> None:
    """One row per mechanism."""
    budget: dict[str, Any] = {"epsilon": epsilon, "delta": delta}
    alone = sizes(log, build("crowd", budget, tables=["queries"]), draws)["queries"]
    crowd = sizes(log, build("crowd", budget), draws)
    tried = [sizes(log, build("zealous", budget | {"m": m}, tables=TABLES), draws) for m in (1, 2, 5)]
    rival = {table: max(found[table] for found in tried) for table in TABLES}
    for table, n in crowd.items():
        share = f", {n / alone:.0%} of queries alone" if table == "queries" else ""
        best = f"{rival[table]:,.0f} | {n / max(1.0, rival[table]):.1f} ×" if table in rival else "– | –"
        print(f"| {epsilon}, {delta} | {table} | {n:,.0f}{share} | {best} |", flush=True)


def known(log: SearchLog, exact: dict[str, int], epsilon: str, delta: str, draws: int) -> None:
    """Queries with and without a list, and how many of them nobody asked."""
    top = sorted(exact, key=lambda q: -exact[q])[:20_000]
    kept = np.flatnonzero(np.random.default_rng(5).random(len(top)) < 0.3)
    queries = sorted([top[i] for i in kept] + [f"nobody asked {i}" for i in range(5 * kept.size)])
    listed = QueryPool("list", pa.table({"query": queries}), "0" * 64, len(queries), "benchmark", "list")
    found: dict[bool, list[int]] = {False: [], True: []}
    false = []
    for use in found:
        mechanism = build(
            "crowd", {"epsilon": epsilon, "delta": delta}, tables=["queries"], public_list=listed if use else None
        )
        for seed in range(draws):
            measured = mechanism.measure(log, MODE)
            out = mechanism.draw(measured, SeededNoise(seed))["queries"]
            texts = (
                measured["queries"].text(log.engine, mechanism.offers["queries"], out.ids).column("query").to_pylist()
            )
            found[use].append(len(texts))
            if use:
                false.append(sum(t.startswith("nobody asked ") for t in texts))
    plain, more = (float(np.mean(n)) for n in found.values())
    print(
        f"| {epsilon}, {delta} | {plain:,.0f} | {more:,.0f} | {more / plain - 1:+.0%} | {np.mean(false):.1f} |",
        flush=True,
    )


def tables(name: str, log: SearchLog, exact: dict[str, int], draws: int) -> None:
    """Both tables as Markdown."""
    print(f"\n**{name}, all tables from one budget** ({draws} draws)\n")
    print("| ε, δ | table | crowd | zealous strict, same total | ratio |\n|---|---|---|--:|--:|")
    for epsilon, delta in BUDGETS:
        joint(log, epsilon, delta, draws)
    print(f"\n**{name}, a public list of known queries** ({draws} draws; 1 of nobody allowed)\n")
    print("| ε, δ | without | with | | of nobody |\n|---|--:|--:|--:|--:|")
    for epsilon, delta in BUDGETS:
        known(log, exact, epsilon, delta, draws)
