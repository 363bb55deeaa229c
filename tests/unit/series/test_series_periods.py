"""The unit user-period: plain crowd each period, and the total of a user in all of them just as large."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.series_made_up import log_of, year

from hubbub.audit.checks.certificates import RAISED
from hubbub.card.check import check, load
from hubbub.errors import InputError, ParameterError, Refused
from hubbub.mechanisms.crowd.each import CrowdPerPeriod
from hubbub.mechanisms.series import calendar_of
from hubbub.privacy.compose import compose
from hubbub.privacy.ledger import Ledger
from hubbub.series import add, reviewed, show
from hubbub.series.periods import PeriodsPlan, fix_periods

SETTINGS: dict[str, Any] = {"epsilon": 4, "delta": "0.001", "periods": 3}


def plan(**other: Any) -> PeriodsPlan:
    mechanism = CrowdPerPeriod(tables=["queries"], **SETTINGS)
    return PeriodsPlan(mechanism, calendar_of("2020-01-01", "month"), **{"seed": 1, "not_private": True} | other)


def test_the_total_of_all_periods_stands_in_the_claim() -> None:
    mechanism = CrowdPerPeriod(tables=["queries"], **SETTINGS)
    epsilon, delta = mechanism.all_periods()
    assert epsilon == compose([mechanism.loss()] * 3, delta) and 4 < epsilon <= 12
    sentence = mechanism.proven().sentence()
    assert "e⁴, plus" in sentence and "all 3 planned periods" in sentence
    total = sentence.partition("planned periods it is a factor e")[2].partition(",")[0].translate(RAISED)
    assert epsilon <= float(total) < epsilon + 1e-3  # never rounded down
    with pytest.raises(ParameterError, match="periods"):
        CrowdPerPeriod(tables=["queries"], epsilon=4, delta="0.001")


def test_a_reviewed_period_does_not_pass_for_another_one(tmp_path: Path) -> None:
    """Such a period is a release of its own: what a review makes of it stands beside the folder of the series."""
    with Ledger(tmp_path / "book.sqlite") as book:
        fix_periods(plan(), tmp_path / "s", book, new_population=True)
    period = tmp_path / "s" / "2020-01"
    assert reviewed._elsewhere(period, None) == tmp_path / "s-2020-01-reviewed"
    assert reviewed._elsewhere(tmp_path / "release", None) == tmp_path / "release-reviewed"
    assert reviewed._elsewhere(period, tmp_path / "there") == tmp_path / "there"
    with pytest.raises(ParameterError, match="would pass for a period"):
        reviewed._elsewhere(period, tmp_path / "s" / "2020-01-reviewed")


@pytest.mark.slow
def test_each_period_is_a_release_of_its_own(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    with Ledger(tmp_path / "book.sqlite") as book:
        fix_periods(plan(), folder, book, new_population=True)
        for label in ("2020-01", "2020-02"):
            with log_of(tmp_path, year()) as log:
                assert add(folder, log, book).label == label
            assert [f for f in check(folder / label) if not f.holds] == []
        assert [e.mechanism for e in book.entries()] == ["crowd-per-period"] * 2
        assert add(folder, None, book, period="2020-01").repeated and len(book.entries()) == 2
        card = load(folder / "2020-02")
        assert card["mechanism"]["parameters"]["periods"] == "3"  # type: ignore[index]
        with pytest.raises(InputError, match="another kind of series"):
            show(folder, book)
        path = folder / "owner-only" / "plan.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | {"lag": 5}))
        with log_of(tmp_path, year()) as log, pytest.raises(Refused, match="changed after it was fixed"):
            add(folder, log, book)
    page = (tmp_path / "s" / "public" / "index.html").read_text(encoding="utf-8")
    assert "This is about each period by itself" in page and "Risers" not in page


def test_with_a_cap_all_periods_are_set_aside(tmp_path: Path) -> None:
    with Ledger(tmp_path / "book.sqlite") as book:
        book.cap("default", 5, 0.01)
        with pytest.raises(Refused, match="does not fit"):
            fix_periods(plan(seed=None, not_private=False), tmp_path / "s", book)
        assert not (tmp_path / "s").exists()
        book.cap("default", 12, 0.01)
        fix_periods(plan(seed=None, not_private=False), tmp_path / "s", book)
        assert book.standing("default").opened[-1].origin == "plan"


@pytest.mark.parametrize("periods", [6, 7, 12])
def test_no_total_is_said_to_be_nothing(periods: int) -> None:
    """The sum of printed δ is never rounded below itself: the plain sums hold at it."""
    mechanism = CrowdPerPeriod(tables=["queries"], epsilon=1, delta="1e-6", rounds=1, periods=periods)
    epsilon, delta = mechanism.all_periods()
    assert 1 < epsilon <= periods and delta >= periods * mechanism.loss().delta * (1 - 1e-15)
    assert "nothing" not in mechanism.proven().sentence()
