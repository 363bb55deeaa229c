"""The audit of a synthetic log finds nothing in the installed code. Its mutants: test_audit."""

from __future__ import annotations

import pytest

from hubbub.audit.checks import logs
from hubbub.audit.protocols import Subject
from hubbub.audit.subjects import PLANS
from hubbub.mechanisms import Mechanism


def subject() -> Mechanism:
    return next(m for m in PLANS["crowd"].small() if "log" in m.tables)


@pytest.mark.slow
def test_the_installed_code_is_not_refuted() -> None:
    rows = list(logs.tests(Subject.of(subject())))
    assert len(rows) >= 20
    assert [r for r in rows if r.refuted] == []
    shares = [r.observed for r in rows if r.check.startswith("one user's share")]
    assert max(shares) > 0.95, "the greedy users do not reach the bound"
