"""Audits of tables by group: cells by hand, one user's share of them, and that every cell has noise, held or not.

The whole chain runs on made-up logs in a real engine, with noise that is written down. A user may be in every group:
all her cells together are no longer than one user.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction

from hubbub.audit.checks.chain import ChainRecorder
from hubbub.audit.protocols import AuditRow, Event, Kind, Subject, faults, row
from hubbub.audit.tiny import MODE, tiny_log
from hubbub.mechanisms import Crowd
from hubbub.mechanisms.crowd.calibrate import closed
from hubbub.mechanisms.rounds import Selection
from hubbub.noise.absent import Rounds
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
    """All groups are there though everybody came on a Monday: 4 × 3 cells, with the levels of so many."""
    size = len(GROUPING.groups) * len(ASKED)
    plan = closed(_plan(subject), size, Fraction(subject.mechanism.settings["F"]))
    unit = plan.variances[0] // plan.multiples[0]
    right = size, Rounds(plan.multiples, unit, plan.thresholds, plan.drops)
    asked = run.noise.domains.get(f"{TABLE} absent keys")
    return faults(subject, "every cell has noise", float(asked != right), f"{asked} instead of {right}")


def _once(subject: Subject, events: Iterable[Event]) -> AuditRow:
    """If noise alone lets every cell pass, those of no pool are there, and of the others what was there without it."""
    without, shown = ran(subject, events), ran(subject, events, everyone=True).shown
    cells = Counter((g, q) for g in GROUPING.groups for q in ASKED if (g, q) not in without.pooled)
    right = without.shown + cells
    wrong = (shown - right) + (right - shown)
    return faults(subject, "a cell of somebody has one draw", wrong.total(), ", ".join(map(str, wrong)))


def _plan(subject: Subject) -> Selection:
    return subject.mechanism.selections[TABLE]
