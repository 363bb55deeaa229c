"""Other budgets on the same log: estimates with repeatable noise, so that nothing is spent and nothing is released."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from hubbub.errors import UserError
from hubbub.privacy.guarantee import number
from hubbub.show.kept import Tried
from hubbub.show.law import ESTIMATED, SurvivalLine

if TYPE_CHECKING:
    from hubbub.log import SearchLog
    from hubbub.look.estimate import Estimate
    from hubbub.mechanisms import Mechanism

TIMES = (Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4))
"""Budgets around the chosen one."""


def other_budgets(
    mechanism: Mechanism, log: SearchLog, say: Callable[[str], None] = lambda _: None
) -> tuple[tuple[Tried, ...], dict[str, SurvivalLine]]:
    """What each ε would keep, and the chance of a key at the chosen one; nothing where ε was not chosen."""
    from hubbub.look.estimate import RUNS, estimate_log

    if "epsilon" not in mechanism.given:
        return (), {}
    tried: list[Tried] = []
    laws: dict[str, SurvivalLine] = {}
    for times in TIMES:
        epsilon = Fraction(mechanism.given["epsilon"]) * times
        say(f"estimating at ε = {number(float(epsilon))}")
        try:
            found = estimate_log(
                mechanism.remade({**mechanism.given, "epsilon": epsilon}), log, runs=RUNS if times == 1 else 1
            )
        except UserError:  # not every budget can be drawn
            continue
        tried += _tried(found, float(epsilon))
        if times == 1:
            laws = {name: SurvivalLine.of(table.curve, ESTIMATED) for name, table in found.tables.items()}
    return tuple(tried), laws


def _tried(found: Estimate, epsilon: float) -> list[Tried]:
    return [
        Tried(name, epsilon, table.rows, table.volume.searches, None if table.error is None else table.error.rms)
        for name, table in found.tables.items()
    ]
