"""optimal: certificates against an independent exact solver, and against a solver that lies."""

from __future__ import annotations

import dataclasses
import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp
from tests.unit.mechanisms.optimal.test_optimal import LN2, SILENT, edges, made_up

from hubbub.mechanisms.optimal.published import facets, frequent, highs, linear, search
from hubbub.mechanisms.optimal.published.branch import Packing, Tree
from hubbub.mechanisms.optimal.published.diverse import most_pairs
from hubbub.mechanisms.optimal.published.exact import shares
from hubbub.mechanisms.optimal.published.frequent import keep_frequent
from hubbub.mechanisms.optimal.published.problem import Integers, Limit, Problem, read
from hubbub.mechanisms.optimal.published.size import largest
from hubbub.steps.mode import RunMode

LIMITS = (
    LN2,
    Limit(Fraction(2), Fraction(1, 3)),
    Limit(Fraction(1), Fraction(3, 5)),
    Limit(Fraction(7, 10), Fraction(9, 10)),  # here ε binds
    Limit(Fraction(1, 2), Fraction(1, 2)),
)


def least_stay(limit: Limit) -> Fraction:
    """The least probability not to be drawn: 1 − δ, or e^−ε to 60 digits (no product of fractions is that near)."""
    with localcontext() as context:
        context.prec = 60
        power = (-Decimal(limit.epsilon.numerator) / Decimal(limit.epsilon.denominator)).exp()
    return max(1 - limit.delta, Fraction(power))


def exact_optimum(problem: Problem, limit: Limit, *, one: bool) -> int:
    """The largest Σ x, by trying everything with fractions; a branch ends when its pairs alone cannot be better."""
    least = least_stay(limit)
    pairs = []
    for j in range(problem.shape[1]):
        at = problem.pairs == j
        total = int(problem.totals[j])
        stay = {
            int(k): Fraction(total - int(c), total) for k, c in zip(problem.users[at], problem.counts[at], strict=True)
        }
        hardest, most = min(stay.values()), 0
        while hardest ** (most + 1) >= least and not (one and most):
            most += 1
        pairs.append((most, stay))
    pairs.sort(key=lambda pair: -pair[0])
    rest = [sum(most for most, _ in pairs[at:]) for at in range(len(pairs) + 1)]
    best = 0

    def tried(at: int, found: int, stays: dict[int, Fraction]) -> None:
        nonlocal best
        best = max(best, found)
        if at == len(pairs) or found + rest[at] <= best:
            return
        most, stay = pairs[at]
        chain = [stays]
        while len(chain) <= most:
            after = chain[-1] | {k: chain[-1].get(k, Fraction(1)) * p for k, p in stay.items()}
            if any(after[k] < least for k in stay):
                break
            chain.append(after)
        for n in range(len(chain) - 1, -1, -1):
            tried(at + 1, found + n, chain[n])

    tried(0, 0, {})
    return best


@pytest.mark.parametrize("seed", range(20))
def test_two_hundred_certificates_are_the_exact_optimum(seed: int) -> None:
    """Ten problems a seed, size or diverse in turn; every fifth is also solved by branch and cut without presolve."""
    for at in range(10):
        number = 10 * seed + at
        limit, one = LIMITS[number % len(LIMITS)], number % 2 == 0
        problem = made_up(5000 + number, 7 + number % 6, 8 + number % 5, most=2 + number % 4)
        best = exact_optimum(problem, limit, one=one)
        found = (most_pairs if one else largest)(problem, limit, 10, SILENT)
        assert (found.certificate.objective, found.certificate.upper_bound) == (best, best), number
        assert problem.broken(found.x, limit, every=True).size == 0
        if at % 5 == 0:
            rows = LinearConstraint(problem.matrix.toarray(), ub=limit.bound + 1e-9)
            top = 1 if one else 50
            cut = milp(
                -np.ones(problem.shape[1]),
                integrality=np.ones(problem.shape[1], np.int64),
                bounds=Bounds(0, top),
                constraints=rows,
                options={"presolve": False},
            )
            assert cut.x is not None and round(float(cut.x.sum())) == best, number


