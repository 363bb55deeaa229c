"""The two tables ingest writes, and the closed list of reasons for which a record is set aside.

The order of `Reason` is the order of the tests: a line with several defects carries the first. Every test looks at
the bytes of one record and at nothing else, so no user can change what happens to another user's line. A blank query
is no defect: nobody searched for anything, so the record is dropped, and read = kept + dropped + rejected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import IntEnum

import pyarrow as pa

SCHEMA = pa.schema(
    [
        pa.field("user", pa.string(), nullable=False),
        pa.field("time", pa.int64()),
        pa.field("query", pa.string(), nullable=False),
        pa.field("rank", pa.int32()),
        pa.field("url", pa.string()),
    ]
)
ROLES = ("user", "time", "query", "rank", "url")
GROUP = "by_"
"""How the role of a column begins whose values are groups: `by_country`."""


def group_roles(roles: Iterable[str]) -> list[str]:
    """Those of these roles that are groups, in their order."""
    return [role for role in roles if role.startswith(GROUP)]


def schema_with(roles: Iterable[str]) -> pa.Schema:
    """SearchLog's columns, and those of the groups among these roles."""
    return pa.schema([*SCHEMA, *(pa.field(role, pa.string()) for role in group_roles(roles))])


def said(role: str) -> str:
    """A role in words."""
    return f"group {role.removeprefix(GROUP)}" if role.startswith(GROUP) else role


def no_rows(schema: pa.Schema) -> pa.RecordBatch:
    """A batch without rows. Given a list, even an empty one, pyarrow loads pandas where there is one, which is slow."""
    return pa.RecordBatch.from_arrays([pa.nulls(0, field.type) for field in schema], schema=schema)


NOTHING = no_rows(SCHEMA)

REJECTS = pa.schema(
    [
        pa.field("file", pa.string(), nullable=False),
        pa.field("line", pa.int64(), nullable=False),
        pa.field("reason", pa.string(), nullable=False),
        pa.field("length", pa.int64(), nullable=False),
        pa.field("text", pa.binary(), nullable=False),
    ]
)
TEXT_KEPT = 64 << 10  # bytes of a rejected record that are kept


class Reason(IntEnum):
    """Why a record is not in the log, in the order in which the tests are made."""

    BLANK_QUERY = -2  # dropped: read, but neither kept nor rejected
    HEADER = -1  # not a record of its own: neither read, kept nor rejected
    KEPT = 0
    TOO_LONG = 1
    NUL_BYTE = 2
    BAD_ENCODING = 3
    EMPTY_LINE = 4
    BAD_QUOTE = 5
    BAD_JSON = 6
    BAD_FIELDS = 7
    NO_USER = 8
    BAD_TIME = 9
    BAD_RANK = 10
    NO_QUERY = 11

    @property
    def label(self) -> str:
        """The name in the rejects table: `bad-time`."""
        return self.name.lower().replace("_", "-")

    @property
    def sentence(self) -> str:
        """What is wrong with the record, in words."""
        return SENTENCES[self]


SENTENCES = {
    Reason.TOO_LONG: "the record is longer than 1 MiB",
    Reason.NUL_BYTE: "the record holds a NUL byte",
    Reason.BAD_ENCODING: "the record is not text in the log's encoding: UTF-8, unless another is fixed or stated",
    Reason.EMPTY_LINE: "the line is empty",
    Reason.BAD_QUOTE: "a quotation mark (sogou: a bracket) is not closed on its line, or text follows a closed one",
    Reason.BAD_JSON: "the line is not a JSON object",
    Reason.BAD_FIELDS: "the record does not have the expected fields",
    Reason.NO_USER: "the record names no user",
    Reason.BAD_TIME: "the time is in no form that is read, or is no date",
    Reason.BAD_RANK: "the rank is not a whole number from 0 to 2147483647",
    Reason.NO_QUERY: "the click names no search of its own user",
}


@dataclass(frozen=True)
class ReadPart:
    """What reading some consecutive lines (or rows) of one file gave: records and rejects."""

    records: pa.RecordBatch  # SCHEMA
    rejects: pa.RecordBatch  # REJECTS without `file`; `line` counts from 0 at the part's first line
    lines: int  # lines passed, header lines included
    read: int  # records: header lines excluded
    dropped: int = 0  # records with a blank query
    screened: int = 0  # records that a screen took out
    loose: pa.RecordBatch | None = None  # join.LOOSE: searches and clicks that are records once they are joined


Screening = Callable[[pa.RecordBatch], pa.RecordBatch]
"""Records → those that are left, each a function of itself and of public rules."""


def screened(part: ReadPart, screen: Screening | None) -> ReadPart:
    """The part without the records that a screen takes out: neither kept nor rejected."""
    if screen is None or not part.records.num_rows:
        return part
    left = screen(part.records)
    return replace(part, records=left, screened=part.records.num_rows - left.num_rows)


@dataclass(frozen=True)
class ReadTask:
    """A part that is still to be read, on any thread; `done` says how many bytes of the file are behind it."""

    run: Callable[[], ReadPart]
    done: int
