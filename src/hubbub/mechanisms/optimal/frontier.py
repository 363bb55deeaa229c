"""What the paper leaves for later: the least privacy loss for a target, and size against diversity."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy import sparse

from hubbub.errors import ParameterError
from hubbub.mechanisms.optimal.highs import solve
from hubbub.mechanisms.optimal.linear import relax
from hubbub.mechanisms.optimal.pack import tops
from hubbub.mechanisms.optimal.problem import Integers, Limit, Problem
from hubbub.mechanisms.optimal.rounding import fill, give_back
from hubbub.mechanisms.optimal.size import optimum

FINEST = 1e-3
MOST = 64.0
"""B from which on the constraints allow what no one would call private."""


def limit_of(bound: float) -> Limit:
    """The (ε, δ) of a B: ε = B, δ = 1 − e^(−B), which constrain equally."""
    return Limit(Fraction(bound), Fraction(min(-math.expm1(-bound) + 1e-15, 1 - 1e-15)))


@dataclass(frozen=True)
class Least:
    """The smallest B that was found to reach a target, and one below which none can."""

    bound: float
    none_below: float

    def record(self) -> dict[str, float]:
        """For the certificate."""
        delta = -math.expm1(-self.bound)
        return {"B": self.bound, "epsilon": self.bound, "delta": delta, "none_below_B": self.none_below}


def least_loss(problem: Problem, goal: str, target: int, seconds: float) -> Least:
    """The least B at which `target` rows (size) or pairs (diverse) come out.

    The relaxation gives a B that no solution can go below (size: target/V(1), in closed form); bisection with the
    greedy fill gives one that is enough.
    """

    def reaches(bound: float) -> bool:
        return int(quick(problem, limit_of(bound), goal).sum()) >= target

    if target > (problem.size if goal == "size" else problem.shape[1]) or not reaches(MOST):
        raise ParameterError(
            "No B reaches this target.",
            given=f"target = {target} {'rows' if goal == 'size' else 'pairs'}",
            allowed=f"at most {problem.shape[1]} pairs that two users share, within B = {MOST:.0f}",
        )
    none_below = target / optimum(problem, seconds).bound if goal == "size" else _none_below(problem, target, seconds)
    low, high = none_below, MOST
    while high - low > FINEST * high:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return Least(high, none_below)


def quick(problem: Problem, limit: Limit, goal: str) -> Integers:
    """The greedy fill alone: what a release would at least reach."""
    usable = problem.usable(limit)
    top = np.ones(usable.size, np.int64) if goal == "diverse" else tops(problem, limit, usable)
    x = np.zeros(problem.shape[1], np.int64)
    x[usable] = fill(problem.matrix[:, usable], limit.bound, np.zeros(usable.size, np.int64), top)
    return give_back(problem, x, limit)


def _none_below(problem: Problem, target: int, seconds: float) -> float:
    """Bisection on the relaxation with one row a pair."""
    low, high = 0.0, MOST
    while high - low > 0.01 * high:
        middle = (low + high) / 2
        usable = problem.usable(limit_of(middle))
        rows, ones = np.full(problem.shape[0], middle), np.ones(usable.size)
        if usable.size and relax(problem.matrix[:, usable], rows, ones, seconds / 12).bound >= target:
            high = middle
        else:
            low = middle
    return max(low, 1e-6)


@dataclass(frozen=True)
class Point:
    """One compromise: so many rows of so many pairs."""

    weight: float
    rows: int
    pairs: int


def frontier(problem: Problem, limit: Limit, points: int, seconds: float) -> list[Point]:
    """Size against diversity: a row is worth 1 − w, the first row of a pair 1; rounded and filled, best kept."""
    usable = problem.usable(limit)
    if not usable.size:
        return []
    matrix, most = problem.matrix[:, usable], tops(problem, limit, usable)
    twice = sparse.hstack([matrix, matrix]).tocsc()
    top = np.concatenate([np.ones(usable.size), most - 1.0])
    found = []
    for weight in np.linspace(0, 1, points).tolist():
        worth = np.concatenate([np.ones(usable.size), np.full(usable.size, 1 - weight)])
        upper = np.full(matrix.shape[0], limit.bound)
        relaxed = solve(twice, upper, worth, top=top, seconds=seconds / points, solver="ipm", run_crossover="off").x
        start = np.zeros(2 * usable.size) if relaxed is None else np.floor(np.maximum(relaxed, 0) + 1e-9)
        ones = fill(matrix, limit.bound, start[: usable.size].astype(np.int64), np.ones(usable.size, np.int64))
        chosen = [fill(matrix, limit.bound, ones, most)]
        chosen.append(
            fill(matrix, limit.bound, np.zeros(usable.size, np.int64), most if weight < 1 else np.ones_like(most))
        )
        x = max(chosen, key=lambda x: (1 - weight) * x.sum() + weight * (x > 0).sum())
        found.append(Point(weight, int(x.sum()), int((x > 0).sum())))
    return [
        p
        for p in found
        if not any(q.rows >= p.rows and q.pairs >= p.pairs and (q.rows, q.pairs) != (p.rows, p.pairs) for q in found)
    ]
