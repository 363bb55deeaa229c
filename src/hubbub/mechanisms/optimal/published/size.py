"""O-UMP: the most rows (Section 5.1), and the one relaxation that serves every (ε, δ).

The relaxation's optimum is linear in B: x is feasible for B exactly if x/B is for 1, so V(B) = B·V(1). And for any
data V(B) <= users·B: Σ_k ln t_jk = −Σ_k ln(1 − c_jk/c_j) >= Σ_k c_jk/c_j = 1 for every pair, so summing all
constraints gives Σ x <= users·B.
"""

from __future__ import annotations

import numpy as np

from hubbub.mechanisms.optimal.published.exact import shares
from hubbub.mechanisms.optimal.published.linear import Relaxed, relax
from hubbub.mechanisms.optimal.published.pack import Say, Solved, pack
from hubbub.mechanisms.optimal.published.problem import Limit, Problem


def optimum(problem: Problem, seconds: float) -> Relaxed:
    """The relaxation at B = 1; times B for any other."""
    rows = np.ones(problem.shape[0])
    if not problem.shape[1]:
        return Relaxed(np.zeros(0), np.zeros(problem.shape[0]), 0.0)
    found = relax(shares(problem.matrix, 1.0), 1.0 / problem.hardest * (1 + 1e-9), seconds)
    return found if found.bound <= problem.shape[0] else Relaxed(found.x, rows, float(problem.shape[0]))


def largest(problem: Problem, limit: Limit, seconds: float, say: Say) -> Solved:
    """As many rows as possible."""
    return pack(problem, limit, "size", seconds, say)
