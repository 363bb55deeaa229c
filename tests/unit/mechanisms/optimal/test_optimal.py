"""optimal: the constraints decided exactly, the three goals against brute force, the paper's heuristic, the bounds."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from hubbub.errors import OurBug, ParameterError
from hubbub.mechanisms import build
from hubbub.mechanisms.optimal.published import linear, spe
from hubbub.mechanisms.optimal.published.certificate import certify
from hubbub.mechanisms.optimal.published.diverse import most_pairs
from hubbub.mechanisms.optimal.published.exact import shares
from hubbub.mechanisms.optimal.published.frequent import distance, keep_frequent
from hubbub.mechanisms.optimal.published.pack import Say
from hubbub.mechanisms.optimal.published.problem import Integers, Limit, Problem
from hubbub.mechanisms.optimal.published.rounding import fill, give_back
from hubbub.mechanisms.optimal.published.search import Best, Search, parts
from hubbub.mechanisms.optimal.published.size import largest, optimum
from hubbub.mechanisms.optimal.published.upper import Upper
from hubbub.noise import SeededNoise

LN2 = Limit(Fraction(7, 10), Fraction(1, 2))
"""B = ln 1/(1−δ) = ln 2, a tie for two users who share a pair equally."""
SILENT: Say = lambda _: None  # noqa: E731


def edges(*pairs: tuple[int, int]) -> Problem:
    """Pairs that two users each clicked once: at B = ln 2 each uses both of them up."""
    users = np.array([k for pair in pairs for k in pair])
    return Problem.of(users, np.repeat(np.arange(len(pairs)), 2), np.ones(users.size, np.int64))


def made_up(seed: int, users: int, pairs: int, most: int = 4) -> Problem:
    """A random problem: every pair is held by at least two users."""
    dice = np.random.default_rng(seed)
    entries = [
        (k, j, int(dice.integers(1, most)))
        for j in range(pairs)
        for k in dice.choice(users, size=int(dice.integers(2, min(users, 5) + 1)), replace=False).tolist()
    ]
    k, j, c = (np.array(column) for column in zip(*entries, strict=True))
    return Problem.of(np.unique(k, return_inverse=True)[1], j, c)


def allowed(problem: Problem, x: tuple[int, ...], limit: Limit) -> bool:
    """The constraint of every user as the paper writes it, in fractions."""
    for k in range(problem.shape[0]):
        stays = Fraction(1)
        for j, c in zip(problem.pairs[problem.users == k], problem.counts[problem.users == k], strict=True):
            stays *= Fraction(int(problem.totals[j] - c), int(problem.totals[j])) ** x[int(j)]
        if 1 - stays > limit.delta or float(1 / stays) > math.exp(limit.epsilon) * (1 + 1e-12):
            return False
    return True


def everything(problem: Problem, limit: Limit, top: int | None = None) -> list[tuple[int, ...]]:
    """Every x that satisfies the constraints."""
    most = [int(limit.bound / h + 1e-9) if top is None else top for h in problem.hardest]
    return [x for x in itertools.product(*(range(m + 1) for m in most)) if allowed(problem, x, limit)]


def allowing(problem: Problem, limit: Limit) -> Callable[[Integers], bool]:
    """Whether an x of the usable pairs breaks nobody's constraint."""

    def allowed(chosen: Integers) -> bool:
        x = np.zeros(problem.shape[1], np.int64)
        x[problem.usable(limit)] = chosen
        return not problem.broken(x, limit).size

    return allowed


# ------------------------------------------------------------------ oracles


def test_a_path_gives_two_and_a_triangle_one_and_a_half() -> None:
    path, triangle = edges((0, 1), (1, 2), (2, 3)), edges((0, 1), (1, 2), (0, 2))
    assert largest(path, LN2, 5, SILENT).certificate.objective == 2
    relaxed = optimum(triangle, 5)
    assert LN2.bound * relaxed.value == pytest.approx(1.5, abs=1e-6)
    assert np.floor(LN2.bound * relaxed.x + 1e-9).sum() == 0
    solved = largest(triangle, LN2, 5, SILENT).certificate
    assert (solved.objective, solved.upper_bound, solved.gap) == (1, 1, 0)


