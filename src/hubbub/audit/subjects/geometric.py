"""How the baseline `geometric` is audited: a coin per key."""

from __future__ import annotations

from hubbub.audit.mutants import COINS
from hubbub.audit.subjects import AuditPlan, declare
from hubbub.mechanisms import build

BUDGET = {"epsilon": 1, "delta": "1e-6"}

declare(
    AuditPlan(
        "geometric",
        small=lambda: [
            build("geometric", {"epsilon": 1, "delta": "0.02"}),
            build("geometric", {"epsilon": 1, "delta": "0.05", "d": 2}),
        ],
        used=lambda: [build("geometric", BUDGET | {"d": d}) for d in (1, 20)],
        mutants=lambda: COINS,
    )
)
