"""How `ngrams` is audited: sequences of users' histories behind one threshold."""

from __future__ import annotations

from collections.abc import Iterable

from hubbub.audit.mutants.ngrams import NGRAMS
from hubbub.audit.neighbours import one_user, threshold_pairs
from hubbub.audit.protocols import Event, Pair
from hubbub.audit.subjects import AuditPlan, Replaced, declare
from hubbub.mechanisms import Mechanism, build

BUDGET = {"epsilon": 1, "delta": "1e-6"}


def small() -> list[Mechanism]:
    """Two searches of a user, and two with what they make together."""
    return [
        build("ngrams", {"l_max": 2, "n_max": 1, "b": 1, "K": 3}),
        build("ngrams", {"l_max": 2, "n_max": 2, "b": "3/2", "K": 3}),
    ]


def used() -> list[Mechanism]:
    """Settings that people release with."""
    return [build("ngrams", BUDGET), build("ngrams", BUDGET | {"l_max": 10, "n_max": 2}, neighbours="replace")]


def replaced() -> list[Mechanism]:
    """Settings under replace at which a violation would show."""
    return [
        build("ngrams", {"l_max": 1, "n_max": 1, "b": 1, "K": 3}, neighbours="replace"),
        build("ngrams", {"l_max": 2, "n_max": 1, "b": 1, "K": 3}, neighbours="replace"),
    ]


def calibrated() -> list[Mechanism]:
    """Mechanisms calibrated from a budget (ε, δ)."""
    return [build("ngrams", {"epsilon": 1, "delta": "1e-3", "l_max": 2, "n_max": 1}, neighbours="replace")]


def pairs(mechanism: Mechanism) -> Iterable[Pair]:
    """What is bad for any threshold; then one query again and again, and a history far longer than l_max."""
    yield from threshold_pairs(mechanism)
    others = tuple((f"user{i}", 5 * i, "again", None) for i in range(3))
    yield Pair("one query again and again", others, others + one_user([("again", None)], 6), False)
    long = one_user([(f"long{i}", None) for i in range(int(mechanism.settings["l_max"]) + 4)])
    yield Pair("a long history", others, others + long, False)


def behaviours(mechanism: Mechanism) -> tuple[tuple[Event, ...], tuple[Event, ...]]:
    """Searches of her own for other searches of her own, as many as count."""
    most = int(mechanism.settings["l_max"])
    one, other = (one_user([(f"{name}{i}", None) for i in range(most)]) for name in "ab")
    return one, other


declare(
    AuditPlan(
        "ngrams",
        small,
        used,
        pairs=pairs,
        replaced=Replaced(replaced, calibrated, behaviours),
        mutants=lambda: NGRAMS,
    )
)
