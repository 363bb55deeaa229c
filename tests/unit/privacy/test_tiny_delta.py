"""δ far below what a float or sixty digits of 1 - p can hold: never nothing, never a pure guarantee."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import pytest

from hubbub.mechanisms import build
from hubbub.privacy.account import SMALLEST, round_up, threshold_delta
from hubbub.privacy.guarantee import Definition


@pytest.mark.parametrize("threshold", [30, 60, 71, 150, 340])
@pytest.mark.parametrize(("l0", "l1", "linf"), [(1, 1, 1), (20, 20, 1), (4, 4, 3)])
def test_a_tiny_delta_keeps_its_digits(threshold: int, l0: int, l1: int, linf: int) -> None:
    found = threshold_delta(Fraction(1, 2), threshold, l0, l1, linf)
    with mpmath.workdps(700):
        a = mpmath.exp(-2)
        chance = [a ** (threshold - m) / (1 + a) for m in range(linf + 1)]
        spreads = [(1,) * l0] if linf == 1 else [(1, 1, 1, 1), (2, 1, 1), (2, 2), (3, 1)]
        exact = max(1 - mpmath.fprod(1 - chance[m] for m in spread) for spread in spreads)
        assert 0 <= mpmath.mpf(str(found)) / exact - 1 < mpmath.mpf(10) ** -15


@pytest.mark.parametrize(
    "settings", [{"epsilon": 2, "delta": "1e-300"}, {"epsilon": 2, "delta": "1e-390"}, {"b": "1/50", "K": 10**9}]
)
def test_a_threshold_is_never_a_pure_guarantee(settings: dict[str, object]) -> None:
    mechanism = build("korolova", {"d": 10} | settings)
    loss, proven = mechanism.loss(), mechanism.proven()
    assert proven.definition is Definition.APPROXIMATE
    assert proven.delta == loss.delta == loss.tv > 0


def test_rounding_up_ends_at_the_smallest_float() -> None:
    from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal

    tiny = Context(Emin=MIN_EMIN, Emax=MAX_EMAX).create_decimal("1e-99999999999")
    assert round_up(tiny) == round_up(Fraction(1, 10**400)) == SMALLEST == math.ulp(0.0)
    assert round_up(Decimal(0)) == 0
