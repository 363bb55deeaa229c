"""The audit of optimal: the paper's claim is refuted, what is proven is not. Its mutants: test_audit."""

from __future__ import annotations

import pytest

from hubbub.audit.checks.drawn import tests as drawn
from hubbub.audit.checks.exact import divergence, threshold_law
from hubbub.audit.checks.statistical import sampled
from hubbub.audit.neighbours import threshold_pairs
from hubbub.audit.protocols import Subject
from hubbub.mechanisms import build
from hubbub.mechanisms.optimal.histograms import Histograms


@pytest.mark.parametrize("goal", ["size", "diverse"])
def test_the_papers_claim_is_refuted_and_the_conditional_one_is_not(goal: str) -> None:
    mechanism = build("optimal", {"epsilon": "0.7", "delta": "0.5", "goal": goal, "seconds": 5}, variant="published")
    rows = list(drawn(Subject.of(mechanism)))
    assert not any(row.refuted for row in rows if row.against == "proven")
    refuted = [row for row in rows if row.refuted]
    assert bool(refuted) == (goal == "size")  # one row per pair does not show how many users share it
    if refuted:
        assert refuted[0].observed == pytest.approx(1.0)  # |O| = 1 for three users, 2 for four: never the same output
        assert "3 users share a pair, or 4" in refuted[0].check


def test_strict_is_not_refuted() -> None:
    subject = Subject.of(Histograms(d=1, bins=1, b=1, b_a=1, T=4))
    rows = list(threshold_law(subject))
    for pair in threshold_pairs(subject.mechanism):
        if len({(q, u) for _, _, q, u in pair.larger}) <= 4:
            rows += [*divergence(subject, pair), *sampled(20_000)(subject, pair)]
    assert rows and not any(row.refuted for row in rows)
