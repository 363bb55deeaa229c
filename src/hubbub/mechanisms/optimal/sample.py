"""Who the rows belong to: multinomial sampling with exact integers, and the rows as a log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from hubbub.ingest.schema import SCHEMA
from hubbub.mechanisms.optimal.published.problem import Integers, Problem
from hubbub.noise import NoiseSource

if TYPE_CHECKING:
    from hubbub.mechanisms.optimal import Solution

WORDS = 1 << 62


def sample_users(problem: Problem, x: Integers, noise: NoiseSource) -> tuple[Integers, Integers]:
    """Algorithm 1, line 2: each of the x_j rows of pair j goes to user k with probability c_jk/c_j. (pairs, users)"""
    pairs = np.repeat(np.arange(x.size), x)
    ends = np.cumsum(problem.counts)  # entries are sorted by pair: pair j's clicks are one stretch of all clicks
    before = np.cumsum(problem.totals) - problem.totals
    click = before[pairs] + noise.below("users of rows", problem.totals[pairs])
    return pairs, problem.users[np.searchsorted(ends, click, side="right")]


def sampled(solution: Solution, noise: NoiseSource) -> tuple[Integers, Integers, Integers]:
    """The pair and the user of every row of an optimum, and the fresh number that stands for the user."""
    from hubbub.mechanisms.optimal.published.end_to_end import noisy

    x = solution.solved.x if solution.scale is None else noisy(solution.solved.x, solution.scale, noise)
    pairs, users = sample_users(solution.problem, x, noise)
    return pairs, users, renumbered(users, noise)


def expected_users(problem: Problem, x: Integers) -> float:
    """How many real users to expect in the output: Σ_k 1 − Π_j (1 − c_jk/c_j)^x_j."""
    return float(-np.expm1(-(problem.matrix @ x)).sum())


def shuffled(size: int, step: str, noise: NoiseSource) -> Integers:
    """A random order of range(size)."""
    return np.argsort(noise.below(step, np.full(size, WORDS)), kind="stable")


def renumbered(users: Integers, noise: NoiseSource) -> Integers:
    """Fresh numbers from 1, in a random order: no id of the log, and no order of it."""
    seen, position = np.unique(users, return_inverse=True)
    return 1 + shuffled(seen.size, "numbers of users", noise)[position]


def as_log(users: Integers, clicked: pa.Table) -> pa.Table:
    """Rows in SearchLog's columns, by user, query and url; the paper has neither times nor ranks."""
    size = users.size
    rows = pa.table(
        {"number": users, "query": clicked.column("query"), "url": clicked.column("url")},
    ).sort_by([("number", "ascending"), ("query", "ascending"), ("url", "ascending")])
    columns = {
        "user": rows.column("number").cast(pa.string()),
        "time": pa.nulls(size, SCHEMA.field("time").type),
        "query": rows.column("query"),
        "rank": pa.nulls(size, SCHEMA.field("rank").type),
        "url": rows.column("url"),
    }
    return pa.table(columns).cast(SCHEMA).combine_chunks()
