"""How `korolova` is audited: counts and thresholds, clicks on a public result list, pairs of queries."""

from __future__ import annotations

from hubbub.audit.checks import clicked
from hubbub.audit.made_up import PAGES, pages
from hubbub.audit.mutants import COUNTS
from hubbub.audit.subjects import AuditPlan, Replaced, declare
from hubbub.mechanisms import Mechanism, build

LISTED = pages(*((query, "site") for query in ("known", "q0", "q1", "first", "second")))
"""A public result list that holds the keys of the neighbouring logs."""
EXCHANGED = pages(("a0", "site"), ("b0", "site"))
BUDGET = {"epsilon": 1, "delta": "1e-6"}
TABLES = ["queries", "clicks"]


def small() -> list[Mechanism]:
    """One key of a user or two, either way of keeping them, clicks learned from the log and from a list."""
    return [
        build("korolova", {"d": 1, "b": 1, "K": 3}),
        build("korolova", {"d": 2, "b": 1, "K": 3}),
        build("korolova", {"d": 2, "b": "3/2", "K": 3, "keep": "random"}),
        build("korolova", {"d": 1, "d_c": 1, "b": 1, "K": 3, "b_c": 1, "K_c": 3}, tables=TABLES),
        build("korolova", {"d": 1, "d_c": 2, "b": 1, "K": 3, "b_c": 1}, serp=LISTED),
        build("korolova", {"d_t": 2, "b_t": 1, "K_t": 3}, tables=["transitions"]),
        build("korolova", {"d": 2, "b": 1, "K": 4, "b_q": 1}, variant="published"),
        build("korolova", {"d": 1, "b": 1, "K": 4, "b_q": 1}, variant="published"),
    ]


def used() -> list[Mechanism]:
    """Settings that people release with."""
    return [
        build("korolova", BUDGET | {"d": 20, "d_c": 10}, tables=TABLES),
        build("korolova", BUDGET | {"d": 10, "d_t": 5}, tables=["queries", "transitions"]),
        build("korolova", BUDGET | {"d": 10}, neighbours="replace"),
        build("korolova", BUDGET | {"d": 5, "d_c": 4}, serp=PAGES),
        build("korolova", BUDGET | {"d": 8, "d_c": 5}, serp=PAGES, variant="published"),
        build("korolova", {"epsilon": 8, "delta": "1e-6", "d": 2}, variant="published"),
    ]


def replaced() -> list[Mechanism]:
    """Settings under replace at which a violation would show."""
    return [
        build("korolova", {"d": 1, "b": 1, "K": 3}, neighbours="replace"),
        build("korolova", {"d": 2, "b": 1, "K": 3}, neighbours="replace"),
        build("korolova", {"d": 1, "d_c": 1, "b": 1, "K": 3, "b_c": 1}, serp=EXCHANGED, neighbours="replace"),
    ]


def calibrated() -> list[Mechanism]:
    """Mechanisms calibrated from a budget (ε, δ)."""
    settings = {"epsilon": 1, "delta": "1e-3", "d": 2, "d_c": 2}
    return [build("korolova", settings, tables=TABLES, neighbours="replace")]


declare(
    AuditPlan(
        "korolova",
        small,
        used,
        besides=(clicked.of_korolova,),
        replaced=Replaced(replaced, calibrated),
        mutants=lambda: COUNTS,
    )
)
