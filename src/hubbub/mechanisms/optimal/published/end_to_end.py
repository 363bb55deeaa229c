"""Section 4.2 as printed: users removed who move the optimum by more than d, then noise Lap(d/ε′) on every count.

The paper says that this makes the computation of the counts ε′-differentially private. It does not: who is removed
depends on everybody, and every count may move at once (docs/proofs/optimal.md, section 3). It is here to be run and
looked at. As printed, one problem is solved for every user, and users are judged by the log as it came; which optimum a
solver finds among equals, and a search that ends by the clock, move counts too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from hubbub.errors import ParameterError
from hubbub.mechanisms.optimal.published.problem import Integers, Problem
from hubbub.privacy.existence import Cause

if TYPE_CHECKING:
    from hubbub.noise import NoiseSource

Optimum = Callable[[Problem], Integers]
MOST_USERS = 200
"""Users whose removal is tried: each is an optimisation of its own."""


def without(problem: Problem, users: Integers) -> Problem:
    """The problem of the log without these users, and without the pairs that only one of the others has."""
    stays = ~np.isin(problem.users, users)
    holders = np.bincount(problem.pairs[stays], minlength=problem.shape[1])
    stays &= holders[problem.pairs] >= 2
    kept, pairs = np.unique(problem.pairs[stays], return_inverse=True)
    queries = None if problem.queries is None else problem.queries[kept]
    return Problem.of(problem.users[stays], pairs, problem.counts[stays], queries)


def counts_of(problem: Problem, users: Integers, optimum: Optimum) -> Integers:
    """The optimal counts of the log without these users, by the pairs of the whole log."""
    stays = ~np.isin(problem.users, users)
    shared = np.bincount(problem.pairs[stays], minlength=problem.shape[1]) >= 2
    found, x = without(problem, users), np.zeros(problem.shape[1], np.int64)
    if found.shape[1]:
        x[shared] = optimum(found)
    return x


def removed(problem: Problem, optimum: Optimum, d: Fraction) -> Integers:
    """Users without whom the optimal count of some pair differs by more than d."""
    whole = optimum(problem)
    most = math.floor(d)  # counts are whole numbers
    moved = [
        k for k in range(problem.shape[0]) if (abs(whole - counts_of(problem, np.array([k]), optimum)) > most).any()
    ]
    return np.array(moved, np.int64)


def kept(problem: Problem, optimum: Optimum, d: Fraction) -> Problem:
    """The problem without those users; refused where there are too many problems to solve."""
    if problem.shape[0] > MOST_USERS:
        raise ParameterError(
            "The paper solves one problem for every user: too many.",
            given=f"{problem.shape[0]} users who share a pair",
            allowed=f"at most {MOST_USERS}",
            next="leave remove out: noise alone is added",
            because=Cause.SOLVED,
        )
    return without(problem, removed(problem, optimum, d))


def noisy(x: Integers, scale: Fraction, noise: NoiseSource) -> Integers:
    """Every count with noise of this scale, and 0 where that is negative; the limits of users may be broken by it."""
    noised: Integers = np.maximum(0, x + noise.laplace("optimal counts", scale, x.size))
    return noised
