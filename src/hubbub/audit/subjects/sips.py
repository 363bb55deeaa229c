"""How the baseline `sips` is audited: a selection in rounds."""

from __future__ import annotations

from hubbub.audit.mutants.pools import SELECTION
from hubbub.audit.subjects import AuditPlan, declare
from hubbub.mechanisms import build

BUDGET = {"epsilon": 1, "delta": "1e-6"}

declare(
    AuditPlan(
        "sips",
        small=lambda: [build("sips", {"epsilon": 1, "delta": "0.05", "d": 2})],
        used=lambda: [build("sips", BUDGET)],
        mutants=lambda: SELECTION,
    )
)
