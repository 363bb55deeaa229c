"""The audit of a series: each fault is seen by the check that should see it. Sound code passes: test_audit."""

from __future__ import annotations

import pytest

from hubbub.audit.checks import series_kept, series_tables
from hubbub.audit.mutants.series import SERIES_MUTANTS, joint
from hubbub.audit.suite import verdict

SLOW = (joint, series_kept.of_pools, series_kept.of_state, series_tables.tests, series_tables.of_list)
"""Checks that take seconds; the faults they must see are planted by `hubbub audit --mutants`, as all others are."""
ON_ARRAYS = [fault for fault in SERIES_MUTANTS if fault.detector not in SLOW]


@pytest.mark.parametrize("name", [fault.name for fault in ON_ARRAYS])
def test_a_broken_round_is_caught(name: str) -> None:
    found = next(f for f in SERIES_MUTANTS if f.name == name)
    assert verdict(found.name, "series", found.detector, found.planted())["verdict"] == "caught"


def test_the_two_that_no_output_shows_have_a_check_of_another_kind() -> None:
    """Noise that is used again, and a threshold without the mean: by bytes and by recomputation, not by sampling."""
    seen = {}
    for name in ("noise of one round reused", "Θ without the mean"):
        found = next(f for f in SERIES_MUTANTS if f.name == name)
        seen[name] = verdict(name, "series", found.detector, found.planted())["by"].partition(":")[0]
    assert seen == {"noise of one round reused": "byte difference", "Θ without the mean": "static check"}
