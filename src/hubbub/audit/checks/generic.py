"""Checks of a mechanism that has no subjects of its own: a plug-in, registered by somebody else's code.

It is made from what it declares (a budget at a δ that can be seen, one that people use, or its defaults), and gets
every check that needs to know nothing about it: certificates, draws and thresholds as stated, a greedy user, where
noise comes from, the order of rows, every byte of `public/` with and without a user, and exact laws on logs of a few
rows. What cannot be run is said, with the reason, and refutes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from hubbub.audit.books import scratch
from hubbub.audit.checks import ran, standard, taint
from hubbub.audit.checks.certificates import certificate
from hubbub.audit.checks.counts import noise_source, row_order
from hubbub.audit.checks.exact import REACH, divergence
from hubbub.audit.checks.watch import Watch
from hubbub.audit.made_up import PAGES, POOL
from hubbub.audit.mutants import HALVED
from hubbub.audit.neighbours import crowd_of, one_user
from hubbub.audit.protocols import AuditRow, Effort, Pair, Subject, row
from hubbub.audit.subjects import AuditPlan
from hubbub.audit.tiny import measured
from hubbub.errors import UserError
from hubbub.mechanisms import Mechanism

NOT_RUN = "not run"
NO_SUBJECTS = "no subjects of its own: generic checks only"
MOST_RUNS = 30_000
SETTINGS: tuple[dict[str, object], ...] = (
    {"epsilon": 1, "delta": "0.02"},
    {"epsilon": 1, "delta": "1e-6"},
    {"epsilon": 1},
    {},
)
"""Where a mechanism has no such parameter, the next one is tried."""
PAIRS = (
    Pair("a key of her own", crowd_of(1, "other", "site"), crowd_of(1, "other", "site") + one_user([("own", "site")])),
    Pair("a known key", crowd_of(3, "known", "site"), crowd_of(3, "known", "site") + one_user([("known", "site")])),
)


def made(kind: type[Mechanism]) -> Iterator[Mechanism]:
    """Instances of every variant, from the settings it has parameters for."""
    declared = {p.name for p in kind.parameters}
    context = {"pool": POOL} if kind.takes_pool else {}
    for variant in kind.variants:
        found = 0
        for settings in SETTINGS:
            if settings.keys() <= declared and not (found and len(settings) < 2):
                for serp in ({}, {"serp": PAGES}):
                    try:
                        mechanism = kind(variant=variant, **context, **serp, **settings)  # type: ignore[arg-type]
                    except UserError:
                        continue
                    found += 1
                    yield mechanism
                    break


def plan(kind: type[Mechanism]) -> AuditPlan:
    """All that could be made, the checks that need to know nothing of it, and noise that is too weak."""
    return AuditPlan(kind.name, lambda: list(made(kind)), tests=tests, mutants=lambda: (HALVED,))


def tests(subject: Subject, effort: Effort) -> Iterator[AuditRow]:
    """Every generic check of one subject, with the same effort always."""
    looks: dict[str, Callable[[], Iterable[AuditRow]]] = {
        "certificate": lambda: certificate(subject),
        "what runs": lambda: ran.tests(subject, known=False),
        "what holds for any parameters": lambda: standard.contract(subject),
    }
    for pair in () if subject.mechanism.selections else PAIRS:
        looks |= {
            f"noise only from the source: {pair.name}": lambda pair=pair: noise_source(subject, pair),  # type: ignore[misc]
            f"row order: {pair.name}": lambda pair=pair: row_order(subject, pair),  # type: ignore[misc]
            f"exact δ(ε): {pair.name}": lambda pair=pair: _exact(subject, pair),  # type: ignore[misc]
        }
    if subject.mechanism.proven().private and subject.mechanism.loss().delta < 1 / taint.USERS:
        looks["byte difference of public/"] = lambda: _bytes(subject)
    for name, look in looks.items():
        yield from _attempt(subject, name, look)


def cannot_be_made(kind: type[Mechanism]) -> AuditRow:
    """The row for a mechanism that cannot be made from a budget alone, and is therefore skipped."""
    detail = "neither ε and δ nor its defaults make one; give it subjects of its own (docs/audit.md)"
    return AuditRow(kind.name, kind.variants[0], "generic checks", "nothing", 0.0, 0.0, 0.0, NOT_RUN, detail)


def _attempt(subject: Subject, name: str, look: Callable[[], Iterable[AuditRow]]) -> list[AuditRow]:
    """Somebody else's code may do anything with what an audit hands it: what breaks is said, not believed."""
    try:
        return list(look())
    except Exception as error:  # whatever it is, the other checks go on
        detail = f"{type(error).__name__}: {error}".partition("\n")[0]
        found = row(subject, name, "nothing", 0.0, 0.0, 0.0, detail)
        return [replace(found, verdict=NOT_RUN)]


def _exact(subject: Subject, pair: Pair) -> Iterable[AuditRow]:
    for events in (pair.smaller, pair.larger):
        noise = Watch()
        subject.perturb(measured(subject, events).counts, noise)
        if (2 * REACH + 1) ** noise.values > MOST_RUNS:
            raise RuntimeError(
                f"{noise.values} values of noise on a log of {len(events)} rows are too many to enumerate"
            )
    return divergence(subject, pair)


def _bytes(subject: Subject) -> Iterable[AuditRow]:
    """A release of its own, written twice under one noise: with her lines and without."""
    with scratch() as folder:
        seen = [
            taint.public_bytes(taint.release(folder / str(her), subject.mechanism, with_her=her))
            for her in (False, True)
        ]
    found = taint.same_bytes("byte difference of public/", *seen)
    yield replace(found, mechanism=subject.mechanism.name, variant=subject.mechanism.variant)
