"""A stated period as people write it: `2006-03..2006-05`, a day, a month or a year."""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date

from hubbub.errors import ParameterError
from hubbub.log import Period

SPAN = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?")
ALLOWED = "a day (2006-03-01), a month (2006-03), a year (2006), or from one to another: 2006-03..2006-05"


def parse_period(text: str) -> Period:
    """The days from the first of the left to the last of the right, both inside, in UTC.

    Seconds are half-open: from 00:00:00 of the first day until, and without, 00:00:00 after the last.
    """
    first, dots, last = text.strip().partition("..")
    begins, ends = _days(first), _days(last if dots else first)
    if begins is None or ends is None:
        raise ParameterError("The period cannot be read.", given=text, allowed=ALLOWED)
    return Period(begins[0], ends[1])


def _days(text: str) -> tuple[date, date] | None:
    """First and last day of a day, a month or a year."""
    found = SPAN.fullmatch(text.strip())
    if found is None:
        return None
    year, month, day = (int(part) if part else None for part in found.groups())
    try:
        first = date(year or 0, month or 1, day or 1)
        until = month or 12
        return first, date(first.year, until, day or monthrange(first.year, until)[1])
    except ValueError:  # a thirteenth month, the year 0
        return None
