"""Whether the steps that are stated are those that run: noise asked for, thresholds met, one user's greed.

Runs are watched through a source of zeros (or of one constant), on logs in a real engine, at the mechanism's own
parameters. What is stated of a step must be what happened: another scale, variance, threshold or filter is wrong in
either direction; a user may move as much as is stated, and a greedy one shows that no less is true.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

import numpy as np

from hubbub.audit import recompute
from hubbub.audit.checks.certificates import certificate, printed
from hubbub.audit.checks.counts import sensitivity
from hubbub.audit.checks.ran_rounds import rounds, unit_weights
from hubbub.audit.checks.watch import Watch, said
from hubbub.audit.neighbours.greedy import greed
from hubbub.audit.protocols import AuditRow, Event, Subject
from hubbub.audit.subjects import PLANS
from hubbub.audit.tiny import measured
from hubbub.card.build import build_card
from hubbub.card.facts import Booked, Facts
from hubbub.card.owner import Owner
from hubbub.mechanisms.base import Mechanism
from hubbub.privacy.account import Step
from hubbub.privacy.coins import CoinStep
from hubbub.steps.counts import LocalCounts

FACTS = Facts(Owner(), Booked("people", "audit", 1, 0.0, 1.0, None, (), ()), "user", False, 0.05, None)
"""What a card is told besides: nothing of it matters here."""
HIGH = 10**9
"""Noise that lifts whatever passes the filter over any threshold."""


# ------------------------------------------------------------------ counts with Laplace noise


def holders(table: str, n: int, key: str) -> list[Event]:
    """n users who hold one key of a table: a word, a query, a click on it, or the step to the next."""
    url = "site" if table in ("clicks", "queries") else None
    pair = table in ("transitions", "sessions")
    searches = [(key, url), (f"{key} next", None)] if pair else [(key, url)]
    return [(f"{key}-{table}-{i}", 100 * t + 1, q, u) for i in range(n) for t, (q, u) in enumerate(searches)]


def laplace(subject: Subject, *, known: bool = True) -> Iterator[AuditRow]:
    """Of every step: the scale of the noise, the count that passes without noise, the count that passes the filter."""
    mechanism = subject.mechanism
    steps = [s for s in mechanism.steps() if isinstance(s, Step)]
    for step in steps:
        if step.threshold is None or step.name not in mechanism.offers:
            continue
        support = _support(mechanism, step)
        shown, asked, deviations = _shown(subject, [*support, *_two(step.name, step.threshold)], Watch())
        if known:
            right = [recompute.sd(s.scale) for s in steps]
            wrong = [f"noise_sd {x:.9g}" for x in deviations if min(abs(x / r - 1) for r in right) > 1e-9]
            yield said(subject, f"noise_sd as stated, beside {step.name}", wrong)
        wrong = [f"{name} draws at {scale}" for name, scale in asked if scale != _scale(steps, name)]
        wrong += [f"{s.name} is never drawn" for s in steps if s.name not in {_step(steps, n) for n, _ in asked}]
        yield said(subject, f"noise as stated, beside {step.name}", wrong)
        yield said(subject, f"threshold as stated: {step.name}", _not_at(shown[step.name]))
        if step.floor > 1:
            filtered, *_ = _shown(subject, _two(step.name, step.floor), Watch(HIGH))
            yield said(subject, f"filter as stated: {step.name}", _not_at(filtered[step.name]))


def _not_at(shown: set[str]) -> list[str]:
    """What is wrong, if of two keys not just the one at the count shows."""
    found = shown & {"at", "under"}
    return [] if found == {"at"} else [f"{len(found)} of two: {sorted(found)}"]


def _two(table: str, n: int) -> list[Event]:
    """One key at a count, one below it."""
    return holders(table, n, "at") + holders(table, n - 1, "under")


def _support(mechanism: Mechanism, step: Step) -> list[Event]:
    """Where a table is about released queries: users enough for these."""
    if not mechanism.takes_pool or step.name == "queries":
        return []
    many = max(mechanism.thresholds().values())
    return [(f"{q}-{i}", None, q, None) for q in ("at", "at next", "under", "under next") for i in range(many)]


def _shown(
    subject: Subject, events: Iterable[Event], noise: Watch
) -> tuple[dict[str, set[str]], list[tuple[str, Fraction]], set[float]]:
    """What is released (first words of keys), the scales that were drawn with, and every published noise_sd."""
    log = measured(subject, tuple(events))
    tables = subject.perturb(log.counts, noise)
    words = {t: {_word(key) for key in log.text(t, r.ids.tolist())} for t, r in tables.items()}
    deviations = {float(x) for r in tables.values() if r.noise_sd is not None for x in np.atleast_1d(r.noise_sd)}
    return words, noise.scales, deviations


def _word(key: tuple[object, ...]) -> str:
    """The first word of a key's text; the queries of a session are joined by a control character."""
    return str(key[0]).replace("\x1f", " ").partition(" ")[0]


