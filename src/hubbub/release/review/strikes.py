"""What is struck: rows, texts or tables with a reason, from a review file or by a rule, and which rows that takes out.

A review file is text with tabs between its columns: `strike table key second reason flags`. Its first line names the
release by the hash of its card. A line whose first column is not empty strikes: a table, if `key` is empty; else the
rows of that table with this key and second key. A struck key of `queries` or `keywords` is struck as a text: every row
of every table that holds it goes, too.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from hubbub.card.schema import Card
from hubbub.errors import ParameterError, Refused
from hubbub.files import write_whole
from hubbub.public.screening import Screen
from hubbub.release.review.flags import FlaggedRow, keys_of
from hubbub.release.rows import rows_with
from hubbub.steps.keys import group_of

if TYPE_CHECKING:
    from hubbub.ingest.lines import Mask

COLUMNS = ("strike", "table", "key", "second", "reason", "flags")
HEAD = "# hubbub review of"
AS_TEXTS = ("queries", "keywords")
BY_HAND = "by hand"


@dataclass(frozen=True)
class Strike:
    """One decision; without a key it is about a whole table."""

    table: str
    key: str
    second: str
    reason: str
    by: str = BY_HAND


@dataclass(frozen=True)
class Strikes:
    """Everything that is struck, by hand and by rule."""

    by_hand: tuple[Strike, ...] = ()
    rules: Mapping[str, Screen] = field(default_factory=dict)

    @property
    def tables(self) -> tuple[str, ...]:
        """Tables that go whole."""
        return tuple(dict.fromkeys(strike.table for strike in self.by_hand if not strike.key))

    def left(self, tables: Mapping[str, pa.Table]) -> tuple[dict[str, pa.Table], list[dict[str, object]]]:
        """What is left of the tables, and what was struck of each, by what and why; a row is counted once."""
        left, struck = {}, list[dict[str, object]]()
        for table, rows in tables.items():
            if table in self.tables:
                continue
            stays = np.ones(rows.num_rows, np.bool_)
            for found, by, reason in self.taken(table, rows):
                stays &= ~found
                struck.append({"table": table, "rows": int(np.count_nonzero(found)), "by": by, "reason": reason})
            left[table] = rows.filter(pa.array(stays))
        return left, struck

    def taken(self, table: str, rows: pa.Table) -> list[tuple[Mask, str, str]]:
        """Which rows of a table go, by what and why; each by what strikes it first."""
        gone, group = np.zeros(rows.num_rows, np.bool_), group_of(table)
        found: list[tuple[Mask, str, str]] = []

        def take(hit: Mask, by: str, reason: str) -> None:
            if (new := hit & ~gone).any():
                found.append((new, by, reason))
            gone[hit] = True

        for rule, screen in self.rules.items():
            take(rows_with(rows, screen.hits, group), f"rule {rule}", "the rule hits it")
        texts = {s.key: (s.by, s.reason) for s in reversed(self.by_hand) if s.key and s.table in AS_TEXTS}
        for why in dict.fromkeys(reversed(texts.values())):
            take(rows_with(rows, _among({text for text, other in texts.items() if other == why}), group), *why)
        exact = {(s.key, s.second): (s.by, s.reason) for s in reversed(self.by_hand) if s.table == table and s.key}
        whys = [exact.get((key, second)) for key, second, _, _ in keys_of(rows)] if exact else []
        for each in dict.fromkeys(why for why in whys if why is not None):
            take(np.array([why == each for why in whys], np.bool_), *each)
        return found


def rule_strikes(screen: Screen | None) -> dict[str, Screen]:
    """A screen apart, rule by rule, so that the card can say which rule struck what."""
    if screen is None:
        return {}
    apart = {rule: Screen((rule,), None, screen.allow) for rule in screen.rules}
    return apart if screen.deny is None else {**apart, "deny": Screen((), screen.deny)}


@dataclass(frozen=True)
class Drawn:
    """The rows of a release as a review names them: what can be struck."""

    keys: Mapping[str, Set[tuple[str, str]]]
    texts: Mapping[str, Set[str]]

    @staticmethod
    def of(tables: Mapping[str, pa.Table]) -> Drawn:
        """From the tables."""
        keys = {table: {(key, second) for key, second, _, _ in keys_of(rows)} for table, rows in tables.items()}
        return Drawn(keys, {table: {key for key, _ in pairs} for table, pairs in keys.items()})

    def holds(self, table: str, key: str, second: str) -> bool:
        """Whether a strike of it means a table or a row that was drawn."""
        if table not in self.keys:
            return False
        return not key or (key in self.texts[table] if table in AS_TEXTS else (key, second) in self.keys[table])


def write_review(file: Path, card: Card, rows: Iterable[FlaggedRow], strikes: Iterable[Strike] = ()) -> None:
    """A review file to fill in, of the owner's alone; what is decided already stands first."""
    lines = [f"{HEAD} {card.release.id}, card {card.integrity}"]
    lines.append(
        "# Put an x into the first column of a line, and the reason into `reason`: the card will say it. A line with"
    )
    lines.append(
        "# a table and an empty key strikes the whole table. Lines may be added: any row of the release can be struck."
    )
    lines.append("\t".join(COLUMNS))
    decided = (["x", strike.table, strike.key, strike.second, strike.reason, ""] for strike in strikes)
    asked = (["", row.table, row.key, row.second, "", "; ".join(row.flags)] for row in rows)
    for cells in (*decided, *asked):
        lines.append("\t".join(cell.replace("\t", " ").replace("\n", " ") for cell in cells))
    write_whole(file, "\n".join(lines) + "\n")


def read_strikes(file: Path, card: Card, drawn: Drawn) -> tuple[Strike, ...]:
    """The decisions of a review file; one of another release, and a line that means no row of this one, are refused."""
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ParameterError("The review file cannot be read.", given=f"{file}: {error}") from None
    head = next((line for line in lines if line.startswith(HEAD)), "")
    if card.integrity not in head:
        raise Refused(
            "The review file is of another release.",
            given=f"{file}: {head or 'its first line names none'}",
            allowed=f"{HEAD} {card.release.id}, card {card.integrity}",
            next="write one for this release with --write FILE",
        )
    strikes = []
    for number, line in enumerate(lines, 1):
        cells = next(csv.reader([line], delimiter="\t", quoting=csv.QUOTE_NONE), [])
        if line.startswith("#") or not line.strip() or tuple(cells) == COLUMNS or not cells[0].strip():
            continue
        table, key, second, reason = (*(cell.strip() for cell in cells[1:5]), *[""] * 4)[:4]
        missing = not drawn.holds(table, key, second)
        if missing or not reason:
            raise ParameterError(
                "A line of the review file strikes nothing that was drawn." if missing else "A strike has no reason.",
                given=f"{file}, line {number}: {line[:200]}",
                allowed=f"a row of {', '.join(drawn.keys)}, as --write has it, or a table without a key; and a reason",
            )
        strikes.append(Strike(table, key, second, " ".join(reason.split())))
    return tuple(strikes)


def _among(texts: set[str]) -> Callable[[pa.Array], Mask]:
    def found(column: pa.Array) -> Mask:
        return np.fromiter((text in texts for text in column.to_pylist()), np.bool_, len(column))

    return found
