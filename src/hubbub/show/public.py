"""The rows of the public page: texts that are safe to look at, and all rows once more as compact JSON to search in.

In the JSON every text stands once, in `words`; the key columns of a table are indices into it (-1 for an empty cell,
a list for a sequence of queries), and its numbers are columns beside them. A page stays below 15 MB: the rows that
have room are the first ones, and the page says how many there are in the Parquet file.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hubbub.show.page import Shown

ROOM = 13_000_000
"""Bytes of rows in a page; what else is on it takes a few hundred thousand."""
SHARE = 500_000
"""Bytes of them that each table has for itself, however long those before it are."""
LONG = 300
"""Characters of a text that a page shows."""
JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
"""Control characters, line separators and what turns the direction of writing: they would not show, or mislead."""


def seen(text: str) -> str:
    """A text as a page shows it: invisible characters made visible, and cut if it is very long."""
    shown = UNSEEN.sub(lambda odd: f"⟨U+{ord(odd[0]):04X}⟩", text[:LONG])
    return shown if len(text) <= LONG else f"{shown}… ({len(text):,} characters)"


def cell(value: object, column: str) -> str:
    """A value as a page shows it; a key released without a number has an empty cell."""
    if value is None:
        return ""
    if isinstance(value, list):
        return " → ".join(map(seen, map(str, value)))
    if column == "noise_sd" and isinstance(value, int | float):
        return f"{value:,.1f}"
    if column in ("users", "count") and isinstance(value, int):
        return f"{value:,}"
    if column == "time" and isinstance(value, int):
        return clock(value)
    return seen(str(value))


def clock(seconds: int) -> str:
    """A time of the log, in UTC."""
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(" ")[:19]
    except (ValueError, OverflowError, OSError):  # a year that the calendar does not have
        return str(seconds)


def band(value: Any, sd: Any) -> str:
    """The value ± 2 standard deviations of its noise, rounded outwards."""
    if value is None or not sd:
        return ""
    return f"{math.floor(value - 2 * sd):,} to {math.ceil(value + 2 * sd):,}"


def dumps(document: object) -> str:
    """Compact JSON that can stand in a script tag: no `<` begins a tag in it, no separator ends a line."""
    text = JSON.encode(document)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


@dataclass
class Pack:
    """Collects rows as columns in which every text stands once, and counts how many bytes they will take."""

    words: dict[str, int] = field(default_factory=dict)
    tables: list[dict[str, Any]] = field(default_factory=list)
    size: int = 0

    def add(self, table: Shown, room: int) -> None:
        """Add the rows of one table, as many as there is room for."""
        keys, numbers = table.keys, table.numbers
        rows: list[list[object]] = []
        for row in table.rows:
            if self.size > room:
                break
            rows.append([self._key(row[name], name) for name in keys] + [_number(row[name]) for name in numbers])
            self.size += sum(len(str(value)) + 1 for value in rows[-1])
        columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in table.columns]
        packed = {"name": table.name, "columns": table.columns, "total": table.total, "keys": columns[: len(keys)]}
        self.tables.append(packed | dict(zip(("value", "sd"), columns[len(keys) :], strict=bool(numbers))))

    def _key(self, value: object, column: str) -> object:
        if isinstance(value, list):
            return [self._word(seen(str(part))) for part in value]
        return -1 if value is None else self._word(cell(value, column))

    def _word(self, text: str) -> int:
        if text not in self.words:
            self.words[text] = len(self.words)
            self.size += len(dumps(text).encode()) + 1
        return self.words[text]

    def json(self) -> str:
        """The JSON that the page's script reads."""
        return dumps({"words": list(self.words), "tables": self.tables})

    def rows(self) -> dict[str, int]:
        """How many rows of each table are in the page."""
        return {table["name"]: len(table["keys"][0]) for table in self.tables}


def _number(value: Any) -> Any:
    return round(value, 2) if isinstance(value, float) else value


def pack(tables: list[Shown]) -> Pack:
    """The rows of all tables; a long one leaves each after it a share."""
    packed = Pack()
    for n, table in enumerate(tables):
        packed.add(table, ROOM - SHARE * (len(tables) - 1 - n))
    return packed
