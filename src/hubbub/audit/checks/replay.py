"""Budget books added up again: histories of caps, plans and releases, held against theorems 1 to 3 from outside.

Histories are run on a real ledger: caps that come late, rise and fall, plans, releases of every kind. After each step
its rows are read as an officer would export them, and asked in arithmetic of this file's own: does every charge cover
what the release costs, does an envelope hold its charges, is it worth what it was certified for, is what is promised
the sum of all that was promised, is the total so far no smaller than the odometer's formula?
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from hubbub.audit.books import POPULATION, book, spend
from hubbub.audit.checks.adaptive import responses_stick, stick
from hubbub.audit.protocols import AuditRow, shared_faults, shared_row
from hubbub.audit.recompute import halved
from hubbub.errors import Refused
from hubbub.privacy.account import DiscreteLaplace, Gaussian, Generic, Loss, Pure
from hubbub.privacy.compose import Cap
from hubbub.privacy.envelope import planned
from hubbub.privacy.ledger import Ledger
from hubbub.privacy.ledger.budget import adopted

Step = Callable[[Ledger], object]
CROWD = Loss(1.0, 1e-6, (Gaussian(Fraction("0.0551572795")),), tv=4.2462046e-7)
WIDE = Loss(9.0, 1e-6, (Gaussian(Fraction(3, 2)),), tv=1e-8)
LAPLACE = Loss(1.0, 1e-7, (DiscreteLaplace(Fraction(20), 20),), tv=1e-7)
GENERIC = Loss(0.3, 1e-7, (), tv=0.0)
RANDOM = 6
"""Histories drawn at random, the same ones every time."""


def pure(epsilon: str) -> Loss:
    """A release known by its ε alone."""
    return Loss(float(epsilon), 0.0, (Pure(Fraction(epsilon)),), tv=0.0)


def novel(chance: float) -> Loss:
    """A release whose threshold alone tells."""
    return Loss(0.0, chance, (Pure(Fraction(0)),), tv=chance)


# ------------------------------------------------------------------ histories


def release(loss: Loss) -> Step:
    """A step of a history: ask for a release, which may be refused."""
    return lambda ledger: spend(ledger, "some", loss)


def cap(epsilon: float, delta: float, thresholds: Fraction | None = None) -> Step:
    """A step of a history: set the cap anew."""
    return lambda ledger: ledger.cap(POPULATION, epsilon, delta, thresholds=thresholds)


def declared(losses: Sequence[Loss]) -> Step:
    """A step of a history: declare a plan of releases, which may be refused."""
    return lambda ledger: ledger.declare(POPULATION, planned(losses))


def histories() -> dict[str, list[Step]]:
    """The histories of releases to replay, by what each of them tries."""
    crowds = [release(CROWD)] * 4
    tight = _tight_without_thresholds([CROWD] * 6, 1e-5)
    return {
        "sums that are extended": [
            cap(1, 0),
            release(pure("0.7")),
            cap(1.5, 0),
            *map(release, map(pure, ["0.6", "0.3", "0.2", "0.1"])),
        ],
        "a cap that comes late": [*crowds[:2], cap(4, 2e-5), *crowds, release(LAPLACE), release(novel(1e-6))],
        "a cap that falls and rises": [cap(4, 1e-5), *crowds[:2], cap(1.5, 1e-5), *crowds[:2], cap(6, 2e-5), *crowds],
        "one pure release in a plan of many": [
            cap(6, 1e-6),
            declared([pure("0.2")] * 40),
            *map(release, map(pure, ("8", "5", "0.2", "0.3", "0.2"))),
        ],
        "a plan beside its thresholds": [cap(tight, 1e-5), declared([CROWD] * 6), *crowds],
        "thresholds stated": [cap(2, 1e-6, Fraction(1, 2)), *crowds, release(novel(4e-7)), release(novel(4e-7))],
        "much Gaussian noise and no cap": [release(WIDE)] * 12,
        "everything": [
            release(GENERIC),
            *crowds[:1],
            cap(9, 1e-4),
            release(LAPLACE),
            release(GENERIC),
            release(novel(1e-5)),
            *crowds,
            cap(12, 2e-4),
            *crowds,
        ],
    } | {f"drawn at random, {n}": _drawn(n) for n in range(RANDOM)}


def _tight_without_thresholds(losses: Sequence[Loss], delta: float) -> float:
    """An ε that the noise of these releases alone just reaches."""
    mu = math.sqrt(sum(float(_costs(loss).gaussian) for loss in losses))
    return float(f"{halved(lambda epsilon: stick(epsilon, mu) > delta, 0.0, 50.0)[1] * 1.0001:.7g}")


def _drawn(seed: int) -> list[Step]:
    draw = np.random.default_rng(seed)
    steps: list[Step] = []
    for _ in range(18):
        kind, size = draw.integers(9), int(draw.integers(1, 9))
        if kind == 0:
            share = Fraction(size, 10) if draw.integers(2) else None
            steps.append(cap(float(draw.integers(1, 8)), float(draw.integers(1, 9)) * 1e-6, share))
        elif kind == 1:
            steps.append(declared([(CROWD, pure("0.1"), LAPLACE)[size % 3]] * size))
        else:
            some = (CROWD, LAPLACE, GENERIC, pure(f"0.{size}"), novel(size * 1e-7), WIDE)
            steps.append(release(some[int(draw.integers(len(some)))]))
    return steps


# ------------------------------------------------------------------ what an officer adds up


@dataclass
class Costs:
    """What a release costs, read off its atoms."""

    gaussian: Fraction = Fraction(0)
    responses: Counter[Fraction] = field(default_factory=Counter)
    threshold: Fraction = Fraction(0)


def _costs(loss: Loss) -> Costs:
    costs = Costs(threshold=Fraction(loss.tv) if loss.atoms else Fraction(0))
    for atom in loss.atoms or (Generic(Fraction(repr(loss.epsilon)), Decimal(repr(loss.delta))),):
        if isinstance(atom, Gaussian):
            costs.gaussian += atom.mu2
        elif isinstance(atom, DiscreteLaplace):
            costs.responses[1 / atom.scale] += atom.keys
        else:
            costs.responses[atom.epsilon] += 1
            costs.threshold += Fraction(atom.delta) if isinstance(atom, Generic) else 0
    del costs.responses[Fraction(0)]
    return costs


def _covered(loss: Loss, gaussian: Fraction, slots: dict[int, Fraction], threshold: Fraction) -> bool:
    """Whether a charge is at least what the release costs, by one of the three ways of theorem 1."""
    costs = _costs(loss)
    own = (
        len(slots) == 1
        and min(slots.values()) >= Fraction(repr(loss.epsilon))
        and threshold >= Fraction(repr(loss.delta))
    )
    if own or (loss.epsilon == 0 and threshold >= Fraction(repr(loss.delta))):
        return True
    if gaussian < costs.gaussian or threshold < costs.threshold:
        return False
    if _placed(sorted(costs.responses.elements(), reverse=True), sorted(slots.values(), reverse=True)):
        return True
    mu = math.sqrt(gaussian - costs.gaussian)
    (kinds,) = [costs.responses.items()]
    return len(kinds) == 1 and all(_dominated(count, float(epsilon), mu) for epsilon, count in kinds)


def _placed(pieces: list[Fraction], amounts: list[Fraction]) -> bool:
    """Whether each response lies in one slot, and slots were charged for all of them."""
    if not pieces:
        return True
    for place, amount in enumerate(amounts):
        if amount >= pieces[0] and (not place or amount != amounts[place - 1]):
            rest = sorted([*amounts[:place], amount - pieces[0], *amounts[place + 1 :]], reverse=True)
            if _placed(pieces[1:], rest):
                return True
    return False


def _dominated(count: int, epsilon: float, mu: float) -> bool:
    levels = np.linspace(-count * epsilon, count * epsilon, 41)
    return all(responses_stick(x, count, epsilon) <= stick(x, mu) * (1 + 1e-7) + 1e-15 for x in levels)


def _worth(gaussian: Fraction, slots: Sequence[Fraction], threshold: Fraction, epsilon: float) -> float:
    """H(ε) + τ: every outcome of the slots, and the hockey stick of the rest."""
    law = {Fraction(0): 1.0}
    for slot in slots:
        true = 1 / (1 + math.exp(-slot))
        more: dict[Fraction, float] = {}
        for loss, mass in law.items():
            for sign, chance in ((1, true), (-1, 1 - true)):
                more[loss + sign * slot] = more.get(loss + sign * slot, 0.0) + mass * chance
        law = more
    mu = math.sqrt(gaussian)
    return math.fsum(mass * stick(epsilon - float(loss), mu) for loss, mass in law.items()) + float(threshold)


def _odometer(losses: Sequence[Loss]) -> tuple[float, Fraction]:
    """Theorem 2, in this file's own words: the sums, and 32 points for the total of μ²."""
    sums = sum((Fraction(repr(x.epsilon)) for x in losses), Fraction(0))
    delta = sum((Fraction(repr(x.delta)) for x in losses), Fraction(0))
    if not losses or not any(isinstance(a, Gaussian) for a in losses[0].atoms):
        return float(sums), delta
    costs = [_costs(x) for x in losses]
    least = sum((c.gaussian for c in costs), Fraction(0))  # what else is priced only adds
    points = [Fraction(1, 100) * Fraction(5, 4) ** j for j in range(32)]
    point = next((p for p in points if p >= least), None)
    grid = math.inf
    if point is not None:
        mu, part = math.sqrt(point), losses[0].delta / 32
        grid = halved(lambda epsilon: stick(epsilon, mu) > part, 0.0, 200.0, 70)[0]
    needed = delta + Fraction(repr(losses[0].delta)) + sum((c.threshold for c in costs), Fraction(0))
    return min(float(sums), grid), min(needed, Fraction(1))


