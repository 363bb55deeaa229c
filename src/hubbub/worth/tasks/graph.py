"""The query-click graph as sparse matrices: queries and URLs are rows and columns, numbered in the order of their text.

Everything that breaks a tie breaks it by that number, so a ranking is a function of the tables alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]
Matrix: TypeAlias = Any
"""A scipy.sparse.csr_array."""


def number(*columns: pa.ChunkedArray | pa.Array) -> tuple[pa.Array, list[Ints]]:
    """The distinct texts of some columns in order, and each column as numbers into them."""
    chunks = [chunk for column in columns for chunk in _chunks(column)]
    coded = pa.chunked_array(chunks, pa.large_string()).combine_chunks().dictionary_encode()
    order = pc.sort_indices(coded.dictionary)
    place = np.empty(len(order), np.int64)
    place[order.to_numpy()] = np.arange(len(order))
    codes = place[coded.indices.to_numpy()] if len(order) else np.zeros(0, np.int64)
    ends = np.cumsum([len(column) for column in columns])
    return coded.dictionary.take(order), np.split(codes, ends[:-1])


def find(column: pa.ChunkedArray | pa.Array, names: pa.Array) -> Ints:
    """Each text as a number into `names`, -1 where it is not among them."""
    wanted = pa.chunked_array(_chunks(column), pa.large_string())
    found = pc.fill_null(pc.index_in(wanted, value_set=names), -1)
    return np.asarray(found.to_numpy(), np.int64)


def _chunks(column: pa.ChunkedArray | pa.Array) -> list[pa.Array]:
    wide = column.cast(pa.large_string())
    return list(wide.chunks) if isinstance(wide, pa.ChunkedArray) else [wide]


def matrix(row: Ints, column: Ints, value: npt.ArrayLike, shape: tuple[int, int]) -> Matrix:
    """Sums of values by row and column, without zeros; within a row the columns ascend."""
    made = sp.coo_array((np.asarray(value, np.float64), (row, column)), shape=shape).tocsr()
    made.eliminate_zeros()
    made.sort_indices()
    return made


@dataclass(frozen=True)
class Graph:
    """Clicks from queries to URLs, and follow-ups from queries to queries."""

    queries: pa.Array
    urls: pa.Array
    clicks: Matrix
    """C_ju: queries × urls."""
    follows: Matrix
    """C_jk: queries × queries, nothing on the diagonal."""

    @classmethod
    def of(cls, clicks: pa.Table | None, transitions: pa.Table | None = None) -> Graph:
        """From the tables of a log or a release."""
        none = pa.array([], pa.large_string())
        query, url, n = _columns(clicks, "query", "url") if clicks is not None else (none, none, [])
        a, b, m = _columns(transitions, "query", "next_query") if transitions is not None else (none, none, [])
        queries, (row, left, right) = number(query, a, b)
        urls, (column,) = number(url)
        size = len(queries)
        apart = left != right
        return cls(
            queries,
            urls,
            matrix(row, column, n, (size, len(urls))),
            matrix(left[apart], right[apart], np.asarray(m)[apart], (size, size)),
        )

    def known(self) -> npt.NDArray[np.bool_]:
        """Which queries lead anywhere."""
        return (total(self.clicks) + total(self.follows)) > 0


def _columns(table: pa.Table, left: str, right: str) -> tuple[Any, Any, Any]:
    return table.column(left), table.column(right), table.column("n").to_numpy()


def total(weights: Matrix) -> Floats:
    """The sum of each row."""
    return np.asarray(weights.sum(axis=1), np.float64).ravel()


def scaled(weights: Matrix, by: Floats) -> Matrix:
    """The matrix with each row multiplied by a number of its own."""
    return sp.diags_array(by).tocsr() @ weights


def shuffled(ids: Ints) -> Ints:
    """A number for each id: in their order the ids are a fixed shuffle, the same in every run."""
    return np.asarray((ids.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(1), np.int64)


FEW = 20


def top(weights: Matrix, k: int) -> tuple[Ints, Ints, Ints, Floats]:
    """The k largest positive entries of each row, largest first, ties by column: (row, rank from 0, column, value)."""
    made = weights.tocsr()
    made.sort_indices()
    row = np.repeat(np.arange(made.shape[0]), np.diff(made.indptr))
    kept = np.flatnonzero(made.data > 0) if k > FEW else largest(made, k)
    row, column, value = row[kept], made.indices[kept].astype(np.int64), made.data[kept]
    order = np.lexsort((-value, row))  # stable, so equal values stay in the order of their columns
    row, column, value = row[order], column[order], value[order]
    start = np.searchsorted(row, np.arange(made.shape[0]))
    rank = np.arange(row.size) - start[row]
    first = rank < k
    return row[first], rank[first], column[first], value[first]


def largest(made: Matrix, k: int) -> Ints:
    """The places of the k largest positive entries of each row, in order: a few passes instead of a sort."""
    left, lengths = made.data.copy(), np.diff(made.indptr)
    filled = np.flatnonzero(lengths)
    start, lengths = made.indptr[filled], lengths[filled]
    taken = [np.zeros(0, np.int64)]
    for _ in range(k if filled.size else 0):
        peak = np.maximum.reduceat(left, start)
        at = np.flatnonzero((left == np.repeat(peak, lengths)) & (left > 0))
        if not at.size:
            break
        inside = np.searchsorted(start, at, side="right")
        at = at[np.diff(inside, prepend=0) > 0]  # the first of each row
        taken.append(at)
        left[at] = 0
    return np.sort(np.concatenate(taken))
