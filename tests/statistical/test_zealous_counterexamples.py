"""What is wrong in Götz et al. 2009, found by the audit: there in the published form, absent in the strict one.

Everything here is exact: runs are enumerated through the installed `perturb`, nothing is sampled.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import pytest

from hubbub import Zealous
from hubbub.audit.checks.counts import sensitivity
from hubbub.audit.checks.exact import distribution, divergence, hockey_stick
from hubbub.audit.checks.probabilistic import REACH, ItemLaw, exceptions, law_of
from hubbub.audit.checks.statistical import sampled
from hubbub.audit.mutants.zealous import ZEALOUS
from hubbub.audit.neighbours import threshold_pairs
from hubbub.audit.protocols import Pair, Subject
from hubbub.audit.tiny import measured
from hubbub.mechanisms.zealous import formulas

EQUATION_3: dict[str, Any] = {"analysis": "indistinguishability", "variant": "published"}
TAU_PRIME = Fraction(formulas.theorem1_tau_prime(1, Fraction(1), Fraction(1, 10**6))).limit_denominator(10**6)


def own_key(mechanism: Zealous) -> Pair:
    return next(iter(threshold_pairs(mechanism)))


@pytest.mark.parametrize(("lam", "reach", "real"), [(2, 60, 7.07e-4), (10, 200, 0.135)])
def test_equation_3_is_refuted_as_published_and_not_in_strict(lam: int, reach: int, real: float) -> None:
    """Theorem 1 allows any λ >= 2m/ε', and claims (1, 1e-6) for both of these."""
    published = Zealous(lambda_=lam, tau=1, tau_prime=TAU_PRIME, **EQUATION_3)
    rows = list(divergence(Subject.of(published), own_key(published), reach))
    assert {row.against: row.refuted for row in rows} == {"proven": False, "claimed": True}
    a = math.exp(-1 / lam)
    seen = next(row.observed for row in rows if row.against == "claimed")
    assert math.isclose(seen, a**14 / (1 + a), rel_tol=1e-3), "the integer rule > 14.12"
    assert math.isclose(0.5 * math.exp(-(float(TAU_PRIME) - 1) / lam), real, rel_tol=5e-3), "real-valued noise"
    assert seen > 500e-6 and not published.claimed().holds and "false" in published.claimed().why
    if lam == 2:
        assert math.isclose(published.claimed().delta or 0, 1e-6, rel_tol=1e-4)

    strict = Zealous(epsilon=1, delta="1e-6", neighbours="replace")
    [row] = divergence(Subject.of(strict), own_key(strict), 60)
    assert not row.refuted and row.bound <= 1e-6


def test_the_calibrated_indistinguishability_keeps_what_was_asked() -> None:
    """Its τ′ is the corrected one; the claim on the card is still (3) as printed, and still false."""
    mechanism = Zealous(epsilon=1, delta="1e-6", **EQUATION_3)
    assert mechanism.settings["tau_prime"] == 28 and mechanism.loss().delta <= 1e-6
    assert not mechanism.claimed().holds


def test_items_chosen_by_popularity_are_caught() -> None:
    """50 users hold a and b; one more user tips the majority: a is published with probability 0.99999, and then 0."""
    mechanism = Zealous(lambda_=2, tau=1, tau_prime=26, m=1)
    popular = next(m for m in ZEALOUS if m.name == "most popular items kept").make(mechanism)
    both = tuple((f"user{i}", t, q, None) for i in range(50) for t, q in enumerate("ab"))
    tipped = (*both, ("one more", 0, "b", None))
    shown = []
    for subject in (popular, Subject.of(mechanism)):
        before, after = (distribution(subject, measured(subject, log), 60)[0] for log in (both, tipped))
        shown.append([sum(p for o, p in law.items() if any("a" in row for row in o)) for law in (before, after)])
        delta = max(hockey_stick(before, after, 0.5), hockey_stick(after, before, 0.5))
        assert (delta > 0.999) is (subject is popular)
    assert shown[0][0] > 0.99999 and shown[0][1] == 0
    assert shown[1][0] > 0.99999 and math.isclose(*shown[1])
    pair = Pair("a majority of one", both, tipped)
    for test in (sensitivity, divergence, sampled(1000)):
        assert all(row.refuted for row in test(popular, pair))
        assert not any(row.refuted for row in test(Subject.of(mechanism), pair))


