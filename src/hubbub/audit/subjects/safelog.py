"""How `safelog` is audited: keys of a public pool, held by somebody or by nobody, under a pure guarantee."""

from __future__ import annotations

from collections.abc import Mapping

from hubbub.audit.made_up import PAGES as ALL_PAGES
from hubbub.audit.made_up import POOL as ALL
from hubbub.audit.mutants.safelog import SAFELOG
from hubbub.audit.neighbours import one_user
from hubbub.audit.neighbours.closed import ONE, PAGES, POOL, TWO
from hubbub.audit.protocols import Event
from hubbub.audit.subjects import AuditPlan, Replaced, declare
from hubbub.mechanisms import Mechanism, build
from hubbub.public.lists import QueryPool

QUERIES = ["queries"]


def _safelog(settings: Mapping[str, object], tables: list[str], pool: QueryPool, **context: object) -> Mechanism:
    return build("safelog", settings, tables=tables, pool=pool, **context)


def small() -> list[Mechanism]:
    """Small settings of both variants; those of the published one are the counterexamples' own."""
    clicks, walks = ["queries", "clicks"], ["queries", "transitions"]
    tau = {"tau": 1}
    return [
        _safelog({"q_f": 1, "b": 1, "K": 1}, QUERIES, POOL),
        _safelog({"q_f": 3, "c_t": 2, "b": 1, "b_t": 1, "K": 1, "K_t": 1}, walks, POOL),
        _safelog({"q_f": 1, "c_f": 1, "b": 1, "b_c": 1, "K": 1}, clicks, POOL, serp=PAGES),
        _safelog({"q_f": 2, "c_t": 1, "b": 1, "b_t": 1, "K": 1, "K_t": 1}, walks, TWO),
        _safelog({"q_f": 2, "b": "3/2", "K": 2}, QUERIES, POOL),
        _safelog({"q_f": 1, "b": 1, "K": 10, "b_q": 1}, QUERIES, ONE, variant="published"),
        _safelog({"q_f": 1, "b": 1, "K": 3, "b_q": 1, "p_g": "1/2"} | tau, QUERIES, ONE, variant="published"),
        _safelog({"q_f": 1, "c_f": 1, "b": 1, "K": 1, "b_q": 1, "b_c": 1} | tau, clicks, TWO, variant="published"),
    ]


def used() -> list[Mechanism]:
    """Settings that people release with."""
    return [
        build("safelog", {"epsilon": 1}, pool=ALL, serp=ALL_PAGES),
        _safelog({"epsilon": 2, "q_f": 5}, QUERIES, ALL, neighbours="replace"),
        _safelog({"epsilon": 1}, QUERIES, ALL, variant="published"),
    ]


def replaced() -> list[Mechanism]:
    """Settings under replace at which a violation would show."""
    return [
        _safelog({"q_f": 1, "b": 1, "K": 1}, QUERIES, TWO, neighbours="replace"),
        _safelog({"q_f": 2, "b": "3/2", "K": 2}, QUERIES, POOL, neighbours="replace"),
    ]


def calibrated() -> list[Mechanism]:
    """Mechanisms calibrated from a budget ε."""
    return [build("safelog", {"epsilon": 1}, pool=POOL, neighbours="replace")]


def behaviours(mechanism: Mechanism) -> tuple[tuple[Event, ...], tuple[Event, ...]]:
    """One query of the pool for another, as often as it counts."""
    most = int(mechanism.settings["q_f"])
    return one_user([("new", None)], most), one_user([("next", None)], most)


declare(AuditPlan("safelog", small, used, replaced=Replaced(replaced, calibrated, behaviours), mutants=lambda: SAFELOG))
