"""zealous: parameters, formulas, what is claimed and proven, and what it does to arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from hubbub import Zealous
from hubbub.audit.checks.counts import NoNoise
from hubbub.audit.protocols import Event, Subject
from hubbub.audit.tiny import measured, values_of
from hubbub.errors import ParameterError
from hubbub.mechanisms import build
from hubbub.privacy.guarantee import Definition, Neighbours
from hubbub.public.lists import UrlList
from hubbub.steps.counts import LocalCounts
from hubbub.testing import check_mechanism

SERP = UrlList("list", pa.table({"query": ["a", "a", "b"], "url": ["u1", "u2", "u1"]}), "0" * 64)
PUBLISHED: dict[str, Any] = {"variant": "published"}
EQUATION_3: dict[str, Any] = {"variant": "published", "analysis": "indistinguishability"}


@pytest.mark.parametrize(
    "settings",
    [
        {"epsilon": 1, "delta": "1e-2", "m": 2, "tables": ["queries"]},
        {"epsilon": 2, "delta": "1e-2", "tau": 3, "tables": ["keywords"], "keep": "random"},
        {"lambda_": "3/2", "tau": 2, "tau_prime": "4.5", "tables": ["clicks"], "neighbours": "replace"},
        {"epsilon": 2, "delta": "1e-2", "tables": ["transitions"]},
        {"epsilon": 3, "delta": "1e-2", "U": 50, "tables": ["keywords", "queries"], **PUBLISHED},
        {"epsilon": 3, "delta": "1e-2", "m": 2, **EQUATION_3},
        {"epsilon": 2, "delta": "1e-2", "m": 2, "serp": SERP},
        {"epsilon": 2, "delta": "1e-2", "m": 3, "tables": ["itemsets"]},
        {"epsilon": 2, "delta": "1e-2", "of": "queries", "size": 3, "tables": ["queries", "itemsets"]},
        {
            "epsilon": 3,
            "delta": "1e-2",
            "U": 50,
            "serp": SERP,
            "tables": ["keywords", "queries", "clicks"],
            **PUBLISHED,
        },
    ],
)
def test_the_contract_holds(settings: dict[str, Any]) -> None:
    check_mechanism(Zealous(**settings))


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "8"])
@pytest.mark.parametrize("delta", ["1e-3", "1e-7", "1e-300", "1e-399"])
@pytest.mark.parametrize(("m", "tau"), [(1, None), (7, None), (7, 5), (40, 100)])
def test_strict_calibration_meets_what_was_asked(
    neighbours: str, epsilon: str, delta: str, m: int, tau: int | None
) -> None:
    mechanism = Zealous(epsilon=epsilon, delta=delta, m=m, tau=tau, neighbours=neighbours)
    proven, settings = mechanism.proven(), mechanism.settings
    assert proven.epsilon == float(epsilon)
    assert proven.delta is not None and proven.delta <= max(float(delta), math.ulp(0.0))
    assert settings["tau"] == (tau or 1), "each step of τ raises τ′ by one: 1 is best"
    raw = {name: str(settings[name]) for name in ("m", "lambda", "tau")}
    if settings["tau_prime"] == settings["tau"]:
        return
    lower = build("zealous", raw | {"tau_prime": int(settings["tau_prime"]) - 1}, neighbours=neighbours)
    assert float(delta) == 0 or lower.loss().delta > float(delta), "τ′ could be smaller"


@pytest.mark.parametrize("epsilon", ["0.3", "1", "5"])
@pytest.mark.parametrize("delta", ["0.001", "1e-9", "1e-390"])
@pytest.mark.parametrize("m", [1, 5, 20])
def test_published_calibration_claims_what_holds(epsilon: str, delta: str, m: int) -> None:
    mechanism = Zealous(epsilon=epsilon, delta=delta, m=m, U=500_000, **PUBLISHED)
    claim, (also, how) = mechanism.claimed(), mechanism.also()[0]
    assert claim.holds and claim.by.endswith("Theorem 2")
    assert claim.epsilon == also.epsilon == mechanism.proven().epsilon
    assert 0 <= (claim.epsilon or 0) - float(epsilon) < 1e-15
    assert also.definition is Definition.PROBABILISTIC and "500000" in how and "post-processing" in how
    assert claim.delta is not None and also.delta is not None and also.delta <= claim.delta <= max(float(delta), 5e-324)
    corrected = Zealous(epsilon=epsilon, delta=delta, m=m, **EQUATION_3)
    assert not corrected.claimed().holds, "the corrected τ′ makes (3) promise even more"
    assert corrected.proven().delta is not None and corrected.loss().delta <= max(float(delta), 5e-324)


def test_the_headline_is_a_users_own_delta_and_the_ledger_gets_add_remove() -> None:
    mechanism = Zealous(lambda_=5, tau=1, tau_prime=50, m=5, U=500_000, **PUBLISHED)
    a = math.exp(-1 / 5)
    delta = 1 - (1 - a**50 / (1 + a)) ** 5  # the integer rule > 50; 1.39e-4 for real numbers
    proven, loss = mechanism.proven(), mechanism.loss()
    assert mechanism.neighbours is Neighbours.REPLACE and mechanism.thresholds() == {"queries": 51}
    assert math.isclose(1 - (1 - 0.5 * a**49) ** 5, 1.39e-4, rel_tol=5e-3)
    assert proven.epsilon == 2 and math.isclose(proven.delta or 0, delta, rel_tol=1e-9)
    assert (loss.epsilon, loss.delta) == (1, proven.delta)
    assert mechanism.claimed().delta is None and "reaches 1" in mechanism.claimed().why, "Table 1 prints δ = 1"


def test_tables_share_the_budget_and_each_has_m_items_of_its_own() -> None:
    one = Zealous(epsilon=1, delta="1e-6", m=3, tables=["queries"])
    two = Zealous(epsilon=1, delta="1e-6", m=3, tables=["queries", "transitions"])
    assert one.settings["lambda"] == 3 and two.settings["lambda"] == 6
    assert [s.l0 for s in two.steps()] == [3, 3]
    assert two.proven().epsilon == 1 and two.loss().delta <= 1e-6
    claimed = Zealous(epsilon=1, delta="1e-3", tables=["queries", "clicks"], U=1000, **PUBLISHED).claimed()
    assert claimed.holds and claimed.epsilon == 1 and (claimed.delta or 1) <= 1e-3


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"lambda": 10, "tau": 5, "tau_prime": 6, "U": 10**6, "variant": "published"}, "first branch"),
        ({"lambda": 1, "tau": 1, "tau_prime": 10, "U": 10**6, "variant": "published"}, "reaches 1"),
        ({"lambda": 1, "tau": 2, "tau_prime": 10, **EQUATION_3}, "needs τ = 1"),
        ({"lambda": 1, "tau": 1, "tau_prime": 5, "m": 9, **EQUATION_3}, "reaches 1"),
    ],
)
def test_where_the_theorems_claim_nothing(settings: dict[str, Any], why: str) -> None:
    claim = Zealous(**settings).claimed()
    assert (claim.epsilon, claim.delta) == (None, None) and why in claim.why


def test_a_fractional_threshold_can_break_the_real_valued_claim() -> None:
    """> 5.99 on integers is >= 6; the paper's tail at 5.99 is thinner than the integers' at 6."""
    claim = Zealous(lambda_=3, tau=1, tau_prime="5.99", U=1, **PUBLISHED).claimed()
    assert not claim.holds and "integers" in claim.why
    assert Zealous(lambda_=3, tau=1, tau_prime="6", U=1, **PUBLISHED).claimed().holds


def test_the_paper_does_not_claim_the_strict_variant() -> None:
    mechanism = Zealous(epsilon=2, delta="1e-6", m=5)
    claim, proven = mechanism.claimed(), mechanism.proven()
    assert claim.by.startswith("hubbub") and (claim.epsilon, claim.delta, claim.holds) == (2, proven.delta, True)
    assert mechanism.also() == ()


BAD = [
    ({}, "budget"),
    ({"epsilon": 1}, "budget"),
    ({"lambda": 2}, "budget"),
    ({"tau": 2, "tau_prime": 9}, "budget"),
    ({"epsilon": 1, "delta": "1e-6", "lambda": 2}, "not both"),
    ({"epsilon": 1, "lambda": 2, "tau_prime": 9}, "not both"),
    ({"epsilon": 1, "delta": "1e-6", "m": 0}, "range"),
    ({"epsilon": 1, "delta": "1e-6", "m": "1.5"}, "range"),
    ({"epsilon": 1, "delta": 0}, "range"),
    ({"epsilon": "1e-9", "delta": "1e-6"}, "cannot be drawn"),
    ({"epsilon": 900, "delta": "1e-6"}, "cannot be drawn"),
    ({"lambda": 0, "tau_prime": 9}, "range"),
    ({"lambda": -2, "tau_prime": 9}, "range"),
    ({"lambda": "nan", "tau_prime": 9}, "range"),
    ({"lambda": 1, "tau": 0, "tau_prime": 9}, "range"),
    ({"lambda": 1, "tau": 10, "tau_prime": 9}, "below the raw filter"),
    ({"lambda": 1, "tau_prime": "0.5"}, "below the raw filter"),
    ({"epsilon": 1, "delta": "1e-6", "U": 500}, "published variant"),
    ({"epsilon": 1, "delta": "1e-6", "analysis": "probabilistic"}, "published variant"),
    ({"epsilon": 1, "delta": "1e-6", **PUBLISHED}, "declared upper bound U"),
    ({"lambda": 1, "tau_prime": 9, **PUBLISHED}, "declared upper bound U"),
    ({"epsilon": 1, "delta": "1e-6", "U": 0, **PUBLISHED}, "range"),
    ({"epsilon": 1, "delta": "1e-6", "U": 500, **EQUATION_3}, "U"),
    ({"epsilon": 1, "delta": "1e-6", "U": 500, "neighbours": "add-remove", **PUBLISHED}, "replace"),
    ({"epsilon": 1, "delta": "1e-6", "tables": ["sessions"]}, "table"),
    ({"epsilon": 1, "delta": "1e-6", "size": 3}, "about itemsets"),
    ({"epsilon": 1, "delta": "1e-6", "size": 4, "tables": ["itemsets"]}, "range"),
    ({"epsilon": 1, "delta": "1e-6", "serp": SERP, "tables": ["keywords", "clicks"]}, "both tables"),
    ({"epsilon": 1, "delta": "1e-6", "K": 9}, "no such parameter"),
]


@pytest.mark.parametrize(("settings", "word"), BAD)
def test_bad_parameters_are_named(settings: dict[str, Any], word: str) -> None:
    with pytest.raises(ParameterError, match=word):
        Zealous(**settings)


def test_both_thresholds_are_at_least() -> None:
    """τ users pass the filter, T pass the threshold; one fewer does not."""
    mechanism = Zealous(lambda_=1, tau=4, tau_prime=9)
    released = mechanism.draw({"queries": LocalCounts(np.array([3, 4, 9, 10, 11]))}, NoNoise())["queries"]
    assert released.ids.tolist() == [3, 4] and values_of(released) == [10, 11]
    assert Zealous.frequent(np.array([3, 4, 5]), 4).tolist() == [1, 2]


def test_no_noise_is_drawn_for_what_the_filter_drops() -> None:
    class Counting(NoNoise):
        drawn = 0

        def laplace(self, step: str, scale: Any, size: int) -> Any:
            self.drawn += size
            return super().laplace(step, scale, size)

    noise = Counting()
    Zealous(lambda_=1, tau=4, tau_prime=9).perturb({"queries": LocalCounts(np.array([1, 2, 3, 4, 50]))}, noise)
    assert noise.drawn == 2


def test_clicks_through_a_public_list_cost_epsilon_once_more_and_no_delta() -> None:
    """Section 5.1: noise 2m/ε for the queries and for the clicks of their listed pages is (2ε, δ)."""
    queries = Zealous(epsilon=1, delta="1e-3", m=5, U=10**6, **PUBLISHED)
    clicks = Zealous(epsilon=2, delta="1e-3", m=5, U=10**6, serp=SERP, **PUBLISHED)
    assert clicks.tables == ("queries", "clicks")
    assert {name: clicks.settings[name] for name in ("lambda", "tau", "tau_prime")} == {
        name: queries.settings[name] for name in ("lambda", "tau", "tau_prime")
    }, "the same noise and thresholds: ε for the queries, ε for the clicks, δ for the queries alone"
    assert (clicks.claimed().epsilon, clicks.claimed().delta) == (2, queries.claimed().delta)
    assert clicks.claimed().holds and clicks.also()[0][0].delta == queries.also()[0][0].delta
    assert (clicks.proven().epsilon, clicks.proven().delta) == (2, queries.proven().delta)
    printed = Zealous(lambda_=2, tau_prime=14, serp=SERP, **EQUATION_3)
    assert printed.claimed().epsilon == 2 and not printed.claimed().holds, "equation (3) stays false"


def test_every_listed_page_of_a_released_query_has_a_number() -> None:
    log: list[Event] = [(f"user{i}", i, "a", "u1" if i < 3 else "elsewhere") for i in range(20)]
    log += [("user0", 50, "b", "u1")]
    mechanism = Zealous(lambda_=1, tau_prime=9, m=2, serp=SERP)
    seen = measured(Subject.of(mechanism), log)
    clicks = mechanism.draw(seen.counts, NoNoise())["clicks"]
    rows = {seen.keys["clicks"][i]: v for i, v in zip(clicks.ids.tolist(), values_of(clicks), strict=True)}
    assert rows == {("a", "u1"): 3, ("a", "u2"): 0}, "b is not released, `elsewhere` is not listed"
