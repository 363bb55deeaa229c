"""How a row of the experiments is decided: the rule, its p-values and their correction, by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hubbub.papers.experiments.gotz_epsilon import slope
from hubbub.papers.experiments.rule import (
    NOTHING,
    Decision,
    DrawSample,
    always,
    average,
    close,
    direction,
    every,
    falls,
    higher,
    lower,
    near,
    peaks,
    rises,
    times,
)


def of(*values: float | None) -> DrawSample:
    """A number in every draw."""
    return DrawSample(values)


def test_the_interval_is_students() -> None:
    """1, 2, 3: standard deviation 1, t of two degrees 4.302653, so 4.302653/√3."""
    assert of(1, 2, 3).mean == 2
    assert math.isclose(of(1, 2, 3).half or 0, 2.484138, rel_tol=1e-6)
    assert of(5, 5, 5).half == 0 and of(5).half == math.inf
    assert of(1, None).mean is None and of(1, None).half is None and of().mean is None
    assert of(1, 2, 3).record() == {
        "mean": 2, "low": pytest.approx(-0.484138), "high": pytest.approx(4.484138), "draws": [1, 2, 3],
    }  # fmt: skip
    assert of(7).record() == {"mean": 7, "low": None, "high": None, "draws": [7]}


def test_samples_are_compared_draw_by_draw() -> None:
    """The logs differ by far more than the two numbers do, and every log says the same."""
    a, b = of(1, 100, 1000), of(2, 101.1, 1000.9)
    assert direction(a, b) == 1 and direction(b, a) == -1
    assert direction(of(1, 2, 3), of(3, 1, 3)) == 0
    assert direction(of(1, 1), of(2, 2)) == 1, "draws that differ by nothing leave no doubt"
    assert direction(of(1), of(2)) == 0, "one draw says nothing"


def test_higher_and_lower() -> None:
    a, b = of(1, 2, 3), of(2, 3, 4.1)
    assert higher(a, b).verdict == "shown" and higher(b, a).verdict == "differs"
    assert lower(b, a, ("KA", "DP")).verdict == "shown" and lower(b, a, ("KA", "DP")).why == "DP is lower than KA."
    assert lower(a, b, ("KA", "DP")).why == "DP is higher than KA."
    assert higher(of(1, 2, 3), of(3, 1, 3)).verdict == "not shown"
    assert higher(of(1, None), of(2, 2)).verdict == "not shown"
    assert "Nothing to evaluate" in higher(of(1, None), of(2, 2)).why


def test_rising_allows_noise_and_no_step_back() -> None:
    up = {"a": of(1, 1.1), "b": of(2, 2.1), "c": of(3, 3.1)}
    assert rises(up).verdict == "shown" and falls(up).verdict == "differs"
    assert falls(dict(reversed(up.items()))).verdict == "shown"
    noisy = {"a": of(1, 1.1), "b": of(2.9, 3.5), "c": of(3.2, 3.1)}
    assert rises(noisy).verdict == "shown", "the step back from b to c is within its interval"
    back = {"a": of(1, 1.1), "b": of(5, 5.1), "c": of(3, 3.1)}
    assert rises(back).verdict == "not shown" and "falls from b to c" in rises(back).why
    assert falls(dict(reversed(back.items()))).why == "It falls from c to a, but rises from c to b."
    assert rises({"a": of(1, 2), "b": of(2, 1)}).verdict == "not shown"
    assert rises({"a": of(1, 1), "b": of(None, 2)}).verdict == "not shown"


def test_peaks() -> None:
    assert peaks({"a": of(1, 1), "b": of(3, 3), "c": of(2, 2)}).verdict == "shown"
    assert peaks({"a": of(1, 1), "b": of(2, 2), "c": of(3, 3)}).verdict == "not shown"
    assert peaks({"a": of(3, 3), "b": of(2, 2), "c": of(1, 1)}).verdict == "differs"
    assert peaks({"a": of(1, 9), "b": of(9, 2), "c": of(1, 2)}).verdict == "not shown"


def test_close_and_near() -> None:
    assert close(of(100, 100, 100), of(95, 96, 95)).verdict == "shown"
    assert close(of(100, 100, 100), of(80, 81, 80)).verdict == "differs"
    assert close(of(100, 100, 100), of(80, 110, 95)).verdict == "not shown", "the interval is too wide to tell"
    assert close(of(0, 0), of(0, 0)).verdict == "shown"
    assert near(of(54, 58), 55, 10).verdict == "shown" and near(of(54, 58), 96, 10).verdict == "differs"
    assert near(of(54, 58), 96, 10).why == "40 below the printed 96."
    assert times(of(1, 4), of(8, 32), 10, 2, ("a", "the b")) == Decision("shown", "The b is 8 times a.")
    assert times(of(1, 4), of(8, 32), 1, 2).verdict == "differs" and times(of(1, 4), of(0, 1), 1, 2).why == NOTHING.why


def test_always_is_every_draw() -> None:
    sure, half, never = (always(of(*values), lambda p: p < 0.01, "p is small") for values in ((0, 0), (0, 1), (1, 1)))
    assert (sure.verdict, half.verdict, never.verdict) == ("shown", "not shown", "differs")
    assert half.why == "p is small in 1 of 2 draws." and sure.p is None
    assert always(of(None, 0), lambda _: True, "") is NOTHING


def test_every_is_as_strong_as_its_weakest() -> None:
    yes, no, against = (higher(of(1, 1), of(x, x)) for x in (2, 1, 0))
    assert [every(given).verdict for given in ([yes, yes], [yes, no], [yes, no, against])] == [
        "shown", "not shown", "differs",
    ]  # fmt: skip
    assert average([of(1, 2, None), of(3, 4, 5)]) == of(2, 3, None)


def test_a_p_value_says_what_the_interval_says() -> None:
    """1, 2, 3 against nothing: t = 2√3 with two degrees, p = 0.0741799; and p <= 5 % where there is a verdict."""
    assert math.isclose(higher(of(0, 0, 0), of(1, 2, 3)).p or 0, 0.0741799, rel_tol=1e-5)
    assert higher(of(1, 1), of(2, 2)).p == 0 and higher(of(1, 1), of(1, 1)).p == 1 and higher(of(1), of(2)).p == 1
    rng = np.random.default_rng(5)
    for scale in (0.05, 0.3, 2.0) * 40:
        a, b, c = (of(*rng.normal(mean, scale, 4)) for mean in (1.0, 1.1, 1.05))
        series = {"a": a, "b": b, "c": c}
        for decision in (higher(a, b), lower(a, b), close(a, b), rises({"a": a, "b": b}), every([higher(a, b)])):
            assert decision.p is not None and (decision.p <= 0.05) == (decision.verdict != "not shown")
        assert peaks(series).verdict == "not shown" or (peaks(series).p or 0) <= 0.05 * (len(series) - 2)
    assert near(of(1, 2), 1, 1).p is times(of(1, 2), of(1, 2), 1, 2).p is NOTHING.p is None


def test_many_statements_need_more() -> None:
    """A verdict of one statement alone may not stand among a hundred; one that is no test stays."""
    decision = Decision("shown", "", 0.004)
    assert decision.corrected(1) == decision.corrected(12) == "shown" and decision.corrected(13) == "not shown"
    assert decision.chosen_from(6).corrected(2) == "shown" and decision.chosen_from(6).corrected(3) == "not shown"
    assert Decision("impossible", "").corrected(1000) == "impossible"
    both = every([Decision("shown", "", 0.001), Decision("shown", "", 0.01)])
    assert both.p == 0.01, "all of several is as sure as its weakest"
    one = every([Decision("shown", "", 0.0), Decision("differs", "", 0.01), Decision("not shown", "", 0.5)])
    assert one.verdict == "differs" and one.p == 0.03, "any of several had three chances"


def test_the_slope_of_a_power_law() -> None:
    x = np.arange(10, 2_000, dtype=np.float64)
    n = np.repeat(x.astype(np.int64), np.round(1e7 * x**-2.5).astype(np.int64))
    found = slope(n, 10)
    assert found is not None and math.isclose(found, 2.5, rel_tol=0.01)
    assert slope(np.array([3, 4, 100]), 50) is None
