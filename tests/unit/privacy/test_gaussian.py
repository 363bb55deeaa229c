"""The Gaussian accountant and the calibration of crowd against 50 digits, and the constants of the notes.

Everything is computed a second time with mpmath from the formulas of docs/proofs/crowd.md. The safe side is one-sided:
a certified δ is never below the recomputation, a threshold never below the smallest that meets its chance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from mpmath import erfc, erfinv, exp, mp, mpf, pi, sqrt

from hubbub.errors import OurBug, ParameterError
from hubbub.mechanisms import build
from hubbub.mechanisms.crowd import calibrate
from hubbub.mechanisms.rounds import grid, recycled
from hubbub.privacy.compose import gaussian_delta
from hubbub.privacy.gaussian import GaussianStep, certify, gaussian_loss, mu2_of, mu_of, novel_delta, threshold_for
from hubbub.privacy.gaussian import Test as Threshold
from hubbub.steps.array_pools import amount

mp.dps = 50

BUDGETS = [(e, d) for e in (0.01, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0, 50.0) for d in (1e-12, 1e-9, 1e-6, 1e-3, 0.05, 0.3)]


def tail(x: Any) -> Any:
    """Φc."""
    return erfc(x / sqrt(mpf(2))) / 2


def inverse_tail(p: Any) -> Any:
    """Φc⁻¹, by Newton from a bisection."""
    low, high = mpf(-1), mpf(60)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle) > p else (low, middle)
    x = (low + high) / 2
    for _ in range(4):
        x += (tail(x) - p) / (exp(-x * x / 2) / sqrt(2 * pi))
    return x


def stick(epsilon: Any, mu: Any) -> Any:
    """G(ε, μ)."""
    epsilon, mu = mpf(epsilon), mpf(mu)
    return mpf(0) if mu <= 0 else tail(epsilon / mu - mu / 2) - exp(epsilon) * tail(epsilon / mu + mu / 2)


def exactly(x: Fraction) -> Any:
    return mpf(x.numerator) / mpf(x.denominator)


def chance(test: Threshold, keys: int = 1) -> Any:
    """Lemma B: what a novel key's chance is at most; keys > 1 for weights that shrink."""
    return tail((test.threshold - test.mean / sqrt(mpf(keys)) - mpf(1) / 2) / sqrt(mpf(test.variance)))


def theorem_2(steps: Sequence[GaussianStep], epsilon: float) -> Any:
    """max_t [G(ε, √(μ² − μ₁² t/D)) + t p] + Σ D_i p_i, from the definition."""
    mu2 = sum((exactly(m) for s in steps for m in s.mu2), mpf(0))
    later = sum((s.keys * chance(test) for s in steps if not s.tightened for test in s.tests), mpf(0))
    worst = stick(epsilon, sqrt(mu2))
    for step in steps:
        if step.tightened:
            for t in range(1, step.keys + 1):
                p = sum((chance(test, t if step.shrinking else 1) for test in step.tests), mpf(0))
                left = mu2 - exactly(step.mu2[0]) * t / step.keys
                worst = max(worst, stick(epsilon, sqrt(left) if left > 0 else mpf(0)) + t * p)
    return worst + later


@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
def test_hockey_stick_and_its_inverse(epsilon: float, delta: float) -> None:
    mu = mu_of(epsilon, delta)
    for factor in (1.0, 0.99, 0.7, 1.5):
        exact = stick(epsilon, mu * factor)
        assert abs(gaussian_delta(epsilon, mu * factor) / exact - 1) < 1e-9
    assert stick(epsilon, mu) <= mpf(delta) * (1 + mpf("1e-9"))
    assert stick(epsilon, mpf(mu) * (1 + mpf("1e-9"))) > mpf(delta), "no larger μ would do"


def test_no_noise_is_refused() -> None:
    for variance in (0, 3, 4):
        with pytest.raises(OurBug):
            mu2_of(1, variance)
    assert mu2_of(9, 13) == 1
    with pytest.raises(ParameterError):
        mu_of(1e-3, 1.0)


