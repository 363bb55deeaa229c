"""Which subjects are audited, by which tests, and the mutants that the same tests must catch.

Parameters are scaled down so that a violation is visible: no audit can see a δ of 1e-7.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

import pyarrow as pa

from hubbub.audit import shared
from hubbub.audit.checks import anonymity, chain, clicked, closed, drawn, exchanged, generic, listed, logs, pooled, ran
from hubbub.audit.checks.certificates import certificate
from hubbub.audit.checks.chain import is_chain
from hubbub.audit.checks.composed import composed
from hubbub.audit.checks.counts import noise_source, row_order, sensitivity
from hubbub.audit.checks.exact import divergence, threshold_law
from hubbub.audit.checks.probabilistic import probabilistic
from hubbub.audit.checks.search import FULL, QUICK, bad_neighbours
from hubbub.audit.checks.statistical import sampled, sampled_pools, seeds
from hubbub.audit.mutants import MUTANTS
from hubbub.audit.mutants.shared import SHARED_MUTANTS
from hubbub.audit.neighbours import closed as closed_pairs
from hubbub.audit.neighbours import threshold_pairs
from hubbub.audit.protocols import SHARED, AuditRow, Subject, Tester, is_pooled, kind_of, to_the_end
from hubbub.audit.realistic import REALISTIC
from hubbub.errors import OurBug, ParameterError
from hubbub.mechanisms import Mechanism, build, mechanisms
from hubbub.mechanisms.anonymity import Anonymity
from hubbub.mechanisms.optimal.histograms import Histograms
from hubbub.public.lists import UrlList

QUICK_RUNS, RUNS = 40_000, 400_000
QUICK_COPIES, COPIES = 150, 600
LOOKED_AT = 2
"""How many pairs of logs are sampled on many seeds."""
CHAIN = ["queries", "clicks", "transitions"]
EQUATION_3 = "indistinguishability"
GENERIC = tuple(m for m in MUTANTS["korolova"] if m.name == "noise halved")
"""Broken versions of a plug-in, of which nothing is known but its noise."""

LISTED = UrlList(
    "audit",
    pa.table({"query": ["known", "q0", "q1", "first", "second"], "url": ["site"] * 5}),
    "0" * 64,
)
"""A public result list that holds the keys of the neighbouring logs."""

SUBJECTS: dict[str, Callable[[], list[Mechanism]]] = {
    "crowd": lambda: [
        build("crowd", {"epsilon": 1, "delta": "0.05", "D": 2, "rounds": 2}, tables=["queries"]),
        build("crowd", {"epsilon": "1/2", "delta": "0.05", "D": 1, "rounds": 4}, tables=["queries"]),
        build("crowd", {"epsilon": 1, "delta": "0.02", "D": 4, "rounds": 4}, tables=["queries"]),
        build("crowd", {"epsilon": 2, "delta": "0.02", "D": 3, "rounds": 1}, tables=["queries"]),
        build("crowd", {"epsilon": 1, "delta": "0.02", "D": 3, "D_c": 4, "D_t": 4, "F": 10**9}, tables=CHAIN),
        build("crowd", {"epsilon": 1, "delta": "0.05", "D": 3, "D_c": 2, "D_t": 4, "D_s": 2}),
        build("crowd", {"epsilon": 8, "delta": "0.05", "D": 3, "D_c": 3}, tables=["queries", "log"]),
    ],
    "gaussian": lambda: [
        build("gaussian", {"epsilon": 3, "delta": "0.02", "d": 1, "grid": 0}),
        build("gaussian", {"epsilon": 3, "delta": "0.05", "d": 2, "grid": 0}),
        build("gaussian", {"epsilon": 1, "delta": "0.02", "d": 3, "weights": "sqrt"}),
    ],
    "geometric": lambda: [
        build("geometric", {"epsilon": 1, "delta": "0.02"}),
        build("geometric", {"epsilon": 1, "delta": "0.05", "d": 2}),
    ],
    "sips": lambda: [build("sips", {"epsilon": 1, "delta": "0.05", "d": 2})],
    "adaptive": lambda: [
        build("adaptive", {"epsilon": 1, "delta": "0.05", "d": 2}),
        build("adaptive", {"epsilon": 2, "delta": "0.02", "d": 1, "rounds": 4}),
    ],
    "korolova": lambda: [
        build("korolova", {"d": 1, "b": 1, "K": 3}),
        build("korolova", {"d": 2, "b": 1, "K": 3}),
        build("korolova", {"d": 2, "b": "3/2", "K": 3, "keep": "random"}),
        build("korolova", {"d": 1, "d_c": 1, "b": 1, "K": 3, "b_c": 1, "K_c": 3}, tables=["queries", "clicks"]),
        build("korolova", {"d": 1, "d_c": 2, "b": 1, "K": 3, "b_c": 1}, serp=LISTED),
        build("korolova", {"d": 2, "b": 1, "K": 4, "b_q": 1}, variant="published"),
        build("korolova", {"d": 1, "b": 1, "K": 4, "b_q": 1}, variant="published"),
    ],
    "optimal": lambda: [
        Histograms(d=1, bins=1, b=1, b_a=1, T=4),
        Histograms(d=2, bins=2, b="3/2", b_a=2, T=4),
        build("optimal", {"epsilon": "0.7", "delta": "0.5", "seconds": 5}, variant="published"),
        build("optimal", {"epsilon": "0.4", "delta": "0.9", "goal": "diverse"}, variant="published"),
    ],
    "zealous": lambda: [
        build("zealous", {"m": 1, "lambda": 1, "tau_prime": 3}),
        build("zealous", {"m": 2, "lambda": 1, "tau": 3, "tau_prime": 6}),
        build("zealous", {"m": 2, "lambda": "3/2", "tau": 2, "tau_prime": 6}, tables=["keywords"]),
        build("zealous", {"m": 2, "lambda": 1, "tau": 2, "tau_prime": 5, "keep": "random"}, tables=["clicks"]),
        build("zealous", {"m": 1, "lambda": 1, "tau": 2, "tau_prime": 5}, tables=["transitions"]),
        build("zealous", {"m": 1, "lambda": 1, "tau": 2, "tau_prime": 5}, tables=["keywords", "queries"]),
        build("zealous", {"m": 1, "lambda": 1, "tau": 2, "tau_prime": 6, "U": 6}, variant="published"),
        build("zealous", {"m": 1, "lambda": 2, "tau_prime": "3.3", "analysis": EQUATION_3}, variant="published"),
    ],
    **anonymity.SUBJECTS,
    "safelog": closed_pairs.subjects,
    "sessions": lambda: [
        build("sessions", {"l_q": 3, "l_s": 2, "l": 2, "b": "3/2", "K": 4}),
        build("sessions", {"l_q": 2, "b": 1, "K": 3}, tables=["sessions"]),
        build("sessions", {"l_q": 2, "l": 1, "b": 1, "K": 3}),
        build("sessions", {"b": 1, "K": 20}),
        build("sessions", {"l_q": 2, "b": 1, "K": 4}, variant="published", tables=["sessions"]),
        build("sessions", {"l_q": 2, "l": 1, "b": 1, "K": 6}, variant="published"),
        build("sessions", {"b": 1, "K": 20}, variant="published"),
    ],
}


MORE: dict[str, tuple[Callable[[], Iterable[AuditRow]], ...]] = {
    "crowd": (listed.of_rounds, listed.sampled),
    "korolova": (clicked.tests,),
}
"""Checks with subjects of their own: what is known beforehand."""


def contract(subject: Subject) -> Iterator[AuditRow]:
    """What holds for any parameters: one user's share, the only source of noise, the order of rows."""
    if subject.mechanism.takes_pool:
        yield from closed.contract(subject)
        return
    if is_pooled(subject.mechanism):
        yield from pooled.presence(subject)
        yield from pooled.fixed_pools(subject)
        on_pools: tuple[Tester, ...] = (pooled.user_share, pooled.transcript)
        if is_chain(subject.mechanism):
            yield from chain.later_shares(subject)
            yield from chain.draws(subject)
        else:
            on_pools = (*on_pools, pooled.draws)
        for test in on_pools:
            for pair in pooled.pairs(subject):
                yield from test(subject, pair)
        return
    tests: tuple[Tester, ...] = (sensitivity, noise_source, row_order)
    for test in tests:
        for pair in threshold_pairs(subject.mechanism):
            yield from test(subject, pair)


