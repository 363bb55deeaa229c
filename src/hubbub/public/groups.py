"""Groups that a release is broken down by: countries, devices, hours. Their values are public, and never learned.

The owner declares the values of a column (a list, a file, a public list by name); those of hours, weekdays, weeks and
months are known. What is no declared value is `other`. A record's group is a function of its own line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from hubbub.errors import InputError, ParameterError
from hubbub.ingest import clean
from hubbub.ingest.schema import GROUP
from hubbub.steps.sessions import require_times

if TYPE_CHECKING:
    from hubbub.log import SearchLog

OTHER = "other"
"""The group of every record whose value is not declared, or that has none."""
MOST_GROUPINGS = 3
MOST_VALUES = 1000
LONGEST_VALUE = 100
DAY = 86_400
FIRST_DAY, LAST_DAY = date(1900, 1, 1), date(2200, 1, 1)
"""Days whose week and month are known; records of other days are `other`."""
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
OF_TIME = {
    "hour": tuple(f"{hour:02d}" for hour in range(24)),
    "weekday": WEEKDAYS,
    "week": tuple(f"{week:02d}" for week in range(1, 54)),
    "month": tuple(f"{month:02d}" for month in range(1, 13)),
}
"""Groups by the time of a record, in UTC; weeks are those of ISO 8601."""
ISO_3166 = (
    "AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA "
    "CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA "
    "GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP "
    "KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS "
    "MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS "
    "RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW "
    "TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW"
)
LISTS = {"iso3166": tuple(ISO_3166.split())}
"""Public lists of values, by name."""
TAKEN = ("query", "url", "users", "noise_sd", "uid", "time", "rank", "kid", "first", "user", "values")
"""Names that columns of tables have already."""
WITHIN = (
    "accumulator",
    "ahead",
    "at",
    "below",
    "bin",
    "fits",
    "grp",
    "known",
    "lam",
    "last",
    "mark",
    "ordinal",
    "owner",
    "raw",
    "root",
    "top",
    "total",
    "turn",
    "unlisted",
    "value",
)
"""Names that columns have while keys are counted, besides those of one letter."""
SQL = (
    "all analyse analyze and anti any array as asc asof asymmetric authorization binary both by case cast check "
    "collate collation column concurrently constraint create cross default deferrable desc describe distinct do "
    "else end except false fetch for foreign freeze from full glob group having ilike in initially inner "
    "intersect into is isnull join lambda lateral leading left like limit minus natural not notnull null offset "
    "on only or order outer overlaps pivot pivot_longer pivot_wider placing positional primary qualify references "
    "returning right select semi show similar some summarize symmetric table tablesample then to trailing true "
    "union unique unpack unpivot using variadic verbose when where window with"
)
SQL_WORDS = frozenset(SQL.split())
"""Words that name no column in the language of engines."""


@dataclass(frozen=True)
class Grouping:
    """One way to divide a log: its name, its declared values, the log's column (none: the time) and their source."""

    name: str
    values: tuple[str, ...]
    column: str = ""
    source: str = "declared"

    def __post_init__(self) -> None:
        """Refuse names and values that no table could have."""
        taken = self.name in TAKEN or self.name in WITHIN or self.name in SQL_WORDS or "_by_" in self.name
        if taken or not re.fullmatch(r"[a-z][a-z0-9_]{1,29}", self.name):
            allowed = f"2 to 30 small letters, digits and _; no word of SQL, none of {', '.join((*TAKEN, *WITHIN))}"
            raise ParameterError("A group cannot have this name.", given=self.name, allowed=allowed)
        if not self.column and self.name not in OF_TIME:
            raise ParameterError(
                f"Nothing says which column of the log the group {self.name} is.",
                given=f"--by {self.name}",
                allowed=f"--by {self.name}=COLUMN; without a column: {', '.join(OF_TIME)}",
            )
        if self.column and self.name in OF_TIME:
            raise ParameterError(
                f"The group {self.name} is read off the time, not off a column.",
                given=f"--by {self.name}={self.column}",
                allowed=f"--by {self.name}",
            )
        self._refuse_values()

    def _refuse_values(self) -> None:
        some = ", ".join(self.values[:5]) + (" …" if len(self.values) > 5 else "")
        given = f"{len(self.values):,} values of {self.name}: {some}"
        if len(self.values) < 2:
            raise ParameterError(
                "A group needs two values or more: with fewer there is nothing to compare.",
                given=given,
                allowed=f"--values {self.name}=DE,FR,…, or a file with one value a line, or {', '.join(LISTS)}",
            )
        if len(self.values) > MOST_VALUES:
            raise ParameterError(
                "A group has too many values: each cell would drown in noise.",
                given=given,
                allowed=f"at most {MOST_VALUES:,}",
                next="declare those that matter; everything else is counted as `other`",
            )
        for value in self.values:
            if not value.strip() or value != value.strip() or len(value) > LONGEST_VALUE or not value.isprintable():
                allowed = f"printable text of at most {LONGEST_VALUE} letters"
                raise ParameterError("A value of a group is empty or no text.", given=repr(value), allowed=allowed)
        folded = self._folded()
        if OTHER in folded:
            raise ParameterError(f"The value `{OTHER}` stands for all that is not declared.", given=given)
        if twice := sorted({value for value in folded if folded.count(value) > 1}):
            raise ParameterError(
                "A value of a group is declared twice; capital letters make no difference.", given=", ".join(twice[:5])
            )
        if not self.column and (strange := [value for value in self.values if value not in OF_TIME[self.name]]):
            allowed = ", ".join(OF_TIME[self.name])
            raise ParameterError(f"There is no such {self.name}.", given=", ".join(strange[:5]), allowed=allowed)

    @property
    def groups(self) -> tuple[str, ...]:
        """Every group there can be: the declared values, and all the rest."""
        return (*self.values, OTHER)

    @property
    def role(self) -> str:
        """What the log calls the column."""
        return f"{GROUP}{self.name}"

    # ------------------------------------------------------------------ in the engine

    @property
    def table(self) -> str:
        """The engine's table of (raw, value)."""
        return f"groups_{self.name}"

    def raw(self, log: str) -> str:
        """What a record's group is looked up by, as SQL: its column, its hour, or its day."""
        if self.column:
            return f"{log}.{self.role}"
        if self.name == "hour":
            return f'CAST(floor((({log}."time" % {DAY}) + {DAY}) % {DAY} / 3600) AS BIGINT)'
        return f'CAST(floor({log}."time" / {DAY}) AS BIGINT)'

    def ready(self, log: SearchLog) -> None:
        """Put the declared values into the engine; refuses a log that has no such column, or no times."""
        if self.column and self.role not in log.ingested.columns:
            raise InputError(
                f"The log was read without a column for the group {self.name}.",
                given=", ".join(log.ingested.columns),
                next=f"read it with --by {self.name}=COLUMN, or read_log(…, by={{{self.name!r}: …}})",
            )
        if not self.column:
            require_times(log)
        log.engine.register(self.table, self._rows())

    def _folded(self) -> list[str]:
        """The declared values as a reader makes them of a log: by the same rule, Python's own has other letters."""
        return list(clean.groups(pa.array(self.values, pa.string())).to_pylist())

    def _rows(self) -> pa.Table:
        """Every value that a record may be looked up by, with its group."""
        if self.column:
            return pa.table({"raw": self._folded(), "value": list(self.values)})
        if self.name == "hour":
            return pa.table({"raw": pa.array([int(v) for v in self.values], pa.int64()), "value": list(self.values)})
        epoch, known = date(1970, 1, 1), set(self.values)
        days = [FIRST_DAY + timedelta(n) for n in range((LAST_DAY - FIRST_DAY).days)]
        named = [((day - epoch).days, self._of_day(day)) for day in days]
        kept = [(number, value) for number, value in named if value in known]
        return pa.table({"raw": pa.array([n for n, _ in kept], pa.int64()), "value": [value for _, value in kept]})

    def _of_day(self, day: date) -> str:
        if self.name == "weekday":
            return WEEKDAYS[day.weekday()]
        return f"{day.isocalendar().week if self.name == 'week' else day.month:02d}"

    # ------------------------------------------------------------------ on a card

    def record(self) -> dict[str, str]:
        """The grouping as a card names it, with every declared value."""
        values = json.dumps(self.values, ensure_ascii=False)
        return {"use": "groups", "name": self.name, "column": self.column, "values": values, "source": self.source}

    @staticmethod
    def read(record: dict[str, str]) -> Grouping:
        """The grouping that a card names."""
        return Grouping(record["name"], tuple(json.loads(record["values"])), record["column"], record["source"])


