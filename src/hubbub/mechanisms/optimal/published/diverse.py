"""D-UMP: the most distinct pairs (Section 5.3), one row of each; the paper's own heuristic on request.

The paper mentions the most distinct queries as well, "in a similar way", and writes no problem down. Ours: a query is
there if one of its pairs is, and a second pair of it only costs, so that it is D-UMP with at most one pair per query.
"""

from __future__ import annotations

from hubbub.mechanisms.optimal.published.certificate import certify
from hubbub.mechanisms.optimal.published.exact import shares
from hubbub.mechanisms.optimal.published.linear import relax
from hubbub.mechanisms.optimal.published.pack import Say, Solved, pack
from hubbub.mechanisms.optimal.published.problem import Limit, Problem
from hubbub.mechanisms.optimal.published.spe import fast
from hubbub.mechanisms.optimal.published.upper import whole


def most_pairs(problem: Problem, limit: Limit, seconds: float, say: Say, *, spe: bool = False) -> Solved:
    """As many pairs as possible; with `spe` the pairs of Algorithm 2, measured by the same bound."""
    if not spe or not problem.shape[1]:
        return pack(problem, limit, "diverse", seconds, say)
    import numpy as np

    x, usable = fast(problem, limit), problem.usable(limit)
    rows, ones = shares(problem.matrix[:, usable], limit.bound), np.ones(usable.size)
    bound = whole(relax(rows, ones, seconds).bound) if usable.size else 0
    return Solved(x, certify(problem, x, limit, "diverse", int(x.sum()), bound, "the paper's heuristic (SPE)"))


def most_queries(problem: Problem, limit: Limit, seconds: float, say: Say) -> Solved:
    """As many queries as possible, one row of one pair of each."""
    return pack(problem, limit, "queries", seconds, say)
