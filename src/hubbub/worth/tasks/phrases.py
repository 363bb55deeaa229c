"""Phrases of queries by mutual information, and which phrase stands in for which, by log-likelihood ratio.

After Jones, Rey, Madani and Greiner, "Generating query substitutions" (2006), in the way Götz et al. describe it: a
phrase pair counts how often a query with the first phrase was followed by one with the second. As in Jones et al. the
first is gone and the second is new: what both queries have was not rephrased.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from hubbub.worth.tasks.graph import Floats, Ints, Matrix, find, matrix, number, scaled

BITS = 3.0
"""Two neighbouring words belong together if they do so 2³ times as often as by chance …"""
OFTEN = 5
"""… and this often at least: the mutual information of rare words says nothing."""
SIGNIFICANT = 3.841
"""The 5 % point of χ² with one degree of freedom: pairs below it are chance."""


@dataclass(frozen=True)
class Words:
    """Queries as words side by side: query r has words[bounds[r] : bounds[r + 1]]."""

    words: pa.Array
    bounds: Ints

    @classmethod
    def of(cls, queries: pa.Array) -> Words:
        """The words of queries, split at spaces."""
        lists = pc.split_pattern(queries.cast(pa.large_string()), " ")
        lengths = pc.list_value_length(lists).to_numpy().astype(np.int64)
        return cls(pc.list_flatten(lists).cast(pa.large_string()), np.concatenate([[0], np.cumsum(lengths)]))

    def inner(self) -> Ints:
        """The places of words that have one before them in their query."""
        first = np.zeros(len(self.words), bool)
        first[self.bounds[:-1][np.diff(self.bounds) > 0]] = True
        return np.flatnonzero(~first)

    def query(self) -> Ints:
        """The query of each word."""
        return np.repeat(np.arange(self.bounds.size - 1), np.diff(self.bounds))


@dataclass(frozen=True)
class Joined:
    """Which words belong together."""

    vocabulary: pa.Array
    together: Ints
    """first × size + second, sorted."""

    @classmethod
    def of(cls, words: Words, weight: Floats) -> Joined:
        """Mutual information of neighbouring words, queries weighted."""
        vocabulary, (ids,) = number(words.words)
        size, weight = len(vocabulary), weight[words.query()]
        alone = np.bincount(ids, weight, minlength=size)
        inner = words.inner()
        pair, place = np.unique(ids[inner - 1] * size + ids[inner], return_inverse=True)
        both = np.bincount(place, weight[inner], minlength=pair.size)
        chance = (alone[pair // max(size, 1)] / alone.sum()) * (alone[pair % max(size, 1)] / alone.sum()) * both.sum()
        return cls(vocabulary, pair[(both >= OFTEN) & (both >= 2**BITS * chance)])

    def segment(self, words: Words) -> tuple[pa.Array, Ints]:
        """The phrases of every query, side by side, and the query of each."""
        ids, size = find(words.words, self.vocabulary), len(self.vocabulary)
        inner = words.inner()
        left, right = ids[inner - 1], ids[inner]
        joined = (left >= 0) & (right >= 0) & np.isin(left * size + right, self.together)
        starts = np.ones(len(words.words), bool)
        starts[inner[joined]] = False
        at = np.flatnonzero(starts)
        lists = pa.LargeListArray.from_arrays(pa.array(np.append(at, len(words.words)), pa.int64()), words.words)
        return pc.binary_join(lists, pa.scalar(" ", pa.large_string())), words.query()[at]


def log_likelihood(together: Matrix, left: Floats, right: Floats, all: float) -> Matrix:
    """Dunning's -2 log λ of each pair that occurs together more often than by chance, if significant.

    `together` counts pairs, `left` and `right` how often each phrase is the first or the second of any.
    """
    listed = together.tocoo()
    seen, row, column = listed.data, left[listed.row], right[listed.col]
    cells = (
        (seen, row, column),
        (row - seen, row, all - column),
        (column - seen, all - row, column),
        (all - row - column + seen, all - row, all - column),
    )
    ratio = 2 * np.sum([_part(count, a, b, all) for count, a, b in cells], axis=0)
    kept = (ratio >= SIGNIFICANT) & (seen * all > row * column)
    return matrix(listed.row[kept], listed.col[kept], ratio[kept], together.shape)


def _part(seen: Floats, row: Floats, column: Floats, all: float) -> Floats:
    """k log(k / E) with E the count by chance; 0 for k = 0."""
    expected = row * column / all
    safe = (seen > 0) & (expected > 0)
    return np.where(safe, seen * np.log(np.where(safe, seen, 1) / np.where(safe, expected, 1)), 0.0)


def phrase_pairs(phrases: Matrix, first: Ints, second: Ints, n: Floats, wanted: Ints) -> Matrix:
    """Log-likelihood ratios of phrase pairs; `phrases` is queries × phrases, the pairs of queries occur n times."""
    left, right = phrases[first], phrases[second]
    kept = left.multiply(right).tocsr()
    left, right = (left - kept).tocsr(), (right - kept).tocsr()
    often = scaled(left, n).T.tocsr()
    before, after = (np.asarray(scaled(side, n).sum(axis=0), np.float64).ravel() for side in (left, right))
    chosen = np.zeros(phrases.shape[1])
    chosen[wanted] = 1
    together = (scaled(often, chosen) @ right).tocsr()
    together.eliminate_zeros()
    return log_likelihood(together, before, after, float(n.sum()))


def incidence(query: Ints, phrase: Ints, shape: tuple[int, int]) -> Matrix:
    """1 where a query has a phrase, however often."""
    made = matrix(query, phrase, np.ones(query.size), shape)
    made.data[:] = 1
    return sp.csr_array(made)
