"""The periods of a series: their first and last days, and the label by which a period's folder is known."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta

from hubbub.errors import ParameterError
from hubbub.log import Period

LENGTHS = ("day", "week", "month", "quarter", "year")
ALLOWED = ", ".join(LENGTHS) + " or a number of days such as '10 days'"
_MONTHS = {"month": 1, "quarter": 3, "year": 12}


@dataclass(frozen=True)
class SeriesCalendar:
    """Periods of one length, one after the other, from a first day on. Periods count from 0."""

    first: date
    length: str

    @property
    def days(self) -> int | None:
        """How many days a period has; None where the months decide."""
        if found := re.fullmatch(r"([1-9]\d{0,3}) days", self.length):
            return int(found[1])
        return {"day": 1, "week": 7}.get(self.length)

    def checked(self) -> SeriesCalendar:
        """The same; refused if there is no such length, or the first day begins none."""
        if self.days is None and self.length not in _MONTHS:
            raise ParameterError("There is no such length of a period.", given=self.length, allowed=ALLOWED)
        begins = {
            "week": (self.first.weekday() == 0, "a Monday"),
            "month": (self.first.day == 1, "the first of a month"),
            "quarter": (
                self.first.day == 1 and self.first.month % 3 == 1,
                "the first of January, April, July, October",
            ),
            "year": (self.first.day == 1 and self.first.month == 1, "the first of January"),
        }
        fits, allowed = begins.get(self.length, (True, ""))
        if not fits:
            raise ParameterError("No period begins on this day.", given=self.first, allowed=allowed)
        return self

    def begins(self, n: int) -> date:
        """The first day of period n."""
        if self.days is not None:
            return self.first + timedelta(days=n * self.days)
        months = self.first.month - 1 + n * _MONTHS[self.length]
        return date(self.first.year + months // 12, months % 12 + 1, 1)

    def ends(self, n: int) -> date:
        """The last day of period n."""
        return self.begins(n + 1) - timedelta(days=1)

    def label(self, n: int) -> str:
        """The name of period n; names of one series sort as their periods do."""
        day = self.begins(n)
        match self.length:
            case "month":
                return f"{day:%Y-%m}"
            case "quarter":
                return f"{day.year}-Q{(day.month + 2) // 3}"
            case "year":
                return f"{day.year}"
            case "week":
                return f"{day:%G-W%V}"
        return day.isoformat()

    def number(self, label: str, most: int) -> int:
        """Which period has this label."""
        names = [self.label(n) for n in range(most)]
        if label not in names:
            raise ParameterError(
                "The series has no such period.",
                given=label,
                allowed=f"{names[0]} to {names[-1]}, one {self.length} each",
            )
        return names.index(label)

    def span(self, first: int, last: int) -> Period:
        """All days from the beginning of one period to the end of another."""
        return Period(self.begins(first), self.ends(last))
