"""Laws that were cut at their ends: what is left out of either law may refute nobody."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from hubbub.audit.checks import exact
from hubbub.audit.checks.exact import Law, divergence, either_way, laplace_law, largest_refuted
from hubbub.audit.neighbours import threshold_pairs
from hubbub.audit.protocols import Subject
from hubbub.audit.subjects import PLANS

REACH, MOVED = 14, 6
CUT = laplace_law(Fraction(3), REACH)


def cut(shift: int) -> tuple[Law, float]:
    """A count with discrete Laplace noise of scale 3, cut as the audit cuts it: (2, 0)-private if moved by six."""
    return {(("n", x + shift),): CUT[x + REACH] for x in range(-REACH, REACH + 1)}, CUT[0] + CUT[-1]


@pytest.mark.parametrize("epsilon", [2.0, 2.5])
def test_a_sound_law_is_not_refuted_by_where_it_was_cut(epsilon: float) -> None:
    one, other = cut(0), cut(MOVED)
    worst, seen, unsure = either_way(one, other, epsilon)
    assert worst > one[1] + other[1], "without e^ε, a sound count would have been refuted"
    assert seen == 0.0
    assert math.isclose(unsure, one[1] * (1 + math.exp(epsilon)))
    assert largest_refuted(one, other, 0.0, 2.0) < 2.0


def test_a_law_that_is_not_sound_is_still_refuted() -> None:
    worst, seen, _ = either_way(cut(0), cut(2 * MOVED), 1.0)
    assert 0.3 < seen < worst


def test_the_audit_of_a_mechanism_counts_it_so(monkeypatch: pytest.MonkeyPatch) -> None:
    subject = Subject.of(PLANS["korolova"].small()[0])
    laws = iter((cut(0), cut(MOVED)))
    monkeypatch.setattr(exact, "distribution", lambda *_: next(laws))
    monkeypatch.setattr(exact, "stated", lambda _: [("proven", 2.0, 0.0)])
    pair = next(p for p in threshold_pairs(subject.mechanism) if p.enumerable)
    (found,) = divergence(subject, pair)
    assert not found.refuted
    assert found.power > 2 * CUT[0]