def faults_of(ledger: Ledger) -> list[str]:
    """Everything about a population's book that does not add up; nothing if it is sound."""
    losses = {e.id: e.loss for e in ledger.entries(POPULATION) if e.private}
    rows: dict[str, Any] = ledger.export()
    opened = {row["id"]: _Opened.read(row) for row in rows["envelopes"]}
    found, paid = [], set()
    for row in rows["charges"]:
        slots = {int(index): Fraction(amount) for index, amount in json.loads(row["slots"])}
        gaussian, threshold = Fraction(row["gaussian"]), Fraction(row["threshold"])
        paid.add(row["entry"])
        opened[row["envelope"]].take(gaussian, slots, threshold)
        if not _covered(losses[row["entry"]], gaussian, slots, threshold):
            found.append(f"entry {row['entry']} is charged less than it costs")
    adding = [o for o in opened.values() if o.adds]
    for name, left in (("slot", [o.left_slots[0] for o in adding]), ("thresholds", [o.left_threshold for o in adding])):
        if sum(left, Fraction(0)) < 0:
            found.append(f"envelopes by sums hold less than was charged: {name}")
    for one in opened.values():
        if not one.adds and min([one.left_gaussian, one.left_threshold, *one.left_slots]) < 0:
            found.append("an envelope holds less than was charged to it")
        if not one.adds and _worth(one.gaussian, one.slots, one.threshold, one.epsilon) > one.delta * (1 + 1e-7):
            found.append(f"an envelope for ({one.epsilon:g}, {one.delta:g}) that is worth more")
    loose = [loss for entry, loss in losses.items() if entry not in paid]
    return found + _promises(ledger, list(losses.values()), loose, list(opened.values()))


