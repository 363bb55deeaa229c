"""The format of the AOL log of 2006: tab separated, one row a click, a blank query written `-`.

    AnonID  Query  QueryTime            ItemRank  ClickURL
    11      lilac  2006-03-01 07:17:12  1         http://www.example.org

A search without a click leaves the last two fields empty, or out. The header may stand at the head of every file, or
nowhere: a line that is the header is not a record.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from hubbub.errors import ParameterError
from hubbub.ingest.fields import Layout
from hubbub.ingest.readers import line_tasks, register
from hubbub.ingest.schema import Task

COLUMNS = {"user": "AnonID", "time": "QueryTime", "query": "Query", "rank": "ItemRank", "url": "ClickURL"}
LAYOUT = Layout(
    delimiter=b"\t",
    quoting=False,
    places={"user": 0, "query": 1, "time": 2, "rank": 3, "url": 4},
    least=3,
    most=5,
    header=b"AnonID\tQuery\tQueryTime\tItemRank\tClickURL",
    blank="-",
    epoch=False,
)


class Aol:
    """Reads the AOL format."""

    name = "aol"
    sentence = "tab separated AnonID, Query, QueryTime, ItemRank, ClickURL, as in the AOL log of 2006"

    def columns(self, given: Mapping[str, str] | None, files: list[Path]) -> dict[str, str]:
        """The format fixes its columns."""
        if given:
            raise ParameterError(
                "The format `aol` fixes its columns.",
                given=", ".join(f"{role}={name}" for role, name in given.items()),
                allowed="no --columns",
                next="leave --columns out, or read the file as `--format table`",
            )
        return dict(COLUMNS)

    def tasks(self, file: Path, columns: Mapping[str, str], canonical_urls: bool) -> Iterator[Task]:
        """One task a block of lines."""
        return line_tasks(file, LAYOUT, canonical_urls)


register(Aol())
