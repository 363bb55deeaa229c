"""The format of the Excite logs of 1997 to 2001: tab separated user, time and query, and no clicks.

    A1B2C3D4E5F60718  970916073211  lilac

The time is YYMMDDhhmmss. Two digits of a year are read as POSIX does: 69 to 99 are 1969 to 1999, 00 to 68 are 2000 to
2068. There is no header, and a query may be blank: such a line is rejected, since nobody searched for anything.
"""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

from hubbub.ingest.fields import Layout
from hubbub.ingest.numbers import plain_only
from hubbub.ingest.readers.base import FixedReader, LineShape, register

FORM = r"^\s*(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)\s*$"


def full_times(column: pa.Array) -> pa.Array:
    """YYMMDDhhmmss as the other formats write it; anything else that is not blank becomes `?`, which is no time."""
    last_century = pc.match_substring_regex(column, r"^\s*(69|[7-9]\d)")
    times = pc.if_else(
        last_century,
        pc.replace_substring_regex(column, FORM, r"19\1-\2-\3 \4:\5:\6"),
        pc.replace_substring_regex(column, FORM, r"20\1-\2-\3 \4:\5:\6"),
    )
    usable = pc.match_substring_regex(column, rf"{FORM}|^\s*$")
    return pc.if_else(usable, times, "?")


LAYOUT = Layout(
    delimiter=b"\t",
    quoting=False,
    places={"user": 0, "time": 1, "query": 2},
    least=3,
    most=3,
    clock=plain_only,
    dress={"time": full_times},
)

register(
    FixedReader(
        "excite",
        "tab separated user, YYMMDDhhmmss, query, as in the Excite logs of 1997 to 2001",
        LineShape(re.compile(rb"[^\t]+\t\d{12}\t[^\t]*"), "user, YYMMDDhhmmss and query, with tabs between them"),
        {"user": "user", "time": "YYMMDDhhmmss", "query": "query"},
        LAYOUT,
    )
)
