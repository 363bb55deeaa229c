"""SogouQ as it was published in 2012: tab separated time, user, query, rank, number of the click, and address.

    20111230000005  57375476989eea12893c0c3811607bcf  丁香  1  1  http://www.example.org/

UTF-8, as the files that circulate are; the original in GB18030 is stated: `--encoding gb18030`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import pyarrow as pa
import pyarrow.compute as pc

from hubbub.ingest.encodings import UTF8
from hubbub.ingest.fields import Layout
from hubbub.ingest.numbers import plain_only
from hubbub.ingest.readers.base import FixedReader, LineShape, line_tasks, register
from hubbub.ingest.schema import ReadTask
from hubbub.ingest.stated import Stated

FORM = r"^\s*(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)\s*$"


def full_times(column: pa.Array) -> pa.Array:
    """YYYYMMDDhhmmss as the other formats write it; anything else that is not blank becomes `?`, which is no time."""
    usable = pc.match_substring_regex(column, rf"{FORM}|^\s*$")
    return pc.if_else(usable, pc.replace_substring_regex(column, FORM, r"\1-\2-\3 \4:\5:\6"), "?")


@dataclass(frozen=True)
class EncodedReader(FixedReader):
    """A format of fixed columns whose encoding may be stated."""

    def settled(self, stated: Stated, columns: Mapping[str, str] | None, files: list[Path]) -> tuple[Self, Stated]:
        """The encoding; nothing else can be stated."""
        super().settled(replace(stated, encoding=None), columns, files)
        known = replace(stated, encoding=stated.encoding or UTF8).checked()
        return replace(self, layout=replace(self.layout, encoding=known.encoding or UTF8)), known

    def tasks(self, file: Path, columns: Mapping[str, str], canonical_urls: bool) -> Iterator[ReadTask]:
        """One task per block of lines."""
        return line_tasks(file, self.layout, canonical_urls)


register(
    EncodedReader(
        "sogou-2012",
        "tab separated YYYYMMDDhhmmss, user, query, rank, order, URL, as in SogouQ of 2012",
        LineShape(
            re.compile(rb"\d{14}\t[^\t]+\t[^\t]*\t\d+\t\d+\t[^\t]*"),
            "YYYYMMDDhhmmss, user, query, rank, order and address, with tabs between them",
        ),
        {"user": "userID", "time": "YYYYMMDDhhmmss", "query": "query", "rank": "rank", "url": "URL"},
        Layout(
            delimiter=b"\t",
            quoting=False,
            places={"time": 0, "user": 1, "query": 2, "rank": 3, "url": 5},
            least=6,
            most=6,
            clock=plain_only,
            dress={"time": full_times},
        ),
    )
)
