"""What the papers' mechanisms of Laplace noise have in common: a variant as published, and a strict one of ours.

`strict` counts distinct users and publishes the very value that passed the threshold; `published` counts and draws as
the paper does. The rule on integers is `>= T`; a paper's "> K" is T = ⌊K⌋ + 1.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import ClassVar

from hubbub.errors import ParameterError
from hubbub.mechanisms.base import Bound, Mechanism, Value
from hubbub.mechanisms.noisy import reaching
from hubbub.mechanisms.survival import LaplaceTest
from hubbub.privacy.account import Step
from hubbub.privacy.guarantee import Claim, Neighbours, number

SCALE = Fraction(1, 50)
"""The smallest noise scale that anybody may ask for."""


class LaplaceMechanism(Mechanism):
    """Exact counts with Laplace noise behind thresholds."""

    paper_counts: ClassVar[str] = "count"
    """What the paper counts: occurrences ("count"), or distinct users ("users"), as strict always does."""
    passes = staticmethod(reaching)

    @abstractmethod
    def steps(self) -> tuple[Step, ...]:
        """Every draw of Laplace noise."""

    @property
    def value_column(self) -> str:
        """Strict counts distinct users, the paper what it says."""
        return "users" if self.variant == "strict" else self.paper_counts

    def survival(self) -> dict[str, LaplaceTest]:
        """Of each table with a threshold; other variants count occurrences, or draw anew."""
        keep = self.settings.get("keep") if self.variant == "strict" else None
        tested = [step for step in self.steps() if keep and step.threshold is not None]
        return {step.name: LaplaceTest.of(step, first=keep == "first") for step in tested}

    # ------------------------------------------------------------------ for those who write one

    @property
    def factor(self) -> int:
        """How often one user's change is paid for: exchanging her is removing one and adding another."""
        return 2 if self.neighbours is Neighbours.REPLACE else 1

    def _number(self, name: str) -> Fraction:
        return Fraction(self.settings[name])

    def _whole(self, name: str) -> int:
        return int(self.settings[name])

    def _threshold(self, name: str) -> int:
        return math.floor(self._number(name)) + 1  # "> K" on integers

    def _is_raw(self, given: Mapping[str, Value], every: Sequence[str], needed: Sequence[str]) -> bool:
        """Whether exactly the raw parameters that are needed were given, and not (ε, δ); a mixture is refused."""
        raw, budget = ({name for name in names if name in given} for names in (every, ("epsilon", "delta")))
        said = ", ".join(sorted(raw | budget)) or "nothing"
        allowed = f"--epsilon and --delta together, or exactly {', '.join(needed)}"
        if raw and budget:
            what = "Give either (epsilon, delta) or raw parameters, not both."
            raise ParameterError(what, given=said, allowed=allowed)
        if (raw != set(needed)) if raw else (len(budget) < 2):
            what = f"{self.name} needs a privacy budget, or all raw parameters of {', '.join(self.tables)}."
            raise ParameterError(what, given=said, allowed=allowed)
        return bool(raw)

    def drawable(self, name: str, scale: Value, epsilon: Fraction, limits: str) -> None:
        """Refuse an ε whose noise scale is out of range."""
        parameter = next(p for p in self.parameters if p.name == name)
        try:
            parameter.parse(scale)
        except ParameterError:
            raise ParameterError(
                f"This epsilon needs a {parameter.meaning} that cannot be drawn.",
                given=f"epsilon = {number(float(epsilon))}, {name} = {number(float(scale))}",
                allowed=f"{name}: {parameter.range}",
                next=f"raise epsilon or lower {limits} if it is too large, the reverse if too small",
            ) from None

    def _distinct(self, table: str, limit: int, how: str = "") -> tuple[Bound, Bound]:
        """What strict limits: the distinct keys of a user, each of which counts her once."""
        chosen = how or ("sample by a secret hash" if self.settings.get("keep") == "random" else "the first by time")
        return (
            Bound(f"distinct {table} per user", "l0", limit, chosen),
            Bound(f"count per key per user ({table})", "linf", 1, "distinct"),
        )

    def _ours(self) -> Claim:
        """What we claim of strict, which no paper knows: what is proven."""
        proven = self.proven().of_run(seeded=False)
        why = "proven here; the paper claims nothing about this variant" if proven.private else proven.scope
        return Claim(f"hubbub (strict variant of {self.paper})", proven.epsilon, proven.delta, True, why)
