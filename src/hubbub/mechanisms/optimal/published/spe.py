"""The paper's heuristic for diversity (Algorithm 2): drop the pair with the largest t_jk until everybody is within B.

The results of the paper's loop are nested, pair by pair in the order of their largest share, so the place where it
stops can be found by halving. Equal shares fall in the order of ids. Loads are compared with B exactly.
"""

from __future__ import annotations

import numpy as np

from hubbub.mechanisms.optimal.published.problem import Integers, Limit, Problem


def fast(problem: Problem, limit: Limit) -> Integers:
    """The pairs that Algorithm 2 keeps; it always drops one, even if nothing is broken."""
    order = np.argsort(-problem.largest_share, kind="stable")

    def without(first: int) -> Integers:
        kept = np.zeros(problem.shape[1], np.int64)
        kept[order[first:]] = 1
        return kept

    low, high = 0, problem.shape[1]  # the first `low` are not enough, the first `high` are
    while high - low > 1:
        middle = (low + high) // 2
        if problem.broken(without(middle), limit).size:
            low = middle
        else:
            high = middle
    return without(high)
