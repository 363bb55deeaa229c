"""How `zealous` is audited: counts behind a filter and a threshold, and the paper's probabilistic definition."""

from __future__ import annotations

from collections.abc import Iterator

from hubbub.audit.checks import clicked, standard
from hubbub.audit.checks.probabilistic import probabilistic
from hubbub.audit.made_up import PAGES, pages
from hubbub.audit.mutants.zealous import ZEALOUS
from hubbub.audit.protocols import AuditRow, Effort, Subject
from hubbub.audit.subjects import AuditPlan, Replaced, declare
from hubbub.mechanisms import Mechanism, build

LISTED = pages(*((query, "site") for query in ("known", "q0", "q1", "first", "second")))
"""A public result list that holds the keys of the neighbouring logs."""
EQUATION_3 = "indistinguishability"
BUDGET = {"epsilon": 1, "delta": "1e-6"}


def small() -> list[Mechanism]:
    """Every table, either way of keeping items, both analyses of the paper."""
    return [
        build("zealous", {"m": 1, "lambda": 1, "tau_prime": 3}),
        build("zealous", {"m": 2, "lambda": 1, "tau": 3, "tau_prime": 6}),
        build("zealous", {"m": 2, "lambda": "3/2", "tau": 2, "tau_prime": 6}, tables=["keywords"]),
        build("zealous", {"m": 2, "lambda": 1, "tau": 2, "tau_prime": 5, "keep": "random"}, tables=["clicks"]),
        build("zealous", {"m": 1, "lambda": 1, "tau": 2, "tau_prime": 5}, tables=["transitions"]),
        build("zealous", {"m": 1, "lambda": 1, "tau": 2, "tau_prime": 5}, tables=["keywords", "queries"]),
        build("zealous", {"m": 1, "lambda": 1, "tau_prime": 3}, serp=LISTED),
        build("zealous", {"m": 1, "lambda": 1, "tau": 2, "tau_prime": 5, "of": "queries"}, tables=["itemsets"]),
        build("zealous", {"m": 1, "lambda": 1, "tau": 2, "tau_prime": 6, "U": 6}, variant="published"),
        build("zealous", {"m": 1, "lambda": 2, "tau_prime": "3.3", "analysis": EQUATION_3}, variant="published"),
    ]


def used() -> list[Mechanism]:
    """Settings that people release with."""
    return [
        build("zealous", BUDGET | {"m": 10, "tau": 3}, tables=["queries", "transitions"]),
        build("zealous", BUDGET | {"m": 5, "keep": "random"}, tables=["keywords", "clicks"], neighbours="replace"),
        build("zealous", {"epsilon": 1, "delta": "1e-4", "m": 5, "U": 10**6}, variant="published"),
        build("zealous", BUDGET | {"m": 5, "tau": 3}, serp=PAGES, neighbours="replace"),
        build("zealous", {"epsilon": 2, "delta": "1e-3", "m": 5, "U": 10**6}, serp=PAGES, variant="published"),
        build("zealous", BUDGET | {"m": 4, "analysis": EQUATION_3}, variant="published"),
    ]


def replaced() -> list[Mechanism]:
    """Small settings under replace, the relation of the paper's theorem."""
    queries = {"tables": ["queries"]}
    return [
        build("zealous", {"m": 1, "lambda": 1, "tau": 2, "tau_prime": 4}, neighbours="replace", **queries),
        build("zealous", {"m": 2, "lambda": 1, "tau_prime": 3}, neighbours="replace", **queries),
        build("zealous", {"m": 1, "lambda": 1, "tau": 2, "tau_prime": 6, "U": 6}, variant="published", **queries),
    ]


def calibrated() -> list[Mechanism]:
    """Mechanisms calibrated from a budget (ε, δ)."""
    return [build("zealous", {"epsilon": 1, "delta": "1e-3", "m": 2}, neighbours="replace")]


def tests(subject: Subject, effort: Effort) -> Iterator[AuditRow]:
    """Those of any counts, and every log of a few users for the probabilistic definition."""
    yield from standard.tests(subject, effort, more=(probabilistic,))


declare(
    AuditPlan(
        "zealous",
        small,
        used,
        tests=tests,
        besides=(clicked.of_zealous,),
        replaced=Replaced(replaced, calibrated),
        mutants=lambda: ZEALOUS,
    )
)
