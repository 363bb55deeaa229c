"""HiGHS on sparse arrays: maximise w·x subject to A x <= b and 0 <= x <= top, in reals or in integers.

Nothing here is trusted: what comes back is repaired and checked by whoever asked.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from hubbub.extras import imported
from hubbub.mechanisms.optimal.published.problem import Floats


@dataclass(frozen=True)
class SolverResult:
    """What the solver says; `duals` of a linear problem.

    What it says of the bound of an integer problem is left there: with presolve it has been seen below a solution that
    exact arithmetic allows.
    """

    x: Floats | None
    duals: Floats | None
    status: str

    @property
    def infeasible(self) -> bool:
        """Whether the solver showed that nothing fits."""
        return self.status == "Infeasible"


def installed() -> Any:
    """The solver, which is an extra."""
    return imported("highspy", "solver", "The solver of `optimal` as published (highspy)", instead="--variant strict")


def solve(
    matrix: sparse.csc_array,
    upper: Floats,
    weights: Floats,
    *,
    top: Floats | float = math.inf,
    lower: Floats | None = None,
    integer: bool = False,
    start: Floats | None = None,
    seconds: float = math.inf,
    threads: int = 1,
    **options: str | float,
) -> SolverResult:
    """One run of the solver."""
    highspy = installed()
    solver = _solver(threads, **options)
    if math.isfinite(seconds):
        solver.setOptionValue("time_limit", max(0.01, seconds))
    model = _model(matrix, upper, weights, top, lower)
    columns = matrix.shape[1]
    if integer:
        model.integrality_ = [highspy.HighsVarType.kInteger] * columns
    solver.passModel(model)
    if start is not None:
        given = highspy.HighsSolution()
        given.col_value = start.tolist()
        solver.setSolution(given)
    solver.run()
    found = solver.getSolution()
    x = np.array(found.col_value) if found.value_valid else None
    duals = np.array(found.row_dual) if found.dual_valid else None
    if x is not None and x.size != columns:
        x = None
    status = solver.modelStatusToString(solver.getModelStatus())
    return SolverResult(x, duals, status)


class Warm:
    """One linear problem whose columns' limits change from run to run: each starts where the last one ended."""

    def __init__(self, matrix: sparse.csc_array, upper: Floats, weights: Floats, lower: Floats) -> None:
        self._solver = _solver(1, presolve="off", solver="simplex")
        self._solver.passModel(_model(matrix, upper, weights, math.inf, lower))
        self._shape = matrix.shape

    def at(self, low: Floats, top: Floats, seconds: float) -> tuple[Floats, Floats]:
        """x and the rows' prices, with their signs; zeros if the solver has none. Columns beyond `low` stay free."""
        rows, columns = self._shape
        self._solver.changeColsBounds(low.size, np.arange(low.size, dtype=np.int32), low, top)
        self._solver.setOptionValue("time_limit", self._solver.getRunTime() + max(0.01, seconds))
        self._solver.run()
        found = self._solver.getSolution()
        x = np.array(found.col_value) if found.value_valid else np.zeros(columns)
        return x, np.array(found.row_dual) if found.dual_valid else np.zeros(rows)


def _solver(threads: int, **options: str | float) -> Any:
    highspy = installed()
    solver = highspy.Highs()
    for name, value in {"output_flag": False, "threads": threads, **options}.items():
        solver.setOptionValue(name, value)
    return solver


def _model(matrix: sparse.csc_array, upper: Floats, weights: Floats, top: Floats | float, lower: Floats | None) -> Any:
    highspy = installed()
    model = highspy.HighsLp()
    rows, columns = matrix.shape
    model.num_row_, model.num_col_ = rows, columns
    model.sense_ = highspy.ObjSense.kMaximize
    model.col_cost_ = weights
    model.col_lower_ = np.zeros(columns)
    model.col_upper_ = np.broadcast_to(np.asarray(top, np.float64), columns).copy()
    model.row_lower_ = np.full(rows, -math.inf) if lower is None else lower
    model.row_upper_ = upper
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_, model.a_matrix_.index_ = matrix.indptr, matrix.indices
    model.a_matrix_.value_ = matrix.data
    return model
