"""Rows for whole numbers, round after round: what the relaxation's x violates is added, until that gains too little."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy import sparse

from hubbub.mechanisms.optimal.published.facets import Facets
from hubbub.mechanisms.optimal.published.linear import Relaxed
from hubbub.mechanisms.optimal.published.problem import Floats, Integers
from hubbub.mechanisms.optimal.published.strengthen import Conflicts, whole_rows

WORTH = 2e-4
"""A round of new rows that lowers the bound by less than this, relatively, is the last."""
CHEAP = 0.01
"""While a round gains more than this, cliques are enough; facets cost a small problem a user."""
TIGHT = 0.97
"""New rows that the relaxation fills less than this, at no price, are dropped again."""
Relaxation = Callable[[sparse.csc_array, tuple[Floats, Floats]], Relaxed]
"""Rows, and an x and prices to start from."""


def tighten(
    shares: sparse.csc_array, top: Integers, first: Relaxed, relaxed: Relaxation, left: Callable[[], float]
) -> tuple[sparse.csc_array, Relaxed]:
    """The rows of the last round, and their relaxation; it ends early when no seconds are left."""
    always = whole_rows(shares)
    conflicts, facets = Conflicts(shares, top), Facets(shares, top, left)
    rows, cuts = always, sparse.csr_array((0, top.size))
    found, before = first, math.inf
    prices = np.concatenate([first.prices, np.zeros(always.shape[0] - shares.shape[0])])
    while left() > 0:
        found = relaxed(rows, (found.x, prices))
        gain, before = 1 - found.bound / before, found.bound
        if gain < WORTH or left() <= 0:
            break
        makers = (conflicts,) if gain > CHEAP else (conflicts, facets)
        new = [made for maker in makers if (made := maker.violated(found.x)) is not None]
        if not new:
            break
        filled, known, dear = np.asarray(cuts @ found.x), *np.split(found.prices, [always.shape[0]])
        tight = np.flatnonzero((filled > TIGHT) | (dear > 1 - TIGHT))
        cuts = sparse.vstack([cuts[tight], *new], format="csr")
        rows = sparse.vstack([always, cuts], format="csc")
        prices = np.concatenate([known, dear[tight], np.zeros(cuts.shape[0] - tight.size)])
    return rows, Relaxed(found.x, prices if found.prices.size != rows.shape[0] else found.prices, found.bound)
