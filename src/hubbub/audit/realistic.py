"""Mechanisms at parameters that people release with: ε near 1, δ near 1e-6, usual bounds, both kinds of neighbours.

Samples can show nothing there, but certificates are recomputed, noise and thresholds are read off a run, and a greedy
user shows what one user can move. Every variant of every mechanism is here (a test asks).
"""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from hubbub.mechanisms import Mechanism, build
from hubbub.mechanisms.optimal import Optimal
from hubbub.public.lists import QueryPool, UrlList

MANY = [f"many{i:02d}" for i in range(60)]
PLACES = ["at", "at next", "under", "under next"]
KNOWN = [*PLACES, *MANY]
POOL = QueryPool("audit", pa.table({"query": KNOWN}), "0" * 64, len(KNOWN), "made for an audit")
PAGES = UrlList("audit", pa.table({"query": KNOWN, "url": ["site"] * len(KNOWN)}), "0" * 64)
BUDGET = {"epsilon": 1, "delta": "1e-6"}
TABLES = ["queries", "clicks"]

REALISTIC: dict[str, Callable[[], list[Mechanism]]] = {
    "crowd": lambda: [
        build("crowd", BUDGET),
        build("crowd", {"epsilon": 2, "delta": "1e-7"}, tables=["queries", "log"]),
        build("crowd", {"epsilon": "1/2", "delta": "1e-8", "rounds": 4, "D": 20}, tables=["queries"]),
    ],
    "gaussian": lambda: [build("gaussian", BUDGET), build("gaussian", BUDGET | {"weights": "sqrt"})],
    "geometric": lambda: [build("geometric", BUDGET | {"d": d}) for d in (1, 20)],
    "sips": lambda: [build("sips", BUDGET)],
    "adaptive": lambda: [build("adaptive", BUDGET), build("adaptive", BUDGET | {"rounds": 4, "d": 50})],
    "korolova": lambda: [
        build("korolova", BUDGET | {"d": 20, "d_c": 10}, tables=TABLES),
        build("korolova", BUDGET | {"d": 10}, neighbours="replace"),
        build("korolova", BUDGET | {"d": 5, "d_c": 4}, serp=PAGES),
        build("korolova", BUDGET | {"d": 8, "d_c": 5}, serp=PAGES, variant="published"),
        build("korolova", {"epsilon": 8, "delta": "1e-6", "d": 2}, variant="published"),
    ],
    "zealous": lambda: [
        build("zealous", BUDGET | {"m": 10, "tau": 3}, tables=["queries", "transitions"]),
        build("zealous", BUDGET | {"m": 5, "keep": "random"}, tables=["keywords", "clicks"], neighbours="replace"),
        build("zealous", {"epsilon": 1, "delta": "1e-4", "m": 5, "U": 10**6}, variant="published"),
        build("zealous", BUDGET | {"m": 4, "analysis": "indistinguishability"}, variant="published"),
    ],
    "safelog": lambda: [
        build("safelog", {"epsilon": 1}, pool=POOL, serp=PAGES),
        build("safelog", {"epsilon": 2, "q_f": 5}, pool=POOL, tables=["queries"], neighbours="replace"),
        build("safelog", {"epsilon": 1}, pool=POOL, tables=["queries"], variant="published"),
    ],
    "sessions": lambda: [
        build("sessions", BUDGET | {"l_s": 2, "l": 6}),
        build("sessions", BUDGET | {"l_q": 4}, tables=["sessions"], neighbours="replace"),
        build("sessions", BUDGET, variant="published"),
    ],
    "optimal": lambda: [
        build("optimal", BUDGET | {"d": 5}),
        build("optimal", BUDGET, neighbours="replace"),
        build("optimal", BUDGET, variant="published"),
    ],
    **{
        name: lambda name=name: [build(name, {})]  # type: ignore[misc]
        for name in ("k-query", "k-session", "k-keyword", "k-click", "pseudonyms", "token-hash")
    },
}


def runs_as(mechanism: Mechanism) -> Mechanism:
    """What draws the noise: of `optimal` strict, its histograms; the log it writes is made from them."""
    return mechanism.histograms if isinstance(mechanism, Optimal) and mechanism.variant == "strict" else mechanism
