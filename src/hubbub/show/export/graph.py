"""Graphs: the query-flow graph (Boldi et al. 2008) and the click graph, as GraphML and as lists of edges.

A text may be a query and a page at once, so GraphML's nodes have ids of their own (q1, u1, …) and carry the text. What
XML cannot hold is escaped by the rule of `text.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar
from xml.sax.saxutils import escape as xml

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hubbub.card.schema import Card
from hubbub.show.export.base import CheckedRelease, Folder, Format, register, value_column
from hubbub.show.export.text import BATCH, RULE, as_text, content, escape, joined, tab_separated
from hubbub.worth.tasks.graph import number

GRAPHS = {
    "transitions": ("query-flow", "query", "next_query", "from a query to the next one"),
    "clicks": ("click-graph", "query", "url", "from a query to a page clicked for it"),
}
HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="release" for="graph" attr.name="release" attr.type="string"/>
<key id="claim" for="graph" attr.name="claim" attr.type="string"/>
<key id="stamp" for="graph" attr.name="stamp" attr.type="string"/>
<key id="kind" for="node" attr.name="kind" attr.type="string"/>
<key id="text" for="node" attr.name="text" attr.type="string"/>
<key id="value" for="edge" attr.name="{value}" attr.type="long"/>
<key id="noise_sd" for="edge" attr.name="noise_sd" attr.type="double"/>
<graph id="{name}" edgedefault="directed">
<data key="release">{release}</data><data key="claim">{claim}</data><data key="stamp">{stamp}</data>
"""
TAIL = b"</graph>\n</graphml>\n"


class Graphs(Format):
    """Every graph that the release has the table for."""

    name: ClassVar[str] = "graph"
    about: ClassVar[str] = "query-flow graph and click graph, as GraphML and as lists of edges"
    needs: ClassVar[tuple[str, ...]] = ("transitions", "clicks")

    def write(self, source: CheckedRelease, folder: Folder) -> None:
        """Three files per graph."""
        for table, (name, left, right, what) in GRAPHS.items():
            if source.rows(table):
                rows = source.need(table)
                size = rows.num_rows
                folder.lines(f"{name}.graphml", f"edges {what}", size, graphml(source.card, name, rows, left, right))
                header = ["source", "target", *rows.column_names[2:]]
                folder.lines(f"{name}.edges.tsv", "the same edges, texts for nodes", size, tab_separated(rows, header))
                folder.table(f"{name}.edges.parquet", "the same edges, texts as they were", rows.rename_columns(header))

    def notes(self, card: Card) -> str:
        """For the README: how nodes are named, and which edges are not there."""
        return (
            "Edges are directed and carry the released number and the standard deviation of its noise; an edge "
            "without a number was released without one. In GraphML a node has an id of this export's own, its "
            "`kind` (query or url) and its `text`; the graph's own data repeats the claim. In `*.edges.tsv` (with "
            "a header, fields between tabs, no quotation marks) nodes are texts: in the click graph the source is "
            f"always a query and the target a page, and one text may be both. {RULE} `*.edges.parquet` has the same "
            "columns, with every text as it was.\n\n"
            "An edge that is not there was not released: that is not a zero. Degrees, components and centrality "
            "are those of the frequent part of the graph."
        )


def graphml(card: Card, name: str, rows: pa.Table, left: str, right: str) -> Iterator[bytes | memoryview]:
    """The lines of a GraphML file: head, nodes, edges."""
    bipartite = right == "url"
    if bipartite:
        queries, (source,) = number(rows[left])
        pages, (target,) = number(rows[right])
    else:
        queries, (source, target) = number(rows[left], rows[right])
        pages = queries.slice(0, 0)
    value = value_column(rows)
    yield HEAD.format(
        name=name,
        value=value,
        release=_safe(card.release.id),
        claim=_safe(card.claim.sentence),
        stamp=_safe(card.mechanism.stamp or "none"),
    ).encode()
    for letter, kind, texts in (("q", "query", queries), ("u", "url", pages)):
        for start in range(0, len(texts), BATCH):
            part = _xml(as_text(texts.slice(start, BATCH)))
            ids = pa.array(np.arange(start + 1, start + 1 + len(part))).cast(pa.string())
            head, middle = f'<node id="{letter}', f'"><data key="kind">{kind}</data><data key="text">'
            yield content(joined(head, ids, middle, part, "</data></node>\n"))
    ends = pa.table([pa.array(source + 1), pa.array(target + 1), rows[value], rows["noise_sd"]], list("stvn"))
    for batch in ends.to_batches(max_chunksize=BATCH):
        from_, to, number_, deviation = (column.cast(pa.string()) for column in batch.columns)
        yield content(
            joined(
                '<edge source="q',
                from_,
                f'" target="{"u" if bipartite else "q"}',
                to,
                '">',
                _data("value", number_),
                _data("noise_sd", deviation),
                "</edge>\n",
            )
        )
    yield TAIL


def _data(key: str, values: pa.Array) -> pa.Array:
    """A value as a `<data>` element; nothing where there is no value."""
    return pc.fill_null(joined(f'<data key="{key}">', values, "</data>"), "")


def _xml(texts: pa.Array) -> pa.Array:
    for sign, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
        texts = pc.replace_substring(texts, sign, entity)
    return texts


def _safe(text: str) -> str:
    return xml(escape(text))


register(Graphs())
