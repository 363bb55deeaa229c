"""Audits of a log whose rows are drawn (`optimal` as published): exactly, by walking through every draw.

Two questions, two answers. With the output counts held fixed, does the constraint do what it says (proven)? And
when they are computed from each log, as they are, is the paper's claim true (claimed)? It is not: how many rows come
out already tells the logs apart.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from hubbub.audit.checks.exact import EnumeratingNoise, Outcome, hockey_stick
from hubbub.audit.protocols import AuditRow, Event, Kind, Subject, row
from hubbub.audit.tiny import MODE, tiny_log
from hubbub.mechanisms.base import Rows

Law = dict[Outcome, float]


def crowd(n: int, query: str = "q", clicks: int = 1) -> tuple[Event, ...]:
    """n users who clicked the same result, each so many times."""
    return tuple((f"{query}{i}", t, query, "site") for i in range(n) for t in range(clicks))


LOGS: dict[str, tuple[Event, ...]] = {
    "two users share a pair equally": crowd(2),
    "four users share a pair": crowd(4),
    "one of them clicks more": (*crowd(4), ("q0", 9, "q", "site")),
    "a pair of her own besides": (*crowd(4), ("q0", 9, "own", "site"), ("q0", 10, "own", "site")),
    "two pairs with a user in common": (*crowd(3), *crowd(3, "r"), ("q0", 5, "r", "site")),
}


def tests(subject: Subject) -> Iterator[AuditRow]:
    """Every log with its counts held fixed; then the number of rows of neighbouring logs."""
    claim = subject.mechanism.claimed()
    epsilon, delta = float(claim.epsilon or 0.0), float(claim.delta or 0.0)
    for name, events in LOGS.items():
        seen, power = held_fixed(subject, events, epsilon)
        check = f"exact δ(ε) with the output counts held fixed: {name}"
        yield row(subject, check, "proven", delta, seen, power, f"δ({epsilon:.4g}) = {seen:.6g}", Kind.EXACT)
    for n in range(2, 6):
        small, large = (_shown(subject, crowd(size)) for size in (n, n + 1))
        seen = max(hockey_stick(small, large, epsilon), hockey_stick(large, small, epsilon))
        check = f"exact δ(ε): {n} users share a pair, or {n + 1}"
        yield row(subject, check, "claimed", delta, seen, 1e-12, f"δ({epsilon:.4g}) = {seen:.6g}", Kind.EXACT)


def held_fixed(subject: Subject, events: tuple[Event, ...], epsilon: float) -> tuple[float, float]:
    """δ(ε) of who is drawn, with and without each user in turn, for the counts of the whole log."""
    from hubbub.mechanisms.optimal.published.problem import Problem

    with tiny_log(events) as log:
        held = subject.measure(log, MODE)["log"]
    problem, x = held.problem, held.solved.x
    whole = _law(lambda noise: _users(problem, x, noise))
    worst = 0.0
    for k in range(problem.shape[0]):
        others = problem.users != k
        if np.any(x[np.setdiff1d(np.arange(problem.shape[1]), problem.pairs[others])] > 0):
            worst = 1.0  # rows of a pair that nobody else holds: without her they cannot be drawn at all
            continue
        left = Problem(problem.users[others], problem.pairs[others], problem.counts[others], problem.shape)
        without = _law(lambda noise, left=left: _users(left, x, noise))  # type: ignore[misc]
        worst = max(worst, hockey_stick(whole, without, epsilon), hockey_stick(without, whole, epsilon))
    return worst, 1e-12


def _users(problem: Any, x: Any, noise: EnumeratingNoise) -> Outcome:
    from hubbub.mechanisms.optimal.sample import sample_users

    pairs, users = sample_users(problem, x, noise)
    return tuple(sorted(zip(pairs.tolist(), users.tolist(), strict=True)))


def _shown(subject: Subject, events: tuple[Event, ...]) -> Law:
    """The law of what anybody sees of the released rows, whatever their users are called: how many of which pair."""
    with tiny_log(events) as log:
        counts = subject.measure(log, MODE)

        def seen(noise: EnumeratingNoise) -> Outcome:
            written = subject.perturb(counts, _InOrder(noise))["log"]
            if not isinstance(written, Rows):
                return ()
            return tuple(sorted((r["query"], r["url"]) for r in written.rows.to_pylist()))

        return _law(seen)


class _InOrder(EnumeratingNoise):
    """Walks through the users drawn; the random numbers they are given are one and the same."""

    def __init__(self, noise: EnumeratingNoise) -> None:
        self.noise = noise

    def below(self, step: str, limits: Any) -> Any:
        """Only who is drawn is enumerated."""
        return self.noise.below(step, limits) if step == "users of rows" else np.arange(limits.size)


def _law(outcome: Callable[[EnumeratingNoise], Outcome]) -> Law:
    noise = EnumeratingNoise()
    law: Law = defaultdict(float)
    for _ in noise.runs():
        law[outcome(noise)] += noise.mass
    if not math.isclose(math.fsum(law.values()), 1.0, rel_tol=1e-9):
        raise RuntimeError("the law of the draws does not add up")
    return law
