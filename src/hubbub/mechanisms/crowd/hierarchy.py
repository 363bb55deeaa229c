"""Group counts that agree with the total: post-processing of released numbers, where users are in one group each.

If the owner states that every user is in one group only, the users of a key's cells add up to at most the users of the
key. Where noise makes them more, the excess is taken off the cells in proportion to the variance of their noise: the
weighted least squares fit to what was released under that rule, with the total as it stands. `noise_sd` follows: a cell
with the part w of the excess has the variance s²(1 − w) + w² S², S that of the total.
"""

from __future__ import annotations

from dataclasses import replace
from math import fsum

import numpy as np

from hubbub.mechanisms.base import Released
from hubbub.mechanisms.parameter import Parameter
from hubbub.steps.counts import Integers

ONE_GROUP = Parameter(
    "one_group",
    "choice",
    "stated: every user is in one group of a grouping, so that group counts add up to no more than the total",
    choices=("yes",),
    fact=True,
)


def add_up(cells: Released, parent: Released, places: Integers) -> Released:
    """Cells whose users add up to no more than those of their key; `places` are the keys' places among the parents.

    Sums are exactly rounded, so that no order of ids shows in a last bit.
    """
    if cells.values is None or parent.values is None or cells.noise_sd is None or parent.noise_sd is None:
        return cells
    values, sds = cells.values.copy(), np.broadcast_to(cells.noise_sd, cells.ids.size).astype(float).copy()
    totals = np.broadcast_to(parent.noise_sd, parent.ids.size).astype(float)
    order = np.argsort(places, kind="stable")
    for at in np.split(order, np.flatnonzero(np.diff(places[order])) + 1):
        if at.size and (key := int(places[at[0]])) >= 0:
            values[at], sds[at] = _fitted(values[at], sds[at], int(parent.values[key]), float(totals[key]))
    return replace(cells, values=values, noise_sd=np.rint(1000 * sds) / 1000)


def _fitted(
    users: Integers, sds: np.ndarray[tuple[int], np.dtype[np.float64]], total: int, total_sd: float
) -> tuple[Integers, np.ndarray[tuple[int], np.dtype[np.float64]]]:
    """The cells of one key: each keeps one user at least, and what such a cell cannot give the others give."""
    excess = int(users.sum()) - total
    if excess <= 0:
        return users, sds
    fitted, free = users.astype(float), np.ones(users.size, bool)
    part = np.zeros(users.size)
    for _ in range(users.size):
        whole = fsum(np.square(sds[free]).tolist())
        if not whole:
            break
        part = np.where(free, np.square(sds) / whole, 0.0)
        missing = fsum(np.where(free, users, 1).tolist()) - total
        fitted = np.where(free, users - part * missing, 1.0)
        if not (free & (fitted < 1)).any():
            break
        free &= fitted >= 1
    variance = np.square(sds) * (1 - part) + np.square(part * total_sd)
    return np.maximum(np.floor(fitted + 1e-9), 1).astype(np.int64), np.sqrt(variance)
