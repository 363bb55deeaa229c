"""The paper's heuristic for diversity (Algorithm 2): drop the pair with the largest t_jk until everybody is within B.

`literal` is the loop of the paper. Its results are nested, pair by pair in the order of their largest share, so the
place where it stops can be found by halving: `fast` gives the same answer in a few steps. Equal shares fall in the
order of ids. Both compare loads with B exactly.
"""

from __future__ import annotations

import numpy as np

from hubbub.mechanisms.optimal.published.problem import Integers, Limit, Problem


def literal(problem: Problem, limit: Limit) -> Integers:
    """Algorithm 2, line by line; it always drops one pair, even if nothing is broken."""
    kept = np.ones(problem.shape[1], np.int64)
    shares = problem.counts / problem.totals[problem.pairs]
    while kept.any():
        alive = kept[problem.pairs] > 0
        at = np.flatnonzero(alive)[np.argmax(shares[alive])]  # line 5: the maximum t_jk
        kept[problem.pairs[at]] = 0  # line 6
        if not problem.broken(kept, limit).size:  # line 7
            break
    return kept


def fast(problem: Problem, limit: Limit) -> Integers:
    """The same pairs."""
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
