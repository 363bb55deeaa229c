"""Queries that mean the same, as a log or a release shows it: the same pages clicked, or one word replaced.

Two queries are alike by *clicks* if the same pages were clicked for them: the confidence is the cosine of their clicks,
where a shared page counts by what is surely more than noise, so that noise takes pairs away more easily than it makes
them. They are alike by *substitution* if people who asked one went on to the other, which differs in one word: the
confidence is the share of what followed the one that is the other, in the surer direction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from hubbub.worth.tasks.graph import Floats, Ints, Matrix, matrix, number

LEAST = 0.5
"""Pairs below this confidence are not alike by clicks …"""
LEAST_REPLACED = 0.2
"""… and below this one not by substitution: people go on to many things."""
DIGITS = 3
CROWDED = 50
"""A page clicked for more queries than this says little of any two of them, and is left out of what they share."""
CLICKS, SUBSTITUTION = "clicks", "substitution"


@dataclass(frozen=True)
class AlikePair:
    """Two queries that mean the same, the first of them first in the order of texts."""

    left: str
    right: str
    confidence: float
    pages: int
    """How many pages they share; none by substitution."""
    by: str


@dataclass(frozen=True)
class Weighed:
    """Rows of a table with their numbers, and what of each number is surely more than noise."""

    rows: pa.Table
    number: Ints
    surely: Floats


def alike(clicks: Weighed | None, transitions: Weighed | None) -> list[AlikePair]:
    """Every pair that is sure enough by one or the other, the surest first; each pair once, as it is surer."""
    found = by_clicks(clicks) if clicks is not None else []
    found += by_substitution(transitions) if transitions is not None else []
    best: dict[tuple[str, str], AlikePair] = {}
    for pair in found:
        key = (pair.left, pair.right)
        if key not in best or pair.confidence > best[key].confidence:
            best[key] = pair
    return sorted(best.values(), key=lambda pair: (-pair.confidence, pair.left, pair.right))


def by_clicks(clicks: Weighed) -> list[AlikePair]:
    """Pairs for which the same pages were clicked."""
    queries, (row,) = number(clicks.rows["query"])
    pages, (column,) = number(clicks.rows["url"])
    shape = (len(queries), len(pages))
    lengths = np.sqrt(np.bincount(row, clicks.number.astype(np.float64) ** 2, minlength=shape[0]))
    telling = np.bincount(column, minlength=shape[1])[column] <= CROWDED
    surely = matrix(row[telling], column[telling], (clicks.surely / lengths[row])[telling], shape)
    similar, shared = _pairs(surely), _pairs((surely > 0).astype(np.int64))
    confidence = np.round(similar.data, DIGITS)
    sure = np.flatnonzero(confidence >= LEAST)
    texts: list[str] = queries.to_pylist()
    columns = (similar.row[sure], similar.col[sure], confidence[sure], shared.data[sure])
    return [
        AlikePair(texts[left], texts[right], value, common, CLICKS)
        for left, right, value, common in zip(*(column.tolist() for column in columns), strict=True)
    ]


def _pairs(weights: Matrix) -> Matrix:
    """What each pair of rows has in common, each pair once, in the order of the rows."""
    made = sp.triu(weights @ weights.T, k=1).tocsr()
    made.sort_indices()
    return made.tocoo()


def by_substitution(transitions: Weighed) -> list[AlikePair]:
    """Pairs of which one followed the other with one word replaced."""
    first, then = (transitions.rows[name].to_pylist() for name in ("query", "next_query"))
    left: Counter[str] = Counter()
    for query, n in zip(first, transitions.number.tolist(), strict=True):
        left[query] += n
    best: dict[tuple[str, str], float] = {}
    for query, following, n in zip(first, then, transitions.surely.tolist(), strict=True):
        if n > 0 and replaced(query.split(), following.split()):
            key = (min(query, following), max(query, following))
            best[key] = max(best.get(key, 0.0), round(min(1.0, n / left[query]), DIGITS))
    return [AlikePair(*key, value, 0, SUBSTITUTION) for key, value in best.items() if value >= LEAST_REPLACED]


def replaced(words: list[str], others: list[str]) -> bool:
    """Whether two queries of at least two words differ in exactly one of them."""
    if len(words) != len(others) or len(words) < 2:
        return False
    return sum(word != other for word, other in zip(words, others, strict=True)) == 1


def key(pair: Iterable[str]) -> tuple[str, str]:
    """A pair in the order of texts."""
    left, right = sorted(pair)
    return left, right
