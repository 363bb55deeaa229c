"""Audits of tables by group: cells by hand, one user's share of them, and that every cell has noise, held or not.

The whole chain runs on made-up logs in a real engine, with noise that is written down. A user may be in every group:
all her cells together are no longer than one user, whatever each of them is expected to have.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction

from hubbub.audit.checks.chain import ChainRecorder
from hubbub.audit.protocols import AuditRow, Event, Kind, Subject, faults, row
from hubbub.audit.tiny import MODE, tiny_log
from hubbub.mechanisms import Crowd
from hubbub.mechanisms.crowd.cells import SIZES_BITS
from hubbub.mechanisms.rounds import Selection
from hubbub.noise.absent import Rounds
from hubbub.privacy.gaussian import GaussianStep
from hubbub.public.groups import DAY, OTHER, WEEKDAYS, Grouping
from hubbub.release.rows import named_rows

GROUPING = Grouping("weekday", WEEKDAYS[:3])
"""Three days are declared; records of the others are `other`."""
TABLE = "queries_by_weekday"
ASKED = ("a", "b", "c")
Cell = tuple[str, str]


def mechanism() -> Crowd:
    """Queries and the same by weekday, at a δ that can be seen."""
    return Crowd(epsilon=2, delta="0.02", D=4, language="none", tables=["queries"], by=[GROUPING])


@dataclass(frozen=True)
class RanByGroup:
    """What a run showed of cells, who holds which, and what each has gathered in round 1; what it asked of noise."""

    shown: Counter[Cell]
    held: set[tuple[str, str, str]]
    pooled: dict[Cell, int]
    noise: ChainRecorder


def ran(subject: Subject, events: Iterable[Event], *, everyone: bool = False) -> RanByGroup:
    """A whole run without noise; by noise alone none of the cells of nobody passes, or everyone."""
    noise = ChainRecorder(everyone=everyone)
    with tiny_log(events) as log:
        measured = subject.measure(log, MODE)
        found = subject.perturb(measured, noise)
        shown = named_rows(log, subject.mechanism, TABLE, measured, found).to_pylist()
        held = log.engine.fetch(f"SELECT uid, weekday, query FROM held_{TABLE}").to_pylist()
        pooled = log.engine.fetch(f"SELECT weekday, query, w FROM pooled_{TABLE}").to_pylist()
    return RanByGroup(
        Counter((r["weekday"], r["query"]) for r in shown),
        {(r["uid"], r["weekday"], r["query"]) for r in held},
        {(r["weekday"], r["query"]): r["w"] for r in pooled},
        noise,
    )


def weekday(time: int) -> str:
    """The declared group of a time, by the calendar of Python."""
    day = WEEKDAYS[datetime.fromtimestamp(time, UTC).weekday()]
    return day if day in GROUPING.values else OTHER


def crowd_of_mondays(n: int = 120) -> list[Event]:
    """n users who each ask a, b and c, on a Monday."""
    return [(f"u{i}", 4 * DAY + 60 * i, q, None) for i in range(n) for q in ASKED]


def everywhere() -> list[Event]:
    """One user who asks everything on every day of two weeks, and what nobody else asks."""
    return [("greedy", DAY * d + 5, q, None) for d in range(14) for q in (*ASKED, "her own")]


def tests() -> Iterator[AuditRow]:
    """Every check of tables by group."""
    yield from of(Subject.of(mechanism()))


def of(subject: Subject) -> Iterator[AuditRow]:
    """The same of one subject."""
    crowd = crowd_of_mondays()
    alone, added = ran(subject, crowd), ran(subject, [*crowd, *everywhere()])
    yield _by_hand(subject, added, [*crowd, *everywhere()])
    yield _share(subject, alone, added)
    yield _noised(subject, alone)
    yield _sized(subject, alone)
    yield _once(subject, [*crowd, *everywhere()])


def _by_hand(subject: Subject, run: RanByGroup, events: Iterable[Event]) -> AuditRow:
    right = {(u, weekday(t or 0), q) for u, t, q, _ in events if q in ASKED}
    wrong = run.held ^ right
    return faults(subject, "cells as by hand", len(wrong), ", ".join(map(str, sorted(wrong)[:5])), Kind.EXACT)


def _share(subject: Subject, alone: RanByGroup, added: RanByGroup) -> AuditRow:
    """Whatever groups she is in, one user's cells together weigh one user."""
    plan = _plan(subject)
    cells = alone.pooled.keys() | added.pooled.keys()
    moved = sum((added.pooled.get(cell, 0) - alone.pooled.get(cell, 0)) ** 2 for cell in cells) / 4**plan.bits
    detail = f"squared length {moved:.4f} of one user's {len(added.held) - len(alone.held)} cells"
    return row(subject, "one user's share of cells", "proven", 1.0, moved, 0.1, detail, Kind.EXACT)


def _noised(subject: Subject, run: RanByGroup) -> AuditRow:
    """All groups are there though everybody came on a Monday: 4 × 3 cells in all classes, by levels of F together."""
    plan, size = _plan(subject), len(GROUPING.groups) * len(ASKED)
    unit = plan.variances[0] // plan.multiples[0]
    asked = [(n, rounds) for step, (n, rounds) in run.noise.domains.items() if step.startswith(f"{TABLE} absent keys")]
    wrong = abs(sum(n for n, _ in asked) - size)
    wrong += sum((rounds.multiples, rounds.variance) != (plan.multiples, unit) for _, rounds in asked)
    passing = sum(n * _passes(rounds) for n, rounds in asked)
    wrong += passing > float(Fraction(subject.mechanism.settings["F"])) * (1 + 1e-6)
    return faults(subject, "every cell has noise", wrong, f"{len(asked)} classes, {passing:.4f} of nobody expected")


def _passes(rounds: Rounds) -> float:
    """The chance that noise alone passes some test, at most."""
    from scipy.special import ndtr

    deviations = (math.sqrt(total * rounds.variance) for total in rounds.totals)
    return sum(float(ndtr(-level / deviation)) for level, deviation in zip(rounds.thresholds, deviations, strict=True))


def _sized(subject: Subject, run: RanByGroup) -> AuditRow:
    """How large the groups are is said once, of every declared one, with the noise that was paid for."""
    drawn = [(variance, n) for step, variance, n in run.noise.asked if step == f"{TABLE} sizes"]
    steps = [step for step in subject.mechanism.steps() if isinstance(step, GaussianStep)]
    mu2 = sum((sum(step.mu2, Fraction(0)) for step in steps if step.name == f"{TABLE} sizes"), Fraction(0))
    right = [n == len(GROUPING.groups) and Fraction(4**SIZES_BITS) / (variance - 4) <= mu2 for variance, n in drawn]
    return faults(subject, "group sizes have noise", float(right != [True]), str(drawn))


def _once(subject: Subject, events: Iterable[Event]) -> AuditRow:
    """If noise alone lets every cell pass, those of no pool are there, and of the others what was there without it."""
    without, shown = ran(subject, events), ran(subject, events, everyone=True).shown
    cells = Counter((g, q) for g in GROUPING.groups for q in ASKED if (g, q) not in without.pooled)
    right = without.shown + cells
    wrong = (shown - right) + (right - shown)
    return faults(subject, "a cell of somebody has one draw", wrong.total(), ", ".join(map(str, wrong)))


def _plan(subject: Subject) -> Selection:
    return subject.mechanism.selections[TABLE]