@pytest.mark.parametrize("seed", range(6))
def test_a_lying_solver_makes_no_false_certificate(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole numbers: nothing found, and said to be optimal. Prices: noise. The bound stays above the optimum."""
    dice = np.random.default_rng(seed)

    def lying(matrix: Any, upper: Any, weights: Any, **options: Any) -> Any:
        found = honest(matrix, upper, weights, **options)
        false: dict[str, Any] = {"x": np.zeros(matrix.shape[1]), "status": "Optimal", "bound": 0.0}
        if not options.get("integer"):
            false = {"duals": dice.uniform(-1, 1, matrix.shape[0])}
        return dataclasses.replace(found, **{k: v for k, v in false.items() if hasattr(found, k)})

    honest = highs.solve
    for module in (linear, search, facets, frequent):
        monkeypatch.setattr(module, "solve", lying)
    problem = made_up(7000 + seed, 8, 9)
    for one, solve in ((True, most_pairs), (False, largest)):
        certificate = solve(problem, LN2, 2, SILENT).certificate
        best = exact_optimum(problem, LN2, one=one)
        assert certificate.objective <= best <= certificate.upper_bound
    rows = exact_optimum(problem, LN2, one=False)
    asked = problem, LN2, rows, Fraction(1, 20), 2.0, SILENT
    false = keep_frequent(*asked).certificate
    monkeypatch.undo()
    true = keep_frequent(*asked).certificate
    assert true.certified and true.objective <= false.upper_bound + 1e-12


@pytest.mark.slow
def test_the_log_on_which_the_solver_was_wrong(tmp_path: Path) -> None:
    """With presolve the solver called 259 or 260 the optimum of these rows, where 261 is feasible."""
    from tests.made_up import synthesise

    from hubbub.log import read_log

    synthesise(2500, tmp_path / "log.parquet", seed=7)
    with read_log(tmp_path / "log.parquet") as log:
        problem = read(log, RunMode(bytes(16)))
    certificate = most_pairs(problem, LN2, 15, SILENT).certificate
    assert 250 < certificate.objective <= certificate.upper_bound
    assert 261 <= certificate.upper_bound < 280


def test_a_tie_that_floats_cannot_see_is_decided_in_integers() -> None:
    """Two users who share a pair equally, at a δ that is a hair below 1/2: rows of floats allow it, integers do not."""
    hair = Limit(Fraction(7, 10), Fraction(1, 2) - Fraction(1, 10**30))
    path = edges((0, 1), (1, 2), (2, 3))
    assert largest(path, hair, 5, SILENT).certificate.upper_bound == 0
    four = Problem.of(np.repeat(np.arange(4), 2), np.tile([0, 1], 4), np.ones(8, np.int64))  # two pairs of four users
    two = Limit(Fraction(7, 10), 1 - Fraction(9, 16))  # (3/4)²: both rows, a tie
    assert largest(four, two, 5, SILENT).certificate.objective == 2
    below = Limit(Fraction(7, 10), 1 - Fraction(9, 16) - Fraction(1, 10**30))
    certificate = largest(four, below, 5, SILENT).certificate
    assert (certificate.objective, certificate.upper_bound) == (1, 1)


@pytest.mark.parametrize("seed", range(8))
def test_branches_with_a_given_size_leave_nothing_out(seed: int) -> None:
    """Σ x = size, worths of either sign: against every x."""
    dice = np.random.default_rng(seed)
    problem = made_up(seed, 6, 5, most=3)
    rows, top = shares(problem.matrix, 1.2), np.full(problem.shape[1], 2)
    limit = Limit(Fraction(12, 10), Fraction(99, 100))
    worth = dice.integers(-8, 9, problem.shape[1]) / 8

    def allowed(x: Integers) -> bool:
        return not problem.broken(x, limit).size

    every = [np.array(x) for x in itertools.product(range(3), repeat=problem.shape[1])]
    for size in range(1, 5):
        values = [float(worth @ x) for x in every if x.sum() == size and allowed(x)]
        found = [-math.inf]

        def best(found: list[float] = found) -> float:
            return max(found)

        def offer(x: Integers, found: list[float] = found) -> None:
            found.append(float(worth @ x))

        bound = Tree(Packing(rows, top, worth, allowed, size), 1e-6).run(lambda: 5.0, best, offer, 100.0)
        assert max(found) == max(values, default=-math.inf)
        assert not values or 0 <= bound - max(values) <= 2e-6


def test_the_problem_as_printed_has_no_cap_and_its_sizes_are_feasible() -> None:
    """Four frequent pairs that one user holds most of, and three others of ten users with space for many rows."""
    entries = [(k, j, 9 if k == j else 1) for j in range(4) for k in (j, 4 + j, 5 + j)]
    entries += [(k, j, 1) for j in (4, 5, 6) for k in range(10 * j, 10 * j + 10)]
    k, j, c = (np.array(column) for column in zip(*entries, strict=True))
    problem = Problem.of(np.unique(k, return_inverse=True)[1], j, c)
    limit, support = Limit(Fraction(3), Fraction(9, 10)), Fraction(1, 7)
    most = int(largest(problem, limit, 5, SILENT).certificate.objective)
    assert most > 60
    for size in (20, most):
        found = keep_frequent(problem, limit, size, support, 5, SILENT)
        assert found.certificate.certified and found.certificate.rows == size and found.certificate.gap < 1e-6
    capped = keep_frequent(problem, limit, 20, support, 5, SILENT, cap=True).certificate
    printed = keep_frequent(problem, limit, 20, support, 5, SILENT).certificate
    assert printed.objective > capped.objective or not capped.certified
    assert f"without the cap {printed.objective:.6g} is reached" in capped.note
    short = keep_frequent(problem, limit, most, support, 2, SILENT, cap=True).certificate
    assert not short.certified and "not certified" in str(short) and short.record()["certified"] is False
