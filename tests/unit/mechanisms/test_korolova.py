"""korolova: parameters, formulas, and what it does to arrays."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from hubbub import Korolova
from hubbub.audit.checks.counts import NoNoise
from hubbub.audit.protocols import Event, Subject
from hubbub.audit.tiny import measured, values_of
from hubbub.errors import ParameterError
from hubbub.mechanisms.noisy import laplace_sd
from hubbub.privacy.account import threshold_delta
from hubbub.public.lists import UrlList
from hubbub.steps.counts import LocalCounts
from hubbub.testing import check_mechanism

SERP = UrlList("list", pa.table({"query": ["a", "a", "b"], "url": ["u1", "u2", "u1"]}), "0" * 64)


@pytest.mark.parametrize(
    "settings",
    [
        {"epsilon": 1, "delta": "1e-2"},
        {"epsilon": 1, "delta": "1e-2", "d": 3, "keep": "random"},
        {"epsilon": "0.5", "delta": "1e-2", "d": 2, "d_c": 3, "tables": ["queries", "clicks"]},
        {"epsilon": 1, "delta": "1e-2", "d": 2, "tables": ["clicks"]},
        {"epsilon": 1, "delta": "1e-2", "d_t": 2, "tables": ["transitions"]},
        {"epsilon": 1, "delta": "1e-2", "d": 2, "d_t": 3, "serp": SERP, "tables": ["queries", "clicks", "transitions"]},
        {"epsilon": 1, "delta": "1e-2", "neighbours": "replace"},
        {"epsilon": 1, "delta": "1e-2", "d": 2, "variant": "published"},
        {"epsilon": 1, "delta": "1e-2", "d": 2, "d_c": 2, "variant": "published", "serp": SERP},
        {"epsilon": 1, "delta": "1e-2", "serp": SERP},
        {"b": "3/2", "K": "4.5", "d": 2},
    ],
)
def test_the_contract_holds(settings: dict[str, Any]) -> None:
    check_mechanism(Korolova(**settings))


@pytest.mark.parametrize("variant", ["strict", "published"])
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "8"])
@pytest.mark.parametrize("delta", ["1e-3", "1e-7"])
@pytest.mark.parametrize("d", [1, 7, 40])
def test_calibration_meets_what_was_asked(variant: str, neighbours: str, epsilon: str, delta: str, d: int) -> None:
    if (variant, neighbours) == ("published", "replace"):
        return
    mechanism = Korolova(epsilon=epsilon, delta=delta, d=d, variant=variant, neighbours=neighbours)
    proven = mechanism.proven()
    assert proven.epsilon == float(epsilon)
    assert proven.delta is not None and proven.delta <= float(delta)
    assert mechanism.claimed().holds


def test_strict_noise_is_reused_and_published_noise_is_not() -> None:
    strict, published = (Korolova(epsilon=1, delta="1e-6", d=20, variant=v) for v in ("strict", "published"))
    assert strict.settings["b"] == 20
    assert published.settings["b"] == published.settings["b_q"] == 40
    assert strict.thresholds()["queries"] < published.thresholds()["queries"]


def test_theorem_1_of_the_paper() -> None:
    """ε = d ln α + d/b_q + d_c/b_c and δ = (d/2) e^((d−K)/b)."""
    claim = Korolova(b=10, K=140, b_q=20, d=5, variant="published").claimed()
    assert math.isclose(claim.epsilon or 0, 5 / 10 + 5 / 20, rel_tol=1e-12)
    assert math.isclose(claim.delta or 0, 2.5 * math.exp(-13.5), rel_tol=1e-12)
    small = Korolova(b=10, K=10, b_q=10, d=1, variant="published").claimed()
    assert math.isclose((small.epsilon or 0) - 0.1, 0.2273, abs_tol=1e-4), "α's second branch"


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"b": 1, "K": 0, "b_q": 1}, "K >= d"),
        ({"b": "1/50", "K": 0, "b_q": 1, "d": 20}, "K >= d"),
        ({"b": 1000, "K": 20, "b_q": 1, "d": 20}, "δ reaches 1"),
    ],
)
def test_where_theorem_1_says_nothing_the_claim_is_empty(settings: dict[str, Any], why: str) -> None:
    claim = Korolova(**settings, variant="published").claimed()
    assert (claim.epsilon, claim.delta) == (None, None) and why in claim.why


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_the_paper_does_not_claim_the_strict_variant(neighbours: str) -> None:
    mechanism = Korolova(epsilon=2, delta="1e-6", d=5, neighbours=neighbours)
    claim, proven = mechanism.claimed(), mechanism.proven()
    assert claim.by == "hubbub (strict variant of Korolova et al. 2009)"
    assert (claim.epsilon, claim.delta, claim.holds) == (proven.epsilon, proven.delta, True)
    low = Korolova(b=1, K=0, d=100).claimed()
    assert (low.epsilon, low.delta, low.holds) == (None, None, True) and "δ reaches 1" in low.why


def test_a_random_sample_is_not_called_uniform() -> None:
    how = [b.how for b in Korolova(epsilon=2, delta="1e-6", d=5, keep="random").bounds()]
    assert how[0] == "sample by a secret hash"


def test_a_fractional_k_is_the_next_integer_rule() -> None:
    assert Korolova(b=1, K="19.99", d=1).thresholds() == {"queries": 20}
    assert Korolova(b=1, K=20, d=1).thresholds() == {"queries": 21}


def test_published_integer_law_can_exceed_the_real_valued_claim() -> None:
    """For a K just below an integer the discrete tail is heavier than the paper's; the card must say so."""
    mechanism = Korolova(b=10, K="19.99", b_q=10, d=1, variant="published")
    assert not mechanism.claimed().holds
    assert mechanism.caveats()


