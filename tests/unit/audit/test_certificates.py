"""The audit's own recomputation of certificates: right by other means.

Nothing here draws at random. That it is quiet on sound code, and that every wrong constant is seen, is asked by
tests/statistical/test_audit.py.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations_with_replacement

import mpmath
import pytest
from tests.conftest import Hubbub, document

from hubbub.audit import recompute
from hubbub.audit.checks import ran
from hubbub.audit.mutants.certificates import CERTIFICATE_MUTANTS
from hubbub.audit.protocols import AuditRow
from hubbub.audit.subjects import PLANS
from hubbub.mechanisms import build, mechanisms
from hubbub.privacy.guarantee import Neighbours

pytestmark = pytest.mark.slow

# ------------------------------------------------------------------ the recomputation itself


@pytest.mark.parametrize(("scale", "threshold", "count"), [("1", 4, 1), ("40", 600, 1), ("3/2", 3, 7), ("1/50", 2, 1)])
def test_laplace_tails_are_those_of_fifty_digits(scale: str, threshold: int, count: int) -> None:
    with mpmath.workdps(60):
        a, gap = mpmath.exp(-mpmath.mpf(1) / mpmath.mpf(Fraction(scale))), threshold - count
        exact = a**gap / (1 + a) if gap > 0 else 1 - a ** (1 - gap) / (1 + a)
        found = recompute.passes(Fraction(scale), threshold, count)
        assert abs(mpmath.mpf(found.numerator) / found.denominator / exact - 1) < mpmath.mpf(10) ** -50


@pytest.mark.parametrize(("l0", "l1", "linf"), [(3, 3, 3), (2, 3, 2), (2, 2, 1), (5, 5, 5), (4, 6, 3), (3, 7, 4)])
def test_new_keys_are_spread_in_the_worst_way(l0: int, l1: int, linf: int) -> None:
    for scale in (Fraction(1, 2), Fraction(3), Fraction(20)):
        chances = [1.0] + [float(recompute.passes(scale, 9, m)) for m in range(1, linf + 1)]
        ways = (
            w for n in range(1, l0 + 1) for w in combinations_with_replacement(range(1, linf + 1), n) if sum(w) <= l1
        )
        worst = max(1 - math.prod(1 - chances[m] for m in way) for way in ways)
        assert float(recompute.new_keys(scale, 9, 1, l0, l1, linf)) == pytest.approx(worst, rel=1e-12)


@pytest.mark.parametrize(("epsilon", "mu"), [(1, 0.236), (0.01, 0.003), (8, 2), (0, 1), (-3, 1), (-30, 1), (1, 10)])
def test_hockey_sticks_are_those_of_fifty_digits(epsilon: float, mu: float) -> None:
    with mpmath.workdps(50):
        e, m = mpmath.mpf(epsilon), mpmath.mpf(mu)
        exact = mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)
        assert recompute.stick(epsilon, mu) == pytest.approx(float(exact), rel=recompute.NEARLY)


def test_tails_and_sums_by_other_means() -> None:
    for z in (0.0, 1.0, 5.0, 12.0):
        assert recompute.tail(z) == pytest.approx(float(mpmath.ncdf(-z)), rel=recompute.NEARLY)
    few = {Fraction(1, 2): 2, Fraction(1): 1}
    assert math.fsum(mass for _, mass in recompute.responses(few)) == pytest.approx(1)
    by_hand = sum(
        max(0.0, math.prod(x) - math.e**0.3 * math.prod(y))
        for way in range(8)
        for x, y in [
            zip(*(
                ((p, 1 - p) if way >> i & 1 else (1 - p, p))
                for i, p in enumerate(1 / (1 + math.exp(-e)) for e in (0.5, 0.5, 1.0))
            ), strict=True)
        ]
    )  # fmt: skip
    assert recompute.together(0.3, 0.0, few) == pytest.approx(by_hand)
    assert recompute.needed(0.0, 0.0, few) == 2 and recompute.needed(0.0, 1.0, few) == math.inf
    assert recompute.needed(1.0, 1.0, few) == 0


# ------------------------------------------------------------------ sound code


def test_every_variant_and_relation_is_looked_at_as_people_use_it() -> None:
    made = [m for plan in PLANS.values() for m in plan.used()]
    assert {(m.name, m.variant) for m in made} == {(n, v) for n, kind in mechanisms().items() for v in kind.variants}
    assert {m.name for m in made if m.neighbours is Neighbours.REPLACE} >= {"korolova", "zealous", "safelog", "optimal"}
    assert {t for m in made for t in m.tables} >= {"queries", "clicks", "transitions", "sessions", "keywords", "log"}


@pytest.mark.parametrize("name", ["korolova", "zealous", "safelog", "sessions", "optimal", "geometric", "gaussian"])
def test_a_greedy_user_reaches_what_is_stated(name: str) -> None:
    """Else a stated sensitivity below what can be reached would not be seen."""
    for mechanism in PLANS[name].used():
        if not mechanism.proven().private or getattr(mechanism, "weights", "") == "sqrt":
            continue
        reached: dict[str, float] = {}
        for r in ran.as_used(mechanism):
            if r.check.startswith("one user's share of "):
                step = r.check.removeprefix("one user's share of ").rpartition(": ")[0]
                reached[step] = max(reached.get(step, 0.0), r.observed)
        assert all(share == 1.0 for share in reached.values()), reached


# ------------------------------------------------------------------ wrong constants


def test_code_that_cannot_be_looked_at_is_not_taken_for_sound(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mechanism that refuses its own constants, or breaks, refutes itself; the others are looked at all the same."""
    from hubbub.audit import audit
    from hubbub.errors import OurBug

    def refuse(*_: object, **__: object) -> None:
        raise OurBug("the calibrated constants do not meet δ")

    monkeypatch.setattr("hubbub.mechanisms.baselines.sips.PooledBaseline.calibrated", refuse)
    rows = audit("sips", quick=True)
    assert [r.refuted for r in rows] == [True] and "do not meet δ" in rows[0].check


def test_a_refutation_without_bounds_is_printed(monkeypatch: pytest.MonkeyPatch, hubbub: Hubbub) -> None:
    """A ratio that is infinite is the worst there is: it must not end the command before it is told."""
    row = AuditRow("zealous", "published", "a ratio", "proven", 2.0, math.inf, 0.0, "refuted")
    monkeypatch.setattr("hubbub.audit.suite._of_one", lambda *_: iter([row]))
    found = document(hubbub("audit", "--mechanism", "zealous", "--json", code=1))["rows"]
    assert isinstance(found, list) and found[0]["observed"] is None and found[0]["verdict"] == "refuted"


def test_there_are_many_kinds_of_wrong_constants() -> None:
    assert len({name for name, _, _ in CERTIFICATE_MUTANTS}) == len(CERTIFICATE_MUTANTS) >= 30


@pytest.mark.parametrize("delta", ["1e-6", "1e-30", "1e-59", "1e-70"])
@pytest.mark.parametrize("d", [1, 3, 20])
def test_coins_for_a_tiny_delta_spend_no_more_than_was_asked_for(delta: str, d: int) -> None:
    mechanism = build("geometric", {"epsilon": 1, "delta": delta, "d": d})
    (step,), loss = mechanism.steps(), mechanism.loss()
    exact = 1 - (1 - step.delta0) ** d  # type: ignore[union-attr]
    assert exact <= Fraction(loss.delta) <= Fraction(delta)
    assert exact <= Fraction(loss.atoms[0].delta), "what the ledger composes is rounded up too"  # type: ignore[union-attr]