# ------------------------------------------------------------------ certificates

MECHANISMS: list[tuple[str, dict[str, Any]]] = [
    ("crowd", {"epsilon": 1, "delta": "1e-6"}),
    ("crowd", {"epsilon": "0.1", "delta": "1e-6", "D": 20, "rounds": 8}),
    ("crowd", {"epsilon": 4, "delta": "1e-7", "D": 50, "rounds": 2}),
    ("crowd", {"epsilon": 2, "delta": "0.05", "D": 3, "rounds": 1}),
    ("crowd", {"epsilon": "0.1", "delta": "0.05", "D": 100}),
    ("crowd", {"epsilon": 16, "delta": "1e-12", "D": 5, "rounds": 3}),
    ("crowd", {"epsilon": "0.05", "delta": "1e-300", "D": 4}),
    ("crowd", {"epsilon": "0.3", "delta": "1e-100", "D": 4}),
    ("crowd", {"epsilon": 1000, "delta": "1e-6", "D": 4}),
    ("sips", {"epsilon": 1, "delta": "1e-6", "d": 20}),
    ("adaptive", {"epsilon": 2, "delta": "1e-6", "d": 50, "rounds": "4"}),
    ("gaussian", {"epsilon": 1, "delta": "1e-6", "d": 20, "weights": "unit"}),
    ("gaussian", {"epsilon": 1, "delta": "1e-6", "d": 20, "weights": "sqrt"}),
    ("gaussian", {"epsilon": "0.5", "delta": "0.05", "d": 5, "weights": "sqrt"}),
]


@pytest.mark.parametrize(("name", "settings"), MECHANISMS, ids=lambda x: x if isinstance(x, str) else str(x["epsilon"]))
def test_certified_delta_is_never_below_fifty_digits(name: str, settings: dict[str, Any]) -> None:
    mechanism = build(name, settings, tables=["queries"])
    epsilon, delta = float(Fraction(settings["epsilon"])), mpf(str(settings["delta"]))
    steps = [s for s in mechanism.steps() if isinstance(s, GaussianStep)]
    exact, certified = theorem_2(steps, epsilon), mechanism.loss().delta
    assert exact <= certified <= delta
    assert certified <= exact * (1 + 3e-6), "the slack is small"
    assert certified > 0.99 * delta, "and so is what is left unused"


def test_what_the_ledger_gets_is_the_whole_of_mu_and_of_the_thresholds() -> None:
    steps = [
        s
        for s in build("crowd", {"epsilon": 1, "delta": "1e-6"}, tables=["queries"]).steps()
        if isinstance(s, GaussianStep)
    ]
    loss = gaussian_loss(steps, 1.0)
    (atom,) = loss.atoms
    assert getattr(atom, "mu2") >= sum((s.total for s in steps), Fraction(0))  # noqa: B009
    assert loss.tv >= 100 * sum((chance(t) for t in steps[0].tests), mpf(0))
    untightened = theorem_2([GaussianStep(s.name, s.mu2, "", s.tests, s.keys) for s in steps], 1.0)
    assert untightened > 1e-6, "without the tightening this release would cost more than it may"
    assert abs(untightened / (stick(1, sqrt(exactly(sum((s.total for s in steps), Fraction(0))))) + loss.tv) - 1) < 1e-6


def test_later_stages_pay_in_full_and_only_one_may_be_tightened() -> None:
    one = GaussianStep("a", (Fraction(1, 50),), "", (Threshold(10, 900, 190),), 5, tightened=True)
    two = GaussianStep("b", (Fraction(1, 60),), "", (Threshold(10, 1000, 200),), 7)
    assert theorem_2([one, two], 1.0) <= certify([one, two], 1.0) <= theorem_2([one, two], 1.0) * (1 + 1e-6)
    with pytest.raises(OurBug):
        certify([one, GaussianStep("b", two.mu2, "", two.tests, 7, tightened=True)], 1.0)
    with pytest.raises(OurBug):
        GaussianStep("b", two.mu2, "", two.tests, 0)


