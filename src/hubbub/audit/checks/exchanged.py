"""Audits of replace neighbours: one user's records exchanged for anything else, for every mechanism that offers it.

The pairs of the other audits add a user; here both logs have her, with other records. What is held against a mechanism
is what it states for replace (twice the ε of adding her, the same δ), and that what was asked for is what it states.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

from hubbub.audit.checks import closed
from hubbub.audit.checks.counts import shares
from hubbub.audit.checks.exact import Law, distribution, either_way, largest_refuted
from hubbub.audit.checks.statistical import compare, sample
from hubbub.audit.neighbours import one_user
from hubbub.audit.protocols import AuditRow, Event, Kind, Pair, Subject, counting_steps, row
from hubbub.audit.subjects import AuditPlan, Replaced
from hubbub.audit.tiny import MeasuredLog, measured
from hubbub.mechanisms import Mechanism

Behaviours = Callable[[Mechanism], tuple[tuple[Event, ...], tuple[Event, ...]]]
RUNS = 20_000
MOST_DRAWS = 2


def pairs(mechanism: Mechanism, behaviours: Behaviours) -> Iterator[Pair]:
    """Her keys for others: all new, all near the threshold, all known, and from the ones to the others."""
    one, other = behaviours(mechanism)
    if mechanism.takes_pool:
        yield Pair("one query for another", one, other)
        yield Pair("a query for nothing in the pool", one, one_user([("outside", None)]))
        return
    t = max(mechanism.thresholds().values())
    alone: tuple[Event, ...] = (("other", 0, "alone", None),)
    yield Pair("new keys for other new keys", alone + one, alone + other)
    for name, n in (("just below the threshold", t - 1), ("above the threshold", t + 1)):
        both = _copies(one, n) + _copies(other, n)
        yield Pair(f"keys for other keys, all {name}", both + one, both + other)
        known = _copies(other, n)
        yield Pair(f"new keys for keys {name}", known + one, known + other)


def other_keys(mechanism: Mechanism) -> tuple[tuple[Event, ...], tuple[Event, ...]]:
    """What she does in one log and in the other: as many keys as she may have, and as many others."""
    url = "site" if "clicks" in mechanism.tables else None
    d = max(step.l0 for step in counting_steps(mechanism))
    return one_user([(f"a{i}", url) for i in range(d)]), one_user([(f"b{i}", url) for i in range(d)])


def _copies(events: tuple[Event, ...], n: int) -> tuple[Event, ...]:
    return tuple((f"{query[0]}-user{i}", t, query, url) for i in range(n) for _, t, query, url in events)


def _law(subject: Subject, log: MeasuredLog) -> tuple[Law, float]:
    """The exact law of a few keys, and what was lumped of it."""
    if subject.mechanism.takes_pool:
        counts = [int(c.n.max(initial=0)) for c in log.counts.values()]
        return closed.law(subject, log, max(max(subject.mechanism.thresholds().values()), *counts) + 1), closed.EXACTLY
    return distribution(subject, log)


def exchange(subject: Subject, pair: Pair) -> Iterator[AuditRow]:
    """One user's share of every step, twice at most; δ at the stated ε, exactly for a few keys, else sampled."""
    stated = subject.mechanism.proven()
    epsilon, delta = stated.epsilon or 0.0, stated.delta or 0.0
    logs = [measured(subject, events) for events in (pair.smaller, pair.larger)]
    yield from shares(subject, f", exchanged: {pair.name}", logs[0], logs[1], most=2.0)
    each = 2 if subject.mechanism.variant == "published" else 1  # counts drawn anew once a key has passed
    draws = each * max(sum(c.n.size for c in log.counts.values()) for log in logs)
    if draws <= MOST_DRAWS:
        one, other = (_law(subject, log) for log in logs)
        worst, seen, power = either_way(one, other, epsilon)
        detail = f"δ({epsilon:.4g}) = {worst:.6g}"
        check = f"exact δ(ε), exchanged: {pair.name}"
        found = row(subject, check, "proven", delta, seen, power, detail, Kind.EXACT)
        yield replace(found, epsilon=epsilon, empirical=largest_refuted(one, other, delta, epsilon))
    else:
        drawn = [sample(subject, log, RUNS) for log in logs]
        found = compare(subject, pair, drawn[0], drawn[1], ("proven", epsilon, delta))
        yield replace(found, check=f"sampled δ(ε), exchanged: {pair.name}")


def stated(replaced: Replaced) -> Iterator[AuditRow]:
    """What was asked for is what is stated, and what is stated is twice what the ledger books for adding a user."""
    for mechanism in replaced.calibrated():
        subject, proven, loss = Subject.of(mechanism), mechanism.proven(), mechanism.loss()
        epsilon, delta = proven.epsilon or math.inf, proven.delta or 0.0
        asked = float(mechanism.given["epsilon"]), float(mechanism.given.get("delta", 0.0))
        over = max(epsilon / asked[0], delta / asked[1] if asked[1] else 1.0 + delta)
        over = max(over, 2 * loss.epsilon / epsilon, loss.delta / delta if delta else 1.0 + loss.delta)
        detail = f"asked {asked}, stated ({epsilon:.6g}, {delta:.6g}), booked ({loss.epsilon:.6g}, {loss.delta:.6g})"
        yield row(subject, "what is asked for is stated, exchanged", "proven", 1.0, over, 1e-9, detail)


def tests(plan: AuditPlan) -> Iterator[AuditRow]:
    """Every check of replace neighbours of one mechanism, where it offers them."""
    if plan.replaced is not None:
        for mechanism in plan.replaced.small():
            for pair in pairs(mechanism, plan.replaced.behaviours or other_keys):
                yield from exchange(Subject.of(mechanism), pair)
        yield from stated(plan.replaced)
