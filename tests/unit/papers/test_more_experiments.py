"""The experiments beyond the first set: Hong's problems, t-tests, applications, and logs of five times the users."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import ttest_1samp, ttest_ind_from_stats, ttest_rel

from hubbub.mechanisms.optimal.published.problem import Problem
from hubbub.papers.experiments import hong_diverse, hong_frequent, hong_problem, korolova_uses, safelog_more
from hubbub.papers.experiments.lab import Lab, Numbers
from hubbub.papers.experiments.rows import DrawSamples

USERS, SEED = 120, 5
CELL = ("2.0", "0.5")


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with Lab(USERS, SEED, tmp_path_factory.mktemp("lab"), 1) as made:
        yield made


@pytest.fixture(scope="module")
def problem() -> Problem:
    """Three pairs: five users hold the first once each, three the second, two the third."""
    held = (
        [(user, 0, 1) for user in range(5)] + [(user, 1, 1) for user in (0, 1, 5)] + [(user, 2, 1) for user in (5, 6)]
    )
    return Problem.of(*(np.array(column) for column in zip(*held, strict=True)))


def feasible(problem: Problem, most: int) -> list[tuple[int, ...]]:
    """Every x up to a size that breaks nobody's constraint, tried one by one."""
    limit = hong_diverse._limit(CELL)
    every = product(range(most + 1), repeat=problem.shape[1])
    return [x for x in every if not problem.broken(np.array(x), limit).size]


# ------------------------------------------------------------------ Hong et al.


def test_what_is_called_proven_is_the_best_of_all_that_can_be(problem: Problem) -> None:
    """e^ε = 2, δ = 0.5: the goals' optima against every output that the constraints allow."""
    allowed = feasible(problem, 3)
    diverse, size = (hong_problem.solve(problem, CELL, goal) for goal in ("diverse", "size"))
    assert diverse is not None and size is not None
    assert diverse.certificate.objective == max(sum(n > 0 for n in x) for x in allowed if max(x) <= 1)
    assert size.certificate.objective == max(map(sum, allowed))
    found: Numbers = {}
    x = hong_frequent.scored(found, "here", problem, CELL, 2, 3)
    assert x is not None and (found["here gap"] or 0) <= hong_problem.PROVEN
    distances = [
        sum(abs(Fraction(n, 2) - Fraction(int(c), 10)) for n, c in zip(x, problem.totals, strict=True) if 3 * c >= 10)
        for x in allowed
        if sum(x) == 2
    ]
    assert found["here support_distance"] == pytest.approx(float(min(distances)))


def test_a_size_that_cannot_be_has_no_scores(problem: Problem) -> None:
    found: Numbers = {}
    assert hong_frequent.scored(found, "large", problem, CELL, 50, 3) is None
    assert {value for name, value in found.items() if not name.endswith("rows")} == {None}
    none = Problem.of(*(np.zeros(0, np.int64),) * 3)
    assert hong_problem.solve(none, CELL, "size") is None, "no pair of two users"


def test_solvers_of_table_7_stay_within_the_constraints(problem: Problem) -> None:
    limit = hong_diverse._limit(CELL)
    x = hong_diverse.greedy(problem, limit)
    assert x.sum() > 0 and not problem.broken(x, limit).size
    heuristic, best = (hong_problem.solve(problem, CELL, "diverse", solver=solver) for solver in ("spe", "best"))
    assert heuristic is not None and (hong_diverse.algorithm_2(problem, limit) == heuristic.x).all()
    assert best is not None and x.sum() <= best.certificate.objective


def test_twelve_problems_stand_for_forty_nine_cells() -> None:
    cells = list(hong_problem.classes().values())
    bounds = [hong_problem.bound(cell) for cell in cells]
    assert len(cells) == 12 and bounds == sorted(bounds) and bounds[0] == pytest.approx(1e-4, rel=1e-3)
    assert hong_problem.label(("2.3", "0.5")) == hong_problem.label(("2.0", "0.8")) == "B = 0.6931"


def test_difference_ratios_of_triplets(problem: Problem) -> None:
    """All triplets hold one of ten clicks; |O| = 2: a row is five times its share, none is 100 % off."""
    shares = hong_frequent.sampled(problem, np.array([2, 0, 0]), 2, seed=1)
    assert shares == {20: 0, 40: 0, 60: 0, 80: 0, 100: 0}
    ten = hong_frequent.sampled(problem, np.array([5, 3, 2]), 10, seed=1)
    assert ten is not None and 0 < ten[40] < 100, "as many rows as clicks: some users are drawn just once"


def test_a_sentence_says_what_is_proven() -> None:
    draws: list[Numbers] = [{"a": 0.0, "b": 0.02}, {"a": 1e-9, "b": None}]
    told = hong_problem.certified(DrawSamples(draws, 10), ["a", "b"])
    assert told == "Proven to be the optimum: 2 of 3 solutions; the others are within 2 % of it."
    assert hong_problem.certified(DrawSamples(draws, 10), ["a"]).endswith("2 of 2 solutions.")
    assert hong_problem.certified(DrawSamples([], 10), ["a"]) == "No problem has a solution."


# ------------------------------------------------------------------ Safelog's t-test


def test_the_t_tests_are_scipys() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.normal(0.6, 0.1, 30), rng.normal(0.62, 0.1, 30)
    assert safelog_more.paired(a, b) == pytest.approx(ttest_rel(a, b).pvalue)
    room = 0.1 * a.mean()
    sides = [ttest_1samp(x, 0, alternative="greater").pvalue for x in (b - a + room, a - b + room)]
    assert safelog_more.comparable(a, b) == pytest.approx(max(sides))
    assert safelog_more.paired(a, a) == 1 and safelog_more.comparable(a, a) == 0
    assert safelog_more.paired(a, a + 0.5) == 0 and safelog_more.comparable(a, a + 0.5) == 1
    one = np.array([0.5])
    assert safelog_more.paired(one, one) is safelog_more.comparable(one, one) is safelog_more.welch(one, one) is None
    assert safelog_more.comparable(one[:0], one[:0]) is None
    c = b[:9]
    first, second = ((float(x.mean()), float(x.std(ddof=1)), x.size) for x in (a, c))
    known = ttest_ind_from_stats(*first, *second, equal_var=False)
    assert safelog_more.welch(a, c) == pytest.approx(known.pvalue)


# ------------------------------------------------------------------ logs of five times the users, and of one's own


@pytest.mark.slow
def test_a_larger_log_is_of_the_same_draw(lab: Lab) -> None:
    large = lab.fivefold
    assert large is lab.fivefold and (large.users, large.seed) == (5 * USERS, SEED)
    assert large.log("gotz").users() > lab.log("gotz").users()


@pytest.mark.slow
def test_what_a_log_of_ones_own_has_no_more_of(lab: Lab, tmp_path: Path) -> None:
    own = lab.log("aol").ingested.log
    with Lab(USERS, SEED, tmp_path, 1, own) as mine:
        assert mine.fivefold is mine
        found = korolova_uses.fears(mine)
    assert found["d=1 released"] is not None and set(korolova_uses.FEARED) <= {name.split()[1] for name in found}
