"""How the anonymity baselines are audited: that they are what they say, and that it is worth nothing."""

from __future__ import annotations

from collections.abc import Iterator

from hubbub.audit.checks import anonymity, standard
from hubbub.audit.mutants import Mutant
from hubbub.audit.mutants.anonymity import (
    LEFT_OVER,
    LOWER,
    NOT_PEELED,
    NOT_SIMILAR,
    PER_SEARCH,
    REPEATS,
    SAME_USERS,
    SAME_WORDS,
    TOO_HIGH,
)
from hubbub.audit.protocols import AuditRow, Effort, Subject
from hubbub.audit.subjects import AuditPlan, declare
from hubbub.mechanisms import build


def tests(subject: Subject, effort: Effort) -> Iterator[AuditRow]:
    """Nothing is promised, and the property that is stated holds."""
    yield from standard.certificate(subject)
    yield from anonymity.tests(subject)


def plan(name: str, *mutants: Mutant, **settings: int) -> AuditPlan:
    """The audit plan of one baseline."""
    return AuditPlan(
        name, lambda: [build(name, settings)], lambda: [build(name, {})], tests=tests, mutants=lambda: mutants
    )


declare(plan("k-query", LOWER, REPEATS, k=anonymity.K))
declare(plan("k-session", LOWER, LEFT_OVER, k=anonymity.K))
declare(plan("k-keyword", LOWER, REPEATS, TOO_HIGH, k=anonymity.K))
declare(plan("k-click", LOWER, REPEATS, k=anonymity.K))
declare(plan("pseudonyms", SAME_USERS))
declare(plan("token-hash", SAME_WORDS))
declare(plan("secret-sharing", LOWER, PER_SEARCH, k=anonymity.K))
declare(plan("k-vocabulary", LOWER, k=anonymity.K))
declare(plan("k-core", LOWER, NOT_PEELED, k=anonymity.K))
declare(plan("k-similar", LOWER, NOT_SIMILAR, k=anonymity.K))
