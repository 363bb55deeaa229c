"""The format of the AOL log of 2006: tab separated, one row per click, a blank query written `-`.

    AnonID  Query  QueryTime            ItemRank  ClickURL
    11      lilac  2006-03-01 07:17:12  1         http://www.example.org

A search without a click leaves the last two fields empty, or out. The header may stand at the head of every file, or
nowhere: a line that is the header is not a record.
"""

from __future__ import annotations

import re

from hubbub.ingest.fields import Layout
from hubbub.ingest.numbers import plain_only
from hubbub.ingest.readers.base import FixedReader, LineShape, register

HEADER = b"AnonID\tQuery\tQueryTime\tItemRank\tClickURL"
LAYOUT = Layout(
    delimiter=b"\t",
    quoting=False,
    places={"user": 0, "query": 1, "time": 2, "rank": 3, "url": 4},
    least=3,
    most=5,
    header=HEADER,
    blank="-",
    clock=plain_only,
)

register(
    FixedReader(
        "aol",
        "tab separated AnonID, Query, QueryTime, ItemRank, ClickURL, as in the AOL log of 2006",
        LineShape(
            re.compile(rb"[^\t]+\t[^\t]*\t\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\t\d*(\t[^\t]*)?)?"),
            "user, query, YYYY-MM-DD hh:mm:ss and perhaps a rank and an address, with tabs between them",
            HEADER,
        ),
        {"user": "AnonID", "time": "QueryTime", "query": "Query", "rank": "ItemRank", "url": "ClickURL"},
        LAYOUT,
    )
)
