"""How the baseline `gaussian` is audited: one draw and one threshold, with either weights."""

from __future__ import annotations

from hubbub.audit.mutants.pools import GAUSSIAN
from hubbub.audit.subjects import AuditPlan, declare
from hubbub.mechanisms import build

BUDGET = {"epsilon": 1, "delta": "1e-6"}

declare(
    AuditPlan(
        "gaussian",
        small=lambda: [
            build("gaussian", {"epsilon": 3, "delta": "0.02", "d": 1, "grid": 0}),
            build("gaussian", {"epsilon": 3, "delta": "0.05", "d": 2, "grid": 0}),
            build("gaussian", {"epsilon": 1, "delta": "0.02", "d": 3, "weights": "sqrt"}),
        ],
        used=lambda: [build("gaussian", BUDGET), build("gaussian", BUDGET | {"weights": "sqrt"})],
        mutants=lambda: GAUSSIAN,
    )
)