@pytest.mark.parametrize("seed", range(12))
def test_three_goals_are_the_brute_force_optimum(seed: int) -> None:
    problem = made_up(seed, 6, 5 + seed % 4)
    limit = [LN2, Limit(Fraction(1), Fraction(2, 5)), Limit(Fraction(9, 10), Fraction(4, 5))][seed % 3]
    solutions = everything(problem, limit)
    best = max(sum(x) for x in solutions)
    size = largest(problem, limit, 5, SILENT)
    assert size.certificate.objective == size.certificate.upper_bound == size.x.sum() == best
    diverse = most_pairs(problem, limit, 5, SILENT)
    assert diverse.certificate.objective == max(sum(n > 0 for n in x) for x in solutions) == diverse.x.sum()
    assert diverse.certificate.gap == 0
    if best == 0:
        return
    support = Fraction(1, problem.shape[1] + 1)
    cap = math.ceil(support * best) - 1
    rare = problem.totals * support.denominator < problem.size * support.numerator
    printed = [np.array(x) for x in solutions if sum(x) == best]
    for capped in (False, True):
        fits = [x for x in printed if not capped or x[rare].max(initial=0) <= cap]
        if fits:
            found = keep_frequent(problem, limit, best, support, 5, SILENT, cap=capped)
            nearest = min(distance(problem, x, best, support) for x in fits)
            assert distance(problem, found.x, best, support) == nearest
            assert found.certificate.objective == pytest.approx(float(1 - nearest / 2))
            assert found.certificate.gap < 1e-6 and found.certificate.certified
            assert not capped or (found.x[rare] <= cap).all()  # precision 1
            assert ("without the cap" in found.certificate.note) == capped


@pytest.mark.parametrize("seed", range(5))
def test_the_optimum_is_linear_in_b_and_at_most_users_times_b(seed: int) -> None:
    problem = made_up(seed, 40, 60)
    one = optimum(problem, 5)
    assert one.bound <= problem.shape[0]
    for bound in (0.01, 0.3, 2.0):
        again = linear.relax(shares(problem.matrix, bound), np.full(problem.shape[1], 1e6), 5)
        assert again.value == pytest.approx(bound * one.value, rel=1e-5)
        assert again.value <= problem.shape[0] * bound


def literal(problem: Problem, limit: Limit) -> Integers:
    """Algorithm 2, line by line; it always drops one pair, even if nothing is broken."""
    kept = np.ones(problem.shape[1], np.int64)
    shares = problem.counts / problem.totals[problem.pairs]
    while kept.any():
        alive = kept[problem.pairs] > 0
        at = np.flatnonzero(alive)[np.argmax(shares[alive])]  # line 5: the maximum t_jk
        kept[problem.pairs[at]] = 0  # line 6
        if not problem.broken(kept, limit).size:  # line 7
            break
    return kept


@pytest.mark.parametrize("seed", range(40))
def test_spe_fast_is_spe_literal(seed: int) -> None:
    problem = made_up(seed, 3 + seed % 9, 2 + seed % 13, most=2 + seed % 3)
    for limit in (LN2, Limit(Fraction(1, 5), Fraction(1, 2)), Limit(Fraction(2), Fraction(9, 10))):
        assert spe.fast(problem, limit).tolist() == literal(problem, limit).tolist()


# ------------------------------------------------------------------ exact arithmetic


def test_a_tie_is_allowed_and_a_hair_more_is_not() -> None:
    problem = edges((0, 1))
    one = np.array([1])
    assert problem.broken(one, LN2).size == 0
    hair = Limit(Fraction(7, 10), Fraction(1, 2) - Fraction(1, 10**30))
    assert hair.bound == LN2.bound  # floats cannot tell
    assert problem.broken(one, hair).tolist() == [0, 1]
    assert give_back(problem, one, hair).tolist() == [0]
    with pytest.raises(OurBug):
        certify(problem, one, hair, "size", 1, 1)
    assert largest(problem, LN2, 5, SILENT).x.tolist() == [1]
    assert largest(problem, hair, 5, SILENT).x.tolist() == [0]


def test_e_to_the_epsilon_is_compared_with_enough_digits() -> None:
    just = Fraction(math.log(2))  # the float below ln 2: e^ε < 2, by 2e-17
    assert not Limit(just, Fraction(9, 10)).allows(2, 1)
    assert Limit(just + Fraction(1, 10**15), Fraction(9, 10)).allows(2, 1)


@pytest.mark.parametrize("seed", range(8))
def test_the_exact_check_is_the_papers_inequality(seed: int) -> None:
    problem = made_up(seed, 5, 4)
    dice = np.random.default_rng(seed)
    for _ in range(20):
        x = tuple(dice.integers(0, 3, problem.shape[1]).tolist())
        for every in (False, True):
            assert (problem.broken(np.array(x), LN2, every=every).size == 0) == allowed(problem, x, LN2)


# ------------------------------------------------------------------ parts of the solver


