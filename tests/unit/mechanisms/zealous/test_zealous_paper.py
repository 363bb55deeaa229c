"""The numbers of Götz et al. 2009 from their own formulas: what matches, what is wrong as printed, what replaces it."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_EVEN, ROUND_UP, Decimal
from fractions import Fraction

import numpy as np
import pytest

from hubbub.look.estimate.zealous import (
    corollary1,
    corollary1_printed,
    inaccuracy,
    survives,
    theorem3_printed,
)
from hubbub.mechanisms.zealous import formulas

TABLE_1 = {
    1: (["6.6e-16", "1.3e-37", "2.5e-59", "4.7e-81"], ["7.2e-20", "1.4e-41", "2.7e-63", "5.2e-85"]),
    5: (["1", "3.2e-3", "1.5e-7", "6.5e-12"], ["3.1e-4", "1.4e-8", "6.4e-13", "2.9e-17"]),
}


def digits(x: Decimal, n: int, rounding: str) -> Decimal:
    """x with n significant digits."""
    return x.quantize(Decimal(1).scaleb(x.adjusted() - n + 1), rounding=rounding)


def test_table_1_is_theorem_2_with_tau_1_and_the_corrected_theorem_1() -> None:
    nearest = 0
    for scale, printed in TABLE_1.items():
        lam = Fraction(scale)
        for tau_prime, delta, other in zip((50, 100, 150, 200), *printed, strict=True):
            for computed, expected in (
                (formulas.theorem2_delta(500_000, 5, lam, 1, Fraction(tau_prime)), Decimal(delta)),
                (formulas.corrected_delta(5, lam, Fraction(tau_prime)), Decimal(other)),
            ):
                nearest += digits(computed, 2, ROUND_HALF_EVEN) == expected
                assert digits(digits(computed, 3, ROUND_HALF_EVEN), 2, ROUND_UP) == expected
    assert nearest == 12, "four are printed one unit high"


def test_equation_3_as_printed_is_not_what_table_1_shows() -> None:
    printed = formulas.theorem1_delta(5, Fraction(10), Fraction(50))
    assert math.isclose(float(printed), 2.05e-39, rel_tol=5e-3)
    assert math.isclose(float(formulas.corrected_delta(5, Fraction(1), Fraction(50))), 7.2e-20, rel_tol=1e-2)


def test_table_2_has_delta_0_001() -> None:
    lam, delta = Fraction(4), Fraction(1, 1000)
    values = [formulas.theorem2_tau_prime(500_000, 2, lam, tau, delta) for tau in (1, 3, 5, 7, 9)]
    assert [f"{v:.4f}" for v in values] == ["81.1205", "78.7260", "78.6827", "79.3368", "80.3316"]
    assert f"{formulas.theorem2_tau_prime(500_000, 2, lam, 1, Fraction(1, 100)):.4f}" == "71.9101", "not the caption's"
    assert f"{formulas.theorem2_tau_prime(500_000, 2, lam, 4, delta):.4f}" == "78.5753"
    assert formulas.best_tau(500_000, 2, lam, delta) == 4


def test_proposition_4_is_not_true_in_general() -> None:
    """τ = ⌈2m/ε⌉ is not the best integer in 350 of 1000 cells; the loss is at most 0.30."""
    users, delta, worse, loss = 500_000, Fraction(1, 1000), 0, 0.0
    for m in range(1, 11):
        for tenth in range(1, 101):
            lam = Fraction(2 * m * 10, tenth)
            best = formulas.best_tau(users, m, lam, delta)
            near = range(max(1, math.floor(lam) - 2), math.ceil(lam) + 3)
            at = {tau: formulas.theorem2_tau_prime(users, m, lam, tau, delta) for tau in near}
            assert at[best] == min(at.values())
            worse += at[math.ceil(lam)] > at[best] + 1e-9
            loss = max(loss, at[math.ceil(lam)] - at[best])
    assert worse == 350
    assert 0.295 < loss < 0.30


@pytest.mark.parametrize("n", [1, 2, 5])
def test_the_best_tau_switches_where_the_logarithms_cross(n: int) -> None:
    switch = Fraction(1 / math.log(1 + 1 / n))  # 1.4427, 2.4663, …
    assert formulas.best_tau(500_000, 1, switch * Fraction(999, 1000), Fraction(1, 1000)) == n
    assert formulas.best_tau(500_000, 1, switch * Fraction(1001, 1000), Fraction(1, 1000)) == n + 1


@pytest.mark.parametrize(
    ("users", "lam", "delta"), [(1, 8, "0.9"), (3, 20, "0.5"), (30, 20, "0.5"), (2, 9, "0.01"), (40, 30, "0.9")]
)
def test_the_best_tau_where_the_first_branch_matters(users: int, lam: int, delta: str) -> None:
    at = {t: formulas.theorem2_tau_prime(users, 1, Fraction(lam), t, Fraction(delta)) for t in range(1, 200)}
    best = formulas.best_tau(users, 1, Fraction(lam), Fraction(delta))
    assert at[best] == min(at.values())
    if users == 1:
        assert best == 1, "the first branch is the maximum"


def test_theorem_1_is_false_as_printed() -> None:
    """m = 1, ε' = 1, δ' = 1e-6: a new item appears with probability 7.07e-4 (λ = 2) and 0.135 (λ = 10)."""
    tau_prime = formulas.theorem1_tau_prime(1, Fraction(1), Fraction(1, 10**6))
    assert f"{tau_prime:.2f}" == "14.12"
    assert math.isclose(float(formulas.theorem1_delta(1, Fraction(1), Fraction(tau_prime))), 1e-6, rel_tol=1e-9)
    for lam, shown in ((2, 7.07e-4), (10, 0.135)):
        assert math.isclose(survives(1, 1, tau_prime, lam), shown, rel_tol=5e-3)
        corrected = formulas.corrected_tau_prime(1, Fraction(lam), Fraction(1, 10**6))
        assert math.isclose(survives(1, 1, corrected, lam), 1e-6, rel_tol=1e-9)


def test_theorem_3_is_wrong_as_printed() -> None:
    """With τ′ = τ* + ξ an item of that frequency survives with probability 1/2, whatever ξ and λ are."""
    for xi, lam in ((1.0, 1.0), (10.0, 2.0), (30.0, 5.0)):
        tau_star = 100.0
        assert survives(tau_star + xi, tau_star - xi, tau_star + xi, lam) == 0.5
        miss, accurate = theorem3_printed(xi, lam)
        assert accurate > 0.5 and not math.isclose(1 - miss, accurate), "the printed numbers disagree with each other"
        assert math.isclose(accurate, survives(tau_star + xi, tau_star - xi, tau_star, lam)), "τ′ = τ* would be needed"
        assert math.isclose(1 - miss, survives(tau_star + xi, tau_star - xi, tau_star - xi, lam))
        frequency = 50 + lam * math.log(1 / (2 * (1 - 0.95)))  # Definition 6, corrected
        assert math.isclose(survives(frequency, 1, 50, lam), 0.95)
    assert survives(9, 10, 50, 1) == 0, "perfect for the very infrequent"


def test_inaccuracy_adds_both_kinds_of_mistakes() -> None:
    f, p = np.array([1.0, 5.0, 8.0, 12.0, 20.0]), np.array([0.1, 0.2, 0.5, 0.7, 0.9])
    assert math.isclose(inaccuracy(f, p, 6, 10), 0.1 + 0.2 + 0.3 + 0.1)
    assert inaccuracy(f, np.zeros(5), 6, 10) == 2, "publishing nothing misses the two very frequent"


def test_the_impossibility_bound_of_corollary_1() -> None:
    domain = 900_000**6  # query pairs of three keywords each
    assert f"{domain:.1e}" == "5.3e+35"
    needed = corollary1_printed(10**6, 10, 50, Fraction(1), 0.01)
    assert math.isclose(float(needed), 1.04e29, rel_tol=5e-3) and domain > needed
    corrected = corollary1(10**6, 10, 50, 30, Fraction(1), 0.01)
    assert corrected > needed and math.isclose(float(corrected), float(needed), rel_tol=1e-9)
    for size, worse in ((needed * 2, True), (Decimal(10**6), False)):
        wrong = (float(size) - 10**7 / 30) * 0.01 * math.exp(-50)  # Lemma 1 at ε = 1
        assert (wrong > 10**7 / 50) is worse


def test_epsilon_5_gives_a_threshold_near_ten() -> None:
    """The text says τ′ ≈ 10 for ε = 5, m = 1; it computes to 8.73."""
    best = formulas.best_tau(500_000, 1, Fraction(2, 5), Fraction(1, 1000))
    assert best == 1
    assert f"{formulas.theorem2_tau_prime(500_000, 1, Fraction(2, 5), best, Fraction(1, 1000)):.2f}" == "8.73"


def test_the_first_branch_is_the_silence_of_an_item_at_the_filter() -> None:
    for lam in (Fraction(1, 2), Fraction(3), Fraction(40)):
        gap = formulas.first_branch(lam)
        assert math.isclose(0.5 * math.exp(-gap / lam), -math.expm1(-1 / lam), rel_tol=1e-9)
