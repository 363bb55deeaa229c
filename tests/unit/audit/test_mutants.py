"""Planted faults are where the code is; that each is caught is tried in tests/statistical/test_audit.py."""

from __future__ import annotations

import pytest

from hubbub.audit.mutants.fault import Fault
from hubbub.audit.mutants.shared import SHARED_MUTANTS


@pytest.mark.parametrize("fault", SHARED_MUTANTS, ids=lambda f: f.name)
def test_every_fault_has_a_place(fault: Fault) -> None:
    """Code that moves takes its faults along."""
    with fault.planted():
        pass