def _step(steps: Sequence[Step], asked: str) -> str:
    """The step that a draw belongs to: the longest name it begins with."""
    return max((s.name for s in steps if asked.startswith(s.name)), key=len, default="")


def _scale(steps: Sequence[Step], asked: str) -> Fraction | None:
    return next((s.scale for s in steps if s.name == _step(steps, asked)), None)


# ------------------------------------------------------------------ coins


def coins(subject: Subject) -> Iterator[AuditRow]:
    """The coin of n users is the coin that is stated, for nobody, for few, for more than ever show."""
    for step in subject.mechanism.steps():
        if isinstance(step, CoinStep):
            noise, n = Watch(), np.arange(step.chances.size + 3)
            subject.perturb({"queries": LocalCounts(n)}, noise)
            stated = step.chances[np.minimum(n, step.chances.size - 1)]
            right = len(noise.chances) == 1 and np.array_equal(noise.chances[0], stated)
            yield said(subject, "coins as stated", [] if right else ["other coins are thrown"])


# ------------------------------------------------------------------ one user


def counted(subject: Subject) -> Iterator[AuditRow]:
    """L0, L1 and L∞ of every step on these logs: what is moved is no more than stated."""
    plan = PLANS.get(subject.mechanism.name)
    for pair in ((plan and plan.greed) or greed)(subject.mechanism):
        yield from sensitivity(subject, pair)


def tests(subject: Subject, *, known: bool = True) -> Iterator[AuditRow]:
    """Every look at what runs; what a plug-in publishes as noise_sd is its own affair."""
    if subject.mechanism.selections:
        yield from rounds(subject)
        return
    yield from laplace(subject, known=known)
    yield from coins(subject)
    yield from unit_weights(subject)
    yield from counted(subject)


def as_used(mechanism: Mechanism) -> Iterator[AuditRow]:
    """A mechanism at parameters of daily use: its certificate, and whether what is stated is what runs."""
    yield from certificate(Subject.of(mechanism))
    if mechanism.steps() and mechanism.proven().private:
        yield from bounds(mechanism)
        yield from printed(mechanism, build_card(mechanism, FACTS).document())
        yield from tests(Subject.of(_runs_as(mechanism)))


def _runs_as(mechanism: Mechanism) -> Mechanism:
    plan = PLANS.get(mechanism.name)
    return plan.runs_as(mechanism) if plan and plan.runs_as else mechanism


def bounds(mechanism: Mechanism) -> Iterator[AuditRow]:
    """The limits that the card prints are those that the steps count with, and the steps those of what draws."""
    limits = {b.limit for b in mechanism.bounds()}
    wrong = [f"{s.name}: {s.l0} keys of a user" for s in mechanism.steps() if s.l0 and s.l0 not in limits]
    if _runs_as(mechanism).steps() != mechanism.steps():
        wrong.append("other steps than those that run")
    yield said(Subject.of(mechanism), "limits on a user as stated", wrong)
