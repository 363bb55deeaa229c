"""Users in groups of k by what they have in common: what `k_vocabulary` and `k_similar` share.

Whoever is equal to k − 1 others or more stays with them. Of the rest, the first in sorted order takes the k − 1 that
have most in common with her, and so on; fewer than k that are left join the group whose first member is nearest.
"""

from __future__ import annotations

import numpy as np

from hubbub.mechanisms.anonymity.k_session import Sets
from hubbub.steps.counts import Integers


def grouped(sets: Sets, k: int) -> list[Integers]:
    """Groups of at least k sets each; none where there are fewer than k sets."""
    kind = sets.kinds()
    n = np.bincount(kind)
    groups = [np.flatnonzero(kind == whole) for whole in np.flatnonzero(n >= k)]
    left = sets.sorted(np.flatnonzero(n[kind] < k))
    holders = _holders(sets)
    place = np.full(kind.size, -1, np.int64)
    place[left] = np.arange(left.size)
    first_of: list[int] = []
    started = len(groups)
    while left.size >= k:
        first = int(left[0])
        common = _common(sets, holders, first, place, left.size)
        common[0] = np.iinfo(np.int64).max  # herself
        taken = np.sort(np.argsort(-common, kind="stable")[:k])
        groups.append(left[taken])
        first_of.append(first)
        place[left[taken]] = -1
        left = np.delete(left, taken)
        place[left] = np.arange(left.size)
    if left.size and first_of:
        rows = np.array([_common(sets, holders, first, place, left.size) for first in first_of])
        for at, nearest in zip(left, rows.argmax(axis=0), strict=True):
            groups[started + int(nearest)] = np.append(groups[started + int(nearest)], at)
    return groups


def _holders(sets: Sets) -> tuple[Integers, Integers]:
    """Which sets hold each item: those of item i are `who[starts[i]:starts[i + 1]]`."""
    who = np.repeat(np.arange(sets.starts.size - 1), np.diff(sets.starts))
    by = np.argsort(sets.keywords, kind="stable")
    ends = np.cumsum(np.bincount(sets.keywords, minlength=len(sets.text)))
    return who[by], np.append(0, ends).astype(np.int64)


def _common(sets: Sets, holders: tuple[Integers, Integers], first: int, place: Integers, size: int) -> Integers:
    """How many items each of the sets that are left has in common with one set."""
    who, starts = holders
    found = np.zeros(size, np.int64)
    for item in sets.of_one(first):
        at = place[who[starts[item] : starts[item + 1]]]
        found[at[at >= 0]] += 1
    return found
