"""`hubbub bench quick`: both sides do the same job, and ratios are what is printed."""

from __future__ import annotations

from typing import Any

import pytest
from tests.conftest import Hubbub, document

from hubbub.look.quick import SIZES, Pace, QuickBench, quick


@pytest.mark.slow
def test_it_prints_ratios(hubbub: Hubbub, own_ledger: object) -> None:
    result = hubbub("bench", "quick", "--users", 100, "--json")
    told: Any = document(result)
    assert [job["job"] for job in told["jobs"]] == ["read and clean the log", "count and release queries", "both"]
    assert all(job["ratio"] == job["hubbub"] / job["bare"] > 0 for job in told["jobs"])
    assert told["users"] == 100 and told["rows"] > 100 and "ratio" in result.stderr


@pytest.mark.parametrize(
    ("seconds", "users"),
    [((5, 14, 60), 50_000), ((5, 17, 60), 50_000), ((5, 18, 60), 10_000), ((22, 60, 0), 2_000), ((1, 1, 1), 50_000)],
)
def test_the_log_grows_while_the_next_size_fits(
    seconds: tuple[int, ...], users: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, took = [0.0], dict(zip(SIZES, seconds, strict=True))

    def run(size: int) -> QuickBench:
        now[0] += took[size]
        return QuickBench(size, 0, 0, ())

    monkeypatch.setattr("hubbub.look.quick._run", run)
    assert quick(None, lambda _: None, lambda: now[0]).users == users
    took[100] = 1000
    assert quick(100, lambda _: None, lambda: now[0]).users == 100


def test_a_small_log_says_that_it_is_small(hubbub: Hubbub, monkeypatch: pytest.MonkeyPatch) -> None:
    for bare, said in ((0.5, True), (2.0, False)):
        monkeypatch.setattr("hubbub.look.quick._run", lambda _, b=bare: QuickBench(1, 1, 1, (Pace("both", 3.0, b),)))
        assert ("On so small a log" in hubbub("bench", "quick", "--users", 100).stdout) == said


def test_a_ratio() -> None:
    assert Pace("both", 6.0, 2.0).ratio == 3.0


@pytest.mark.parametrize("users", ["0", "99999999"])
def test_sizes_that_make_no_sense_are_refused(hubbub: Hubbub, users: str) -> None:
    assert "--users must be a whole number" in hubbub("bench", "quick", "--users", users, code=2).stderr
