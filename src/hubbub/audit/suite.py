"""The story of an audit: every mechanism as people use it, then at small parameters, then its broken versions.

Small parameters, because a violation has to be visible: no audit can see a δ of 1e-7. What is known of a mechanism
stands in `subjects/`, one file each; what all of them rest on is audited once, as `shared`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import partial

from hubbub.audit import recurring, shared
from hubbub.audit.checks import exchanged, generic, ran, standard
from hubbub.audit.mutants import Mutant
from hubbub.audit.mutants.series import SERIES_MUTANTS
from hubbub.audit.mutants.shared import SHARED_MUTANTS
from hubbub.audit.protocols import FULL, QUICK, SHARED, AuditRow, Effort, Kind, Subject, to_the_end
from hubbub.audit.subjects import PLANS, AuditPlan
from hubbub.errors import OurBug, ParameterError
from hubbub.mechanisms import Mechanism, mechanisms, stated_mechanisms


def plan_of(name: str) -> AuditPlan:
    """What was declared for a mechanism; of a plug-in without a plan, what its own declarations make."""
    return PLANS.get(name) or generic.plan(mechanisms()[name])


def tests(subject: Subject, effort: Effort) -> Iterator[AuditRow]:
    """Every test of one subject, the cheap ones first."""
    return (plan_of(subject.mechanism.name).tests or standard.tests)(subject, effort)


def audit(
    mechanism: str | None = None, *, quick: bool = False, say: Callable[[str], None] = lambda _: None
) -> list[AuditRow]:
    """Audit the installed code of one mechanism, of what they share (`shared`), or of all."""
    rows: list[AuditRow] = []
    if mechanism in (None, SHARED):
        say("shared code")
        rows += to_the_end(SHARED, "both", shared.tests(quick))
    if mechanism in (None, recurring.NAME):
        say("series")
        rows += to_the_end(recurring.NAME, recurring.VARIANT, recurring.tests(QUICK if quick else FULL))
    for name in _names(mechanism):
        rows += to_the_end(name, mechanisms()[name].variants[0], _of_one(name, QUICK if quick else FULL, say))
    return rows


def _of_one(name: str, effort: Effort, say: Callable[[str], None]) -> Iterator[AuditRow]:
    """All rows of one mechanism: as people use it, at small parameters, then what brings settings of its own."""
    plan = plan_of(name)
    for made in plan.used():
        say(f"{name} {made.variant}, certificates and draws as people use it: {describe(made)}")
        yield from to_the_end(name, made.variant, ran.as_used(made))
    if not (small := plan.small()):
        yield generic.cannot_be_made(mechanisms()[name])
    for subject in map(Subject.of, small):
        say(f"{name} {subject.mechanism.variant} {describe(subject.mechanism)}")
        yield from to_the_end(name, subject.mechanism.variant, tests(subject, effort))
    say(f"{name}: what is known beforehand, and users exchanged")
    first = mechanisms()[name].variants[0]
    for test in plan.besides:
        yield from to_the_end(name, first, test())
    yield from to_the_end(name, first, exchanged.tests(plan))


def mutants(mechanism: str | None = None, *, say: Callable[[str], None] = lambda _: None) -> list[dict[str, str]]:
    """Run the audit on broken versions; each must be caught by some test of some subject."""
    found = []
    for name in _names(mechanism):
        plan = plan_of(name)
        small = plan.small()
        for mutant in plan.mutants():
            say(f"{name}: {mutant.name}")
            found.append(verdict(mutant.name, name, partial(_broken, mutant, small)))
    for of, faults in ((recurring.NAME, SERIES_MUTANTS), (SHARED, SHARED_MUTANTS)):
        for fault in faults if mechanism in (None, of) else ():
            say(f"{of}: {fault.name}")
            found.append(verdict(fault.name, of, fault.detector, fault.planted()))
    return found


def _broken(mutant: Mutant, small: Iterable[Mechanism]) -> Iterator[AuditRow]:
    for mechanism in small:
        if mutant.concerns(mechanism):
            yield from tests(mutant.make(mechanism), QUICK)


def verdict(
    mutant: str,
    of: str,
    look: Callable[[], Iterable[AuditRow]],
    planted: AbstractContextManager[None] = nullcontext(),  # noqa: B008  # it has no state
) -> dict[str, str]:
    """Caught by the first check that refutes something proven; a paper's claim may be false of the sound version.

    A mutant that stumbles instead is an error of its own: no check has noticed it.
    """
    found, by = "missed", ""
    try:
        with planted:
            if caught := next((r for r in look() if r.refuted and r.against == "proven"), None):
                found, by = "caught", f"{caught.kind.value}: {caught.check} ({caught.variant})"
    except OurBug as error:
        found, by = "caught", f"{Kind.STATIC.value}: the code refuses by itself: {error}"
    except Exception as error:
        found, by = "error", f"{type(error).__name__}: {error}".replace("\n", " ")
    return {"mutant": mutant, "of": of, "verdict": found, "by": by}


def describe(mechanism: Mechanism) -> str:
    """A mechanism's parameters in one line."""
    return ", ".join(f"{k} = {v}" for k, v in mechanism.settings.items())


def _names(mechanism: str | None) -> list[str]:
    if mechanism is not None and mechanism not in (*stated_mechanisms(), SHARED):
        allowed = ", ".join([*stated_mechanisms(), SHARED])
        raise ParameterError("There is no such mechanism.", given=mechanism, allowed=allowed)
    return [n for n in mechanisms() if mechanism in (None, n)]