def _promises(ledger: Ledger, losses: list[Loss], loose: list[Loss], opened: list[_Opened]) -> list[str]:
    found = []
    epsilon, delta = _odometer(loose)
    promised = ledger.promised(POPULATION)
    if opened:
        epsilon, least = epsilon + sum(o.epsilon for o in opened), float(delta) + sum(o.delta for o in opened)
        if promised is None or promised[0] < epsilon * (1 - 1e-9) or promised[1] < least * (1 - 1e-9):
            found.append(f"({epsilon:g}, {least:g}) is promised and {promised} printed")
    spent, so_far = ledger.spent(POPULATION), _odometer(losses)
    if spent.epsilon < so_far[0] * (1 - 1e-7) or spent.delta < float(so_far[1]) * (1 - 1e-9):
        found.append(f"{so_far[0]:g} so far, and {spent.epsilon:g} printed")
    return found


@dataclass
class _Opened:
    """An envelope as it was written, and what charges leave of it."""

    epsilon: float
    delta: float
    gaussian: Fraction
    slots: list[Fraction]
    threshold: Fraction

    @staticmethod
    def read(row: dict[str, Any]) -> _Opened:
        slots = [Fraction(size) for size, count in json.loads(row["slots"]) for _ in range(count)]
        amounts = Fraction(row["gaussian"]), slots, Fraction(row["threshold"])
        return _Opened(float(Fraction(row["epsilon"])), float(Fraction(row["delta"])), *amounts)

    def __post_init__(self) -> None:
        self.left_gaussian, self.left_slots, self.left_threshold = self.gaussian, [*self.slots], self.threshold

    @property
    def adds(self) -> bool:
        """Whether its sums alone are what it promises."""
        one = not self.gaussian and len(self.slots) == 1
        return one and float(self.slots[0]) <= self.epsilon and float(self.threshold) <= self.delta

    def take(self, gaussian: Fraction, slots: dict[int, Fraction], threshold: Fraction) -> None:
        self.left_gaussian -= gaussian
        self.left_threshold -= threshold
        for index, amount in slots.items():
            self.left_slots[index] -= amount


