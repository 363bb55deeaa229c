"""The audit of a synthetic log finds nothing in the installed code, and every mutant of it."""

from __future__ import annotations

import pytest

from hubbub.audit import logs
from hubbub.audit.mutants import MUTANTS, Mutant
from hubbub.audit.mutants_log import LOG
from hubbub.audit.protocols import Subject
from hubbub.audit.suite import SUBJECTS
from hubbub.mechanisms import Mechanism


def subject() -> Mechanism:
    return next(m for m in SUBJECTS["crowd"]() if "log" in m.tables)


def test_the_installed_code_is_not_refuted() -> None:
    rows = list(logs.tests(Subject.of(subject())))
    assert len(rows) >= 20
    assert [r for r in rows if r.refuted] == []
    shares = [r.observed for r in rows if r.check.startswith("one user's share")]
    assert max(shares) > 0.95, "the greedy users do not reach the bound"


@pytest.mark.parametrize("mutant", LOG, ids=[m.name for m in LOG])
def test_a_mutant_is_caught(mutant: Mutant) -> None:
    assert mutant in MUTANTS["crowd"]
    assert any(row.refuted for row in logs.tests(mutant.make(subject())))