# ------------------------------------------------------------------ thresholds


@pytest.mark.parametrize("p", [1e-300, 1e-30, 1e-12, 1e-8, 1e-4, 0.02, 0.149])
@pytest.mark.parametrize("variance", [20, 12345, 766561980300, 35184372088831])
def test_thresholds_are_never_below_fifty_digits(variance: int, p: float) -> None:
    mean = 655360
    threshold = threshold_for(mean, variance, p)
    least = mean + sqrt(mpf(variance)) * inverse_tail(mpf(p)) + mpf(1) / 2
    assert least <= threshold <= least * (1 + mpf("1e-8")) + 2.5
    test = Threshold(mean, variance, threshold)
    assert chance(test) <= test.novel <= mpf(p), "as certified, it is within the chance it was made for"


def test_a_threshold_too_low_for_the_lemma_is_certain_to_be_passed() -> None:
    assert Threshold(100, 100, 110).novel == 1.0, "lemma B holds from one sd on"
    assert Threshold(100, 100, 111).novel < 0.2
    for p in (0.0, 0.15, 0.5):
        with pytest.raises(ParameterError):
            threshold_for(0, 100, p)


# ------------------------------------------------------------------ the oracles of the notes

ONE_PRODUCT = [
    ("1", "1e-6", 16, 766561980300, (5330950, 9316570, 13290790, 16153469)),
    ("2", "1e-6", 16, 213675673123, (2841777, 5005197, 7193587, 8825251)),
    ("4", "1e-7", 16, 72344256026, (1773567, 3155003, 4577017, 5721579)),
    ("0.1", "1e-6", 14, 3538061360586, (11374852, 19722595, 27920753, 33616568)),
]


@pytest.mark.parametrize(("epsilon", "delta", "bits", "variance", "thresholds"), ONE_PRODUCT)
def test_constants_of_one_product(
    epsilon: str, delta: str, bits: int, variance: int, thresholds: tuple[int, ...]
) -> None:
    """All of μ² on the selection, D = 50, four rounds."""
    eps, multiples, limit = float(epsilon), (1, 2, 3, 4), 50
    mu2 = Fraction(mu_of(eps, float(delta) * (1 - 1e-7))) ** 2
    k, v = grid(mu2, multiples)
    assert k == bits and abs(v / variance - 1) < 1e-8
    spent = [float(mu2_of(4**k * m * m, m * v)) for m in multiples]
    novel = novel_delta(eps, float(delta), sum(spent) * (1 + 1e-9), spent[0] * (1 - 1e-9), limit)
    chances = [0.2 * novel / (3 * limit)] * 3 + [0.8 * novel / limit]
    selection = recycled(k, v, multiples, calibrate.shape(4)[1], limit, chances)
    assert all(abs(a - b) <= 2 for a, b in zip(selection.thresholds, thresholds, strict=True))
    step = selection.step("queries", "", tightened=True)
    assert theorem_2([step], eps) <= certify([step], eps) <= float(delta)
    by_hand = _recomputed(epsilon, delta, k, v, multiples, limit)
    assert all(a >= b for a, b in zip(selection.thresholds, by_hand, strict=True)), "never below 50 digits"


def _recomputed(epsilon: str, delta: str, bits: int, variance: int, multiples: Sequence[int], limit: int) -> list[Any]:
    """Θ_r without any slack, for this grid and noise."""
    mu2 = [exactly(mu2_of(4**bits * m * m, m * variance)) for m in multiples]
    left = (sqrt(sum(mu2, mpf(0)) - mu2[0] * t / limit) for t in range(1, limit + 1))
    novel = min(limit / mpf(t) * (mpf(delta) - stick(epsilon, mu)) for t, mu in enumerate(left, 1))
    shares = [novel / 5 / (len(multiples) - 1)] * (len(multiples) - 1) + [novel * 4 / 5]
    totals = [sum(multiples[: r + 1]) for r in range(len(multiples))]
    return [
        (c << bits) + sqrt(mpf(c * variance)) * inverse_tail(share / limit) + mpf(1) / 2
        for c, share in zip(totals, shares, strict=True)
    ]


