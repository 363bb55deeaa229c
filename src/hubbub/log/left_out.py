"""Robots and test traffic that an owner leaves out, by public rules that look at one user's records, or at one line.

A user with more than so many searches on one day is left out whole. Whether she is depends on her own records alone, so
the log that is left differs between two neighbours in that one user, and every proof goes on as before (docs/proofs,
korolova.md, section 8). A rule is on the card, with its version; how many it left out is not.
"""

from __future__ import annotations

from dataclasses import dataclass

from hubbub.errors import ParameterError

VERSION = 1
DAY = 86_400


@dataclass(frozen=True)
class LeftOut:
    """What an owner leaves out; None is nothing."""

    max_searches_a_day: int | None = None
    """Users with more searches on any day (UTC) are left out whole."""
    drop_agents: str | None = None
    """The list of programs whose requests are passed over, line by line (ingest/agents.py)."""
    version: int = VERSION
    """Of what these words mean."""

    def __post_init__(self) -> None:
        """Refuse a rule that leaves nobody, or that another version made."""
        most = self.max_searches_a_day
        if most is not None and (isinstance(most, bool) or not isinstance(most, int) or most < 1):
            raise ParameterError("--max-searches-a-day is a whole number.", given=most, allowed="1 or more")
        if self.version != VERSION:
            raise ParameterError("The rule is of another version.", given=self.version, allowed=str(VERSION))

    def __bool__(self) -> bool:
        return self.max_searches_a_day is not None or self.drop_agents is not None

    def sentences(self) -> list[str]:
        """The rules in the words of the card."""
        told, most = f"by a public rule (version {self.version})", self.max_searches_a_day
        found = []
        if most is not None:
            found.append(
                f"Users with more than {most:,} searches on one day (UTC) are left out whole, {told} that "
                "looks at each user's own records alone; how many is not told."
            )
        if self.drop_agents is not None:
            found.append(
                f"Requests of programs, known by their User-Agent (list {self.drop_agents}), are left out, {told} that "
                "looks at each line alone; how many is not told."
            )
        return found


NOTHING_LEFT_OUT = LeftOut()


def busy_users(table: str, most: int) -> str:
    """SQL for the users with more than so many searches on a day; searches without a time are a day of their own."""
    day = f'"time" - ((("time" % {DAY}) + {DAY}) % {DAY})'
    return (
        f"SELECT DISTINCT uid FROM (SELECT uid, {day} AS day, count(*) AS n FROM "
        f'(SELECT DISTINCT uid, "time", query FROM {table}) AS searches GROUP BY uid, {day}) AS days WHERE n > {most}'
    )
