"""The format of SogouQ: tab separated, GB18030, one row per click, a file per day.

    07:32:11  5228056822071097  [丁香]  1 1  www.example.org/lilac

The fields are the time of day, the user (a cookie), the query in brackets, the rank of the result with the number of
the click behind a blank, and the address. Lines hold no date. A file whose name holds one, as
`access_log.20060801.decode.filter` does, is of that day; otherwise all files are read as parts of one day without a
name, which is written as the first of January 1970. Names are public facts, and either all of them tell the day or
none does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from hubbub.errors import InputError
from hubbub.ingest.encodings import GB18030
from hubbub.ingest.fields import Layout
from hubbub.ingest.numbers import plain_only
from hubbub.ingest.readers.base import FixedReader, LineShape, line_tasks, register
from hubbub.ingest.schema import ReadTask

UNNAMED_DAY = date(1970, 1, 1)
DAY = re.compile(r"(?<!\d)((?:19|20)\d\d)-?(\d\d)-?(\d\d)(?!\d)", re.ASCII)
LAYOUT = Layout(
    delimiter=b"\t",
    quoting=False,
    places={"time": 0, "user": 1, "query": 2, "rank": 3, "url": 4},
    least=5,
    most=5,
    clock=plain_only,
    encoding=GB18030,
    enclosed="query",
)


def day_of(file: Path) -> date | None:
    """The day in the name of the file; None if it holds no date, or several."""
    found = set()
    for year, month, day in DAY.findall(file.name):
        try:
            found.add(date(int(year), int(month), int(day)))
        except ValueError:
            continue
    return found.pop() if len(found) == 1 else None


def on(day: date, column: pa.Array) -> pa.Array:
    """Times of day, with the date put before them."""
    return pc.replace_substring_regex(column, r"^\s*(\S)", rf"{day} \1")


def first_numbers(column: pa.Array) -> pa.Array:
    """The rank without the number of the click behind it."""
    return pc.replace_substring_regex(column, r"^\s*(\S+) +\d+\s*$", r"\1")


class SogouReader(FixedReader):
    """Reads the SogouQ format, whose days stand in the names of the files."""

    def columns(self, given: Mapping[str, str] | None, files: list[Path]) -> dict[str, str]:
        """The format fixes its columns; the days are in the names of all files or of none."""
        dated = [file for file in files if day_of(file)]
        if dated and len(dated) < len(files):
            raise InputError(
                "Some of the log's file names tell the day and others do not.",
                given=next(file for file in files if not day_of(file)),
                allowed=f"all names with a day, as {dated[0].name}, or none",
                next="rename the files, or name those of one kind by a glob",
            )
        return super().columns(given, files)

    def tasks(self, file: Path, columns: Mapping[str, str], canonical_urls: bool) -> Iterator[ReadTask]:
        """One task per block of lines."""
        day = day_of(file) or UNNAMED_DAY
        dress = {"time": lambda column: on(day, column), "rank": first_numbers}
        return line_tasks(file, replace(self.layout, dress=dress), canonical_urls)


register(
    SogouReader(
        "sogou",
        "tab separated time, userID, [query], rank and order, URL in GB18030, as in SogouQ",
        LineShape(
            re.compile(rb"\d\d:\d\d:\d\d\t[^\t]+\t\[[^\t]*\]\t\d+ \d+\t[^\t]*"),
            "hh:mm:ss, user, [query], rank and order, and address, with tabs between them",
        ),
        {"user": "userID", "time": "time", "query": "[query]", "rank": "rank clickOrder", "url": "URL"},
        LAYOUT,
    )
)
