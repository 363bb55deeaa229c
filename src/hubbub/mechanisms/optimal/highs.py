"""HiGHS on sparse arrays: maximise w·x subject to A x <= b and 0 <= x <= top, in reals or in integers.

Nothing here is trusted: what comes back is repaired and checked by whoever asked.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from hubbub.mechanisms.optimal.problem import Floats


@dataclass(frozen=True)
class Solution:
    """What the solver says; `duals` of a linear problem, `bound` of an integer one.

    The bound is infinite unless the solver came to its end: what it reports when time is up has been seen below a
    solution that exact arithmetic allows.
    """

    x: Floats | None
    duals: Floats | None
    bound: float
    status: str

    @property
    def infeasible(self) -> bool:
        """Whether the solver showed that nothing fits."""
        return self.status == "Infeasible"


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
) -> Solution:
    """One run of the solver."""
    import highspy

    solver = highspy.Highs()  # type: ignore[no-untyped-call]
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", threads)
    if math.isfinite(seconds):
        solver.setOptionValue("time_limit", max(0.01, seconds))
    for name, value in options.items():
        solver.setOptionValue(name, value)
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
    if integer:
        model.integrality_ = [highspy.HighsVarType.kInteger] * columns
    solver.passModel(model)
    if start is not None:
        given = highspy.HighsSolution()
        given.col_value = start.tolist()
        solver.setSolution(given)
    solver.run()
    found, info = solver.getSolution(), solver.getInfo()
    x = np.array(found.col_value) if found.value_valid else None
    duals = np.array(found.row_dual) if found.dual_valid else None
    if x is not None and x.size != columns:
        x = None
    status = solver.modelStatusToString(solver.getModelStatus())
    return Solution(x, duals, info.mip_dual_bound if status == "Optimal" else math.inf, status)
