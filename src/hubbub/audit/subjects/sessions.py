"""How `sessions` is audited: many keys of one user, so that losses are added up key by key."""

from __future__ import annotations

from collections.abc import Iterator

from hubbub.audit.checks import standard
from hubbub.audit.checks.composed import composed
from hubbub.audit.mutants.sessions import SESSIONS
from hubbub.audit.neighbours.sessions import greedy_sessions, session_pairs, visit
from hubbub.audit.protocols import AuditRow, Effort, Event, Subject
from hubbub.audit.subjects import AuditPlan, Replaced, declare
from hubbub.mechanisms import Mechanism, build

BUDGET = {"epsilon": 1, "delta": "1e-6"}
ALONE = {"tables": ["sessions"]}


def small() -> list[Mechanism]:
    """Sessions and clicks together and sessions alone, short ones and those of default length."""
    return [
        build("sessions", {"l_q": 3, "l_s": 2, "l": 2, "b": "3/2", "K": 4}),
        build("sessions", {"l_q": 2, "b": 1, "K": 3}, **ALONE),
        build("sessions", {"l_q": 2, "l": 1, "b": 1, "K": 3}),
        build("sessions", {"b": 1, "K": 20}),
        build("sessions", {"l_q": 2, "b": 1, "K": 4}, variant="published", **ALONE),
        build("sessions", {"l_q": 2, "l": 1, "b": 1, "K": 6}, variant="published"),
        build("sessions", {"b": 1, "K": 20}, variant="published"),
    ]


def used() -> list[Mechanism]:
    """Settings that people release with."""
    return [
        build("sessions", BUDGET | {"l_s": 2, "l": 6}),
        build("sessions", BUDGET | {"l_q": 4}, neighbours="replace", **ALONE),
        build("sessions", BUDGET, variant="published"),
    ]


def replaced() -> list[Mechanism]:
    """Settings under replace at which a violation would show."""
    return [
        build("sessions", {"l_q": 2, "b": 1, "K": 3}, neighbours="replace", **ALONE),
        build("sessions", {"l_q": 2, "l": 1, "b": 1, "K": 3}, neighbours="replace"),
        build("sessions", {"l_q": 2, "b": 1, "K": 4}, variant="published", neighbours="replace", **ALONE),
    ]


def calibrated() -> list[Mechanism]:
    """Mechanisms calibrated from a budget (ε, δ)."""
    return [build("sessions", {"epsilon": 1, "delta": "1e-3"}, neighbours="replace")]


def behaviours(mechanism: Mechanism) -> tuple[tuple[Event, ...], tuple[Event, ...]]:
    """What a user may do instead: one session for another."""
    url = "site" if "clicks" in mechanism.tables else None
    return visit("victim", ["a1", "a2"], url), visit("victim", ["b1", "b2"], url)


def tests(subject: Subject, effort: Effort) -> Iterator[AuditRow]:
    """Those of any counts; before them each key by itself, as there are too many to enumerate together."""
    yield from standard.tests(subject, effort, session_pairs, testers=(composed,))


declare(
    AuditPlan(
        "sessions",
        small,
        used,
        pairs=session_pairs,
        greed=greedy_sessions,
        tests=tests,
        replaced=Replaced(replaced, calibrated, behaviours),
        mutants=lambda: SESSIONS,
    )
)
