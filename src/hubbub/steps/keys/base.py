"""A kind of key: which columns name it, and which rows of the log are its events."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from hubbub.engines.base import Aggregate, of_user

if TYPE_CHECKING:
    from hubbub.engines import Engine
    from hubbub.log import SearchLog

FIRST, EVENTS = Aggregate.least('"time"', "first"), Aggregate.count("n")
"""Of a user's events of one key: the time of the first, and how many there are."""


class MadeOf(Enum):
    """Of how little an event is made, small tables that everybody may read aside: what may be looked at by itself."""

    ROW = "a row of the log"
    USER = "the rows of one user"
    MORE = "more than that"


@dataclass(frozen=True)
class Keys:
    """A kind of key. `events` is SQL over a log: one row per event (uid, time, the key's columns)."""

    name: str
    columns: tuple[str, ...]
    events: str
    order: tuple[str, ...]
    """The total order of one user's events, never across users."""
    repeats: bool = False
    """Whether one event may stand in several rows (a search with several clicks)."""
    sequence: bool = False
    """Whether the key is a sequence of queries joined by `sessions.SEPARATOR`, published as a list."""
    rows: bool = False
    """Whether the table is not keys with numbers but the rows of a log."""
    timed: bool = False
    """Whether there are no such keys without times."""
    beside: tuple[str, ...] = ()
    """Columns of a released table between its key and its number."""
    made_of: MadeOf = MadeOf.MORE
    """What an event is made of: decides what must be brought together before a user's keys are known."""
    prepare: Callable[[SearchLog], None] | None = None
    """Makes what `events` reads besides the log, or refuses a log that has no such events."""

    def ready(self, log: SearchLog) -> None:
        """Prepare a log for these keys; called by whatever counts them."""
        if self.prepare is not None:
            self.prepare(log)

    def list(self, table: str = "") -> str:
        """The key's columns as SQL, of one table if named."""
        prefix = f"{table}." if table else ""
        return ", ".join(prefix + column for column in self.columns)

    def same(self, one: str, other: str) -> str:
        """That two tables name the same key, as SQL."""
        return " AND ".join(f"{one}.{column} = {other}.{column}" for column in self.columns)

    def distinct(self, log: str = "log") -> str:
        """One row per user and key she holds, with the time of its first event."""
        return FIRST.first(self.events.format(log=log), f"uid, {self.list()}")

    def hold(self, engine: Engine, name: str, value: Aggregate) -> None:
        """Keep one row per user and key she holds, with a value of her events."""
        rows = self.events.format(log="log")
        if self.made_of is MadeOf.ROW:
            engine.gather(name, rows, self.columns, value)
        else:
            engine.save(name, self.along(value.first(rows, f"uid, {self.list()}")))

    def along(self, sql: str) -> str:
        """SQL over a user's events, which may be cut by users where the events may."""
        return sql if self.made_of is MadeOf.MORE else of_user(sql)

    def occurrences(self, log: str = "log") -> str:
        """One row per event."""
        sql = self.events.format(log=log)
        return f"SELECT DISTINCT * FROM ({sql}) AS rows" if self.repeats else sql
