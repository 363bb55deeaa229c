"""Every fault of shared code can be planted: the function that it replaces is still called by that name."""

from __future__ import annotations

import pytest

from hubbub.audit.mutants.fault import Fault
from hubbub.audit.mutants.shared import SHARED_MUTANTS


@pytest.mark.parametrize("fault", SHARED_MUTANTS, ids=lambda fault: fault.name)
def test_what_a_fault_replaces_is_there(fault: Fault) -> None:
    with fault.planted():
        pass
