"""Size and diversity are one problem: as many rows as fit, with any number of rows a pair or with one.

usable pairs → relaxation (prices, first bound) → fill the slack → local search | proven bound, then a second search
→ give back what exact arithmetic does not allow → certificate
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hubbub.mechanisms.optimal.certificate import Certificate, certify
from hubbub.mechanisms.optimal.linear import relax
from hubbub.mechanisms.optimal.problem import Integers, Limit, Problem
from hubbub.mechanisms.optimal.rounding import fill, give_back
from hubbub.mechanisms.optimal.search import Best, Search
from hubbub.mechanisms.optimal.upper import Upper

Say = Callable[[str], None]
SPEAK_EVERY = 5.0
RELAXING = 0.4
"""The share of the time that the first relaxation may take."""


@dataclass(frozen=True)
class Solved:
    """How many rows of each pair come out, and what that is worth."""

    x: Integers
    certificate: Certificate


def tops(problem: Problem, limit: Limit, pairs: Integers) -> Integers:
    """The most rows of each pair if it came out alone."""
    return np.maximum(1, np.floor(limit.bound / problem.hardest[pairs] * (1 + 1e-9))).astype(np.int64)


def pack(problem: Problem, limit: Limit, goal: str, seconds: float, say: Say) -> Solved:
    """The largest Σ x that was found in about this time, with the best bound that was proven in it."""
    until = time.monotonic() + seconds
    usable = problem.usable(limit)
    matrix = problem.matrix[:, usable]
    top = np.ones(usable.size, np.int64) if goal == "diverse" else tops(problem, limit, usable)
    x = np.zeros(problem.shape[1], np.int64)
    if not usable.size:
        return Solved(x, certify(problem, x, limit, goal, 0, 0))
    rows = np.full(matrix.shape[0], limit.bound)
    first = relax(matrix, rows, top.astype(np.float64), RELAXING * seconds)
    nothing = np.zeros(usable.size, np.int64)
    floor = np.floor(first.x + 1e-9).astype(np.int64)
    starts = (nothing, None), (nothing, first.prices), (floor, None)
    best = max((fill(matrix, limit.bound, x, top, prices) for x, prices in starts), key=np.sum)
    say(f"{goal}: {best.sum()} rows at once, at most {first.bound:.0f}")
    shared = Best(best)
    with Upper(matrix, limit.bound, top, first, until, shared) as upper:
        Search(matrix, limit.bound, shared, top).run(until, upper.reached, _speaking(say, goal, upper), upper.lower)
    x[usable] = shared.x
    x = give_back(problem, x, limit)
    return Solved(x, certify(problem, x, limit, goal, int(x.sum()), upper.value))


def _speaking(say: Say, goal: str, upper: Upper) -> Callable[[int], None]:
    spoken = [time.monotonic()]

    def speak(objective: int) -> None:
        if time.monotonic() - spoken[0] > SPEAK_EVERY:
            spoken[0] = time.monotonic()
            say(f"{goal}: {objective} found, at most {upper.value} proven")

    return speak
