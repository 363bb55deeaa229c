"""safelog: parameters, the paper's formulas, what is stated, and what it does to arrays."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from fractions import Fraction
from itertools import pairwise, permutations, product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from hubbub import Safelog
from hubbub.audit.checks.closed import ClosedNoise
from hubbub.audit.checks.counts import NoNoise
from hubbub.errors import ParameterError
from hubbub.mechanisms.safelog import paper
from hubbub.mechanisms.safelog.absent import excesses, passing
from hubbub.mechanisms.safelog.calibrate import above, nobody
from hubbub.mechanisms.safelog.words import largest_scale
from hubbub.noise import SeededNoise
from hubbub.privacy.account import Domain, release_probability
from hubbub.privacy.guarantee import Definition
from hubbub.public.lists import QueryPool, UrlList
from hubbub.steps.counts import LocalCounts
from hubbub.steps.pairs import LocalPairs
from hubbub.testing import check_mechanism

NAMES = ["apple", "mango", "zebra", "éclair"]
POOL = QueryPool("pool", pa.table({"query": NAMES}), "0" * 64, len(NAMES), "made up")
SERP = UrlList("list", pa.table({"query": ["apple", "zebra"], "url": ["site1", "site2"]}), "0" * 64)


@pytest.mark.parametrize(
    "settings",
    [
        {"epsilon": 1},
        {"epsilon": 1, "tables": ["queries"], "neighbours": "replace"},
        {"epsilon": "0.5", "serp": SERP, "q_f": 2, "c_f": 3, "c_t": 1},
        {"b": "3/2", "K": "4.5", "tables": ["queries"]},
        {"epsilon": 4, "variant": "published", "q_f": 2},
        {"epsilon": 20, "variant": "published", "q_f": 2, "p_g": "0.9", "tau": 1, "tables": ["queries", "clicks"]},
    ],
)
def test_the_contract_holds(settings: dict[str, Any]) -> None:
    check_mechanism(Safelog(pool=POOL, **settings))


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"epsilon": 1, "delta": "1e-6"}, "takes no δ"),
        ({"epsilon": 1, "K": "0.5"}, "K"),
        ({"epsilon": 1, "variant": "published", "p_g": 0}, "p_g"),
        ({"epsilon": 1, "variant": "published", "p_g": "1.5"}, "p_g"),
        ({"epsilon": 1, "p_g": "0.5"}, "other variant"),
        ({"epsilon": 1, "b_q": 3}, "values that passed"),
        ({"epsilon": 1, "variant": "published", "c_t": 3}, "other variant"),
        ({"epsilon": 1, "b": 3}, "not both"),
        ({"b": 3}, "other noise scales"),
        ({}, "privacy budget"),
        ({"epsilon": 1, "tables": ["transitions"]}, "queries are needed"),
        ({"epsilon": 1, "tables": ["queries", "clicks"]}, "result list"),
        ({"epsilon": 1, "serp": SERP, "tables": ["queries"]}, "result list"),
        ({"epsilon": 1, "tables": ["queries"], "c_t": 3}, "not released"),
        ({"epsilon": 1, "variant": "published", "serp": SERP}, "no result list"),
        ({"epsilon": 1, "variant": "published", "neighbours": "replace"}, "add-remove"),
        ({"epsilon": 2, "variant": "published", "p_g": "0.5"}, "p_g alone"),
        ({"epsilon": 1, "variant": "published", "K": 2}, "K is too small"),
        ({"epsilon": "1e-6"}, "cannot be drawn"),
        ({"epsilon": 1, "pool": None}, "public pool"),
    ],
)
def test_bad_parameters(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        Safelog(**({"pool": POOL} | settings))


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "7/3", "20"])
@pytest.mark.parametrize("serp", [None, SERP])
def test_strict_calibration_is_exact_and_pure(neighbours: str, epsilon: str, serp: UrlList | None) -> None:
    mechanism = Safelog(pool=POOL, epsilon=epsilon, neighbours=neighbours, serp=serp, q_f=3, c_t=7)
    proven = mechanism.proven()
    assert proven.definition is Definition.PURE and proven.delta == 0 and proven.private
    assert math.isclose(proven.epsilon or 0, float(Fraction(epsilon)), rel_tol=1e-15)
    total = sum(Fraction(mechanism.settings[limit]) / Fraction(mechanism.settings[b]) for limit, b in _parts(mechanism))
    assert total * (2 if neighbours == "replace" else 1) == Fraction(epsilon), "q_f/b + c_f/b_c + c_t/b_t"
    assert all(step.domain is Domain.CLOSED for step in mechanism.steps())


def _parts(mechanism: Safelog) -> list[tuple[str, str]]:
    return [(limit, b) for limit, b in (("q_f", "b"), ("c_f", "b_c"), ("c_t", "b_t")) if b in mechanism.settings]


@pytest.mark.parametrize("epsilon", ["3", "8", "30"])
@pytest.mark.parametrize("p_g", ["1", "0.99", "0.9"])
def test_published_calibration_meets_equation_2(epsilon: str, p_g: str) -> None:
    mechanism = Safelog(pool=POOL, epsilon=epsilon, p_g=p_g, q_f=5, variant="published")
    claim = mechanism.claimed()
    assert claim.epsilon is not None and claim.epsilon <= float(epsilon) * (1 + 1e-9)
    assert claim.epsilon > 0.999 * float(epsilon) and not claim.holds
    assert not mechanism.proven().private and len(mechanism.caveats()) >= 9


def test_the_papers_turning_points() -> None:
    """Figure 5: the b at which equation (2) is smallest."""
    for p_g, points in paper.FIGURE_5.items():
        for K, b in points.items():
            found = paper.turning_point(K, p_g)
            assert found is not None and abs(found - b) < 0.005, (p_g, K, found)
            below, at, beyond = (paper.log_alpha(found * f, K, p_g) for f in (0.99, 1.0, 1.01))
            assert at < below and at < beyond
    assert paper.turning_point(100, 0.4) is None, "the first entry leads everywhere"


def test_the_exact_bound_has_no_turning_point_and_is_below_the_papers() -> None:
    for p_g in (1.0, 0.95, 0.5):
        for K in (1, 10, 100):
            exact = [paper.exact_selection(5, b, p_g) for b in np.linspace(0.5, 500, 400)]
            assert all(one > other for one, other in pairwise(exact)), "decreasing in b"
            assert all(
                e <= 5 * paper.log_alpha(b, K, p_g) + 1e-12
                for e, b in zip(exact, np.linspace(0.5, 500, 400), strict=True)
            )
    assert round(paper.exact_selection(10, 10) + 10 / 10 + 10 / 10, 2) == 3.00, "Table 3's first row, done exactly"


def test_the_papers_table_3_leaves_the_transitions_out() -> None:
    for limit, printed in paper.TABLE_3.items():
        assert round(paper.table_3(limit), 2) == printed
    with_them = [paper.table_3(limit) + (limit - 1) / 10 for limit in paper.TABLE_3]
    assert [round(e, 2) for e in with_them] == [5.17, 26.26, 52.63, 78.99, 105.35]
    run = {"q_f": 10, "c_f": 10, "b": 10, "K": 10, "b_q": 10, "b_c": 10, "b_t": 10}
    claim = Safelog(pool=POOL, variant="published", **run).claimed()
    assert round(claim.epsilon or 0, 2) == 5.17, "the card claims equation (2), not the table"
    assert round(paper.epsilon(q_f=100, c_f=100, b=10, K=500, b_q=10, b_c=10), 2) == 30.00, "printed 29.99"


def test_thresholds_expect_one_key_of_nobody() -> None:
    for b in (Fraction(1, 2), Fraction(3), Fraction(200)):
        for keys in (2, 5000, 10**6):
            K = above(b, keys)
            assert keys * nobody(b, K + 1) <= 1 + 1e-9
            assert K == 1 or keys * nobody(b, K) > 1
            assert largest_scale(K, keys) >= float(b) * (1 - 1e-9) or K == 1
    assert "at most" in Safelog(pool=POOL, epsilon=1).spurious()
    half = Safelog(pool=POOL, b=1, K="9.5", tables=["queries"])
    assert half.thresholds() == {"queries": 10}, "> 9.5 is >= 10"


def test_the_card_repeats_the_pool() -> None:
    again = QueryPool.read(json.loads(json.dumps(POOL.record())))
    assert (again.name, again.sha256, again.size, again.source) == (POOL.name, POOL.sha256, POOL.size, POOL.source)
    assert Safelog(pool=again, epsilon=1).spurious() == Safelog(pool=POOL, epsilon=1).spurious()


# ------------------------------------------------------------------ arrays


@pytest.mark.parametrize("size", [2, 3, 7])
def test_every_ordered_pair_has_a_place(size: int) -> None:
    keys = np.arange(5, 5 + 3 * size, 3)
    ids = LocalPairs.at(np.arange(size * (size - 1)), keys)
    assert (np.diff(ids) > 0).all()
    assert {(i >> 32, i & 0xFFFFFFFF) for i in ids.tolist()} == set(permutations(keys.tolist(), 2))


def test_huge_domains_cost_nothing() -> None:
    """10^12 pairs of nobody, of which about one passes."""
    noise = SeededNoise(1)
    T = above(Fraction(10), 10**12) + 1
    many = [passing(noise, "pairs", Fraction(10), T, 10**12).size for _ in range(50)]
    assert 15 < sum(many) < 110
    assert excesses(noise, "pairs", Fraction(10), 0).size == 0
    assert excesses(noise, "pairs", Fraction(10), 1000).min() >= 0


def test_the_joint_law_is_that_of_one_draw_a_key() -> None:
    """Lemma 3, exactly: keys of count 0, 1, 0, every run enumerated; values from T + 2 on are one."""
    mechanism, counted = Safelog(pool=POOL, b=1, K=1, tables=["queries"]), [0, 1, 0]
    law, high = defaultdict[tuple[int, ...], float](float), 4
    noise = ClosedNoise(reach=high)
    for _ in noise.runs():
        out = mechanism.draw({"queries": LocalCounts(np.array(counted))}, noise)["queries"]
        assert out.values is not None
        shown = dict(zip(out.ids.tolist(), np.minimum(out.values, high).tolist(), strict=True))
        assert len(shown) == out.ids.size, "a key shows twice"
        law[tuple(shown.get(key, 0) for key in range(3))] += noise.mass
    tail = {n: [float(release_probability(Fraction(1), t, n)) for t in (2, 3, 4)] for n in (0, 1)}
    each = {n: {0: 1 - at[0], 2: at[0] - at[1], 3: at[1] - at[2], 4: at[2]} for n, at in tail.items()}
    for values in product((0, 2, 3, 4), repeat=3):
        expected = math.prod(each[n][value] for n, value in zip(counted, values, strict=True))
        assert math.isclose(law.pop(values), expected, rel_tol=1e-12), values
    assert not law


def test_strict_publishes_the_value_that_passed() -> None:
    mechanism = Safelog(pool=POOL, b=1, b_t=1, K=3, K_t=2)
    counts = {
        "queries": LocalCounts(np.array([9, 0, 5, 2])),
        "transitions": LocalPairs(np.array([4, 1, 7]), np.array([0, 0, 3]), np.array([2, 3, 0]), ""),
    }
    out = mechanism.draw(counts, NoNoise())
    assert out["queries"].ids.tolist() == [0, 2]
    assert out["queries"].values is not None and out["queries"].values.tolist() == [9, 5]
    assert out["transitions"].ids.tolist() == [(0 << 32) | 2], "one query of the others was not released"
    assert out["transitions"].values is not None and out["transitions"].values.tolist() == [4]


def test_every_pair_may_show_and_no_query_follows_itself() -> None:
    mechanism = Safelog(pool=POOL, b="1/50", b_t=1000, K=1, K_t=1)
    n = np.full(4, 50)
    counts = {"queries": LocalCounts(n), "transitions": LocalPairs(*(np.zeros(0, np.int64),) * 3, "")}
    seen: set[tuple[int, int]] = set()
    for seed in range(20):
        out = mechanism.draw(counts, SeededNoise(seed))["transitions"]
        assert out.values is not None and (out.values >= 2).all() and np.unique(out.ids).size == out.ids.size
        seen |= {(i >> 32, i & 0xFFFFFFFF) for i in out.ids.tolist()}
    assert seen == {(i, j) for i in range(4) for j in range(4) if i != j}


def test_one_released_query_has_no_pairs() -> None:
    mechanism = Safelog(pool=POOL, b="1/50", b_t=1, K=10, K_t=1)
    counts = {
        "queries": LocalCounts(np.array([50, 0, 0, 0])),
        "transitions": LocalPairs(np.array([3]), np.array([0]), np.array([1]), ""),
    }
    out = mechanism.draw(counts, SeededNoise(1))
    assert out["queries"].ids.tolist() == [0] and out["transitions"].ids.size == 0


def test_too_many_pairs_of_the_published_form_are_refused() -> None:
    pool = QueryPool("pool", None, "0" * 64, 5000, "made up")
    mechanism = Safelog(
        pool=pool, variant="published", q_f=1, b=1, b_q=1, b_t=1, K=1, tables=["queries", "transitions"]
    )
    n = np.full(5000, 100)
    counts = {"queries": LocalCounts(n), "transitions": LocalPairs(*(np.zeros(0, np.int64),) * 3, "")}
    with pytest.raises(ParameterError, match="too many rows"):
        mechanism.draw(counts, SeededNoise(1))
