"""Tables by group: cells by hand, who may change what, the law of one cell, and the contract of a mechanism."""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from scipy.special import ndtr

from hubbub.audit.checks.groups import TABLE, crowd_of_mondays, everywhere, mechanism, ran
from hubbub.audit.protocols import Event, Subject
from hubbub.audit.tiny import MODE, tiny_log
from hubbub.errors import ParameterError
from hubbub.mechanisms import Crowd, build
from hubbub.mechanisms.crowd.calibrate import closed
from hubbub.mechanisms.rounds import Selection
from hubbub.noise import SeededNoise
from hubbub.privacy.compose import gaussian_delta
from hubbub.public.groups import DAY, group_by
from hubbub.release.rows import named_rows
from hubbub.testing import check_mechanism

SMALL = {"epsilon": 1, "delta": "0.05", "D": 2, "D_g": 3, "rounds": 2, "language": "none"}
WEEKDAY = group_by("weekday", values=["monday", "tuesday"])


@pytest.mark.slow
@pytest.mark.parametrize("tables", [["queries"], ["queries", "clicks"], ["queries", "clicks_by_weekday"]], ids=" ".join)
def test_the_contract(tables: Sequence[str]) -> None:
    check_mechanism(build("crowd", SMALL, tables=tables, by=[WEEKDAY]))


def test_one_user_more_changes_nobody_elses_cells() -> None:
    subject = Subject.of(mechanism())
    alone, added = (ran(subject, log).held for log in (crowd_of_mondays(), [*crowd_of_mondays(), *everywhere()]))
    assert {cell for cell in added if cell[0] != "greedy"} == alone


def test_every_table_by_group_is_a_stage_and_is_paid_for() -> None:
    plain, by = Crowd(epsilon=1, delta="1e-6"), Crowd(epsilon=1, delta="1e-6", by=[group_by("hour"), WEEKDAY])
    assert by.tables == (*plain.tables, *(f"{t}_by_{g}" for g in ("hour", "weekday") for t in ("queries", "clicks")))
    assert by.loss().delta <= 1e-6 and by.loss().epsilon == plain.loss().epsilon
    for table in by.tables[5:]:
        assert by.selections[table].thresholds == (), "closed: no δ"
        assert {f"{table} recount", f"{table} kept total", table} <= {step.name for step in by.steps()}
    assert by.selections["queries"].thresholds[-1] > plain.selections["queries"].thresholds[-1], "queries pay for it"
    assert by.nobodys()["queries_by_hour"] == 1
    assert "96 to 100 % of the smallest tenth" in by.intervals()["queries_by_hour"]


def test_what_cannot_be_divided_is_refused() -> None:
    with pytest.raises(ParameterError, match="None of these tables"):
        Crowd(epsilon=1, delta="1e-6", tables=["transitions"], by=[WEEKDAY])
    with pytest.raises(ParameterError, match="no tables by group"):
        build("sessions", {"epsilon": 1, "delta": "1e-6"}, by=[WEEKDAY])


def test_no_cell_has_more_users_than_its_key() -> None:
    days: list[Event] = [
        (f"u{i}", DAY * (4 + i % 3) + 60 * q, f"q{q}", None) for i in range(300) for q in range(30) if i % (q + 1) < 9
    ]
    made = Crowd(epsilon=8, delta="1e-3", F="1e-6", language="none", tables=["queries"], by=[group_by("weekday")])
    with tiny_log(days) as log:
        measured = made.measure(log, MODE)
        found = made.draw(measured, SeededNoise(3))
        totals = {r["query"]: r["users"] for r in named_rows(log, made, "queries", measured, found).to_pylist()}
        cells = named_rows(log, made, TABLE, measured, found).to_pylist()
    assert len(cells) > 30 and {r["weekday"] for r in cells} == {"monday", "tuesday", "wednesday"}
    assert all(r["users"] <= totals[r["query"]] for r in cells)


# ------------------------------------------------------------------ the law of one cell, exactly

PLAN = Selection(3, (1, 2), (640, 1280), 100, (), ())
Floats = npt.NDArray[np.float64]


def discrete(variance: int, reach: int) -> Floats:
    mass = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2 * variance))
    law: Floats = mass / mass.sum()
    return law


def law_of(plan: Selection, weight: int, reach: int = 500) -> Floats:
    """By hand: the chance of leaving in round 1 with each value, of leaving in round 2 with each, and of neither."""
    first, second = (discrete(v, reach) for v in plan.variances)
    one = np.arange(-reach, reach + 1) + weight
    left, stays = one >= plan.thresholds[0], (one < plan.thresholds[0]) & (one >= plan.drops[0])
    two = np.convolve(np.where(stays, first, 0), second)
    values = np.arange(-2 * reach, 2 * reach + 1) + 3 * weight
    out = np.zeros((2, 6 * reach))
    out[0, one[left] + 2 * reach] = first[left]
    out[1, values[values >= plan.thresholds[1]] + 2 * reach] = two[values >= plan.thresholds[1]]
    return np.append(out.ravel(), 1 - out.sum())


@pytest.mark.parametrize("size", [1, 12, 1000])
@pytest.mark.parametrize("false", ["0.5", "1", "100"])
def test_cells_of_nobody_that_pass_are_as_few_as_stated(size: int, false: str) -> None:
    plan = closed(PLAN, size, Fraction(false))
    chance = 1 - law_of(plan, 0)[-1]
    bound = sum(ndtr(-(t - 0.5) / math.sqrt(v)) for t, v in zip(plan.thresholds, plan.gathered, strict=True))
    assert chance <= bound * (1 + 1e-9)
    assert size * chance <= float(Fraction(false)) * (1 + 0.1), "½ of a step is much on a grid as coarse as this"


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0])
def test_a_cell_of_one_user_tells_no_more_than_the_theorem_allows(epsilon: float) -> None:
    """Whatever the levels, which follow from the size of the domain and not from who is in it."""
    mu = math.sqrt(sum(m**2 * PLAN.unit**2 / (v - 4) for m, v in zip(PLAN.multiples, PLAN.variances, strict=True)))
    for size in (2, 50, 5000):
        plan = closed(PLAN, size, Fraction(1))
        nobody, hers = law_of(plan, 0), law_of(plan, PLAN.unit)
        for one, two in ((hers, nobody), (nobody, hers)):
            assert np.maximum(one - math.exp(epsilon) * two, 0).sum() <= gaussian_delta(epsilon, mu) * (1 + 1e-9)
