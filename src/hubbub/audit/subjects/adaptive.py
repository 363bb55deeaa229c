"""How the baseline `adaptive` is audited: a selection in two or four rounds."""

from __future__ import annotations

from hubbub.audit.mutants.pools import SELECTION
from hubbub.audit.subjects import AuditPlan, declare
from hubbub.mechanisms import build

BUDGET = {"epsilon": 1, "delta": "1e-6"}

declare(
    AuditPlan(
        "adaptive",
        small=lambda: [
            build("adaptive", {"epsilon": 1, "delta": "0.05", "d": 2}),
            build("adaptive", {"epsilon": 2, "delta": "0.02", "d": 1, "rounds": 4}),
        ],
        used=lambda: [build("adaptive", BUDGET), build("adaptive", BUDGET | {"rounds": 4, "d": 50})],
        mutants=lambda: SELECTION,
    )
)