@pytest.mark.parametrize("seed", range(6))
def test_first_order_steps_agree_with_the_interior_point(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = made_up(seed, 60, 90)
    rows, top = shares(problem.matrix, 0.7), np.full(problem.shape[1], 5.0)
    inner = linear.relax(rows, top, 5)
    monkeypatch.setattr(linear, "INTERIOR", 0)
    steps = linear.relax(rows, top, 5)
    assert steps.value <= inner.bound and inner.value <= steps.bound
    assert steps.bound - steps.value <= 2 * linear.ENOUGH * steps.bound
    for found in (inner, steps):
        assert (rows @ found.x <= 1 + 1e-9).all() and (found.x <= top).all()


@pytest.mark.parametrize("seed", range(6))
def test_filling_leaves_no_room_and_breaks_nobody(seed: int) -> None:
    problem = made_up(seed, 30, 50)
    top = np.full(problem.shape[1], 3)
    x = fill(problem.matrix, LN2.bound, np.zeros(problem.shape[1], np.int64), top)
    assert problem.broken(x, LN2).size == 0
    for j in np.flatnonzero(x < top):
        more = x.copy()
        more[j] += 1
        assert problem.broken(more, LN2).size


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("one", [True, False])
def test_every_solution_is_below_the_strengthened_bound(seed: int, one: bool) -> None:
    """Rows for whole numbers and cliques cut off nothing whole: exact optima of small problems stay below."""
    problem = made_up(seed + 100, 7, 7)
    usable = problem.usable(LN2)
    matrix = problem.matrix[:, usable]
    top = (
        np.ones(usable.size, np.int64)
        if one
        else np.maximum(1, (LN2.bound / problem.hardest[usable] + 1e-9).astype(int))
    )
    best = max(sum(x) for x in everything(problem, LN2, 1 if one else None))
    first = linear.relax(shares(matrix, LN2.bound), top.astype(float), 5)
    nothing = Best(np.zeros(usable.size, np.int64), parts(matrix))
    with Upper(matrix, LN2.bound, top, first, time.monotonic() + 5, nothing, allowing(problem, LN2)) as upper:
        pass
    assert upper.value == nothing.objective == best


def test_the_search_never_gets_worse_and_finds_the_optimum() -> None:
    problem = edges(*((i, i + 1) for i in range(11)))  # a path of 12 users: 6 pairs at best
    start = np.zeros(11, np.int64)
    start[[1, 4, 7]] = 1
    search = Search(problem.matrix, LN2.bound, start, np.ones(11, np.int64))
    assert search.run(time.monotonic() + 5, lambda n: n >= 6, lambda _: None).sum() == 6


@pytest.mark.slow
def test_a_solver_that_gives_up_leaves_a_whole_solution_with_its_gap() -> None:
    problem = made_up(1, 300, 600)
    found = largest(problem, LN2, 1, SILENT)
    assert found.certificate.rows == found.x.sum() > 0
    assert 0 <= found.certificate.gap < 1
    assert problem.broken(found.x, LN2, every=True).size == 0


# ------------------------------------------------------------------ drawing


def test_users_are_drawn_in_proportion_to_their_clicks() -> None:
    from hubbub.mechanisms.optimal.sample import expected_users, sample_users

    problem = Problem.of(np.array([0, 1, 2, 1, 2]), np.array([0, 0, 0, 1, 1]), np.array([1, 2, 5, 3, 1]))
    x = np.array([40_000, 20_000])
    pairs, users = sample_users(problem, x, SeededNoise(1))
    first = np.bincount(users[pairs == 0], minlength=3)
    assert np.abs(first - np.array([5_000, 10_000, 25_000])).max() < 500  # five standard deviations
    assert np.bincount(users[pairs == 1], minlength=3)[0] == 0
    assert expected_users(problem, np.array([1, 0])) == pytest.approx(1)


def test_parameters() -> None:
    for settings, variant in (
        ({"epsilon": 1, "delta": "0.5", "O": 5}, "published"),
        ({"epsilon": 1, "delta": "0.5", "d": 5}, "published"),
        ({"epsilon": 1, "delta": "0.5", "target": 5}, "published"),
        ({"epsilon": 1, "delta": "0.5", "solver": "spe"}, "published"),
        ({"epsilon": 1}, "published"),
        ({"epsilon": 1, "delta": "1e-5", "seconds": 5}, "strict"),
        ({"epsilon": 1}, "strict"),
        ({"b": 1}, "strict"),
    ):
        with pytest.raises(ParameterError):
            build("optimal", settings, variant=variant)
    limit = build("optimal", {"epsilon": 1, "delta": "0.5"}, variant="published").limit()  # type: ignore[attr-defined]
    assert limit.bound == pytest.approx(math.log(2))


def test_nothing_is_held_by_two_users() -> None:
    nothing: Integers = np.zeros(0, np.int64)
    mechanism = build("optimal", {"epsilon": 1, "delta": "0.5"}, variant="published")
    with pytest.raises(ParameterError, match="held by two users"):
        mechanism.optimise(Problem.of(nothing, nothing, nothing))  # type: ignore[attr-defined]
