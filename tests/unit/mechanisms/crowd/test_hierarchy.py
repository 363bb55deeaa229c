"""Group counts that agree with the total: by hand, in any order, and with the deviation that simulation finds."""

import numpy as np
import pytest

from hubbub.errors import ParameterError
from hubbub.mechanisms import Crowd
from hubbub.mechanisms.base import Released
from hubbub.mechanisms.crowd.hierarchy import add_up
from hubbub.public.groups import group_by


def table(values: list[int], sd: list[float]) -> Released:
    return Released(np.arange(len(values)), np.array(values), np.array(sd))


def test_the_excess_is_taken_off_by_the_variance_of_the_noise() -> None:
    cells, parent = table([60, 50, 7, 30], [4.0, 2.0, 1.0, 3.0]), table([90, 100], [2.0, 1.0])
    found = add_up(cells, parent, np.array([0, 0, 1, 0]))
    excess, whole = 140 - 90, 16 + 4 + 9
    right = [60 - excess * 16 / whole, 50 - excess * 4 / whole, 7, 30 - excess * 9 / whole]
    assert found.values is not None and found.values.tolist() == [int(np.floor(x)) for x in right]
    assert found.values[[0, 1, 3]].sum() <= 90
    w = 16 / whole
    assert np.asarray(found.noise_sd)[0] == pytest.approx((16 * (1 - w) + w**2 * 4) ** 0.5, abs=1e-3)
    assert np.asarray(found.noise_sd)[2] == 1.0, "what adds up stays as it is"


def test_no_cell_falls_below_one_and_the_others_give_what_it_cannot() -> None:
    found = add_up(table([2, 50, 50], [9.0, 3.0, 3.0]), table([60], [1.0]), np.zeros(3, np.int64))
    assert found.values is not None and found.values.tolist() == [1, 29, 29]


def test_the_order_of_ids_does_not_show() -> None:
    draw = np.random.default_rng(5)
    values, sds = draw.integers(1, 200, 60), np.rint(draw.uniform(1, 20, 60) * 1000) / 1000
    places, parent = draw.integers(0, 8, 60), table([300] * 8, [2.5] * 8)
    found = add_up(Released(np.arange(60), values, sds), parent, places)
    for _ in range(5):
        other = draw.permutation(60)
        again = add_up(Released(np.arange(60), values[other], sds[other]), parent, places[other])
        assert (again.values == found.values[other]).all()  # type: ignore[index]
        assert (np.asarray(again.noise_sd) == np.asarray(found.noise_sd)[other]).all()


def test_the_stated_deviation_is_that_of_the_fitted_counts() -> None:
    draw, sds = np.random.default_rng(2), np.array([12.0, 6.0, 6.0])
    noisy = np.rint(np.array([500, 300, 200]) + draw.normal(0, sds, (4000, 3))).astype(int)
    totals = np.rint(960 + draw.normal(0, 3.0, 4000)).astype(int)  # so that the rule is always at work
    fitted = [
        add_up(table(list(cells), list(sds)), table([total], [3.0]), np.zeros(3, np.int64))
        for cells, total in zip(noisy, totals, strict=True)
    ]
    seen = np.array([f.values for f in fitted]).std(axis=0)
    assert seen == pytest.approx(np.asarray(fitted[0].noise_sd), rel=0.06)


def test_it_is_stated_for_groups_alone() -> None:
    made = Crowd(epsilon=1, delta="1e-6", tables=["queries"], one_group="yes", by=[group_by("land", "L", ["DE", "FR"])])
    assert any("weighted least squares" in words for words in made.post_processing())
    with pytest.raises(ParameterError, match="Nothing that is released depends"):
        Crowd(epsilon=1, delta="1e-6", tables=["queries"], one_group="yes")