# ------------------------------------------------------------------ the checks


def tests() -> Iterator[AuditRow]:
    """Every history; two processes that ask at the same moment; and ledgers that knew no envelopes."""
    for name, steps in histories().items():
        found: list[str] = []
        with book() as ledger:
            for step in steps:
                before = _size(ledger)
                with suppress(Refused):
                    step(ledger)
                entries, envelopes, charges = (now - then for now, then in zip(_size(ledger), before, strict=True))
                found += faults_of(ledger)
                if envelopes:
                    found += _above_the_cap(ledger)
                if entries and not charges and ledger.cap_of(POPULATION) is not None:
                    found.append("a release under a cap is charged to nothing")
                if found:
                    break
        yield shared_faults(f"adaptive: the book adds up: {name}", len(found), "; ".join(found[:2]))
    yield from _asked_at_once()
    yield from _adopted()


def _size(ledger: Ledger) -> tuple[int, ...]:
    rows: dict[str, Any] = ledger.export()
    return tuple(len(rows[table]) for table in ("entries", "envelopes", "charges"))


def _above_the_cap(ledger: Ledger) -> list[str]:
    limit, promised = ledger.cap_of(POPULATION), ledger.promised(POPULATION)
    over = (
        limit is None
        or promised is None
        or promised[0] > limit.epsilon * (1 + 1e-12)
        or promised[1] > limit.delta * (1 + 1e-12)
    )
    return [f"an envelope was opened, and {promised} is promised under {limit}"] if over else []


class _Late(Ledger):
    """Somebody else books a release just before this one takes the lock."""

    other: Callable[[], object] | None = None

    def _transaction(self, kind: str) -> Any:
        if kind != "DEFERRED" and self.other is not None:
            other, self.other = self.other, None
            other()
        return super()._transaction(kind)


def _asked_at_once() -> Iterator[AuditRow]:
    with book() as ledger:
        ledger.cap(POPULATION, 1.0, 0.0)
        with _Late(ledger.path) as late:
            late.other = lambda: spend(ledger, "one", pure("0.7"))
            with suppress(Refused):
                spend(late, "two", pure("0.7"))
        booked = len(ledger.entries(POPULATION))
    yield shared_row("adaptive: two that ask at the same moment spend a cap once", 1.0, float(booked), 1.0)


def _adopted() -> Iterator[AuditRow]:
    """A ledger without envelopes is read as if it had one only where its releases fit one together."""
    wrong = 0
    for losses in ([CROWD] * 12, [CROWD] * 13, [CROWD, novel(1e-5), CROWD], [CROWD, LAPLACE] * 4, [pure("2")] * 2):
        found = adopted(Cap(3.527, 1.2e-5), losses)
        if found is not None:
            one, charges = found
            whole = _Opened(3.527, 1.2e-5, one.whole.gaussian, [*one.whole.slots], one.whole.threshold)
            for charge in charges:
                whole.take(charge.gaussian, dict(charge.slots), charge.threshold)
            wrong += min([whole.left_gaussian, whole.left_threshold, *whole.left_slots]) < 0
            wrong += not all(
                _covered(x, c.gaussian, dict(c.slots), c.threshold) for x, c in zip(losses, charges, strict=True)
            )
    yield shared_faults("adaptive: an old ledger is read as an envelope only if its releases fit one", wrong)
