"""Audits of a synthetic log: its histograms are drawn whole, one user moves them by no more than stated, and nothing
else of the log shows in it: not its ids, its days, its order, its number of users, nor a query that was not released.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from math import sqrt

import numpy as np

from hubbub.audit.checks.pooled import Recorder
from hubbub.audit.neighbours import one_user
from hubbub.audit.protocols import AuditRow, Event, Kind, Subject, faults, row
from hubbub.audit.tiny import MODE, tiny_log
from hubbub.mechanisms.base import Rows
from hubbub.mechanisms.crowd.histograms import Histogram
from hubbub.noise.source import Integers
from hubbub.steps.profile import HOUR, SHAPES, WEEK

USERS = 80


def crowd() -> tuple[Event, ...]:
    """Users of two sessions: two queries that everybody asks, and one of her own."""
    rows: list[Event] = []
    for u in range(USERS):
        day = 86_400 * (u % 6) + 11 * u
        rows += [(f"u{u}", day, "known", "site"), (f"u{u}", day + 60, "next", None)]
        rows.append((f"u{u}", day + 20_000, f"own {u}", f"page {u}"))
    return tuple(rows)


def _plans(subject: Subject) -> tuple[Histogram, ...]:
    plans: tuple[Histogram, ...] = subject.mechanism.histograms  # type: ignore[attr-defined]
    return plans


def _made(subject: Subject, events: Iterable[Event], noise: Recorder) -> tuple[Rows, list[str], int]:
    """The log that is written, the queries that were released, and the users that the noisy histogram has."""
    with tiny_log(events) as log:
        pools = subject.measure(log, MODE)
        sums = Subject.of(subject.mechanism).measure(log, MODE)["log"]["activity"]
        tables = subject.perturb(pools, noise)
        names = log.engine.fetch(f"SELECT kid, query FROM {pools['queries'].keys}").sort_by("kid").column("query")
        made = tables["log"]
        if not isinstance(made, Rows):
            raise TypeError("the table log is not rows")
        released = names.take(tables["queries"].ids).to_pylist()
    return made, released, int(np.maximum(sums + noise.constant, 0).sum())


def draws(subject: Subject) -> Iterable[AuditRow]:
    """One draw for every histogram, for all its bins, and none weaker than stated."""
    noise = Recorder()
    _made(subject, crowd(), noise)
    asked = {step: (variance, size) for step, variance, size in noise.asked if step in SHAPES}
    for plan in _plans(subject):
        variance, size = asked.get(plan.name, (0, 0))
        missing = abs(SHAPES[plan.name].bins - size)
        weaker = max(0.0, 1 - float(variance) / plan.variance)
        yield faults(subject, f"draws of {plan.name}", missing + weaker, f"{size} bins")


def user_share(subject: Subject) -> Iterable[AuditRow]:
    """One user's length in each histogram, as a share of what the noise is made for."""
    base = crowd()
    greedy = {
        "a busy hour": one_user([("known", "site")], 2000),
        "every hour of a week": tuple(("victim", HOUR * h, "known", "site") for h in range(WEEK // HOUR)),
        "sessions of many lengths": tuple(
            ("victim", 50_000 * s + i, f"{i}", None) for s in range(25) for i in range(s + 1)
        ),
    }
    usual, *others = (_sums(subject, events) for events in (base, *(base + hers for hers in greedy.values())))
    for name, sums in zip(greedy, others, strict=True):
        for plan in _plans(subject):
            moved = float(((sums[plan.name] - usual[plan.name]).astype(float) ** 2).sum())
            share = sqrt(moved / plan.shift2)
            yield row(subject, f"one user's share of {plan.name}: {name}", "proven", 1.0, share, 1e-3, kind=Kind.EXACT)


def _sums(subject: Subject, events: Iterable[Event]) -> Mapping[str, Integers]:
    with tiny_log(events) as log:
        sums: Mapping[str, Integers] = subject.measure(log, MODE)["log"]
    return sums


def number_of_users(subject: Subject) -> Iterable[AuditRow]:
    """As many users as the positive parts of the noisy histogram, whatever the log has."""
    made, _, expected = _made(subject, crowd(), Recorder(constant=7))
    users = len(set(made.rows.column("user").to_pylist()))
    yield faults(subject, "synthetic users are those of the noisy histogram", abs(users - expected))


def traces(subject: Subject) -> Iterable[AuditRow]:
    """Other names, other weeks, the opposite order of rows: the same log."""
    plain = crowd()
    changes: dict[str, Callable[[], tuple[Event, ...]]] = {
        "names of users": lambda: tuple((f"z{u[::-1]}", t, q, url) for u, t, q, url in plain),
        "days": lambda: tuple((u, None if t is None else t + 9 * WEEK, q, url) for u, t, q, url in plain),
        "order of rows": lambda: tuple(reversed(plain)),
    }
    usual, _, _ = _made(subject, plain, Recorder())
    for name, change in changes.items():
        made, _, _ = _made(subject, change(), Recorder())
        yield faults(subject, f"no trace of the {name}", not made.rows.equals(usual.rows), kind=Kind.BYTES)


def strings(subject: Subject) -> Iterable[AuditRow]:
    """A query appears only if it was released, a page only after such a query; never a user of the log."""
    made, released, _ = _made(subject, crowd(), Recorder())
    queries = set(made.rows.column("query").to_pylist()) - set(released)
    pages = {page for page in made.rows.column("url").to_pylist() if page is not None and page.startswith("page")}
    people = {u for u in made.rows.column("user").to_pylist() if u.startswith("u")}
    wrong = float(len(queries | pages | people))
    detail = f"{made.rows.num_rows} rows over {len(released)} released queries"
    yield faults(subject, "only released strings", wrong, detail, Kind.BYTES)


def tests(subject: Subject) -> Iterator[AuditRow]:
    """Every test of one subject that releases a log."""
    for test in (draws, number_of_users, traces, strings, user_share):
        yield from test(subject)