def test_proven_delta_of_published_counts_multiplicities() -> None:
    mechanism = Korolova(b=1, K=20, b_q=1, d=5, variant="published")
    assert mechanism.loss().delta >= float(threshold_delta(Fraction(1), 21, 5, 5, 5))


BAD = [
    ({}, "budget"),
    ({"epsilon": 1}, "budget"),
    ({"epsilon": 0, "delta": "1e-6"}, "range"),
    ({"epsilon": -1, "delta": "1e-6"}, "range"),
    ({"epsilon": "nan", "delta": "1e-6"}, "range"),
    ({"epsilon": "one", "delta": "1e-6"}, "range"),
    ({"epsilon": 1, "delta": 1}, "range"),
    ({"epsilon": 1, "delta": "1e-6", "b": 2}, "either"),
    ({"epsilon": 1, "delta": "1e-6", "d": 0}, "range"),
    ({"epsilon": 1, "delta": "1e-6", "d": "1.5"}, "range"),
    ({"epsilon": 1, "delta": "1e-6", "zeta": 3}, "no such parameter"),
    ({"epsilon": 1, "delta": "1e-6", "keep": "last"}, "range"),
    ({"epsilon": 1, "delta": "1e-6", "d_c": 3}, "d_c"),
    ({"epsilon": 1, "delta": "1e-6", "d_t": 3}, "d_t limits transitions"),
    ({"epsilon": 1, "delta": "1e-6", "variant": "published", "tables": ["queries", "transitions"]}, "releases none"),
    ({"b_t": 2, "tables": ["transitions"]}, "raw parameters"),
    ({"b": 2}, "raw parameters"),
    ({"b": 2, "K": 5, "b_q": 3}, "raw parameters"),
    ({"epsilon": 1, "delta": "1e-6", "variant": "loose"}, "variant"),
    ({"epsilon": 1, "delta": "1e-6", "neighbours": "twins"}, "neighbouring"),
    ({"epsilon": 1, "delta": "1e-6", "tables": ["sessions"]}, "table"),
    ({"epsilon": 1, "delta": "1e-6", "variant": "published", "neighbours": "replace"}, "add-remove"),
    ({"epsilon": 1, "delta": "1e-6", "variant": "published", "tables": ["queries", "clicks"]}, "result list"),
    ({"epsilon": 1, "delta": "1e-6", "variant": "published", "keep": "random"}, "first"),
    ({"epsilon": 1, "delta": "1e-6", "serp": SERP, "tables": ["queries"]}, "both"),
]


@pytest.mark.parametrize(("settings", "word"), BAD)
def test_bad_parameters_are_named(settings: dict[str, Any], word: str) -> None:
    with pytest.raises(ParameterError, match=word):
        Korolova(**settings)


def test_the_mass_at_the_threshold_passes() -> None:
    """The rule is >=: a value exactly at T is released, one below is not."""
    mechanism = Korolova(b=1, K=9, d=1)
    released = mechanism.draw({"queries": LocalCounts(np.array([9, 10, 11]))}, NoNoise())["queries"]
    assert released.ids.tolist() == [1, 2]
    assert values_of(released) == [10, 11]


def test_clicks_of_a_list_cover_every_listed_url_of_a_released_query() -> None:
    log: list[Event] = [(f"user{i}", i, "a", "u1" if i < 3 else "elsewhere") for i in range(20)]
    log += [("user0", 50, "b", "u1")]
    mechanism = Korolova(b=1, K=9, b_c=1, d=2, d_c=2, serp=SERP)
    seen = measured(Subject.of(mechanism), log)
    clicks = mechanism.draw(seen.counts, NoNoise())["clicks"]
    rows = {seen.keys["clicks"][i]: v for i, v in zip(clicks.ids.tolist(), values_of(clicks), strict=True)}
    assert rows == {("a", "u1"): 3, ("a", "u2"): 0}, "b is not released, `elsewhere` is not listed"


def test_sd_of_the_discrete_laplace() -> None:
    x = np.arange(-4000, 4001)
    mass = np.exp(-np.abs(x) / 20.0)
    expected = math.sqrt(float((mass * x * x).sum() / mass.sum()))
    assert math.isclose(laplace_sd(Fraction(20)), expected, rel_tol=1e-9)


def test_query_to_query_edges_by_hand() -> None:
    """The first d_t distinct pairs of a user count once each; the threshold is their own, and so is their noise."""
    log: list[Event] = [
        (f"user{i}", t, query, None) for i in range(10) for t, query in enumerate(("jaguar", "jaguar car"))
    ]
    log += [("user0", 2, "jaguar", None), ("user0", 3, "jaguar car", None), ("user0", 9000, "news", None)]
    mechanism = Korolova(b_t=1, K_t=9, d_t=1, tables=["transitions"])
    seen = measured(Subject.of(mechanism), log)
    assert {seen.keys["transitions"][i]: n for i, n in enumerate(seen.counts["transitions"].n.tolist())} == {
        ("jaguar", "jaguar car"): 10
    }, "one pair a user, and no pair across a pause"
    assert values_of(mechanism.draw(seen.counts, NoNoise())["transitions"]) == [10]
    assert mechanism.steps()[0].threshold == 10 and mechanism.proven().epsilon == 1
    both = Korolova(epsilon=2, delta="1e-6", d=3, d_t=4, tables=["queries", "transitions"])
    assert {s.name: s.scale for s in both.steps()} == {"queries": 3, "transitions": 4}, (
        "ε is halved, each part by its limit"
    )
    proven = both.proven()
    assert proven.epsilon == 2 and proven.delta is not None and proven.delta <= 1e-6
