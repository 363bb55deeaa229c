"""The audit of the installed code: nothing proven is refuted, and every mutant is caught.

False alarms: each sampled row refutes a sound mechanism with probability at most 2e-6; with
about 60 such rows a run of this file alarms falsely less than once in 8,000 times.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from tests.conftest import Hubbub, document

from hubbub import Korolova
from hubbub.audit import audit, mutants
from hubbub.audit.exact import EnumeratingNoise, distribution, hockey_stick
from hubbub.audit.mutants import MUTANTS, Mutant
from hubbub.audit.neighbours import threshold_pairs
from hubbub.audit.protocols import Subject
from hubbub.audit.statistical import LEVEL, lower, sampled, upper
from hubbub.audit.suite import tests as audit_tests
from hubbub.audit.tiny import measured
from hubbub.errors import OurBug, ParameterError


def test_nothing_proven_is_refuted(hubbub: Hubbub) -> None:
    rows = document(hubbub("audit", "--quick", "--json"))["rows"]
    assert isinstance(rows, list) and len(rows) > 100
    assert {"mechanism", "variant", "check", "against", "bound", "observed", "power", "verdict"} <= set(rows[0])
    assert all(r["verdict"] == "not refuted" for r in rows if r["against"] == "proven")
    exact = [
        r for r in rows if r["check"].startswith("exact δ") and "own keys" in r["check"] and r["against"] == "proven"
    ]
    assert any(r["observed"] > 0.999 * r["bound"] for r in exact), "the bound is met: the test has power"


def test_every_mutant_is_caught(hubbub: Hubbub) -> None:
    data = document(hubbub("audit", "--mutants", "--json"))
    assert set(data) == {"rows"}
    rows = data["rows"]
    assert isinstance(rows, list)
    assert [(r["of"], r["mutant"]) for r in rows] == [(of, m.name) for of in sorted(MUTANTS) for m in MUTANTS[of]]
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


@pytest.mark.parametrize("mutant", MUTANTS["korolova"], ids=lambda m: m.name)
def test_each_mutant_is_caught_by_each_test_that_should(mutant: Mutant) -> None:
    """Not only by the first one: a detector that sleeps is a bug too."""
    found = set()
    try:
        for row in audit_tests(mutant.make(Korolova(b=1, K=3, d=2)), 40_000):
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
    from hubbub.audit.statistical import ABSENT, sample

    subject = Subject.of(Korolova(b=2, K=1, d=1))
    drawn = sample(subject, measured(subject, [(f"u{i}", 1, "q", None) for i in range(50)]), 5000)
    values = drawn.of(("queries", "q"))
    assert (values != ABSENT).all()
    assert abs(float(np.corrcoef(values[1:], values[:-1])[0, 1])) < 0.08
