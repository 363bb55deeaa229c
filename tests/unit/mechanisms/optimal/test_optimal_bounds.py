"""optimal: rows for whole numbers cut off no solution, written down one by one; facets are the tightest of them."""

from __future__ import annotations

import itertools
import math
import time

import numpy as np
import pytest
from tests.unit.mechanisms.optimal.test_optimal import LN2, allowing, edges, made_up

from hubbub.errors import OurBug
from hubbub.mechanisms.optimal.published import facets, linear
from hubbub.mechanisms.optimal.published.certificate import certify
from hubbub.mechanisms.optimal.published.exact import GRAIN, down, shares
from hubbub.mechanisms.optimal.published.facets import Facets, facet
from hubbub.mechanisms.optimal.published.pack import tops
from hubbub.mechanisms.optimal.published.problem import TOLERANCE, Floats, Integers, Limit
from hubbub.mechanisms.optimal.published.search import WORSE, Best, Search
from hubbub.mechanisms.optimal.published.strengthen import Conflicts, whole_rows
from hubbub.mechanisms.optimal.published.upper import Upper

FAR = math.inf


def within(need: Floats, top: Integers) -> Floats:
    """Every way to take whole numbers of rows that one user's bound allows; needs are shares of it."""
    ways = np.array(list(itertools.product(*(range(n + 1) for n in top.tolist()))), np.float64)
    kept: Floats = ways[ways @ need <= 1]
    return kept


