"""Tab-separated text: one file per table. A log is written in the columns and the form of the AOL log."""

from __future__ import annotations

from typing import ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from hubbub.card.schema import Card
from hubbub.show.export.base import CheckedRelease, Folder, Format, register
from hubbub.show.export.text import RULE, tab_separated
from hubbub.steps.keys import base_of, group_of

AOL = ["AnonID", "Query", "QueryTime", "ItemRank", "ClickURL"]
WHAT = {
    "queries": "queries and how many users asked them",
    "clicks": "queries and the pages clicked for them",
    "transitions": "queries and the query asked next",
    "sessions": "queries asked one after the other",
    "keywords": "words of queries",
    "ngrams": "queries that one user asked right after each other",
    "itemsets": "words or queries that one user used, in any order",
    "log": "a log, in the columns of the AOL log",
}


def about(table: str) -> str:
    """What a table holds."""
    by = f", by {group_of(table)}" if group_of(table) else ""
    return WHAT.get(base_of(table), table) + by


class Tsv(Format):
    """Every table as it is."""

    name: ClassVar[str] = "tsv"
    about: ClassVar[str] = "tab-separated text, one file per table"

    def write(self, source: CheckedRelease, folder: Folder) -> None:
        """One file per table, rows in the order of the release."""
        for name in source.tables:
            table = source.need(name)
            header = table.column_names
            if name == "log":
                table, header = aol(table), AOL
            folder.lines(f"{name}.tsv", about(name), table.num_rows, tab_separated(table, header))

    def notes(self, card: Card) -> str:
        """For the README: how to read the files without losing a row."""
        lists = (
            "The queries of a session are joined by U+001F (unit separator). "
            if "sessions" in card.release.contains
            else ""
        )
        return (
            "UTF-8, fields between tabs, a header, no quotation marks: read it with quoting off, or a query that "
            f"begins with one will swallow lines. {RULE} {lists}An empty field is no value. Text such as `null` or "
            "`nan` is a query, not a missing value; pandas must be told:\n\n"
            "```\n"
            'pandas.read_csv("queries.tsv", sep="\\t", quoting=3, keep_default_na=False, na_values={"users": "", '
            '"noise_sd": ""})\n'
            "```"
        )


def aol(log: pa.Table) -> pa.Table:
    """The rows of a log with times as the AOL log writes them; NULL stays NULL."""
    time = pc.cast(log.column("time"), pa.timestamp("s")).cast(pa.string())
    return log.set_column(log.column_names.index("time"), "time", time).select(["user", "query", "time", "rank", "url"])


register(Tsv())