def tests(subject: Subject, runs: int) -> Iterator[AuditRow]:
    """Every test of one subject, the cheap ones first."""
    if subject.mechanism.name not in SUBJECTS and subject.mechanism.name in mechanisms():
        yield from generic.tests(subject, contract)
        return
    yield from certificate(subject)
    if isinstance(subject.mechanism, Anonymity):
        yield from anonymity.tests(subject)
        return
    if "log" in subject.mechanism.tables and subject.mechanism.name == "crowd":
        yield from logs.tests(subject)
        return
    if (subject.mechanism.name, subject.mechanism.variant) == ("optimal", "published"):
        yield from drawn.tests(subject)
        return
    if subject.mechanism.takes_pool:
        yield from closed.tests(subject, runs)
        return
    if is_pooled(subject.mechanism):
        yield from pooled.thresholds(subject)
        yield from contract(subject)
        for n, pair in enumerate(pooled.pairs(subject)):
            if len({q for _, _, q, _ in pair.larger}) <= 6:
                yield from sampled_pools(runs)(subject, pair)
                if runs > QUICK_RUNS and n < LOOKED_AT:
                    yield seeds(lambda noise, pair=pair: sampled_pools(QUICK_RUNS, noise)(subject, pair))  # type: ignore[misc]
        if is_chain(subject.mechanism):
            yield from chain.seen_pairs(QUICK_COPIES if runs == QUICK_RUNS else COPIES)(subject)
        return
    yield from threshold_law(subject)
    yield from contract(subject)
    tests: tuple[Tester, ...] = (divergence, sampled(runs))
    if subject.mechanism.name == "sessions":  # too many keys to enumerate together
        tests = composed, *tests
    for test in tests:
        for pair in threshold_pairs(subject.mechanism):
            if len({(q, u) for _, _, q, u in pair.larger}) <= 4 and not pair.counting:
                yield from test(subject, pair)
    if runs > QUICK_RUNS:
        for pair in list(threshold_pairs(subject.mechanism))[:LOOKED_AT]:
            yield seeds(lambda noise, pair=pair: sampled(QUICK_RUNS, noise)(subject, pair))  # type: ignore[misc]
    if subject.mechanism.name == "zealous":
        yield from probabilistic(subject)
    yield from bad_neighbours(QUICK if runs == QUICK_RUNS else FULL)(subject)


