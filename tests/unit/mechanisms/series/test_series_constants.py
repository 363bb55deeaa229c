"""The constants of a series, against 50 digits and by another road than the code's."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath as mp
import pytest

from hubbub.errors import ParameterError
from hubbub.mechanisms.series import Series
from hubbub.mechanisms.series.constants import FOREVER, WIDEST, SeriesConstants, selection_constants
from hubbub.mechanisms.series.counts import CountConstants, inverse, root

YEAR: dict[str, Any] = {"delta": "1e-6", "periods": 12, "first": "2026-01-01"}


def constants(epsilon: int, weights: tuple[int, ...] = (1,) * 12, longest: int = 12, greed: int = 1) -> SeriesConstants:
    share = Fraction(1)
    return selection_constants(Fraction(epsilon), Fraction(1, 10**6), weights, longest, Fraction(greed), 40, share)


ORACLES = {  # with 50 digits, V to within 2
    2: (332742491322, 17390774, 63040443, 18198210),
    1: (1198085090388, 32705487, 116092168, 33512923),
    4: (94885546893, 9439471, 35496322, 10246907),
}


@pytest.mark.parametrize("epsilon", ORACLES)
def test_the_oracles(epsilon: int) -> None:
    plan = constants(epsilon)
    variance, first, last, recent = ORACLES[epsilon]
    assert abs(plan.variance - variance) <= 2
    assert abs(plan.threshold(0, 20) - first) <= 2
    assert abs(plan.threshold(11, 240) - last) <= 2
    assert abs(plan.threshold(11, 20) - recent) <= 2
    assert sum(t + 1 for t in range(12) for _ in plan.windows(t)) == 469
    assert plan.chance == pytest.approx(1.86567e-11, rel=1e-5)


def tail(x: mp.mpf) -> mp.mpf:
    return mp.erfc(x / mp.sqrt(2)) / 2


@pytest.mark.parametrize(("epsilon", "greed"), [(1, 1), (2, 2), (4, 1)])
def test_the_theorem_with_fifty_digits(epsilon: int, greed: int) -> None:
    plan = constants(epsilon, longest=18, greed=greed)
    with mp.workdps(50):
        mu = mp.sqrt(mp.mpf(plan.mass * 4**plan.bits) / (plan.variance - mp.mpf(4) / 2))
        hockey = tail(epsilon / mu - mu / 2) - mp.e**epsilon * tail(epsilon / mu + mu / 2)
        novel = mp.mpf(0)
        for t in range(18):
            spent = mp.mpf(plan.spent(t).numerator) / plan.spent(t).denominator
            for window in plan.windows(t):
                mass = plan.window_mass(t, window, 5)
                mean = mp.mpf(2) ** plan.bits * mp.sqrt(spent * plan.mass * mass)
                gap = plan.threshold(t, mass) - mean - mp.mpf(1) / 2
                novel += 40 * (t + 1) * tail(gap / mp.sqrt(mp.mpf(mass) * plan.variance))
        assert mp.mpf("0.999") * mp.mpf("1e-6") < hockey + novel <= mp.mpf("1e-6")


def test_what_a_user_can_have_spent_is_an_upper_bound() -> None:
    even = constants(2)
    assert [even.spent(t) for t in (0, 5, 11)] == [pytest.approx(1 / 12), pytest.approx(0.5), 1]
    fast = constants(2, greed=2, longest=14)
    left = Fraction(1)
    for t in range(12):
        for j, m in enumerate(fast.multiples(t)):
            left *= 1 - min(Fraction(1), 2 * Fraction(m, fast.rest(t, j)))
        assert 0 <= fast.spent(t) - (1 - left) < Fraction(1, 2**50)
    assert fast.spent(12) == fast.spent(13) == 1  # after the planned end


def test_a_long_plan_costs_no_more_for_each_period_than_a_short_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums over runs are kept, not made again for every test: 400 days take as long as they are, not their cube."""
    asked = {100: 0, 200: 0}
    multiples = SeriesConstants.multiples

    def counted(plan: SeriesConstants, t: int) -> tuple[int, ...]:
        asked[plan.periods] += 1
        return multiples(plan, t)

    monkeypatch.setattr(SeriesConstants, "multiples", counted)
    for periods in asked:
        Series(epsilon=2, delta="1e-6", periods=periods, first="2026-01-01", length="day")
    assert asked[200] < 2.2 * asked[100]


def test_windows_never_reach_before_the_start() -> None:
    plan = constants(2)
    assert plan.windows(0) == (FOREVER,)
    assert plan.windows(3) == (1, 2, 3, FOREVER)
    assert plan.window_mass(3, 2, 5) == 40 and plan.window_mass(3, FOREVER, 1) == 62


def test_more_possible_periods_make_every_threshold_dearer_and_nothing_else() -> None:
    short, long = constants(2), constants(2, longest=24)
    assert long.variance == short.variance and long.budget == short.budget
    assert all(long.threshold(t, 20) > short.threshold(t, 20) for t in range(12))


def test_noise_that_cannot_be_drawn_takes_a_coarser_grid_or_is_refused() -> None:
    heavy = constants(1, weights=(1,) * 11 + (40,))
    assert heavy.bits < 14 and 240 * heavy.variance < WIDEST
    with pytest.raises(ParameterError, match="more noise than the sampler serves"):
        Series(epsilon="1e-6", **YEAR)


@pytest.mark.parametrize("counts", ["0", "0.3", "0.9"])
@pytest.mark.parametrize("longest", [12, 24])
def test_the_certificate_is_what_was_asked_for(counts: str, longest: int) -> None:
    loss = Series(epsilon=2, counts=counts, longest=longest, **YEAR).loss()
    assert loss.epsilon == 2 and 0.99e-6 < loss.delta <= 1e-6


def test_the_square_root_and_its_inverse() -> None:
    c, d = root(12), inverse(12)
    assert c[:3] == (1024, 512, 384)
    for n in range(12):  # what the measurements give back is the running sum, exactly
        assert sum(d[i] * c[n - i] for i in range(n + 1)) == 1


def test_a_pair_pays_for_every_measurement_it_may_ever_stand_in() -> None:
    """After the longest extension, not after the planned end: it would be overspent by 1.88 there."""
    counts = CountConstants(Fraction(1, 100), Fraction(1, 100), 24, 18)
    c = root(24)
    for t in (0, 11, 23):
        assert counts.price(t) == sum(x * x for x in c[: 24 - t])
    assert counts.price(11) / c[0] ** 2 == pytest.approx(1.88, abs=0.01)
    assert counts.budget == 12 * counts.price(0)


@pytest.mark.parametrize(
    "wrong",
    [{"periods": 0}, {"longest": 3}, {"schedule": "1,2"}, {"first": "2026-01-02"}, {"length": "decade"}, {"counts": 1}],
)
def test_what_cannot_be_planned_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        Series(**{"epsilon": 2, **YEAR, **wrong})
