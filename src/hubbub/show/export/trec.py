"""TREC's files: topics, judgments graded by released clicks, and runs of the retrieval task's walks on released tables.

The task's third ranking, implicit feedback, needs the ranks that test users saw: they are in no release, so it is not
here. Judgments and runs come from the same clicks: each is meant to be used with somebody else's other half.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hubbub.card.schema import Card
from hubbub.show.export.base import CheckedRelease, Folder, Format, register, value_column
from hubbub.show.export.clicked import Clicked, docnos, qids
from hubbub.show.export.text import BATCH, RULE, as_text, content, joined, tab_separated
from hubbub.worth.tasks.graph import Floats, Ints, top
from hubbub.worth.tasks.retrieval import DEPTH, walk

WALKS = {"random_walk": False, "impact_factor": True}


class Trec(Format):
    """Topics, documents, qrels, runs."""

    name: ClassVar[str] = "trec"
    about: ClassVar[str] = "TREC topics, qrels and runs"
    needs: ClassVar[tuple[str, ...]] = ("clicks",)

    def write(self, source: CheckedRelease, folder: Folder) -> None:
        """The judgments first, then the rankings."""
        clicked = Clicked.of(source)
        graph, stamp = clicked.graph, source.card.mechanism.stamp
        size = len(graph.queries)
        topics = pa.table([qids(np.arange(size)), graph.queries], ["qid", "query"])
        folder.lines("topics.tsv", "qid, query; no header", size, tab_separated(topics))
        pages = pa.table([docnos(np.arange(len(graph.urls))), graph.urls], ["docno", "url"])
        folder.lines("documents.tsv", "docno, url; no header", len(graph.urls), tab_separated(pages))
        judged = pa.table(
            [clicked.qid, pa.array(np.zeros(clicked.query.size, np.int64)), clicked.docno, grades(clicked.rows)],
            list("abcd"),
        )
        folder.lines("qrels.txt", "qid 0 docno grade", judged.num_rows, spaced(judged))
        counts = tab_separated(clicked.numbers("docno"), clicked.names("docno"))
        folder.lines("qrels-users.tsv", "what each grade was made of", judged.num_rows, counts)
        sources = np.flatnonzero(graph.known())
        for name, impact in WALKS.items():
            row, rank, page, score = top(walk(graph, sources, impact=impact), DEPTH)
            tag = f"hubbub-{name}" + (f"-{stamp.replace(' ', '-')}" if stamp else "")
            run = pa.table(
                [
                    qids(sources[row]),
                    constant("Q0", row),
                    docnos(page),
                    pa.array(rank + 1),
                    falling(row, rank, score),
                    constant(tag, row),
                ],
                list("abcdef"),
            )
            folder.lines(f"run.{name}.txt", f"qid Q0 docno rank score {tag}", row.size, spaced(run))

    def notes(self, card: Card) -> str:
        """For the README: what the grades mean, and that a run must not be judged by them."""
        return (
            "`qrels.txt` judges every released (query, url) pair. The grade is 1 + ⌊log2 n⌋ of the released number "
            "n, 0 where noise left n below 1, and 1 where the release has no numbers; n itself and the standard "
            "deviation of its noise are in `qrels-users.tsv`. A page that is not listed is unjudged, not "
            f"irrelevant. The runs rank at most {DEPTH} pages for a query by the retrieval task's random walk on "
            "released clicks and transitions, plain and drawn to popular pages (impact factor). Their scores fall "
            "strictly in single precision, so that tools that sort again keep the ranks.\n\n"
            "Both halves come from the same clicks: do not score one with the other. Use the qrels for a run of "
            "yours, and the runs with judgments of yours. The task's ranking by implicit feedback is not here: it "
            "needs ranks that no release holds.\n\n"
            "`topics.tsv` and `documents.tsv` have fields between tabs, without a header or quotation marks. "
            f"{RULE}"
        )


def grades(clicks: pa.Table) -> pa.Array:
    """1 + ⌊log2 n⌋, 0 below 1, 1 where there are no numbers; exact, by the number of binary digits."""
    column = clicks[value_column(clicks)]
    n = np.maximum(pc.fill_null(column, 1 if column.null_count == len(column) else 0).to_numpy(), 0)
    return pa.array(np.frexp(n.astype(np.float64))[1].astype(np.int64))


def falling(row: Ints, rank: Ints, score: Floats) -> pa.Array:
    """Scores as 32-bit floats, each below the one before it in its list."""
    single = score.astype(np.float32)
    for r in range(1, int(rank.max(initial=0)) + 1):
        at = np.flatnonzero(rank == r)
        single[at] = np.minimum(single[at], np.nextafter(single[at - 1], np.float32(-np.inf)))
    return pa.array(single)


def constant(text: str, rows: Ints) -> pa.Array:
    """A column with the same text on every row."""
    return pa.repeat(pa.scalar(text), rows.size)


def spaced(table: pa.Table) -> Iterator[memoryview]:
    """Lines with blanks between the fields, none of which holds one."""
    for batch in table.to_batches(max_chunksize=BATCH):
        yield content(joined(pc.binary_join_element_wise(*map(as_text, batch.columns), " "), "\n"))


register(Trec())
