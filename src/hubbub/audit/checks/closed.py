"""Audits of keys over a closed domain: exact laws in which keys that nobody holds are enumerated too.

A pure guarantee leaves no δ to hide in, so values are cut off where the noise is: what is at least `high` counts as
`high`, what is at most `low` as `low`. Both are functions of the output, and their laws are exact.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import combinations

import numpy as np

from hubbub.audit.checks.counts import noise_source, row_order, sensitivity
from hubbub.audit.checks.exact import KEPT, EnumeratingNoise, Outcome, hockey_stick
from hubbub.audit.checks.statistical import LEVEL, lower, sample, sampled, upper
from hubbub.audit.neighbours import crowd_of
from hubbub.audit.neighbours.closed import closed_pairs, few, somebody
from hubbub.audit.protocols import AuditRow, Kind, Pair, Subject, Tester, faults, row
from hubbub.audit.tiny import MeasuredLog, measured, values_of
from hubbub.mechanisms.base import Mechanism
from hubbub.mechanisms.safelog.absent import EXCESS
from hubbub.noise.source import Integers
from hubbub.privacy.account import Step, release_probability

EXACTLY = 1e-12
LOW = -1
SAMPLED = LOOKED_AT = 2
"""How many pairs of logs are sampled as well, and looked at in other ways: all are enumerated that can be."""


class ClosedNoise(EnumeratingNoise):
    """Walks through binomial counts, subsets and excesses as well."""

    def laplace(self, step: str, scale: Fraction, size: int) -> Integers:
        """An excess is redrawn while it is negative: of it, only the law given that it is not is walked through."""
        if not step.endswith(EXCESS):
            return super().laplace(step, scale, size)
        a = math.exp(-1 / scale)
        values = np.array([self._next(self.reach + 1) for _ in range(size)], np.int64)
        for value in values.tolist():
            self.mass *= a**value if value == self.reach else a**value * (1 - a)
        return values

    def binomial_tail(self, step: str, scale: Fraction, at_least: int, trials: int) -> int:
        """Every number of keys that may pass, in turn."""
        p, many = _tail(scale, at_least), self._next(trials + 1)
        self.mass *= math.comb(trials, many) * p**many * (1 - p) ** (trials - many)
        return many

    def choose(self, step: str, population: int, size: int) -> Integers:
        """Every subset of this size, in turn."""
        subsets = list(combinations(range(population), size))
        self.mass /= len(subsets)
        return np.array(subsets[self._next(len(subsets))], np.int64)


@lru_cache
def _tail(scale: Fraction, at_least: int) -> float:
    return float(release_probability(scale, at_least, 0))


@lru_cache(maxsize=KEPT)
def law(subject: Subject, log: MeasuredLog, high: int) -> dict[Outcome, float]:
    """The exact law of the output, its values cut off at LOW and `high`; several tests look at the same one."""
    noise = ClosedNoise(reach=high)  # counts are below `high`: lumped draws lie at or beyond the cuts
    found: dict[Outcome, float] = defaultdict(float)
    for _ in noise.runs():
        tables = subject.perturb(log.counts, noise)
        outcome = tuple(
            (table, *key, None if value is None else min(max(value, LOW), high))
            for table in sorted(tables)
            for key, value in sorted(
                zip(log.text(table, tables[table].ids.tolist()), values_of(tables[table]), strict=True)
            )
        )
        found[outcome] += noise.mass
    return dict(found)


def divergence(subject: Subject, pair: Pair) -> Iterable[AuditRow]:
    """The largest log-ratio of what both logs can show, and δ at the stated ε: a pure guarantee has none."""
    if not pair.enumerable:
        return
    logs = [measured(subject, events) for events in (pair.smaller, pair.larger)]
    threshold = max(subject.mechanism.thresholds().values())
    high = max(threshold, *(int(c.n.max(initial=0)) for log in logs for c in log.counts.values())) + 1
    small, large = (law(subject, log, high) for log in logs)
    against, epsilon = _stated(subject.mechanism)
    common = [o for o in small if large.get(o, 0.0) > 0 and small[o] > 0]
    ratio = max((abs(math.log(small[o] / large[o])) for o in common), default=0.0)
    yield row(subject, f"exact ε: {pair.name}", against, epsilon + EXACTLY, ratio, EXACTLY, kind=Kind.EXACT)
    tolerant = epsilon + EXACTLY
    delta = max(hockey_stick(small, large, tolerant), hockey_stick(large, small, tolerant))
    yield row(
        subject,
        f"exact δ(ε): {pair.name}",
        against,
        EXACTLY,
        delta,
        EXACTLY,
        f"δ({epsilon:.4g}) = {delta:.6g}",
        Kind.EXACT,
    )


def absent_law(subject: Subject) -> Iterable[AuditRow]:
    """Each key of nobody, and each two of them together, pass as often as if each had a draw of its own."""
    mechanism = subject.mechanism
    steps = _steps(mechanism)
    for table in ("queries", "transitions"):
        if table not in steps or not few(mechanism):
            continue
        step, crowd = steps[table], crowd_of(1, "new") + crowd_of(1, "next")
        log = measured(subject, somebody(mechanism) if table == "queries" else crowd)
        threshold = max(mechanism.thresholds().values())
        found = law(subject, log, threshold + 1)
        given = {("new",), ("next",)} if table == "transitions" else set()
        keys = [("new", "next"), ("next", "new")] if given else [("new",), ("next",)]
        p, a = float(release_probability(step.scale, step.threshold or 0, 0)), math.exp(-1 / step.scale)
        worst = 0.0
        shown = [
            ({r[1:-1] for r in o if r[0] == "queries"}, {r[1:-1]: r[-1] for r in o if r[0] == table}, mass)
            for o, mass in found.items()
        ]
        base = math.fsum(mass for queries, _, mass in shown if given <= queries)
        for wanted in (keys[:1], keys[1:], keys):
            seen = math.fsum(m for queries, held, m in shown if given <= queries and set(wanted) <= set(held))
            worst = max(worst, abs(seen / base - p ** len(wanted)))
        least = math.fsum(m for queries, held, m in shown if given <= queries and held.get(keys[0]) == step.threshold)
        worst = max(worst, abs(least / base - p * (1 - a)))
        detail = f"each passes with {p:.6g}"
        yield row(
            subject, f"exact law of keys of nobody: {table}", "proven", EXACTLY, worst, EXACTLY, detail, Kind.EXACT
        )


def sampled_absent(subject: Subject, runs: int) -> Iterable[AuditRow]:
    """The same with the real source: how often a query of nobody passes, and how far beyond the threshold it goes."""
    step = _steps(subject.mechanism)["queries"]
    drawn = sample(subject, measured(subject, ()), runs).values
    values = [v for key, v in drawn.items() if key[0] == "queries"]
    trials, worst, power = runs * len(values), 0.0, 0.0
    for beyond in range(4):
        expected = float(release_probability(step.scale, (step.threshold or 0) + beyond, 0))
        hits = int(sum((v >= (step.threshold or 0) + beyond).sum() for v in values))
        low, high = lower(hits, trials), upper(hits, trials)
        worst = max(worst, low - expected, expected - high)
        power = max(power, high - low)
    yield row(
        subject,
        "sampled law of keys of nobody",
        "proven",
        0.0,
        max(0.0, worst),
        power,
        f"level {LEVEL}",
        Kind.STATISTICAL,
    )


def outside(subject: Subject) -> Iterable[AuditRow]:
    """However many ask it, a query outside the pool has no count."""
    asked = measured(subject, crowd_of(50, "outside"))
    wrong = sum(1 for key in asked.by_key("queries") if key == ("outside",))
    yield faults(subject, "a query outside the pool is not counted", wrong, kind=Kind.EXACT)


def contract(subject: Subject) -> Iterator[AuditRow]:
    """What holds for any parameters; where nothing is proven, it is the paper's claim that is held against it."""
    against, _ = _stated(subject.mechanism)
    pairs = list(closed_pairs(subject.mechanism))
    tests: tuple[tuple[Tester, int], ...] = (
        (sensitivity, len(pairs)),
        (noise_source, LOOKED_AT),
        (row_order, LOOKED_AT),
    )
    for test, most in tests:
        for pair in pairs[-most:]:
            for found in test(subject, pair):
                yield replace(found, against=against)
    if against == "proven":
        yield from outside(subject)


def tests(subject: Subject, runs: int) -> Iterator[AuditRow]:
    """Every test of one subject, the cheap ones first."""
    strict = subject.mechanism.variant == "strict"
    if strict:
        yield from absent_law(subject)
    yield from contract(subject)
    for pair in closed_pairs(subject.mechanism):
        yield from divergence(subject, pair)
    if strict and "transitions" not in subject.mechanism.tables:  # copies of a log would be paired with each other
        yield from sampled_absent(subject, runs)
        for pair in list(closed_pairs(subject.mechanism))[:SAMPLED]:
            yield from sampled(runs)(subject, pair)


def _steps(mechanism: Mechanism) -> dict[str, Step]:
    return {step.name: step for step in mechanism.steps() if isinstance(step, Step)}


def _stated(mechanism: Mechanism) -> tuple[str, float]:
    """Which ε is held against it: the proven one, or the paper's where nothing is proven."""
    if mechanism.variant == "strict":
        return "proven", mechanism.loss().epsilon
    return "claimed", mechanism.claimed().epsilon or 0.0
