"""Judgments of pages from released clicks: ratings for Quepid, and lines for learning to rank (LETOR, SVMlight).

A rating compares a page with the most clicked page of its query. Features never hold the number that the rating was
made of: they are made of the two texts, and of what the page got from other queries.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import ClassVar

import numpy as np
import pyarrow as pa

from hubbub.card.schema import Card
from hubbub.show.export.base import CheckedRelease, Folder, Format, register
from hubbub.show.export.supported import SUPPORT, Supported
from hubbub.show.export.text import RULE, tab_separated
from hubbub.worth.tasks.graph import Floats, Ints, number

FEATURES = (
    "words in the query",
    "characters in the query",
    "share of the query's words that stand in the address",
    "characters in the address",
    "log2 of 1 + the released numbers of the page for other queries",
)


class Judgments(Format):
    """Ratings from 1 to 3."""

    name: ClassVar[str] = "judgments"
    about: ClassVar[str] = "judgments by clicks, for Quepid and for learning to rank"
    needs: ClassVar[tuple[str, ...]] = ("clicks",)

    def write(self, source: CheckedRelease, folder: Folder) -> None:
        """The same pairs in both files."""
        used = Supported.of(source.need("clicks"))
        queries, (query,) = number(used.rows["query"])
        pages, (page,) = number(used.rows["url"])
        rated = ratings(query, used.number)
        size = rated.size
        pairs = list(zip(used.texts("query"), used.texts("url"), rated.tolist(), strict=True))
        folder.lines("quepid.csv", used.said("query, docid, rating; the docid is the address"), size, quepid(pairs))
        made = features(used, page, len(pages))
        folder.lines(
            "letor.txt", used.said("rating qid:N feature:value … # docno"), size, letor(query, page, rated, made)
        )
        topics = pa.table([pa.array(np.arange(1, len(queries) + 1)), queries], ["qid", "query"])
        folder.lines("queries.tsv", "qid, query; no header", len(queries), tab_separated(topics))
        documents = pa.table([pa.array(np.arange(1, len(pages) + 1)), pages], ["docno", "url"])
        folder.lines("documents.tsv", "docno, url; no header", len(pages), tab_separated(documents))

    def notes(self, card: Card) -> str:
        """For the README: what a rating is, what the features are, and what must not be learned from them."""
        listed = "\n".join(f"{place}. {what}" for place, what in enumerate(FEATURES, 1))
        return (
            "A rating compares a page with the page of the same query that has the highest released number: 3 above "
            "half of it, 2 above a quarter of it, 1 otherwise. Clicks follow what was shown first, so a rating is "
            "partly the old ranking. A page that is not listed is unjudged, not irrelevant.\n\n"
            "`quepid.csv` is CSV with a header, as Quepid imports ratings (scale 0 to 3). `letor.txt` has a line for "
            "each pair in the format of LETOR and SVMlight, the lines of a query together; `queries.tsv` and "
            "`documents.tsv` say what `qid` and `docno` are (fields between tabs, no header). "
            f"{RULE}\n\nFeatures:\n\n{listed}\n\n{SUPPORT}"
        )


def ratings(query: Ints, users: Ints) -> Ints:
    """3, 2 or 1 by how far a number is below the highest one of its query; exact, in integers."""
    highest = np.zeros(query.max(initial=-1) + 1, np.int64)
    np.maximum.at(highest, query, users)
    return 1 + (4 * users > highest[query]).astype(np.int64) + (2 * users > highest[query])


def features(used: Supported, page: Ints, pages: int) -> Floats:
    """One row for each pair, in the order of `FEATURES`."""
    others = np.bincount(page, used.number, minlength=pages)[page] - used.number
    texts = zip(used.texts("query"), used.texts("url"), np.log2(1 + others).tolist(), strict=True)
    rows = [[*_words(query, url), float(len(url)), elsewhere] for query, url, elsewhere in texts]
    return np.array(rows, np.float64).reshape(len(rows), len(FEATURES))


def _words(query: str, url: str) -> list[float]:
    words, address = query.split(), url.lower()
    there = sum(word.lower() in address for word in words)
    return [float(len(words)), float(len(query)), there / len(words) if words else 0.0]


def quepid(pairs: list[tuple[str, str, int]]) -> Iterator[bytes]:
    """CSV with a header; quotation marks where a text needs them."""
    for row in [("query", "docid", "rating"), *pairs]:
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow(row)
        yield line.getvalue().encode()


def letor(query: Ints, page: Ints, rated: Ints, made: Floats) -> Iterator[bytes]:
    """The lines of each query together, as rankers demand."""
    for row in np.lexsort((page, query)).tolist():
        values = " ".join(f"{place}:{value:.6g}" for place, value in enumerate(made[row].tolist(), 1))
        yield f"{rated[row]} qid:{query[row] + 1} {values} # {page[row] + 1}\n".encode()


register(Judgments())
