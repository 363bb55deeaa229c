"""How `crowd` is audited: selections in rounds, stages that follow from the first, a synthetic log, lists."""

from __future__ import annotations

from collections.abc import Iterator

from hubbub.audit.checks import ballots, groups, listed, logs, prior, standard
from hubbub.audit.mutants.chain import CHAIN
from hubbub.audit.mutants.log import LOG
from hubbub.audit.mutants.pools import POOLS
from hubbub.audit.protocols import AuditRow, Effort, Subject
from hubbub.audit.subjects import AuditPlan, declare
from hubbub.mechanisms import Mechanism, build

TABLES = ["queries", "clicks", "transitions"]


def small() -> list[Mechanism]:
    """Rounds of every number, a chain of stages, every table, a synthetic log; all queries weigh the same."""
    return [
        build("crowd", {"language": "none", **settings}, tables=tables)
        for settings, tables in (
            ({"epsilon": 1, "delta": "0.05", "D": 2, "rounds": 2}, ["queries"]),
            ({"epsilon": "1/2", "delta": "0.05", "D": 1, "rounds": 4}, ["queries"]),
            ({"epsilon": 1, "delta": "0.02", "D": 4, "rounds": 4}, ["queries"]),
            ({"epsilon": 2, "delta": "0.02", "D": 3, "rounds": 1}, ["queries"]),
            ({"epsilon": 1, "delta": "0.02", "D": 3, "D_c": 4, "D_t": 4, "F": 10**9}, TABLES),
            ({"epsilon": 1, "delta": "0.05", "D": 3, "D_c": 2, "D_t": 4, "D_s": 2}, None),
            ({"epsilon": 8, "delta": "0.05", "D": 3, "D_c": 3}, ["queries", "log"]),
        )
    ]


def used() -> list[Mechanism]:
    """Settings that people release with."""
    return [
        build("crowd", {"epsilon": 1, "delta": "1e-6"}),
        build("crowd", {"epsilon": 2, "delta": "1e-7"}, tables=["queries", "log"]),
        build("crowd", {"epsilon": "1/2", "delta": "1e-8", "rounds": 4, "D": 20}, tables=["queries"]),
    ]


def tests(subject: Subject, effort: Effort) -> Iterator[AuditRow]:
    """Its rounds and stages; where a log is released, the log."""
    if "log" in subject.mechanism.tables:
        yield from standard.certificate(subject)
        yield from logs.tests(subject)
    else:
        yield from standard.tests(subject, effort)


declare(
    AuditPlan(
        "crowd",
        small,
        used,
        tests=tests,
        besides=(listed.of_rounds, listed.sampled, prior.known, ballots.tests, groups.tests),
        mutants=lambda: (*POOLS, *CHAIN, *LOG),
    )
)
