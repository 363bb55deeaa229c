"""What the paper leaves for later: the least privacy loss for a target, and size against diversity."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from scipy import sparse

from hubbub.errors import ParameterError
from hubbub.mechanisms.optimal.published.exact import shares
from hubbub.mechanisms.optimal.published.highs import solve
from hubbub.mechanisms.optimal.published.linear import relax
from hubbub.mechanisms.optimal.published.pack import pack, tops
from hubbub.mechanisms.optimal.published.problem import TOLERANCE, Integers, Limit, Problem, rounded_up
from hubbub.mechanisms.optimal.published.rounding import fill, give_back
from hubbub.mechanisms.optimal.published.size import optimum
from hubbub.privacy.existence import Cause

FINEST = 1e-3
MOST = 64.0
"""B from which on the constraints allow what no one would call private."""
TRIES = 6
"""A B is decided in a sixth of the time, or left undecided."""


def limit_of(bound: float) -> Limit:
    """The (ε, δ) of a B: ε = B, δ = 1 − e^(−B), which constrain equally; rounded up, so that a tie is allowed."""
    more = bound * (1 + 1e-13)
    return Limit(rounded_up(Fraction(more)), min(rounded_up(Fraction(-math.expm1(-more))), Fraction(1 - 2**-50)))


@dataclass(frozen=True)
class Least:
    """The smallest B that was found to reach a target, a solution that does, and a B below which none can."""

    bound: float
    none_below: float
    x: Integers = field(repr=False)

    def record(self) -> dict[str, float]:
        """The point as the certificate prints it."""
        delta = -math.expm1(-self.bound)
        return {"B": self.bound, "epsilon": self.bound, "delta": delta, "none_below_B": self.none_below}


def least_loss(problem: Problem, goal: str, target: int, seconds: float) -> Least:
    """The least B at which `target` rows (size) or pairs (diverse) come out.

    The relaxation gives a B that no solution can go below (size: target/V(1), in closed form), the greedy fill one that
    is enough. Between the two, each B that is tried is reached by a solution, proven to be out of reach, or undecided
    when its time is up; what is proven and what was only not found are kept apart.
    """
    until = time.monotonic() + seconds
    high, best = MOST, quick(problem, limit_of(MOST), goal)
    if target > (problem.size if goal == "size" else problem.shape[1]) or best.sum() < target:
        raise ParameterError(
            "No B reaches this target.",
            given=f"target = {target} {'rows' if goal == 'size' else 'pairs'}",
            allowed=f"at most {problem.shape[1]} pairs that two users share, within B = {MOST:.0f}",
            because=Cause.SOLVED,
        )
    proven = _size_needs(problem, target, seconds / 4) if goal == "size" else _none_below(problem, target, seconds / 4)
    low = proven
    while high - low > FINEST * high:
        middle = math.sqrt(low * high)
        x = quick(problem, limit_of(middle), goal)
        low, high, best = (low, _needed(problem, x, middle), x) if x.sum() >= target else (middle, high, best)
    low = proven
    while high - low > FINEST * high and (left := until - time.monotonic()) > 0:
        middle = math.sqrt(low * high)
        time_for_it = min(left, max(seconds / TRIES, 0.5))
        found = pack(problem, limit_of(middle), goal, time_for_it, lambda _: None, enough=target)
        if found.certificate.objective >= target:
            high, best = _needed(problem, found.x, middle), found.x
        else:
            low = middle
            proven = middle if found.certificate.upper_bound < target else proven
    return Least(high, min(proven, high), best)


def _needed(problem: Problem, x: Integers, at_most: float) -> float:
    """The smallest limit B at which x is allowed."""
    return min(at_most, float((problem.matrix @ x).max(initial=0.0)))


def quick(problem: Problem, limit: Limit, goal: str) -> Integers:
    """The greedy fill alone: what a release would at least reach."""
    usable = problem.usable(limit)
    top = np.ones(usable.size, np.int64) if goal == "diverse" else tops(problem, limit, usable)
    x = np.zeros(problem.shape[1], np.int64)
    x[usable] = fill(problem.matrix[:, usable], limit.bound, np.zeros(usable.size, np.int64), top)
    return give_back(problem, x, limit)


def _size_needs(problem: Problem, target: int, seconds: float) -> float:
    """target/V(1), and no less than one row of the easiest pair."""
    return max(target / optimum(problem, seconds).bound, float(problem.hardest.min())) * (1 - 1e-12)


def _none_below(problem: Problem, target: int, seconds: float) -> float:
    """Bisection on the relaxation with one row per pair; as many pairs as the target must be usable."""
    low, high = float(np.sort(problem.hardest)[target - 1]) * (1 - 1e-12), MOST
    while high - low > 0.01 * high:
        middle = (low + high) / 2
        usable = problem.usable(limit_of(middle))
        rows = shares(problem.matrix[:, usable], limit_of(middle).bound)
        if relax(rows, np.ones(usable.size), seconds / 12).bound >= target:
            high = middle
        else:
            low = middle
    return low


@dataclass(frozen=True)
class Point:
    """One compromise: so many rows of so many pairs."""

    rows: int
    pairs: int


def frontier(problem: Problem, limit: Limit, points: int, seconds: float) -> list[Point]:
    """Size against diversity: the most rows, the most pairs, and between them the most rows of so many pairs.

    Points are what was found in the time; none of them has fewer rows and fewer pairs than another.
    """
    usable = problem.usable(limit)
    if not usable.size:
        return []
    matrix, top = problem.matrix[:, usable], tops(problem, limit, usable)
    share = seconds / (points + 2)
    known = [
        _exact(problem, limit, pack(problem, limit, goal, 2 * share, lambda _: None).x[usable], usable)
        for goal in ("size", "diverse")
    ]
    least, most = ((x > 0).sum() for x in known)
    for wanted in np.unique(np.linspace(least, most, max(points, 2)).round().astype(int)).tolist():
        start = max((x for x in known if (x > 0).sum() >= wanted), key=np.sum, default=known[1])
        found = _most_rows(shares(matrix, limit.bound), top, wanted, start, share)
        known.append(_exact(problem, limit, found, usable))
    seen = sorted({(int(x.sum()), int((x > 0).sum())) for x in known})
    return [Point(*p) for p in seen if not any(q != p and q[0] >= p[0] and q[1] >= p[1] for q in seen)]


def _most_rows(rows: sparse.csc_array, top: Integers, pairs: int, start: Integers, seconds: float) -> Integers:
    """The most rows of at least so many pairs, as far as the solver finds them: a first row of each, and more."""
    users, width = rows.shape
    first = sparse.csc_array(np.concatenate([np.ones(width), np.zeros(width)])[None, :])
    found = solve(
        sparse.vstack([sparse.hstack([rows, rows]), first]).tocsc(),
        np.append(np.ones(users), math.inf),
        np.repeat([1 + 1e-4 / width, 1.0], width),  # of equal sizes, the more diverse
        top=np.concatenate([np.ones(width), top - 1.0]),
        lower=np.append(np.full(users, -math.inf), pairs),
        integer=True,
        start=np.concatenate([np.minimum(start, 1), np.maximum(start - 1, 0)]).astype(np.float64),
        seconds=seconds,
        mip_rel_gap=0.0,
        mip_abs_gap=1e-6 / width,
    ).x
    return start if found is None else np.rint(found[:width] + found[width:]).astype(np.int64)


def _exact(problem: Problem, limit: Limit, chosen: Integers, usable: Integers) -> Integers:
    """Without rows that integers do not allow, and with rows of known and then of other pairs in what space is left."""
    x = np.zeros(problem.shape[1], np.int64)
    x[usable] = chosen
    kept = give_back(problem, x, limit)[usable]
    matrix, top, inside = problem.matrix[:, usable], tops(problem, limit, usable), limit.bound - 2 * TOLERANCE
    new = np.where(kept > 0, kept, np.minimum(top, 1))
    return fill(matrix, inside, fill(matrix, inside, kept, new), top)