# ------------------------------------------------------------------ Theorem 2 and its set of exceptions

SETTINGS = [
    {"m": 1, "lambda": 2, "tau": 1, "tau_prime": 7, "users": 4, "items": 4},
    {"m": 1, "lambda": 1, "tau": 2, "tau_prime": 6, "users": 6, "items": 3},
    {"m": 2, "lambda": 2, "tau": 1, "tau_prime": 8, "users": 2, "items": 4},
    {"m": 2, "lambda": 3, "tau": 3, "tau_prime": 14, "users": 4, "items": 4},
    {"m": 1, "lambda": 4, "tau": 2, "tau_prime": 9, "users": 6, "items": 4},
]


@pytest.mark.parametrize("settings", SETTINGS)
def test_theorem_2_holds_with_its_exceptions_repaired(settings: dict[str, int]) -> None:
    given = dict(settings)
    users, items = given.pop("users"), given.pop("items")
    mechanism = Zealous(**given, U=users, variant="published")
    claim = mechanism.claimed()
    assert claim.holds and claim.delta is not None and claim.epsilon is not None
    delta, worst = exceptions(Subject.of(mechanism), users, items, repaired=True)
    found = mechanism.also()[0][0]
    assert delta <= (found.delta or 0) * (1 + 1e-9) <= claim.delta * (1 + 1e-9)
    assert delta > 0.99 * (found.delta or 0), "some log has as many items at τ as the bound allows"
    assert worst <= claim.epsilon * (1 + 1e-9)
    enough = users >= 2 * (given["tau"] + 1)  # for all 2m items that one user moves to have counts above τ
    assert worst > (0.99 if enough else 0.49) * claim.epsilon, "the enumeration has power"
    same, unbounded = exceptions(Subject.of(mechanism), users, items, repaired=False)
    assert same == delta, "the repair costs nothing"
    assert math.isinf(unbounded), "as printed, Ω holds outputs only the neighbour can have"


def test_without_the_first_branch_an_absent_item_tells_too_much() -> None:
    """λ = 10, τ = 1, τ′ = 2: (5) asks for 17.6 more; the probabilistic ε is larger, and that is what is stated."""
    mechanism = Zealous(lambda_=10, tau=1, tau_prime=2, m=1, U=2, variant="published")
    assert mechanism.claimed().epsilon is None
    epsilon = mechanism.also()[0][0].epsilon
    assert epsilon is not None and epsilon > 5 * 2 / 10
    _, worst = exceptions(Subject.of(mechanism), 2, 3, repaired=True)
    assert 2 / 10 < worst <= epsilon * (1 + 1e-9)


@pytest.mark.parametrize(("lam", "tau", "tau_prime"), [(1, 1, 4), (2, 3, 6), (5, 1, 1), (4, 2, 2)])
def test_exchanging_a_user_costs_twice_epsilon_and_the_same_delta(lam: int, tau: int, tau_prime: int) -> None:
    """She leaves one item for another, whatever the others hold; the third and fourth have thresholds that are low."""
    mechanism = Zealous(lambda_=lam, tau=tau, tau_prime=tau_prime, neighbours="replace")
    proven = mechanism.proven()
    assert proven.epsilon is not None and proven.delta is not None and proven.epsilon == 2 / lam
    laws = [law_of(Subject.of(mechanism), n) for n in range(tau_prime + 4)]
    worst = 0.0
    for left, taken in itertools.product(range(max(0, tau - 2), tau_prime + 3), repeat=2):
        before = _together(laws[left + 1], laws[taken])
        after = _together(laws[left], laws[taken + 1])
        worst = max(worst, hockey_stick(before, after, proven.epsilon))
    edge = 4 * math.exp(-REACH / lam)  # what the enumeration lumps at its ends
    assert proven.delta * (1 - 1e-9) <= worst <= proven.delta * (1 + 1e-9) + edge


def _together(one: ItemLaw, other: ItemLaw) -> dict[Any, float]:
    """The joint law of two items."""
    return {(v, w): p * q for v, p in one.items() for w, q in other.items()}
