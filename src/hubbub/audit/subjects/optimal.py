"""How `optimal` is audited: strict by the two histograms that draw its noise, published by the rows it draws."""

from __future__ import annotations

from collections.abc import Iterator

from hubbub.audit.checks import drawn, standard
from hubbub.audit.mutants.optimal import OPTIMAL
from hubbub.audit.neighbours import one_user
from hubbub.audit.protocols import AuditRow, Effort, Event, Subject
from hubbub.audit.subjects import AuditPlan, Replaced, declare
from hubbub.mechanisms import Mechanism, build
from hubbub.mechanisms.optimal import Optimal
from hubbub.mechanisms.optimal.histograms import Histograms

BUDGET = {"epsilon": 1, "delta": "1e-6"}


def small() -> list[Mechanism]:
    """The histograms behind the strict variant, and both goals of the published one."""
    return [
        Histograms(d=1, bins=1, b=1, b_a=1, T=4),
        Histograms(d=2, bins=2, b="3/2", b_a=2, T=4),
        build("optimal", {"epsilon": "0.7", "delta": "0.5", "seconds": 5}, variant="published"),
        build("optimal", {"epsilon": "0.4", "delta": "0.9", "goal": "diverse"}, variant="published"),
    ]


def used() -> list[Mechanism]:
    """Settings that people release with."""
    return [
        build("optimal", BUDGET | {"d": 5}),
        build("optimal", BUDGET, neighbours="replace"),
        build("optimal", BUDGET, variant="published"),
    ]


def runs_as(mechanism: Mechanism) -> Mechanism:
    """Of the strict variant, its histograms; the log it writes is made from them."""
    return mechanism.histograms if isinstance(mechanism, Optimal) and mechanism.variant == "strict" else mechanism


def replaced() -> list[Mechanism]:
    """Settings under replace at which a violation would show."""
    return [
        Histograms(d=1, bins=1, b=1, b_a=1, T=4, neighbours="replace"),
        Histograms(d=2, bins=2, b="3/2", b_a=2, T=4, neighbours="replace"),
    ]


def calibrated() -> list[Mechanism]:
    """Mechanisms calibrated from a budget (ε, δ)."""
    return [build("optimal", {"epsilon": 1, "delta": "1e-3", "d": 2}, neighbours="replace")]


def behaviours(mechanism: Mechanism) -> tuple[tuple[Event, ...], tuple[Event, ...]]:
    """Other pairs, and three times as busy: another bin of activity."""
    d = max(step.l0 for step in mechanism.steps())
    return one_user([(f"a{i}", "site") for i in range(d)]), one_user([(f"b{i}", "site") for i in range(d)], 3)


def tests(subject: Subject, effort: Effort) -> Iterator[AuditRow]:
    """Strict: those of any counts. Published: who is drawn."""
    if subject.mechanism.variant == "published":
        yield from standard.certificate(subject)
        yield from drawn.tests(subject)
    else:
        yield from standard.tests(subject, effort)


declare(
    AuditPlan(
        "optimal",
        small,
        used,
        runs_as,
        tests=tests,
        replaced=Replaced(replaced, calibrated, behaviours),
        mutants=lambda: OPTIMAL,
    )
)