@pytest.mark.parametrize("seed", range(10))
def test_a_facet_holds_for_every_way_and_is_reached_by_one(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two thousand users in all; with little space most pairs are lifted."""
    if seed % 2:
        monkeypatch.setattr(facets, "MOST", 6)
    dice = np.random.default_rng(seed)
    cut = 0
    for _ in range(200):
        need = -np.log1p(-1 / dice.integers(2, 9, int(dice.integers(2, 6))))
        most = np.floor(LN2.bound / need * (1 + 1e-9)).astype(np.int64)
        top = np.ones_like(most) if seed % 3 else most
        x = dice.uniform(0, 1, need.size) * np.minimum(top, 2) * (dice.random(need.size) < 0.8)
        need = down(need / LN2.bound)
        row = facet(need, top, x)
        if row is not None:
            cut += 1
            reached = float((within(need, top) @ row).max())
            assert 1 - 10 * facets.GRID < reached <= 1
            assert (row / facets.GRID == np.rint(row / facets.GRID)).all()
            assert row @ x > 1
    assert cut > 20


def test_a_facet_is_known_by_hand() -> None:
    """Three pairs of three users each need 0.585 B: one at a time, so their sum is at most 1."""
    need, ones = down(np.full(3, math.log(1.5) / LN2.bound)), np.ones(3, np.int64)
    row = facet(need, ones, np.full(3, 0.5))
    assert row is not None and row == pytest.approx(1, abs=1e-6)
    assert facet(need, ones, np.full(3, 1 / 3)) is None  # a third of each is in the hull


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("one", [True, False])
def test_no_row_cuts_off_a_solution(seed: int, one: bool) -> None:
    """Dual feasible functions, cliques and facets against every solution of a thousand small problems."""
    dice = np.random.default_rng(seed)
    for at in range(64):
        problem = made_up(1000 * seed + at, 5, int(dice.integers(3, 6)))
        usable = problem.usable(LN2)
        if not usable.size:
            continue
        matrix = problem.matrix[:, usable]
        top = np.ones(usable.size, np.int64) if one else tops(problem, LN2, usable)
        ways = np.array(list(itertools.product(*(range(n + 1) for n in top.tolist()))), np.float64)
        ways = ways[(ways @ matrix.T.toarray() <= LN2.bound + TOLERANCE).all(axis=1)]
        x = dice.uniform(0, 1, usable.size) * top
        exact = shares(matrix, LN2.bound)
        for rows in (
            whole_rows(exact).tocsr(),
            Conflicts(exact, top).violated(x),
            Facets(exact, top, lambda: FAR).violated(x),
        ):
            assert rows is None or np.asarray(rows @ ways.T).max(initial=0.0) <= 1
            assert rows is None or (rows.data / GRAIN == np.rint(rows.data / GRAIN)).all()


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("goal", ["size", "diverse"])
def test_facets_lower_the_bound_and_stay_above_what_is_found(
    seed: int, goal: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Upper, "_branch", lambda *_: False)  # rows alone
    problem = made_up(seed, 40, 90)
    limit: Limit = LN2
    usable = problem.usable(limit)
    matrix = problem.matrix[:, usable]
    top = np.ones(usable.size, np.int64) if goal == "diverse" else tops(problem, limit, usable)
    first = linear.relax(shares(matrix, limit.bound), top.astype(float), 5)
    nothing = np.zeros(usable.size, np.int64)

    def bound() -> int:
        allowed = allowing(problem, limit)
        with Upper(matrix, limit.bound, top, first, time.monotonic() + 10, Best(nothing), allowed) as upper:
            pass
        return upper.value

    with_facets = bound()
    monkeypatch.setattr(Facets, "violated", lambda *_: None)
    assert with_facets <= bound() <= first.bound
    search = Search(matrix, limit.bound, nothing, top)
    found = search.run(time.monotonic() + 0.5, lambda n: n >= with_facets, lambda _: None)
    assert 0 < found.sum() <= with_facets


@pytest.mark.slow
def test_the_search_is_never_worse_than_its_start() -> None:
    problem = made_up(9, 60, 120)
    usable = problem.usable(LN2)
    matrix = problem.matrix[:, usable]
    search = Search(matrix, LN2.bound, np.zeros(usable.size, np.int64), np.ones(usable.size, np.int64))
    before = 0
    for _ in range(15):
        search.step(time.monotonic() + 0.3)
        assert search.objective >= before
        assert (matrix @ search.x <= LN2.bound + TOLERANCE).all()
        assert search.load == pytest.approx(matrix @ search.x, abs=1e-9)
        before = search.objective
    assert before > 0


@pytest.mark.slow
def test_two_searches_share_the_best_and_one_that_falls_behind_follows() -> None:
    problem = made_up(9, 60, 120)
    matrix, ones = problem.matrix[:, problem.usable(LN2)], np.ones(problem.usable(LN2).size, np.int64)
    best = Best(np.zeros(ones.size, np.int64))
    one, other = (Search(matrix, LN2.bound, best, ones, seed) for seed in (1, 2))
    one.step(time.monotonic() + 5)
    ahead = best.objective
    assert one.x.sum() == one.objective == other.objective == ahead > WORSE
    assert other.x.sum() == 0
    other.size = 8.0  # a region, not the whole
    other.step(time.monotonic() + 5)
    assert ahead - WORSE <= other.x.sum() <= best.objective
    best.offer(np.zeros(ones.size, np.int64))
    assert best.objective >= ahead


def test_where_branching_would_not_end_the_rest_of_the_time_is_a_second_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hubbub.mechanisms.optimal.published.upper.BRANCHED", 0)
    problem = edges(*((i, i + 1) for i in range(11)))  # a path of 12 users: 6 pairs at best
    matrix, ones = problem.matrix, np.ones(11, np.int64)
    best = Best(np.zeros(11, np.int64))
    first = linear.relax(shares(matrix, LN2.bound), ones.astype(float), 5)
    with Upper(matrix, LN2.bound, ones, first, time.monotonic() + 5, best, allowing(problem, LN2)) as upper:
        pass
    assert best.objective == upper.value == 6


def test_facets_stop_when_time_is_up() -> None:
    problem = made_up(4, 30, 60)
    top = np.ones(problem.shape[1], np.int64)
    x = np.full(problem.shape[1], 0.5)
    rows = shares(problem.matrix[:, problem.usable(LN2)], LN2.bound)
    assert Facets(rows, top[: rows.shape[1]], lambda: FAR).violated(x[: rows.shape[1]]) is not None
    assert Facets(rows, top[: rows.shape[1]], lambda: 0.0).violated(x[: rows.shape[1]]) is None


def test_a_solution_above_its_bound_is_a_bug() -> None:
    problem = made_up(3, 6, 5)
    nothing = np.zeros(problem.shape[1], np.int64)
    assert certify(problem, nothing, LN2, "size", 0, 0).gap == 0
    with pytest.raises(OurBug, match="above the bound"):
        certify(problem, nothing, LN2, "size", 2, 1)
