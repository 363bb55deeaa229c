"""Clicks with a number for every query and page, the same in every export of one release."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from hubbub.show.export.base import CheckedRelease, value_column
from hubbub.worth.evidence import Evidence
from hubbub.worth.tasks.graph import Graph, Ints, find


@dataclass(frozen=True)
class Clicked:
    """The table of clicks, and the graph of it and of the transitions; ids from 1 in the order of the texts."""

    rows: pa.Table
    graph: Graph
    query: Ints
    page: Ints

    @classmethod
    def of(cls, source: CheckedRelease) -> Clicked:
        """From the released tables; values below zero and keys without numbers are taken as the tasks take them."""
        tables: dict[str, pa.Table] = {
            name: source.need(name) for name in ("clicks", "transitions") if name in source.tables
        }
        with Evidence.of_tables(tables) as plain:
            moves = plain.table("transitions") if "transitions" in tables else None
            graph = Graph.of(plain.table("clicks"), moves)
        rows = tables["clicks"]
        return cls(rows, graph, find(rows["query"], graph.queries), find(rows["url"], graph.urls))

    @property
    def qid(self) -> pa.Array:
        """The id of each row's query."""
        return qids(self.query)

    @property
    def docno(self) -> pa.Array:
        """The id of each row's page."""
        return docnos(self.page)

    def names(self, document: str) -> list[str]:
        """The header of the numbers."""
        return ["qid", document, value_column(self.rows), "noise_sd"]

    def numbers(self, document: str) -> pa.Table:
        """The released number of each pair, beside the ids of its query and page."""
        values = [self.rows[value_column(self.rows)], self.rows["noise_sd"]]
        return pa.table([self.qid, self.docno, *values], self.names(document))


def qids(query: Ints) -> pa.Array:
    """Numbers as ORCAS has them."""
    return pa.array(query + 1)


def docnos(page: Ints) -> pa.Array:
    """D and a number as ORCAS has them."""
    return pa.array(np.char.add("D", (page + 1).astype(str)), pa.string())
