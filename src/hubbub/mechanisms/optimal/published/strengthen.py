"""Rows that every whole-numbered solution satisfies and the relaxation does not: its bound comes down.

whole numbers   Σ f(a_j/B) x_j <= 1 for each user, f a dual feasible function (Lueker 1983; Fekete and Schepers
                2001): at k = 1, pairs that need more than half of B cannot come out together
cliques         pairs no two of which can come out together, each two because of another user: Σ x_j <= 1

What else one user's constraint gives is in `facets`. Every comparison is of multiples of 2^-26 (`exact`), so exact.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from hubbub.mechanisms.optimal.published.exact import down
from hubbub.mechanisms.optimal.published.problem import Floats, Integers

ORDERS = (1, 2, 3)
MOST_PAIRS = 200
"""Users with more pairs than this are left out of the conflict graph; their own rows say most of it."""
VIOLATED = 1.005


def whole_rows(shares: sparse.csc_array) -> sparse.csc_array:
    """Every user's row (`exact.shares`), and what dual feasible functions make of it; the right-hand side is 1."""
    rows = [shares.tocsr()]
    for k in ORDERS:  # with m the largest whole number below (k+1) z: Σ m x < k + 1, so Σ m x <= k
        row = rows[0].copy()
        row.data = down(np.maximum(0.0, np.ceil((k + 1) * row.data) - 1) / k)
        row.eliminate_zeros()
        rows.append(row[np.flatnonzero(np.diff(row.indptr) > 1)])
    return sparse.vstack(rows).tocsc()


class Conflicts:
    """Which pairs cannot come out together, and the cliques of them that a fractional solution violates."""

    def __init__(self, shares: sparse.csc_array, top: Integers) -> None:
        one, two = _together(shares.tocsr())
        graph = sparse.coo_array((np.ones(one.size, np.int8), (one, two)), (top.size, top.size))
        both = (graph + graph.T).tocsr()
        self._top = top
        self._around = np.split(both.indices, both.indptr[1:-1])
        self._known: set[frozenset[int]] = set()

    def violated(self, x: Floats) -> sparse.csr_array | None:
        """One greedy clique from every pair of the solution, if its sum is above 1; None if there is none."""
        x = x / self._top
        found: list[list[int]] = []
        near: dict[int, set[int]] = {}

        def around(j: int) -> set[int]:
            if j not in near:
                near[j] = set(self._around[j].tolist())
            return near[j]

        for j in np.flatnonzero(x > 1e-3).tolist():
            candidates = sorted((i for i in around(j) if x[i] > 1e-6), key=lambda i: (-x[i], i))
            clique, total = [j], float(x[j])
            while candidates:
                i = candidates.pop(0)
                clique.append(i)
                total += float(x[i])
                candidates = [c for c in candidates if c in around(i)]
            if total <= VIOLATED or frozenset(clique) in self._known:
                continue
            self._known.add(frozenset(clique))
            others = sorted(set.intersection(*(around(i) for i in clique)))
            while others:  # pairs that are not in the solution make it stronger
                i = others.pop(0)
                clique.append(i)
                others = [c for c in others if c in around(i)]
            found.append(clique)
        if not found:
            return None
        where = np.repeat(np.arange(len(found)), [len(c) for c in found])
        pairs = np.concatenate([np.array(c) for c in found])
        return sparse.csr_array((down(1 / self._top[pairs]), (where, pairs)), (len(found), x.size))


def _together(by_user: sparse.csr_array) -> tuple[Integers, Integers]:
    """Two pairs of one user that need more than B together; sorted by need, those a pair cannot join come first."""
    counts = np.diff(by_user.indptr)
    user = np.repeat(np.arange(counts.size), counts)
    order = np.lexsort((-by_user.data, user))
    need, pair = by_user.data[order], by_user.indices[order].astype(np.int64)
    place = np.arange(need.size) - by_user.indptr[user]
    key = user * 4.0 - need  # needs are at most 1, so users do not mix; exact for fewer users than 2^25
    before = np.searchsorted(key, user * 4.0 - (1 - need), side="left") - by_user.indptr[user]
    partners = np.where(counts[user] <= MOST_PAIRS, np.minimum(place, before), 0)
    second = np.repeat(np.arange(need.size), partners)
    starts = np.cumsum(partners) - partners
    first = np.arange(second.size) - np.repeat(starts, partners) + by_user.indptr[user[second]]
    return pair[first], pair[second]
