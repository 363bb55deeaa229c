"""Size and diversity are one problem: as many rows as fit, with any number of rows per pair, one, or one per query.

usable pairs → relaxation (prices, first bound) → fill the slack → local search | proven bound, then a second search
→ give back what exact arithmetic does not allow → certificate
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from hubbub.mechanisms.optimal.published.certificate import Certificate, certify
from hubbub.mechanisms.optimal.published.exact import shares
from hubbub.mechanisms.optimal.published.linear import relax
from hubbub.mechanisms.optimal.published.problem import TOLERANCE, Integers, Limit, Problem
from hubbub.mechanisms.optimal.published.rounding import fill, give_back
from hubbub.mechanisms.optimal.published.search import Best, Search, parts
from hubbub.mechanisms.optimal.published.upper import Upper

Say = Callable[[str], None]
SPEAK_EVERY, PAUSE = 5.0, 0.02
RELAXING = 0.4
"""The share of the time that the first relaxation may take."""
ALMOST = 1 - 1e-6
"""What one pair takes of its query's row: one fits, whatever is rounded, and two do not."""


@dataclass(frozen=True)
class Solved:
    """How many rows of each pair come out, and what that is worth."""

    x: Integers
    certificate: Certificate


def tops(problem: Problem, limit: Limit, pairs: Integers) -> Integers:
    """The most rows of each pair if it came out alone."""
    return np.maximum(1, np.floor(limit.bound / problem.hardest[pairs] * (1 + 1e-9))).astype(np.int64)


def pack(
    problem: Problem,
    limit: Limit,
    goal: str,
    seconds: float,
    say: Say,
    *,
    enough: float = math.inf,
    start: Integers | None = None,
) -> Solved:
    """The largest Σ x that was found in about this time, with the best bound that was proven in it.

    It ends as soon as `enough` is found, or proven to be out of reach. `start` is a solution that is known already.
    With the goal `queries` every query has a row besides, into which one of its pairs fits: rows are then queries.
    """
    until = time.monotonic() + seconds
    usable = problem.usable(limit)
    matrix = problem.matrix[:, usable]
    query = None if goal != "queries" or problem.queries is None else problem.queries[usable]
    if query is not None and usable.size:
        matrix = sparse.vstack([matrix, _once(query) * (ALMOST * limit.bound)], format="csc")
    top = tops(problem, limit, usable) if goal == "size" else np.ones(usable.size, np.int64)
    if not usable.size:
        x = np.zeros(problem.shape[1], np.int64)
        return Solved(x, certify(problem, x, limit, goal, 0, 0))
    first = relax(shares(matrix, limit.bound), top.astype(np.float64), RELAXING * seconds)
    nothing = np.zeros(usable.size, np.int64)
    floor = np.floor(first.x + 1e-9).astype(np.int64)
    starts = (nothing, None), (nothing, first.prices), (floor, None)

    def x_of(chosen: Integers) -> Integers:
        x = np.zeros(problem.shape[1], np.int64)
        x[usable] = chosen
        return x

    def exact(chosen: Integers) -> Integers:
        """The solution without rows that break a constraint in integers, and with others in their place."""
        kept = give_back(problem, x_of(chosen), limit)[usable]
        return chosen if (kept == chosen).all() else fill(matrix, limit.bound - 2 * TOLERANCE, kept, top)

    def allowed(chosen: Integers) -> bool:
        twice = query is not None and np.bincount(query, chosen).max(initial=0) > 1
        return not twice and not problem.broken(x_of(chosen), limit).size

    known = [] if start is None else [start[usable]]
    known += [fill(matrix, limit.bound, x, top, prices) for x, prices in starts]
    best = max(map(exact, known), key=np.sum)
    say(f"{goal}: {best.sum()} rows at once, at most {first.bound:.0f}")
    shared = Best(best, parts(matrix), allowed)

    def decided(objective: int) -> bool:
        return upper.reached(objective) or objective >= enough > 0 or upper.value < enough < math.inf

    with Upper(matrix, limit.bound, top, first, until, shared, allowed) as upper:
        Search(matrix, limit.bound, shared, top).run(until, decided, _speaking(say, goal, upper))
        if math.isfinite(enough):
            while upper.busy and not decided(shared.objective):
                time.sleep(PAUSE)
            upper.stop()
    x = x_of(shared.x)
    return Solved(x, certify(problem, x, limit, goal, int(x.sum()), upper.value))


def _once(query: Integers) -> sparse.csc_array:
    """One row for every query: 1 at each of its pairs."""
    row, columns = np.unique(query, return_inverse=True)[1], np.arange(query.size + 1)
    return sparse.csc_array((np.ones(query.size), row, columns), (int(row.max()) + 1, query.size))


def _speaking(say: Say, goal: str, upper: Upper) -> Callable[[int], None]:
    spoken = [time.monotonic()]

    def speak(objective: int) -> None:
        if time.monotonic() - spoken[0] > SPEAK_EVERY:
            spoken[0] = time.monotonic()
            say(f"{goal}: {objective} found, at most {upper.value} proven")

    return speak
