"""Envelopes: the numbers of the proof in two ways, exact charges, overflow by one unit, nothing above a cap."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import erfinv, mp, mpf, sqrt
from scipy.optimize import brentq
from scipy.stats import binom

from hubbub.privacy.account import DiscreteLaplace, Gaussian, Loss, Pure
from hubbub.privacy.compose import Cap, compose, cost_of, gaussian_delta
from hubbub.privacy.envelope import Charge, Envelope, by_sums, even, planned, price, split

CROWD = Loss(1.0, 1e-6, (Gaussian(Fraction("0.0551572795")),), tv=4.2462046e-7)
LAPLACE = Loss(1.0, 0.0, (DiscreteLaplace(Fraction(20), 20),), tv=0.0)
PURE = Loss(0.1, 0.0, (Pure(Fraction(1, 10)),), tv=0.0)
ONE_UNIT = Fraction(1, 10**30)


def fill(envelope: Envelope, loss: Loss) -> int:
    """How many such releases an envelope holds."""
    for n in range(10_000):
        charge = envelope.charge(loss)
        if charge is None:
            return n
        envelope = envelope.less(charge)
    raise AssertionError("it never fills")


# ------------------------------------------------------------------ numbers that were computed elsewhere


@pytest.mark.parametrize(
    ("epsilon", "expected"),
    [
        (1, (0.0560289638253, 0.0537729003476, 0.0524808273286)),
        (2, (0.201004039445, 0.193616721047, 0.189364397962)),
        (4, (0.702007296832, 0.678970740869, 0.665635592777)),
    ],
)
def test_what_is_left_to_the_gaussian_clock(epsilon: float, expected: tuple[float, ...]) -> None:
    for share, most in zip(("0", "0.35", "0.5"), expected, strict=True):
        found = even(Cap(epsilon, 1e-6), Fraction(share))
        assert most * (1 - 1e-8) <= found.gaussian <= most * (1 + 1e-11)
        assert found.threshold == Fraction("1e-6") * Fraction(share)
        assert found.epsilon(1e-6) <= epsilon


@pytest.mark.parametrize(
    ("count", "epsilon", "expected"),
    [
        (1, "0.05", 0.00392663973084),
        (1, "0.1", 0.0157023485414),
        (1, "1", 1.51791119074),
        (2, "0.05", 0.00618863760968),
        (20, "0.05", 0.0512392764352),
        (60, "0.05", 0.151232547398),
        (20, "1", 19.7061628218),
    ],
)
def test_prices(count: int, epsilon: str, expected: float) -> None:
    assert expected * (1 - 1e-11) <= price(count, Fraction(epsilon)) <= expected * (1 + 1e-8)


@pytest.mark.parametrize("count", [1, 2, 3, 7, 40])
@pytest.mark.parametrize("epsilon", ["0.001", "0.3", "2"])
def test_a_price_is_never_below_forty_digits_at_any_corner(count: int, epsilon: str) -> None:
    """Every corner, not the upper half only, with quantiles by the inverse error function."""
    with mp.workdps(40):
        p = mp.exp(mpf(epsilon)) / (1 + mp.exp(mpf(epsilon)))

        def tail(j: int, q: object) -> object:
            return sum(mp.binomial(count, i) * q**i * (1 - q) ** (count - i) for i in range(j, count + 1))  # type: ignore[operator]

        def upper(x: object) -> object:
            return sqrt(2) * erfinv(1 - 2 * x)  # type: ignore[operator]

        exact = max(upper(tail(j, 1 - p)) - upper(tail(j, p)) for j in range(1, count + 1)) ** 2  # type: ignore[operator]
        assert exact <= price(count, Fraction(epsilon)) <= exact * (1 + mpf("1e-7"))


def test_no_price_is_given_where_tails_leave_the_floats() -> None:
    assert math.isinf(price(500, Fraction(5)))
    charged = Envelope(Fraction(10**6), (), Fraction(1)).charge(
        Loss(2500.0, 0.0, (DiscreteLaplace(Fraction(1, 5), 500),), tv=0.0)
    )
    assert charged is None


@pytest.mark.parametrize(
    ("slot", "most"), [("0.1", 0.0458128622601), ("0.3", 0.0284597088040), ("0.5", 0.0150539455826)]
)
def test_one_slot_beside_the_gaussian_clock(slot: str, most: float) -> None:
    """The hockey stick of one slot is P·G(ε − e) + (1 − P)·G(ε + e)."""
    e, tau = Fraction(slot), Fraction("5e-7")
    p = 1 / (1 + math.exp(-e))

    def delta(s: float) -> float:
        mu = math.sqrt(s)
        return p * gaussian_delta(1 - float(e), mu) + (1 - p) * gaussian_delta(1 + float(e), mu)

    assert brentq(lambda s: delta(s) - 5e-7, 1e-4, 1) == pytest.approx(most, rel=1e-9)
    assert Envelope(Fraction(most * 0.999), (e,), tau).epsilon(1e-6) <= 1
    assert Envelope(Fraction(most * 1.001), (e,), tau).epsilon(1e-6) > 1


def test_twelve_crowd_releases_lose_nothing() -> None:
    cap = Cap(3.527, 1.2e-5)
    envelope = split(cap, CROWD)
    assert envelope is not None
    assert float(envelope.gaussian) == pytest.approx(0.6631819, rel=1e-6)
    assert float(envelope.threshold) == pytest.approx(5.105411e-6, rel=1e-6)
    assert fill(envelope, CROWD) == 12
    assert planned([CROWD] * 12).epsilon(1.2e-5) == compose([CROWD] * 12, 1.2e-5) == pytest.approx(3.5228, abs=1e-4)


def test_one_release_fits_the_cap_of_its_own_proof() -> None:
    """Its atoms alone would not: .966 of it."""
    assert split(Cap(1, 1e-6), CROWD) == Envelope(slots=(Fraction(1),), threshold=Fraction("1e-6"))
    assert split(Cap(0.9, 1e-6), CROWD) is None


@pytest.mark.parametrize(
    ("releases", "delta", "by_slots", "by_price"),
    [
        ([CROWD] * 6 + [LAPLACE] * 6, 1e-5, 3.4034, 3.4369),
        ([CROWD] * 6 + [PURE] * 6, 1e-5, 2.5897, 2.7304),
        ([Loss(3.0, 0.0, (DiscreteLaplace(Fraction(20), 60),), tv=0.0)], 1e-6, 1.6610, 1.7122),
    ],
)
def test_pure_steps_in_slots_and_on_the_clock(
    releases: list[Loss], delta: float, by_slots: float, by_price: float
) -> None:
    declared = planned(releases)
    assert declared.epsilon(delta) == pytest.approx(by_slots, abs=1e-4)
    clock = Envelope(declared.gaussian + sum(_prices(releases), Fraction(0)), (), declared.threshold)
    assert clock.epsilon(delta) == pytest.approx(by_price, abs=1e-4)
    for envelope in (declared, clock):
        left = envelope
        for loss in releases:
            charge = left.charge(loss)
            assert charge is not None
            left = left.less(charge)
        assert left.gaussian == left.threshold == sum(left.slots) == 0


def _prices(releases: list[Loss]) -> list[Fraction]:
    return [Fraction(price(k, e)) for loss in releases for e, k in cost_of(loss).responses.items()]


# ------------------------------------------------------------------ charges


def test_overflow_by_one_unit_on_each_clock() -> None:
    loss = Loss(5.0, 0.5, (Gaussian(Fraction(1, 7)), Pure(Fraction(1, 3))), tv=0.125)
    exactly = Envelope(Fraction(1, 7), (Fraction(1, 3),), Fraction(1, 8))
    assert exactly.charge(loss) == Charge(Fraction(1, 7), ((0, Fraction(1, 3)),), Fraction(1, 8))
    short = [
        Envelope(exactly.gaussian - ONE_UNIT, exactly.slots, exactly.threshold),
        Envelope(exactly.gaussian, (exactly.slots[0] - ONE_UNIT,), exactly.threshold),
        Envelope(exactly.gaussian, exactly.slots, exactly.threshold - ONE_UNIT),
    ]
    assert [envelope.charge(loss) for envelope in short] == [None] * 3


def test_its_own_proof_pays_for_a_release_where_its_atoms_do_not_fit() -> None:
    sums = Envelope(slots=(Fraction(2),), threshold=Fraction("2e-6"))
    assert sums.charge(CROWD) == Charge(Fraction(0), ((0, Fraction(1)),), Fraction("1e-6"))
    assert fill(sums, CROWD) == 2
    assert fill(Envelope(slots=(Fraction(2),), threshold=Fraction("1.9e-6")), CROWD) == 1


def test_responses_go_to_the_smallest_slots_that_hold_them() -> None:
    envelope = Envelope(slots=(Fraction(1), Fraction(1, 10), Fraction(1, 2)))
    charge = envelope.charge(Loss(0.7, 0.0, (Pure(Fraction(1, 10)), Pure(Fraction(3, 5))), tv=0.0))
    assert charge is not None and dict(charge.slots) == {0: Fraction(3, 5), 1: Fraction(1, 10)}
    assert envelope.less(charge).slots == (Fraction(2, 5), Fraction(0), Fraction(1, 2))


def test_what_has_no_finite_cost_is_never_charged() -> None:
    assert Envelope(Fraction(9), (Fraction(99),), Fraction(1)).charge(Loss(math.inf, 1.0, (), tv=0.0)) is None


losses = st.builds(
    lambda mu2, tv, pure, keys: (
        Loss(
            9.0,
            0.1,
            (Gaussian(Fraction(mu2, 1000)), *([Pure(Fraction(pure, 20))] if pure else [])),
            tv=tv * 1e-8,
        )
        if keys == 0
        else Loss(keys / 20, 1e-7, (DiscreteLaplace(Fraction(20), keys),), tv=tv * 1e-8)
    ),
    st.integers(0, 60),
    st.integers(0, 20),
    st.integers(0, 3),
    st.integers(0, 4),
)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.lists(losses, min_size=1, max_size=5), st.sampled_from([(1.0, 1e-6), (3.0, 1e-5), (0.5, 0.0)]))
def test_nothing_inside_costs_more_than_the_envelope(releases: list[Loss], pair: tuple[float, float]) -> None:
    """Whatever fits, decided in advance, composes to no more than the cap; and order and splitting do not matter."""
    cap = Cap(*pair)
    envelope = split(cap, releases[0])
    if envelope is None:
        return
    assert envelope.epsilon(cap.delta) <= cap.epsilon
    left, inside = envelope, []
    for loss in releases:
        charge = left.charge(loss)
        if charge is not None:
            left = left.less(charge)
            inside.append(loss)
    assert inside and inside[0] is releases[0]
    assert compose(inside, cap.delta) <= cap.epsilon * (1 + 1e-6)
    again = envelope
    for loss in reversed(inside):
        charge = again.charge(loss)
        if charge is None:
            break  # another way to pay may not fit in another order; it is refused, never overdrawn
        again = again.less(charge)
    assert min(again.gaussian, again.threshold, *again.slots, Fraction(0)) == 0


def test_sums_of_a_plan() -> None:
    assert by_sums([PURE] * 3) == Envelope(slots=(Fraction(3, 10),))
    assert by_sums([CROWD] * 2).epsilon(2e-6) == 2.0
    assert by_sums([CROWD] * 2).epsilon(1.9e-6) == math.inf


# ------------------------------------------------------------------ the price is the price


@pytest.mark.parametrize(("count", "epsilon"), [(1, 0.5), (5, 0.2), (12, 1.0)])
def test_responses_give_away_no_more_than_their_price_at_any_level(count: int, epsilon: float) -> None:
    """The hockey stick of k responses, added up, lies below that of the Gaussian at their price, for every ε."""
    mu = math.sqrt(price(count, Fraction(str(epsilon))))
    p = 1 / (1 + math.exp(-epsilon))
    for level in [x * count * epsilon / 40 for x in range(-10, 41)]:
        stick = sum(
            binom.pmf(j, count, p) * max(0.0, 1 - math.exp(level - (2 * j - count) * epsilon)) for j in range(count + 1)
        )
        assert stick <= gaussian_delta(level, mu) * (1 + 1e-9) + 1e-15
