"""Released tables: search the queries of a release, see what hangs on one, and what it suggests. No log is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hubbub.release.opened import Release
from hubbub.worth.evidence import Evidence
from hubbub.worth.tasks.graph import Graph, find, top
from hubbub.worth.tasks.suggestion import suggest, vectors

SHOWN = 20
READ = ("queries", "clicks", "transitions")


@dataclass(frozen=True)
class Book:
    """The tables of one release and its graph."""

    tables: dict[str, pa.Table]
    counted: dict[str, bool]
    graph: Graph


@lru_cache(maxsize=4)
def book(path: Path) -> Book:
    """The tables of a release, read once: a release does not change."""
    with Evidence.of_release(path) as evidence:
        found = {name: evidence.table(name) for name in READ}
        tables = {name: table for name, table in found.items() if table is not None}
        counted = {name: not evidence.keys_only(name) for name in tables}
    return Book(tables, counted, Graph.of(tables.get("clicks"), tables.get("transitions")))


def search(release: Release, text: str) -> dict[str, Any]:
    """Released queries that hold this text, most users first; all of them for no text."""
    pages = book(release.path)
    table = _queries(pages)
    wanted = text.strip().lower()
    found = table.filter(pc.match_substring(table.column("query"), wanted, ignore_case=True)) if wanted else table
    rows = [{"query": row["query"], "users": row["n"]} for row in found.slice(0, SHOWN).to_pylist()]
    return {"found": found.num_rows, "rows": rows, "counted": pages.counted.get("queries", False)}


def _queries(pages: Book) -> pa.Table:
    """The queries; of a release without that table, those its clicks and transitions name."""
    if "queries" in pages.tables:
        return pages.tables["queries"]
    names = pages.graph.queries.cast(pa.string())
    return pa.table({"query": names, "n": np.ones(len(names), np.int64)})


def around(release: Release, query: str) -> dict[str, Any] | None:
    """What hangs on a query: URLs clicked, queries clicked alike or asked next, suggestions. None: not released."""
    pages = book(release.path)
    graph = pages.graph
    held = _queries(pages)
    if not pc.any(pc.equal(held.column("query"), query)).as_py():
        return None
    node = int(find(pa.array([query]), graph.queries)[0]) if len(graph.queries) else -1
    if node < 0:
        return {"query": query, "urls": [], "alike": [], "next": [], "suggested": []}
    at = np.array([node])
    unit = vectors(graph.clicks)
    alike = (unit[at] @ unit.T.tocsr()).tocsr()
    alike.data[alike.indices == node] = 0
    _, suggested = suggest(graph, at)

    def queries(i: int) -> str:
        return str(graph.queries[i].as_py())

    return {
        "query": query,
        "urls": _top(graph.clicks[at], lambda i: str(graph.urls[i].as_py()), "users"),
        "alike": _top(alike, queries, "likeness"),
        "next": _top(graph.follows[at], queries, "users"),
        "suggested": [queries(int(i)) for i in suggested],
        "counted": {name: pages.counted.get(name, False) for name in ("clicks", "transitions")},
    }


def _top(row: Any, name: Callable[[int], str], what: str) -> list[dict[str, object]]:
    _, _, columns, values = top(row, 10)
    return [{"text": name(int(c)), what: round(float(v), 3)} for c, v in zip(columns, values, strict=True)]
