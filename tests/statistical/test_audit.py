"""The audit of the installed code: nothing proven is refuted, and every mutant is caught.

False alarms: each sampled test refutes a sound mechanism with probability at most 2e-6; with fewer than 650 of them
(asserted) a run of this file alarms falsely less than once in 700 times. Every test of many mutants shares one run of
the command: audits are the slowest tests there are. What is sound in all of it (certificates as people use them, a
series, a synthetic log) is asked here once and nowhere else.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.conftest import Hubbub, document

from hubbub import Korolova
from hubbub.audit import audit, recurring
from hubbub.audit.checks.exact import EnumeratingNoise, distribution, hockey_stick
from hubbub.audit.checks.search import bad_neighbours
from hubbub.audit.checks.statistical import LEVEL, SEEDS, lower, sampled, seeds, upper
from hubbub.audit.mutants import COUNTS, Mutant
from hubbub.audit.mutants.series import SERIES_MUTANTS
from hubbub.audit.mutants.shared import SHARED_MUTANTS
from hubbub.audit.neighbours import threshold_pairs
from hubbub.audit.protocols import QUICK, SHARED, Subject
from hubbub.audit.subjects import PLANS
from hubbub.audit.suite import mutants
from hubbub.audit.suite import tests as audit_tests
from hubbub.audit.tiny import measured
from hubbub.card import audited
from hubbub.errors import OurBug, ParameterError
from hubbub.mechanisms import mechanisms, stated_mechanisms
from hubbub.mechanisms.crowd.each import CrowdPerPeriod
from hubbub.steps.mode import RunMode
from hubbub.steps.profile import SHAPES


def test_nothing_proven_is_refuted(hubbub: Hubbub) -> None:
    result = hubbub("audit", "--quick", "--json")
    rows = document(result)["rows"]
    assert isinstance(rows, list) and len(rows) > 1000
    once = {CrowdPerPeriod.name}  # crowd itself, for each period
    assert {r["mechanism"] for r in rows} == {*stated_mechanisms(), SHARED} - once
    variants = {(r["mechanism"], r["variant"]) for r in rows}
    assert variants >= {(name, v) for name, kind in mechanisms().items() for v in kind.variants}
    assert {"mechanism", "variant", "check", "against", "bound", "observed", "power", "verdict"} <= set(rows[0])
    shared = [r["check"] for r in rows if r["mechanism"] == SHARED]
    assert len(shared) > 240
    for check in ("a cap holds", "certificate of a sum", "exact rounds, as by hand", "adaptive"):
        assert any(said.startswith(check) for said in shared), check
    assert all(r["verdict"] == "not refuted" for r in rows if r["against"] == "proven")
    exact = [
        r for r in rows if r["check"].startswith("exact δ") and "own keys" in r["check"] and r["against"] == "proven"
    ]
    assert any(r["observed"] > 0.999 * r["bound"] for r in exact), "the bound is met: the test has power"
    found = re.search(r"^(\d+) sampled checks", result.stderr, re.MULTILINE)
    assert found and int(found[1]) < 650, "the rate of false alarms stated above"
    refuted = {r["mechanism"] for r in rows if r["verdict"] == "refuted"}
    assert refuted == {"sessions", "safelog", "zealous", "optimal"}, (
        "claims of papers, each found by its counterexample"
    )
    checks = ("exact ", "sampled δ", "composed δ", "one user's share")
    assert all(r["check"].startswith(checks) for r in rows if r["verdict"] == "refuted"), "no certificate among them"
    assert sum(r["check"].startswith("certificate") for r in rows) > 1000
    assert sum(r["mechanism"] == recurring.NAME for r in rows) > 30
    reached = [r["observed"] for r in rows for name in SHAPES if r["check"].startswith(f"one user's share of {name}: ")]
    assert max(reached) > 0.95, "the greedy users do not reach the bound of a synthetic log"
    for paper in ("Zhang & Yang 2017", "Zhang et al. 2016", "Götz et al. 2009", "Hong et al. 2012"):
        assert f"Refuted claim of a paper, {paper}" in result.stderr, paper
    assert "by chance with probability at most" in result.stderr and "Not refuted is not proven" in result.stderr
    kept = audited.known()
    assert set(kept) == {audited.SHARED, *(f"{name} {variant}" for name, variant in variants if name != SHARED)}
    strict = [f for of, f in kept.items() if f.proven_epsilon and of.endswith("strict")]
    assert all((f.empirical_epsilon or 0) <= f.proven_epsilon * (1 + 1e-3) for f in strict if f.proven_epsilon)
    assert any((f.empirical_epsilon or 0) > 0.9 * f.proven_epsilon for f in strict if f.proven_epsilon)


def test_every_mutant_is_caught(hubbub: Hubbub) -> None:
    data = document(hubbub("audit", "--mutants", "--json"))
    assert set(data) == {"rows"}
    rows = data["rows"]
    assert isinstance(rows, list)
    every = [(of, m.name) for of, plan in PLANS.items() for m in plan.mutants()]
    every += [(of, f.name) for of, faults in (("series", SERIES_MUTANTS), (SHARED, SHARED_MUTANTS)) for f in faults]
    assert [(r["of"], r["mutant"]) for r in rows] == every
    assert len(rows) > 100 and len(SHARED_MUTANTS) > 30
    means = {"exact", "statistical", "byte difference", "static check", "recomputed"}
    assert {r["by"].partition(":")[0] for r in rows} == means
    assert [r["mutant"] for r in rows if r["verdict"] != "caught"] == []
    assert all(r["by"] for r in rows)


WAYS = {
    "noise halved": {"exact law", "exact δ"},
    "threshold one lower": {"exact law", "exact δ", "sampled δ"},
    "> for >=": {"exact law"},
    "bound not enforced": {"one user's share"},
    "repeats counted": {"one user's share"},
    "noise shared between keys": {"exact δ", "sampled δ"},
    "first-seen row order": {"row order"},
    "float noise": {"exact law", "noise only"},
    "exact value published": {"exact δ", "sampled δ"},
}


@pytest.mark.parametrize("mutant", COUNTS, ids=lambda m: m.name)
def test_each_mutant_is_caught_by_each_test_that_should(mutant: Mutant) -> None:
    """Not only by the first one: a detector that sleeps is a bug too."""
    found = set()
    try:
        for row in audit_tests(mutant.make(Korolova(b=1, K=3, d=2)), QUICK):
            if row.refuted:
                found |= {way for ways in WAYS.values() for way in ways if row.check.startswith(way)}
    except OurBug:
        assert mutant.name == "float noise", "the release itself refuses values that are not integers"
    assert WAYS[mutant.name] <= found, f"caught by {found}"


def test_enumeration_adds_up_to_one_and_matches_the_formula() -> None:
    subject = Subject.of(Korolova(b="3/2", K=3, d=2))
    pair = next(iter(threshold_pairs(subject.mechanism)))
    law, lumped = distribution(subject, measured(subject, pair.larger))
    assert math.isclose(math.fsum(law.values()), 1, rel_tol=1e-12)
    assert lumped < 1e-3
    delta = hockey_stick(law, {(): 1.0}, subject.mechanism.loss().epsilon)
    assert math.isclose(delta, subject.mechanism.loss().delta, rel_tol=1e-9), "δ of two new keys is exact"


def test_a_law_is_enumerated_once_for_each_subject_and_log() -> None:
    mechanism, runs = Korolova(b=1, K=2, d=1), []
    pair = next(iter(threshold_pairs(mechanism)))

    def counted(*given: Any) -> Any:
        runs.append(given)
        return mechanism.draw(*given)

    one = Subject(mechanism, mechanism.measure, counted)
    log = measured(one, pair.larger)
    first, enumerated = distribution(one, log), len(runs)
    assert distribution(one, log) == first and len(runs) == enumerated > 1
    other = Korolova(b=2, K=2, d=1)
    assert distribution(Subject.of(other), log) != first != distribution(one, measured(one, pair.smaller))


def test_enumeration_refuses_what_it_cannot_finish() -> None:
    noise = EnumeratingNoise()
    with pytest.raises(RuntimeError):
        for _ in noise.runs():
            noise.laplace("step", Fraction(1), 5)
    for call in (
        lambda: noise.choose("s", 1, 1),
        lambda: noise.binomial_tail("s", Fraction(1), 1, 1),
    ):
        with pytest.raises(NotImplementedError):
            call()


def test_clopper_pearson_covers() -> None:
    assert lower(0, 100) == 0 and upper(100, 100) == 1
    assert math.isclose(upper(0, 1000), 1 - LEVEL ** (1 / 1000), rel_tol=1e-9)
    assert lower(500, 1000) < 0.5 < upper(500, 1000)


def test_power_is_stated_and_honest() -> None:
    """A violation as large as the stated power is seen."""
    mechanism = Korolova(b=1, K=3, d=1)
    pair = next(iter(threshold_pairs(mechanism)))
    sound = next(iter(sampled(40_000)(Subject.of(mechanism), pair)))
    assert not sound.refuted and 0 < sound.power < 0.05
    looser = Korolova(b=1, K=2, d=1)
    broken = Subject(mechanism, looser.measure, looser.perturb)
    row = next(iter(sampled(40_000)(broken, pair)))
    excess = looser.loss().delta - mechanism.loss().delta
    assert excess > row.power and row.refuted


def test_unknown_mechanisms_are_named() -> None:
    with pytest.raises(ParameterError):
        audit("nothing")
    with pytest.raises(ParameterError):
        mutants("nothing")


def test_replication_is_independent_runs() -> None:
    """Keys of different copies get different noise."""
    from hubbub.audit.checks.statistical import ABSENT, sample

    subject = Subject.of(Korolova(b=2, K=1, d=1))
    drawn = sample(subject, measured(subject, [(f"u{i}", 1, "q", None) for i in range(50)]), 5000)
    values = drawn.of(("queries", "q"))
    assert (values != ABSENT).all()
    assert abs(float(np.corrcoef(values[1:], values[:-1])[0, 1])) < 0.08


def test_a_search_finds_what_hand_made_neighbours_miss() -> None:
    """Somebody early makes all counts larger: hand-made crowds are early in both logs, a lone user who moves is not."""
    mechanism = Korolova(b=1, K=3, d=1)
    looser = Korolova(b=1, K=2, d=1)

    def measure(log: Any, mode: RunMode) -> dict[str, Any]:
        counts = mechanism.measure(log, mode)["queries"].local()
        first = log.engine.fetch('SELECT min("time") AS first FROM log').column("first")[0].as_py() or 0
        return {"queries": replace(counts, n=counts.n + 2 * (first < 500))}

    broken = replace(Subject.of(mechanism), measure=measure)
    few, many = (next(iter(bad_neighbours(tries)(broken))) for tries in (3, 50))
    assert not few.refuted and many.refuted and many.observed > looser.loss().delta
    assert not next(iter(bad_neighbours(20)(Subject.of(mechanism)))).refuted


def test_twenty_seeds_state_their_rate_of_false_alarms() -> None:
    mechanism = Korolova(b=1, K=3, d=1)
    pair = next(iter(threshold_pairs(mechanism)))
    one, two = (seeds(lambda noise: sampled(4000, noise)(Subject.of(mechanism), pair)) for _ in range(2))
    assert not one.refuted and one.tests == SEEDS == 20 and "at most 4e-05" in one.detail
    assert one == two, "seeded: the same again"
    assert seeds(lambda noise: sampled(4000, noise)(Subject(mechanism, *_loose()), pair)).refuted


def _loose() -> tuple[Any, Any]:
    looser = Korolova(b=1, K=1, d=1)
    return looser.measure, looser.perturb
