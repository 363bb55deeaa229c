"""What a solution is worth, how much better any could be, and that it breaks nobody's constraint."""

from __future__ import annotations

from dataclasses import dataclass

from hubbub.mechanisms.optimal.published.problem import Integers, Limit, Problem


@dataclass(frozen=True)
class Certificate:
    """Objective, the bound no solution can pass, and the distance between the two. More is always better."""

    goal: str
    objective: float
    upper_bound: float
    rows: int
    pairs: int
    checked: int
    """Users whose constraint was decided in integers; none is broken."""
    note: str = ""
    certified: bool = True
    """Whether the bound is about the problem that was asked; if not, the note says what is missing."""

    @property
    def gap(self) -> float:
        """The share of the bound that is missing, at most."""
        return max(0.0, self.upper_bound - self.objective) / self.upper_bound if self.upper_bound > 0 else 0.0

    def record(self) -> dict[str, object]:
        """The certificate as `release --json` prints it."""
        return {
            "objective": self.objective,
            "upper_bound": self.upper_bound,
            "gap": self.gap,
            "certified": self.certified,
            "goal": self.goal,
            "rows": self.rows,
            "pairs": self.pairs,
            "users_checked_exactly": self.checked,
        } | ({"note": self.note} if self.note else {})

    def __str__(self) -> str:
        worth = (
            f"{self.upper_bound:.6g} is the proven upper bound (gap {self.gap:.1%})"
            if self.certified
            else "not certified"
        )
        return (
            f"{self.goal}: {self.objective:.6g} reached, {worth}; {self.rows} rows of {self.pairs} pairs"
            + f"; {self.note}" * bool(self.note)
        )


def certify(
    problem: Problem,
    x: Integers,
    limit: Limit,
    goal: str,
    objective: float,
    upper: float,
    note: str = "",
    *,
    certified: bool = True,
) -> Certificate:
    """Check every user's constraint in integers, then state what the solution is worth."""
    from hubbub.errors import OurBug

    broken = problem.broken(x, limit, every=True)
    if broken.size or (x < 0).any():
        raise OurBug(f"{goal}: the solution breaks the constraint of {broken.size} users")
    if certified and upper < objective:
        raise OurBug(f"{goal}: the solution, {objective:.6g}, is above the bound that was proven, {upper:.6g}")
    checked = int(((problem.matrix @ x) > 0).sum())
    return Certificate(goal, objective, upper, int(x.sum()), int((x > 0).sum()), checked, note, certified)
