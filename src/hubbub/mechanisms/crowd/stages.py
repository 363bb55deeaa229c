"""Which stages run for the tables asked for, and what each gets of the budget.

Weights are shares of μ²; they are fixed before the log is opened and never moved because of an outcome. A table
that others depend on is selected even if it was not asked for, but then nothing is spent on its counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from hubbub.mechanisms.base import Parameter, Value
from hubbub.mechanisms.crowd.calibrate import StagePlan
from hubbub.steps.keys import base_of

HISTOGRAMS = ("activity", "session length", "clicks per search", "hour of week")
"""What the synthetic log learns besides the tables, each one histogram over public bins."""
SEQUENCES = {"sequences 3": 3, "sequences 4": 4}
"""Sessions are found level by level."""
NEEDS = {
    "queries": (),
    "clicks": ("queries",),
    "transitions": ("queries",),
    "sessions": ("queries", "transitions"),
    "keywords": ("queries",),
    "log": ("queries", "clicks", "transitions", "sessions"),
}
POOLS = {"queries": "D", "clicks": "D_c", "transitions": "D_t", "sessions": "D_s"}
RECOUNTED = {"queries": (10, 60), "clicks": (10, 40), "transitions": (5, 15), "sessions": (4, 8)}
"""Recount: typical released keys of a user (d_c), and the most that count in the kept total (B)."""
KEYWORDS = (10, 60)

WEIGHTS = tuple(
    Parameter(f"{name}_weight", "number", f"weight of {what} in the budget", default, low=0, open_low=True, high=1000)
    for name, what, default in (
        ("queries", "queries", 45),
        ("clicks", "clicks", 30),
        ("transitions", "transitions", 20),
        ("sessions", "sessions of three and four queries", 5),
        ("keywords", "keywords", 2),
        ("histogram", "each histogram behind the synthetic log", 1),
        ("groups", "tables by group, for every 100 of the table they divide,", 30),
    )
)
PARTS = (
    Parameter("recount", "integer", "thousandths of a table's budget for its recount", 60, low=1, high=900),
    Parameter("kept", "integer", "thousandths of a table's budget for its kept total", 10, low=1, high=90),
)
LIMITS = (
    Parameter("D", "integer", "distinct queries of a user that take part in the selection", 100, low=1, high=1000),
    Parameter("D_c", "integer", "distinct clicks of a user that take part", 50, low=1, high=1000),
    Parameter("D_t", "integer", "distinct transitions of a user that take part", 50, low=1, high=1000),
    Parameter("D_s", "integer", "distinct sequences of a user that take part, per length", 20, low=1, high=1000),
    Parameter("D_g", "integer", "distinct keys by group of a user that take part", 10_000, low=1, high=100_000),
)
SIZES = Fraction(1, 100)
"""The part of a table by group that says how large the groups are."""
SHORT_KEPT = 5
"""Transitions and sessions give their kept total a fifth of the usual part."""


def running(tables: tuple[str, ...]) -> tuple[str, ...]:
    """The selecting tables that run: those asked for, and what they need. Clicks alone need no queries."""
    if tables == ("clicks",):
        return tables
    bases = {base_of(t) for t in tables}
    wanted = {t for t in bases if t in POOLS} | {need for t in bases for need in NEEDS[t]}
    return tuple(t for t in POOLS if t in wanted)


def plans(tables: tuple[str, ...], settings: Mapping[str, Value]) -> list[StagePlan]:
    """All stages in the order they run."""
    found: list[StagePlan] = []
    counted = POOLS if "log" in tables else tables  # the synthetic log walks by the counts
    for name in running(tables):
        recount = int(settings["recount"])
        kept = int(settings["kept"]) if name in ("queries", "clicks") else max(1, int(settings["kept"]) // SHORT_KEPT)
        selection = 1000 - recount - kept
        weight = Fraction(settings[f"{name}_weight"])
        if name == "queries" and "keywords" in tables:
            weight -= Fraction(settings["keywords_weight"])
        inner = (selection, recount, kept)
        if name not in counted:
            weight, inner = weight * Fraction(selection, 1000), (1000, 0, 0)
        stages = list(SEQUENCES) if name == "sessions" else [name]
        found += [
            StagePlan(
                stage,
                weight / len(stages),
                int(settings[POOLS[name]]),
                inner,
                *RECOUNTED[name],
                open=name in ("queries", "clicks"),
            )
            for stage in stages
        ]
    found += _by_group(tables, settings)
    if "keywords" in tables:
        found.append(StagePlan("keywords", Fraction(settings["keywords_weight"]), 0, (0, 900, 100), *KEYWORDS))
    if "log" in tables:
        weight = Fraction(settings["histogram_weight"])
        found += [StagePlan(name, weight, 0, (0, 1000, 0), 0, 0) for name in HISTOGRAMS]
    return found


def _by_group(tables: tuple[str, ...], settings: Mapping[str, Value]) -> list[StagePlan]:
    """Tables by group: all groups of a table share a weight that follows from its own."""
    bases = [base_of(table) for table in tables if base_of(table) != table]
    if not bases:
        return []
    part, recount, kept = Fraction(settings["groups_weight"]) / 100, int(settings["recount"]), int(settings["kept"])
    found = []
    for table in tables:
        if (base := base_of(table)) != table:
            weight = Fraction(settings[f"{base}_weight"]) * part / bases.count(base)
            inner = 1000 - recount - kept, recount, kept
            found.append(StagePlan(sizes_of(table), weight * SIZES, 0, (0, 1000, 0), 0, 0))
            pool = int(settings["D_g"])
            found.append(StagePlan(table, weight * (1 - SIZES), pool, inner, *RECOUNTED[base], open=False))
    return found


def sizes_of(table: str) -> str:
    """The stage that says how large the groups of a table are."""
    return f"{table} sizes"


def used(tables: tuple[str, ...]) -> set[str]:
    """The parameters that something depends on when these tables are asked for."""
    names = {"epsilon", "delta", "rounds", "recount", "kept"}
    for name in running(tables):
        names |= {POOLS[name], f"{name}_weight"}
    if "keywords" in tables:
        names.add("keywords_weight")
    if "log" in tables:
        names.add("histogram_weight")
    if "transitions" in running(tables):
        names.add("F")
    if any(base_of(table) != table for table in tables):
        names |= {"F", "D_g", "groups_weight", "one_group"}
    return names