def group_by(name: str, column: str = "", values: str | Path | Sequence[str] = "") -> Grouping:
    """A grouping from its name, the log's column, and its values: themselves, a file, or the name of a public list."""
    if not isinstance(values, str | Path):
        return Grouping(name, tuple(values), column)
    text = str(values).strip()
    if text in LISTS:
        return Grouping(name, LISTS[text], column, text)
    if not text and name in OF_TIME:
        return Grouping(name, OF_TIME[name], column, "known")
    if not text:
        raise ParameterError(
            f"The values of the group {name} are not declared: they are public, and never learned from the log.",
            given=f"--by {name}={column}" if column else f"--by {name}",
            allowed=f"--values {name}=DE,FR,…, or a file with one value a line, or {', '.join(LISTS)}",
        )
    if "," not in text and Path(text).is_file():
        return Grouping(name, _lines(Path(text)), column, Path(text).name)
    return Grouping(name, tuple(value.strip() for value in text.split(",")), column)


def _lines(path: Path) -> tuple[str, ...]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"The file of values cannot be read: {error}.", given=path) from None
    return tuple(line.strip() for line in lines if line.strip())


def read_groupings(by: Iterable[str], values: Iterable[str]) -> tuple[Grouping, ...]:
    """What --by and --values say together."""
    declared: dict[str, str] = {}
    for given in values:
        name, equals, text = (part.strip() for part in given.partition("="))
        if not equals or not name or not text or name in declared:
            allowed = "--values NAME=DE,FR,…, NAME=FILE or NAME=iso3166, once for each --by"
            raise ParameterError("--values cannot be read, or says one thing twice.", given=given, allowed=allowed)
        declared[name] = text
    found = []
    for given in by:
        name, _, column = (part.strip() for part in given.partition("="))
        found.append(group_by(name, column, declared.pop(name, "")))
    if declared:
        raise ParameterError("--values declares a group that --by does not name.", given=", ".join(declared))
    return several_groupings(found)


def several_groupings(groupings: Iterable[Grouping]) -> tuple[Grouping, ...]:
    """Groupings that go together: a few, each once."""
    found = tuple(groupings)
    names = [grouping.name for grouping in found]
    if len(found) > MOST_GROUPINGS or len(set(names)) < len(names):
        given, allowed = ", ".join(names), f"at most {MOST_GROUPINGS}, each once"
        raise ParameterError("A release is divided in too many ways, or twice in one.", given=given, allowed=allowed)
    for one, other in permutations(names, 2):
        if other.startswith(f"{one}_"):  # tables of the one's rounds might be called as those of the other
            allowed = f"names of which none begins with another one and _: {other.replace('_', '')}"
            raise ParameterError(
                "Two groups have names that are too much alike.", given=f"{one}, {other}", allowed=allowed
            )
    return found
