"""Planted faults are where the code is, and a mutant that stumbles does not end the run of the others.

That each mutant is caught is tried in tests/statistical/test_audit.py.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from dataclasses import replace

import pytest
from tests.conftest import Hubbub

from hubbub.audit.mutants import Mutant
from hubbub.audit.mutants.fault import Fault
from hubbub.audit.mutants.shared import SHARED_MUTANTS
from hubbub.audit.protocols import AuditRow, Subject, shared_faults
from hubbub.audit.subjects import PLANS
from hubbub.mechanisms.base import Mechanism


def test_every_fault_has_a_place_and_is_taken_out_again() -> None:
    """Code that moves takes its faults along; nobody after them meets one."""
    for fault in SHARED_MUTANTS:
        sound = [pkgutil.resolve_name(target) for target in fault.changes]
        with fault.planted():
            assert [pkgutil.resolve_name(target) for target in fault.changes] != sound or not sound, fault.name
        assert [pkgutil.resolve_name(target) for target in fault.changes] == sound, fault.name


def stumbling() -> Iterator[AuditRow]:
    raise KeyError("n")
    yield


def test_a_mutant_that_stumbles_is_an_error_of_its_own_and_the_others_run(
    hubbub: Hubbub, monkeypatch: pytest.MonkeyPatch
) -> None:
    def make(mechanism: Mechanism) -> Subject:
        raise ZeroDivisionError(mechanism.name)

    faults = (
        Fault("stumbles", stumbling, {}),
        Fault("is nowhere", stumbling, {"hubbub.files:nothing": lambda f: f}),
        Fault("is seen", lambda: [shared_faults("all", 1)], {}),
        Fault("is not seen", lambda: [shared_faults("all", 0)], {}),
    )
    monkeypatch.setattr("hubbub.audit.suite.SHARED_MUTANTS", faults)
    plan = replace(PLANS["korolova"], mutants=lambda: (Mutant("cannot be made", make),))
    monkeypatch.setattr("hubbub.audit.suite.plan_of", lambda _: plan)
    shared = hubbub("audit", "--mechanism", "shared", "--mutants", code=1).output
    assert (
        "error   shared: stumbles, by KeyError: 'n'" in shared and "error   shared: is nowhere, by KeyError" in shared
    )
    assert "caught  shared: is seen" in shared and "missed  shared: is not seen" in shared
    assert "3 of 4 mutants not caught; 2 of them ended with an error of their own." in shared
    own = hubbub("audit", "--mechanism", "korolova", "--mutants", code=1).output
    assert "error   korolova: cannot be made, by ZeroDivisionError: korolova" in own and "1 of 1 mutant not" in own