def audit(
    mechanism: str | None = None, *, quick: bool = False, say: Callable[[str], None] = lambda _: None
) -> list[AuditRow]:
    """Audit the installed code of one mechanism, of what they share (`shared`), or of all."""
    rows: list[AuditRow] = []
    if mechanism in (None, SHARED):
        say("shared code")
        rows += to_the_end(SHARED, "both", shared.tests(quick))
    for name in _names(mechanism):
        variant = mechanisms()[name].variants[0]
        rows += to_the_end(name, variant, _of_one(name, QUICK_RUNS if quick else RUNS, say))
    return rows


def _of_one(name: str, runs: int, say: Callable[[str], None]) -> Iterator[AuditRow]:
    """All rows of one mechanism: as people use it, then at small parameters."""
    for made in REALISTIC.get(name, list)():
        say(f"{name} {made.variant}, certificates and draws as people use it: {describe(made)}")
        yield from to_the_end(name, made.variant, ran.as_used(made))
    if not (subjects := subjects_of(name)):
        yield generic.cannot_be_made(mechanisms()[name])
    for subject in map(Subject.of, subjects):
        say(f"{name} {subject.mechanism.variant} {describe(subject.mechanism)}")
        yield from to_the_end(name, subject.mechanism.variant, tests(subject, runs))
    say(f"{name}: what is known beforehand, and users exchanged")
    more: list[Callable[[], Iterable[AuditRow]]] = [*MORE.get(name, ()), partial(exchanged.tests, name)]
    for test in more:
        yield from to_the_end(name, mechanisms()[name].variants[0], test())


def mutants(mechanism: str | None = None, *, say: Callable[[str], None] = lambda _: None) -> list[dict[str, str]]:
    """Run the audit on broken versions; each must be caught by some test of some subject."""
    found = []
    for name in _names(mechanism):
        subjects = subjects_of(name)
        for mutant in MUTANTS[name] if name in SUBJECTS else GENERIC:
            say(f"{name}: {mutant.name}")
            broken = [m for m in subjects if mutant.concerns(m)]
            found.append(_verdict(mutant.name, name, _rows(mutant.make, broken)))
    for fault in SHARED_MUTANTS if mechanism in (None, SHARED) else ():
        say(f"{SHARED}: {fault.name}")
        with fault.planted():
            found.append(_verdict(fault.name, SHARED, fault.detector()))
    return found


def _rows(make: Callable[[Mechanism], Subject], subjects: Iterable[Mechanism]) -> Iterator[AuditRow]:
    for mechanism in subjects:
        yield from tests(make(mechanism), QUICK_RUNS)


def _verdict(mutant: str, of: str, rows: Iterable[AuditRow]) -> dict[str, str]:
    """Caught by the first check that refutes something proven; a paper's claim may be false of the sound version."""
    by = ""
    try:
        if caught := next((r for r in rows if r.refuted and r.against == "proven"), None):
            by = f"{kind_of(caught.check)}: {caught.check} ({caught.variant})"
    except OurBug as error:
        by = f"static check: the code refuses by itself: {error}"
    return {"mutant": mutant, "of": of, "verdict": "caught" if by else "missed", "by": by}


def describe(mechanism: Mechanism) -> str:
    """A mechanism's parameters in one line."""
    return ", ".join(f"{k} = {v}" for k, v in mechanism.settings.items())


def _names(mechanism: str | None) -> list[str]:
    if mechanism is not None and mechanism not in (*mechanisms(), SHARED):
        allowed = ", ".join([*mechanisms(), SHARED])
        raise ParameterError("There is no such mechanism.", given=mechanism, allowed=allowed)
    return [n for n in mechanisms() if mechanism in (None, n)]


def subjects_of(name: str) -> list[Mechanism]:
    """Small settings of a mechanism; of a plug-in, what its own declarations make."""
    return SUBJECTS[name]() if name in SUBJECTS else generic.subjects(mechanisms()[name])
