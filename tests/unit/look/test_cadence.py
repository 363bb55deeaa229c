"""What comes out when: a series, a few lists, one; from a made-up log, within one budget, and said in words."""

from __future__ import annotations

from fractions import Fraction

import pytest

from hubbub.errors import ParameterError
from hubbub.look.cadence import (
    CadenceEstimate,
    WayToPublish,
    estimate_cadence,
    estimate_each_period,
    lists_within,
    shares,
)
from hubbub.look.cadence.words import each_period_lines, lines
from hubbub.mechanisms.crowd.each import CrowdPerPeriod
from hubbub.mechanisms.series import Series
from hubbub.privacy.compose import compose


def series(periods: int = 4, length: str = "5 days") -> Series:
    return Series(epsilon="6", delta="1e-4", periods=periods, first="2026-01-01", length=length)


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def found() -> CadenceEstimate:
    return estimate_cadence(series(), 2_000, preset="gotz", room=20 * 1_000)


def test_three_ways_over_the_same_periods(found: CadenceEstimate) -> None:
    assert found.labels == ("2026-01-01", "2026-01-06", "2026-01-11", "2026-01-16")
    assert (found.users, found.sample, found.preset) == (2_000, 1_000, "gotz")
    out = [n for n in found.series.out if n is not None]
    assert len(out) == 4 and out == sorted(out) and out[-1] > out[0] > 0, "what is out stays out"
    assert [n is not None for n in found.once.out] == [False, False, False, True]
    assert found.once.last > found.series.last, "whoever waits has the most"
    assert found.lists.releases == 4 and None not in found.lists.out


def test_more_users_more_queries(found: CadenceEstimate) -> None:
    more = estimate_cadence(series(), 20_000, preset="gotz", room=20 * 1_000)
    assert all(a.last > 2 * b.last for a, b in zip(more.ways, found.ways, strict=True))


@pytest.mark.parametrize("lists", [1, 2, 4])
def test_a_few_lists_cost_what_the_series_costs(lists: int) -> None:
    """As the ledger would add them up: no more than ε at δ, and hardly less."""
    epsilon, delta = Fraction(2), Fraction(1, 10**6)
    assert sum(shares(lists)) == 1
    found = compose([crowd.loss() for crowd in lists_within(epsilon, delta, lists)], float(delta))
    assert 0.99 * epsilon <= found <= epsilon


def test_words_say_what_to_take(found: CadenceEstimate) -> None:
    told = "\n".join(lines(found))
    assert "no log was read" in told and "2026-01-16" in told and f"{found.once.last:,}" in told
    assert "1,734 queries of 1,827" in told
    few = CadenceEstimate(
        ("a", "b"),
        9,
        9,
        "aol",
        WayToPublish("a series of 2", 2, (5, 10)),
        WayToPublish("2 lists", 2, (5, 9)),
        found.once,
    )
    assert few.lists_do and "take crowd" in "\n".join(lines(few))
    record = few.record()
    assert record["a_few_lists_lose_little"] is True and record["periods"] == ["a", "b"]


def test_one_period_is_one_list() -> None:
    one = estimate_cadence(series(1), 500, preset="gotz", room=5 * 300)
    assert len(one.labels) == 1 and one.lists.releases == 1 and one.lists.out == one.once.out


@pytest.mark.parametrize("users", [0, 10**11])
def test_impossible_numbers_of_users_are_refused(users: int) -> None:
    with pytest.raises(ParameterError, match="out of range"):
        estimate_cadence(series(), users)


def test_further_tables_are_estimated_beside_the_queries() -> None:
    tables = ["queries", "clicks", "transitions", "keywords"]
    all_of_them = Series(epsilon="9", delta="1e-3", periods=2, first="2026-01-01", length="5 days", tables=tables)
    found = estimate_cadence(all_of_them, 20_000, preset="aol", room=10 * 400)
    further = found.series.further
    assert further.keys() == {"clicks", "transitions", "keywords"} and all(len(out) == 2 for out in further.values())
    assert further["clicks"][-1] > 0 and further["keywords"][-1] > 0
    alone = estimate_cadence(series(2), 20_000, preset="aol", room=10 * 400)
    assert alone.series.further == {} and "clicks of the series" in "\n".join(lines(found))


def test_single_periods_are_estimated_where_each_is_a_release() -> None:
    crowd = CrowdPerPeriod(epsilon="6", delta="1e-4", periods=9, tables=["queries"])
    found = estimate_each_period(crowd, series().calendar, 9, 20_000, preset="gotz", room=45 * 200)
    assert list(found.out) == ["2026-01-01", "2026-01-16", "2026-01-26", "2026-02-10"]
    assert all(queries > 0 for queries in found.out.values())
    told = "\n".join(each_period_lines(found))
    assert "no log was read" in told and f"2026-02-10  {found.out['2026-02-10']:,}" in told
