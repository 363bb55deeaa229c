"""Synonyms in the format of Solr: pairs of queries whose users clicked the same pages, with a confidence.

The confidence is the cosine of the two queries' clicks, where a shared page counts by what is surely more than noise.
It is never above the plain cosine, so noise takes rules away more easily than it makes them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from hubbub.card.schema import Card
from hubbub.show.export.base import CheckedRelease, Folder, Format, register
from hubbub.show.export.supported import DEVIATIONS, SUPPORT, Supported
from hubbub.show.export.text import RULE, one_line, tab_separated
from hubbub.worth.tasks.graph import Matrix, matrix, number

LEAST = 0.5
"""Pairs below this confidence are no synonyms."""
DIGITS = 3
CROWDED = 50
"""A page clicked for more queries than this says little of any two of them, and is left out of what they share."""
SIGNS = ("\\", ",", "=>", "#")
"""What means something in a rule; a backslash takes the meaning away."""


@dataclass(frozen=True)
class Rule:
    """Two queries that mean the same, by their clicks."""

    left: str
    right: str
    confidence: float
    pages: int


class Synonyms(Format):
    """Rules for a synonym filter, and the same pairs as a table."""

    name: ClassVar[str] = "synonyms"
    about: ClassVar[str] = "synonym rules for Solr, OpenSearch and Elasticsearch"
    needs: ClassVar[tuple[str, ...]] = ("clicks",)

    def write(self, source: CheckedRelease, folder: Folder) -> None:
        """The surest rules first, each under a comment with its confidence."""
        used = Supported.of(source.need("clicks"))
        found = rules(used)
        said = used.said("a pair of queries on a line, its confidence in a comment above")
        folder.lines("synonyms.txt", said, len(found), solr(found))
        header = ["query", "synonym", "confidence", "pages"]
        columns = zip(*((r.left, r.right, r.confidence, r.pages) for r in found), strict=True)
        table = pa.table(list(map(pa.array, columns)) or [pa.array([], pa.string())] * len(header), header)
        folder.lines("synonyms.tsv", used.said("the same pairs"), len(found), tab_separated(table, header))

    def notes(self, card: Card) -> str:
        """For the README: the syntax, and what makes a rule."""
        return (
            "`synonyms.txt` is for a synonym filter that knows the format of Solr (`synonyms_path`, format solr): "
            "`one query, another` on a line, which lets each stand for the other; lines that begin with `#` are "
            "comments. A comma, a backslash, `=>` and `#` of a query have a backslash before them. A query with "
            "control characters, or nothing but blanks, is in no rule. `synonyms.tsv` has the pairs with a header, "
            f"between tabs. {RULE}\n\n"
            "A rule is a pair of queries for which the same pages were clicked. Its confidence is the cosine of "
            f"their clicks, with {DEVIATIONS} `noise_sd` taken from every shared number, and rules of at least "
            f"{LEAST} are listed. A page that was clicked for more than {CROWDED} queries does not count as "
            f"shared.\n\n{SUPPORT}\n\n"
            "Shared clicks mean a shared aim, which is not always a shared meaning: read the rules before you use "
            "them, the least sure ones first. A pair that is not listed was not released or not sure."
        )


def rules(clicks: Supported) -> list[Rule]:
    """Every pair of queries that is sure enough, the surest first."""
    queries, (row,) = number(clicks.rows["query"])
    pages, (column,) = number(clicks.rows["url"])
    shape = (len(queries), len(pages))
    lengths = np.sqrt(np.bincount(row, clicks.number.astype(np.float64) ** 2, minlength=shape[0]))
    telling = np.bincount(column, minlength=shape[1])[column] <= CROWDED
    surely = matrix(row[telling], column[telling], (clicks.surely / lengths[row])[telling], shape)
    alike, shared = _pairs(surely), _pairs((surely > 0).astype(np.int64))
    confidence = np.round(alike.data, DIGITS)
    sure = np.flatnonzero(confidence >= LEAST)
    texts: list[str] = queries.to_pylist()
    columns = (alike.row[sure], alike.col[sure], confidence[sure], shared.data[sure])
    found = [
        Rule(texts[left], texts[right], value, common)
        for left, right, value, common in zip(*(column.tolist() for column in columns), strict=True)
        if one_line(texts[left]) and one_line(texts[right])
    ]
    return sorted(found, key=lambda rule: (-rule.confidence, rule.left, rule.right))


def _pairs(weights: Matrix) -> Matrix:
    """What each pair of rows has in common, each pair once, in the order of the rows."""
    made = sp.triu(weights @ weights.T, k=1).tocsr()
    made.sort_indices()
    return made.tocoo()


def term(query: str) -> str:
    """A query as it stands in a rule."""
    for sign in SIGNS:
        query = query.replace(sign, f"\\{sign}")
    return query


def solr(found: list[Rule]) -> Iterator[bytes]:
    """Two lines for each rule."""
    for rule in found:
        yield f"# confidence {rule.confidence:.{DIGITS}f}, shared pages: {rule.pages}\n".encode()
        yield f"{term(rule.left)}, {term(rule.right)}\n".encode()


register(Synonyms())
