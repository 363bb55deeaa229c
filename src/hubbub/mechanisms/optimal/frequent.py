"""F-UMP: frequent pairs keep their share of the log, with |O| rows in all (Section 5.2).

A pair is frequent if c_j/|D| >= s; its target is τ_j = |O| c_j/|D| rows. −|x_j − τ_j| is concave in whole numbers, so a
pair is three columns: rows below the target are worth +1, the row across it 2(τ_j − ⌊τ_j⌋) − 1, rows above it −1.
Other pairs are capped below s·|O|: then no pair is frequent in the output that was not in the input (precision 1),
which the paper's argument does not imply. The objective is 1 − ½ Σ |x_j/|O| − c_j/|D||, at most 1.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy import sparse

from hubbub.errors import ParameterError
from hubbub.mechanisms.optimal.certificate import certify
from hubbub.mechanisms.optimal.highs import Solution, solve
from hubbub.mechanisms.optimal.pack import Say, Solved, tops
from hubbub.mechanisms.optimal.problem import TOLERANCE, Floats, Integers, Limit, Problem
from hubbub.mechanisms.optimal.rounding import fill, give_back

BRANCHED = 300_000


@dataclass(frozen=True)
class Columns:
    """The model's columns: pairs below, across and above their target; then pairs that are not frequent."""

    pair: Integers
    weight: Floats
    top: Integers


def columns_of(problem: Problem, limit: Limit, size: int, support: Fraction) -> tuple[Columns, list[Fraction]]:
    """Every usable pair's columns, and the target of every frequent pair that is there."""
    usable = problem.usable(limit)
    most = tops(problem, limit, usable)
    whole, c = problem.size, problem.totals
    frequent = c[usable] * support.denominator >= whole * support.numerator
    low = size * c[usable[frequent]] // whole
    across = np.array(
        [
            float(2 * (Fraction(size * int(n), whole) - int(t)) - 1)
            for n, t in zip(c[usable[frequent]], low, strict=True)
        ]
    )
    cap = math.ceil(support * size) - 1  # the largest whole number below s·|O|
    room = most[frequent]
    parts = (
        (usable[frequent], np.ones(room.size), np.minimum(low, room)),
        (usable[frequent], across, np.clip(room - low, 0, 1)),
        (usable[frequent], -np.ones(room.size), np.maximum(room - low - 1, 0)),
        (usable[~frequent], np.zeros(int((~frequent).sum())), np.minimum(most[~frequent], cap)),
    )
    pair, weight, top = (np.concatenate(column) for column in zip(*parts, strict=True))
    held = top > 0
    all_frequent = np.flatnonzero(c * support.denominator >= whole * support.numerator)
    targets = [Fraction(size * int(c[j]), whole) for j in all_frequent]
    return Columns(pair[held], weight[held], top[held].astype(np.int64)), targets


def keep_frequent(problem: Problem, limit: Limit, size: int, support: Fraction, seconds: float, say: Say) -> Solved:
    """|O| = `size` rows whose frequent pairs have the shares they had, as nearly as the constraints allow."""
    until = time.monotonic() + seconds
    columns, targets = columns_of(problem, limit, size, support)
    if not columns.pair.size:
        raise ParameterError(
            "No pair can come out at this (ε, δ).", given=f"B = {limit.bound:.4g}", next="raise ε and δ"
        )
    matrix = problem.matrix[:, columns.pair]
    model = sparse.vstack([matrix, sparse.csc_array(np.ones((1, columns.pair.size)))]).tocsc()
    upper = np.append(np.full(matrix.shape[0], limit.bound), size)
    lower = np.append(np.full(matrix.shape[0], -math.inf), size)
    top = columns.top.astype(np.float64)
    relaxed = solve(
        model, upper, columns.weight, top=top, lower=lower, seconds=seconds / 2, solver="ipm", run_crossover="off"
    )
    if relaxed.x is None or relaxed.infeasible:
        raise _no_solution(relaxed, size, limit)
    worth = float(sum(targets))
    bound = _lagrange(model, upper, columns, relaxed)
    chosen = targeted(problem, limit, columns, relaxed.x, size)
    say(f"frequent: {int(chosen.sum())} of {size} rows after rounding")
    if model.nnz <= BRANCHED and time.monotonic() < until:
        best = solve(
            *(model, upper + np.append(np.full(matrix.shape[0], TOLERANCE / 10), 0.0), columns.weight),
            top=top,
            lower=lower,
            integer=True,
            start=chosen.astype(np.float64) if chosen.sum() == size else None,
            seconds=until - time.monotonic(),
            mip_rel_gap=0.0,
        )
        if best.x is not None:
            chosen = np.rint(best.x).astype(np.int64)
        if math.isfinite(best.bound):
            bound = min(bound, best.bound)
    x = np.zeros(problem.shape[1], np.int64)
    np.add.at(x, columns.pair, chosen)
    x = give_back(problem, x, limit)
    short = size - int(x.sum())
    note = f"{short} of the {size} rows asked for could not be placed" if short else ""
    objective = 1 - distance(problem, x, size, support) / 2
    top_value = 1 - (worth - bound) / size / 2
    if short:  # the bound is about `size` rows; fewer may come nearer
        top_value = max(top_value, objective)
    return Solved(x, certify(problem, x, limit, "frequent", objective, top_value, note))


def distance(problem: Problem, x: Integers, size: int, support: Fraction) -> float:
    """Σ |x_j/|O| − c_j/|D|| over frequent pairs (Equation 5)."""
    frequent = problem.totals * support.denominator >= problem.size * support.numerator
    return float(np.abs(x[frequent] / size - problem.totals[frequent] / problem.size).sum())


def targeted(problem: Problem, limit: Limit, columns: Columns, solution: Floats, size: int) -> Integers:
    """Floor, then give the lost rows back: first below the targets, then across them, then to other pairs."""
    chosen = np.minimum(np.floor(np.maximum(solution, 0.0) + 1e-9).astype(np.int64), columns.top)
    matrix = problem.matrix[:, columns.pair]
    for wanted in (columns.weight > 0, columns.weight == 0, columns.weight < 0):
        filled = fill(matrix, limit.bound, chosen, np.where(wanted, columns.top, chosen))
        extra = int(filled.sum()) - size
        if extra > 0:  # more than asked for: the last ones go
            added = np.cumsum(filled - chosen)
            filled = chosen + np.diff(np.minimum(added, added[-1] - extra), prepend=0)
        chosen = filled
        if chosen.sum() == size:
            break
    return chosen


def _lagrange(model: sparse.csc_array, upper: Floats, columns: Columns, relaxed: Solution) -> float:
    """The bound that the prices prove; the last row is an equation and its price may have either sign."""
    if relaxed.duals is None:
        return float(np.maximum(columns.weight, 0) @ columns.top)
    bounds = []
    for sign in (1.0, -1.0):
        prices = sign * relaxed.duals
        prices[:-1] = np.maximum(prices[:-1], 0.0)
        left = np.maximum(0.0, columns.weight - model.T @ prices)
        bounds.append(float(upper @ prices) + float(left @ columns.top))
    return min(bounds) + 1e-6


def _no_solution(relaxed: Solution, size: int, limit: Limit) -> ParameterError:
    return ParameterError(
        "The solver found no output of this size.",
        given=f"O = {size}, B = {limit.bound:.4g}; the solver says: {relaxed.status}",
        next="lower O or s, raise ε and δ, or give more seconds",
    )
