"""`hubbub bench quick`: both sides do the same job, and ratios are what is printed."""

from __future__ import annotations

from typing import Any

import pytest
from tests.conftest import Hubbub, document

from hubbub.look.quick import MOST, TRIAL, Pace, chosen


@pytest.mark.slow
def test_it_prints_ratios(hubbub: Hubbub, own_ledger: object) -> None:
    result = hubbub("bench", "quick", "--users", 100, "--json")
    told: Any = document(result)
    assert [job["job"] for job in told["jobs"]] == ["read and clean the log", "count and release queries", "both"]
    assert all(job["ratio"] == job["hubbub"] / job["bare"] > 0 for job in told["jobs"])
    assert told["users"] == 100 and told["rows"] > 100 and "ratio" in result.stderr


def test_the_trial_chooses_what_the_time_allows() -> None:
    assert chosen(1000.0) == TRIAL and chosen(0.0) == MOST
    assert chosen(6.0) == 10_000


def test_a_ratio() -> None:
    assert Pace("both", 6.0, 2.0).ratio == 3.0


@pytest.mark.parametrize("users", ["0", "99999999"])
def test_sizes_that_make_no_sense_are_refused(hubbub: Hubbub, users: str) -> None:
    assert "--users must be a whole number" in hubbub("bench", "quick", "--users", users, code=2).stderr
