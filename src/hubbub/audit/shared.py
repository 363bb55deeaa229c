"""Audits of what every mechanism rests on: reading, writing, booking, noise in parts, the constants of a chain."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from hubbub.audit.checks import (
    adaptive,
    by_hand,
    engine,
    independence,
    listed,
    parts,
    prior,
    replay,
    sizes,
    static,
    sums,
    taint,
    ties,
    two_stages,
)
from hubbub.audit.checks.whole import FULL, QUICK, whole_runs
from hubbub.audit.protocols import SHARED, AuditRow, to_the_end

DETECTORS: tuple[Callable[[], Iterable[AuditRow]], ...] = (
    taint.records,
    taint.people,
    taint.undeclared,
    taint.public,
    taint.order,
    taint.scores,
    static.books,
    adaptive.steering,
    adaptive.stopping,
    adaptive.prices,
    replay.tests,
    static.previous,
    static.same_data,
    static.unproven,
    static.slack,
    static.forked,
    engine.shares,
    parts.tests,
    two_stages.tests,
    independence.tests,
    sizes.tests,
    sums.tests,
    by_hand.tests,
    prior.shares,
    ties.tests,
    listed.public,
)


def tests(quick: bool) -> Iterator[AuditRow]:
    """Every check of shared code; a quick audit runs the command less often."""
    for detector in (*DETECTORS, whole_runs(QUICK if quick else FULL)):
        yield from to_the_end(SHARED, "both", detector())