PLANS = [
    calibrate.StagePlan("queries", 45, 100, (850, 140, 10), 50, 300),
    calibrate.StagePlan("clicks", 30, 50, (850, 140, 10), 30, 100),
    calibrate.StagePlan("transitions", 20, 50, (858, 140, 2), 20, 30, open=False),
    calibrate.StagePlan("sessions", 5, 20, (858, 140, 2), 10, 10, open=False),
]
CHAIN = [
    (
        ("1", "1e-6", "0.0551572795", 2.88193e-7),
        (2035755352773, 8997716, 15667597, 22272497, 27098150),
        (3053633029152, 10994231, 19125661, 27162939, 33004170),
    ),
    (
        ("2", "1e-6", "0.198155384", 3.10583e-7),
        (566659983554, 4769296, 8343758, 11915025, 14576771),
        (849989975323, 5831433, 10183432, 14516718, 17722345),
    ),
    (
        ("4", "1e-7", "0.587241643", 3.80881e-8),
        (191210429791, 2937838, 5171580, 7428888, 9212027),
        (286815644678, 3602363, 6322571, 9056635, 11198652),
    ),
]


@pytest.mark.parametrize(("budget", "queries", "clicks"), CHAIN, ids=lambda x: x[0])
def test_constants_of_the_chain(
    budget: tuple[str, str, str, float], queries: tuple[int, ...], clicks: tuple[int, ...]
) -> None:
    """Queries 45, clicks 30, transitions 20, sessions 5; clicks may spend .15 of δ; closed stages spend none."""
    epsilon, delta, mu2, novel = budget
    stages = calibrate.calibrate(PLANS, Fraction(epsilon), Fraction(delta), 4, "")
    for stage, expected in zip(stages, (queries, clicks), strict=False):
        assert abs(stage.rounds.variances[0] / expected[0] - 1) < 1e-8
        assert all(abs(a - b) <= 2 for a, b in zip(stage.rounds.thresholds, expected[1:], strict=True))
    steps = [s for i, stage in enumerate(stages) for s in stage.steps("", tightened=i == 0)]
    total = sum((s.total for s in steps), Fraction(0))
    assert abs(float(total) / float(mu2) - 1) < 1e-8
    assert abs(100 * steps[0].per_key / novel - 1) < 1e-5
    shares = {s.name: float(s.total / total) for s in steps}
    assert shares["transitions"] == pytest.approx(0.2 * 0.858) and shares["sessions"] == pytest.approx(0.05 * 0.858)
    assert not stages[2].rounds.thresholds and all(not s.tests for s in steps[6:]), "closed: no test, no δ"
    assert theorem_2(steps, float(epsilon)) <= certify(steps, float(epsilon)) <= float(delta)


def test_the_first_stage_is_open() -> None:
    with pytest.raises(OurBug):
        calibrate.calibrate(PLANS[2:], Fraction(1), Fraction(1, 10**6), 4, "")


# ------------------------------------------------------------------ what can be asked for


@pytest.mark.parametrize("epsilon", ["0.01", "0.1", "1", "4", "100"])
@pytest.mark.parametrize("delta", ["1e-12", "1e-6", "1e-3", "0.05", "0.3"])
def test_every_budget_is_met_or_refused_with_a_reason(epsilon: str, delta: str) -> None:
    for limit, rounds in ((1, 1), (1, 4), (100, 4), (1000, 32)):
        settings = {"epsilon": epsilon, "delta": delta, "D": limit, "rounds": rounds}
        try:
            loss = build("crowd", settings, tables=["queries"]).loss()
        except ParameterError:
            assert delta == "0.3" and limit == 1, "a threshold that would be passed by chance"
            continue
        assert 0.99 * float(delta) < loss.delta <= float(delta)


