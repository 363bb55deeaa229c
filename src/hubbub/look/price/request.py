"""What is asked for: which ε, how many users, which mechanisms and tasks. Checked before a log is opened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from hubbub.errors import ParameterError
from hubbub.look.compare.choices import Candidate, Sweep, choose

EPSILONS = ("0.5", "2", "8")
DELTA = "1e-6"
MOST_USERS = 5_000
"""The largest sample if nobody says otherwise: every row is measured and scored at every size."""
HEADLINES = {
    "completion": "all.mrr",
    "popularity": "overlap@100",
    "spelling": "corrected",
    "synonyms": "recall",
    "ranking": "click_model.nDCG@10",
}
"""The tasks that have a floor and need no release by group, and the one score of each by which they are told."""


@dataclass(frozen=True)
class PriceRequest:
    """What is to be priced."""

    epsilons: Sequence[str] = EPSILONS
    delta: str = DELTA
    users: Sequence[int] = ()
    """Sizes of samples; none: a quarter of the log's users and all of them, at most MOST_USERS."""
    mechanisms: Sequence[str] | None = None
    tasks: Sequence[str] | None = None
    draws: int = 1
    truth: str | Path | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        from hubbub.worth.tasks import Truth

        if unknown := [name for name in self.tasks or () if name not in HEADLINES]:
            raise ParameterError(
                "This task is not priced: it has no floor, or needs a release by group.",
                given=", ".join(unknown),
                allowed=", ".join(HEADLINES),
            )
        for epsilon in self.epsilons or ("none",):
            try:
                Fraction(epsilon)
            except (ValueError, ZeroDivisionError) as error:
                raise ParameterError(
                    "--epsilons names values of ε.", given=epsilon, allowed="numbers above 0: 0.5,2,8"
                ) from error
        if any(size < 1 for size in self.users):
            raise ParameterError("A sample has users.", given=list(self.users), allowed="1 or more")
        if not 1 <= self.draws <= 100:
            raise ParameterError("There must be a draw.", given=f"draws = {self.draws}", allowed="1 to 100")
        if self.truth is not None:
            Truth(self.truth)
        self.choices()

    def chosen(self) -> list[str]:
        """The tasks, in the order of the page."""
        return [name for name in HEADLINES if name in (self.tasks or HEADLINES)]

    def choices(self) -> list[Candidate]:
        """Every mechanism at every ε; where one cannot run, the reason stays."""
        values = ",".join(sorted(dict.fromkeys(self.epsilons), key=Fraction))
        return choose(self.mechanisms, {"delta": self.delta}, [Sweep.read(f"epsilon={values}")])

    def sizes(self, users: int) -> list[int]:
        """How many users each sample has, of a log with so many."""
        most = min(users, MOST_USERS)
        asked = self.users or (max(1, most // 4), most)
        return sorted({min(size, users) for size in asked})
