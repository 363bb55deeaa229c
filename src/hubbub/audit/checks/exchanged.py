"""Audits of replace neighbours: one user's records exchanged for anything else, for every mechanism that offers it.

The pairs of the other audits add a user; here both logs have her, with other records. What is held against a mechanism
is what it states for replace (twice the ε of adding her, the same δ), and that what was asked for is what it states.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from hubbub.audit.checks import closed
from hubbub.audit.checks.clicked import pages
from hubbub.audit.checks.exact import Law, distribution, hockey_stick, largest_refuted
from hubbub.audit.checks.statistical import compare, sample
from hubbub.audit.neighbours import one_user
from hubbub.audit.neighbours.closed import POOL, TWO
from hubbub.audit.neighbours.sessions import visit
from hubbub.audit.protocols import AuditRow, Event, Pair, Subject, counting_steps, row
from hubbub.audit.tiny import MeasuredLog, measured
from hubbub.mechanisms import Mechanism, build
from hubbub.mechanisms.optimal.histograms import Histograms

REPLACE = "replace"
PAGES = pages(("a0", "site"), ("b0", "site"))
RUNS = 20_000
MOST_DRAWS = 2


def subjects() -> list[Mechanism]:
    """Small settings of every mechanism that offers replace."""
    return [
        build("korolova", {"d": 1, "b": 1, "K": 3}, neighbours=REPLACE),
        build("korolova", {"d": 2, "b": 1, "K": 3}, neighbours=REPLACE),
        build("korolova", {"d": 1, "d_c": 1, "b": 1, "K": 3, "b_c": 1}, serp=PAGES, neighbours=REPLACE),
        build("zealous", {"m": 1, "lambda": 1, "tau": 2, "tau_prime": 4}, neighbours=REPLACE, tables=["queries"]),
        build("zealous", {"m": 2, "lambda": 1, "tau_prime": 3}, neighbours=REPLACE, tables=["queries"]),
        build(
            "zealous", {"m": 1, "lambda": 1, "tau": 2, "tau_prime": 6, "U": 6}, variant="published", tables=["queries"]
        ),
        build("sessions", {"l_q": 2, "b": 1, "K": 3}, tables=["sessions"], neighbours=REPLACE),
        build("sessions", {"l_q": 2, "l": 1, "b": 1, "K": 3}, neighbours=REPLACE),
        build("sessions", {"l_q": 2, "b": 1, "K": 4}, variant="published", tables=["sessions"], neighbours=REPLACE),
        build("safelog", {"q_f": 1, "b": 1, "K": 1}, tables=["queries"], pool=TWO, neighbours=REPLACE),
        build("safelog", {"q_f": 2, "b": "3/2", "K": 2}, tables=["queries"], pool=POOL, neighbours=REPLACE),
        Histograms(d=1, bins=1, b=1, b_a=1, T=4, neighbours=REPLACE),
        Histograms(d=2, bins=2, b="3/2", b_a=2, T=4, neighbours=REPLACE),
    ]


def calibrated() -> list[Mechanism]:
    """The same, asked for by (ε, δ)."""
    budget = {"epsilon": 1, "delta": "1e-3"}
    return [
        build("korolova", budget | {"d": 2, "d_c": 2}, tables=["queries", "clicks"], neighbours=REPLACE),
        build("zealous", budget | {"m": 2}, neighbours=REPLACE),
        build("sessions", budget, neighbours=REPLACE),
        build("safelog", {"epsilon": 1}, pool=POOL, neighbours=REPLACE),
        build("optimal", budget | {"d": 2}, neighbours=REPLACE),
    ]


def pairs(mechanism: Mechanism) -> Iterator[Pair]:
    """Her keys for others: all new, all near the threshold, all known, and from the ones to the others."""
    one, other = _behaviours(mechanism)
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


def _behaviours(mechanism: Mechanism) -> tuple[tuple[Event, ...], tuple[Event, ...]]:
    """What she does in one log and in the other: as much as she may."""
    if mechanism.takes_pool:
        most = int(mechanism.settings["q_f"])
        return one_user([("new", None)], most), one_user([("next", None)], most)
    url = "site" if "clicks" in mechanism.tables else None
    if mechanism.name == "sessions":
        return visit("victim", ["a1", "a2"], url), visit("victim", ["b1", "b2"], url)
    d = max(step.l0 for step in counting_steps(mechanism))
    busier = 3 if mechanism.name == "optimal" else 1  # another bin of activity
    return one_user([(f"a{i}", url) for i in range(d)]), one_user([(f"b{i}", url) for i in range(d)], busier)


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
    yield from _share(subject, pair, *logs)
    each = 2 if subject.mechanism.variant == "published" else 1  # counts drawn anew once a key has passed
    draws = each * max(sum(c.n.size for c in log.counts.values()) for log in logs)
    if draws <= MOST_DRAWS:
        (one, lumped), (other, lumped_too) = (_law(subject, log) for log in logs)
        power = lumped + lumped_too
        worst = max(hockey_stick(one, other, epsilon), hockey_stick(other, one, epsilon))
        detail = f"δ({epsilon:.4g}) = {worst:.6g}"
        check = f"exact δ(ε), exchanged: {pair.name}"
        found = row(subject, check, "proven", delta, max(0.0, worst - power), power, detail)
        yield replace(found, epsilon=epsilon, empirical=largest_refuted(one, other, delta + power, epsilon))
    else:
        drawn = [sample(subject, log, RUNS) for log in logs]
        found = compare(subject, pair, drawn[0], drawn[1], ("proven", epsilon, delta))
        yield replace(found, check=f"sampled δ(ε), exchanged: {pair.name}")


def _share(subject: Subject, pair: Pair, one: MeasuredLog, other: MeasuredLog) -> Iterator[AuditRow]:
    for step in counting_steps(subject.mechanism):
        name = step.name.partition(":")[0]  # "sessions: counts" is a step of the table sessions
        table = name if name in one.counts else "queries"
        before, after = one.by_key(table), other.by_key(table)
        moved = [abs(after.get(k, 0) - before.get(k, 0)) for k in before.keys() | after.keys()]
        moved = [m for m in moved if m]
        shares = len(moved) / step.l0, sum(moved) / step.l1, max(moved, default=0) / step.linf
        check = f"one user's share of {step.name}, exchanged: {pair.name}"
        yield row(subject, check, "proven", 2.0, max(shares), 1 / step.l1)


def stated(name: str | None = None) -> Iterator[AuditRow]:
    """What was asked for is what is stated, and what is stated is twice what the ledger books for adding a user."""
    for mechanism in (m for m in calibrated() if name in (None, m.name)):
        subject, proven, loss = Subject.of(mechanism), mechanism.proven(), mechanism.loss()
        epsilon, delta = proven.epsilon or math.inf, proven.delta or 0.0
        asked = float(mechanism.given["epsilon"]), float(mechanism.given.get("delta", 0.0))
        over = max(epsilon / asked[0], delta / asked[1] if asked[1] else 1.0 + delta)
        over = max(over, 2 * loss.epsilon / epsilon, loss.delta / delta if delta else 1.0 + loss.delta)
        detail = f"asked {asked}, stated ({epsilon:.6g}, {delta:.6g}), booked ({loss.epsilon:.6g}, {loss.delta:.6g})"
        yield row(subject, "what is asked for is stated, exchanged", "proven", 1.0, over, 1e-9, detail)


def tests(name: str | None = None) -> Iterator[AuditRow]:
    """Every check of replace neighbours, of one mechanism or of all."""
    for mechanism in subjects():
        if name in (None, mechanism.name):
            for pair in pairs(mechanism):
                yield from exchange(Subject.of(mechanism), pair)
    yield from stated(name)