def test_noise_nobody_can_draw_is_refused_before_any_is_drawn() -> None:
    """At ε = 0.01 the recount of what was released can be drawn only on a coarser grid; below, not at all."""
    for epsilon in ("0.000001", "0.00005", "0.0001"):
        with pytest.raises(ParameterError, match="more noise than the sampler serves"):
            build("crowd", {"epsilon": epsilon, "delta": "1e-6"}, tables=["queries"])
    for epsilon in ("0.01", "0.1"):
        mechanism: Any = build("crowd", {"epsilon": epsilon, "delta": "1e-6"}, tables=["queries"])
        assert mechanism.loss().delta <= 1e-6
        recount = mechanism.stage.recount
        assert 2 * recount.widest() < 2**46 and (recount.bits < calibrate.LAMBDA_BITS) == (epsilon == "0.01")


@pytest.mark.parametrize("bits", [4, 8, 12, 16, 20])
def test_a_users_weight_is_the_largest_integer_that_fits(bits: int) -> None:
    """n A(n)² <= 4^k < n (A(n) + 1)²."""
    for n in range(1, 3001):
        a = amount(bits, n)
        assert n * a * a <= 4**bits < n * (a + 1) ** 2
    assert amount(bits, 1) == 2**bits
    assert math.isclose(amount(16, 100), 2**16 / 10, rel_tol=1e-3)


def test_inverse_of_the_tail_is_the_one_in_use() -> None:
    """The recomputation has a check of its own."""
    assert abs(inverse_tail(mpf("0.001")) - sqrt(mpf(2)) * erfinv(1 - 2 * mpf("0.001"))) < mpf("1e-40")


# ------------------------------------------------------------------ lemmas A and B, enumerated


def law(variance: int, reach: int, shift: int = 0) -> npt.NDArray[np.float64]:
    """N_Z(shift, S) on −reach … reach."""
    x = np.arange(-reach, reach + 1) - shift
    weights = np.exp(-(x**2) / (2 * variance))
    return np.asarray(weights / weights.sum())


@pytest.mark.parametrize("variance", [9, 25, 100, 400])
@pytest.mark.parametrize("shift", [(1,), (2,), (3,), (1, 1), (2, 1)])
def test_a_discrete_draw_hides_what_a_continuous_one_of_four_less_hides(variance: int, shift: tuple[int, ...]) -> None:
    reach = 12 * math.isqrt(variance) + 12
    one, two = np.ones(1), np.ones(1)
    for move in shift:
        one = np.multiply.outer(one, law(variance, reach, move))
        two = np.multiply.outer(two, law(variance, reach))
    length = math.sqrt(sum(s * s for s in shift))
    ratios, naive = [], []
    for epsilon in np.linspace(0, 4 * length / math.sqrt(variance), 25):
        seen = float(np.maximum(one - math.exp(epsilon) * two, 0).sum())
        ratios.append(seen / gaussian_delta(epsilon, length / math.sqrt(variance - 4)))
        naive.append(seen / gaussian_delta(epsilon, length / math.sqrt(variance)))
    assert max(ratios) <= 1.0
    if len(shift) == 1 and variance <= 100:
        assert max(naive) > 1.001, "with the whole variance the claim would be false"


@pytest.mark.parametrize("variances", [(16,), (16, 16), (20, 40, 60, 80), (17, 100, 1000)])
def test_the_tail_of_a_sum_of_discrete_draws(variances: tuple[int, ...]) -> None:
    reach = 14 * math.isqrt(sum(variances)) + 14
    total = np.ones(1)
    for variance in variances:
        total = np.convolve(total, law(variance, reach))
    tails = np.cumsum(total[::-1])[::-1][total.size // 2 :]
    sd = math.sqrt(sum(variances))
    for m in range(math.ceil(sd + 0.5), math.floor(7 * sd)):
        bound = float(tail((mpf(m) - mpf(1) / 2) / mpf(sd)))
        assert tails[m] <= bound * (1 + 1e-12) + 1e-16
        assert tails[m] > 0.5 * bound
