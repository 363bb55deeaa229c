"""Periods as people write them: every day of both ends is inside, and seconds are half-open."""

from __future__ import annotations

from datetime import date

import pytest

from hubbub.errors import ParameterError
from hubbub.log.spans import parse_period


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2006-03..2006-05", "2006-03-01", "2006-05-31"),
        ("2006-03", "2006-03-01", "2006-03-31"),
        ("2006", "2006-01-01", "2006-12-31"),
        ("2006-03-05", "2006-03-05", "2006-03-05"),
        ("2008-02", "2008-02-01", "2008-02-29"),
        (" 2006-03-05 .. 2007 ", "2006-03-05", "2007-12-31"),
        ("2005..2006-01-02", "2005-01-01", "2006-01-02"),
    ],
)
def test_from_the_first_day_to_the_last(text: str, first: str, last: str) -> None:
    period = parse_period(text)
    assert (period.first, period.last) == (date.fromisoformat(first), date.fromisoformat(last))


def test_seconds_are_half_open() -> None:
    start, after = parse_period("1970-01-01..1970-01-02").seconds
    assert (start, after) == (0, 2 * 86_400)


@pytest.mark.parametrize(
    "text", ["", "..", "2006-3", "2006-13", "2006-02-30", "0000", "2006..", "..2006", "March 2006"]
)
def test_what_is_no_period_is_refused_with_what_is(text: str) -> None:
    with pytest.raises(ParameterError, match=r"2006-03\.\.2006-05"):
        parse_period(text)


def test_an_end_before_the_start_is_refused() -> None:
    with pytest.raises(ParameterError, match="ends before it starts"):
        parse_period("2006-05..2006-03")
