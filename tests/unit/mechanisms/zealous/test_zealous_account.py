"""A filter before the noise: what it does to δ, to the law, and to the card of a step."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest

from hubbub.errors import OurBug
from hubbub.privacy.account import Domain, Step, read_step, threshold_delta

STEP = Step("queries", Fraction(2), 9, 3, 3, 1, Domain.OPEN, "proof", floor=4)


def test_a_new_key_enters_with_the_filters_count() -> None:
    a = math.exp(-1 / 2)
    assert math.isclose(float(STEP.delta), 1 - (1 - a ** (9 - 4) / (1 + a)) ** 3, rel_tol=1e-12)
    assert math.isclose(STEP.chance(4), a**5 / (1 + a), rel_tol=1e-12)
    assert STEP.chance(3) == 0 and STEP.chance(9) > 0.5
    assert replace(STEP, floor=1).delta == threshold_delta(Fraction(2), 9, 3, 3, 1)


def test_a_filtered_step_survives_the_card_and_an_old_one_reads_as_before() -> None:
    assert read_step(STEP.record()) == STEP
    assert STEP.record()["keeps"] == "exact count >= 4, then noisy count >= threshold"
    old = replace(STEP, floor=1).record()
    assert old["law"] is None and old["keeps"] == "noisy count >= threshold"
    assert read_step(old).floor == 1


@pytest.mark.parametrize("law", [{}, {"floor": 2, "other": 1}, {"ceiling": 2}, "floor", 4])
def test_an_unknown_law_is_refused(law: object) -> None:
    with pytest.raises(ValueError, match="law"):
        read_step(STEP.record() | {"law": law})


@pytest.mark.parametrize(
    "change",
    [{"floor": 0}, {"floor": -3}, {"linf": 3, "l1": 3}, {"domain": Domain.CLOSED}],
)
def test_filters_without_a_proof_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(OurBug):
        replace(STEP, **change)  # type: ignore[arg-type]
