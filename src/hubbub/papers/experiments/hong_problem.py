"""Hong et al. 2012: one problem of a draw, solved as `optimal` published solves it, with what is proven of it.

The paper's problems are solved in whole numbers by hubbub's own branch and bound, whose bounds nobody has to trust. How
long that takes grows fast with the log, so it is 1,000 users here where the paper has 2,500: there nearly every problem
ends. Where one does not, the best that was found stands in the row, with how far from it the optimum can be at most.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING

from hubbub.errors import ParameterError
from hubbub.mechanisms import build
from hubbub.mechanisms.optimal import Optimal
from hubbub.mechanisms.optimal.published.problem import Problem, read
from hubbub.papers.experiments.lab import Lab, Numbers
from hubbub.papers.experiments.rows import DrawSamples
from hubbub.papers.experiments.rule import DrawSample
from hubbub.papers.numbers.hong import power
from hubbub.papers.numbers.hong_printed import DELTAS, OUTPUT
from hubbub.steps.mode import RunMode

if TYPE_CHECKING:
    from hubbub.mechanisms.optimal.published.pack import Solved

NAME, PRESET, USERS = "Hong et al. 2012", "aol", 1000
SECONDS = 8
"""For one problem."""
SAID = f"preset aol, {USERS} users (or fewer, with --users); optimal published, seconds={SECONDS}"
PROVEN = 1e-6
"""Values that differ by less than this part are one: F-UMP compares sums of fractions."""
Cell = tuple[str, str]
"""e^ε and δ, as the paper prints them."""


def bound(cell: Cell) -> float:
    """B = min{ε, ln 1/(1−δ)} of one cell of a table."""
    return math.log(power(*cell))


def classes() -> dict[Fraction, Cell]:
    """The 49 cells by e^B, which is all that a problem depends on: the first cell of each."""
    found: dict[Fraction, Cell] = {}
    for e_epsilon in OUTPUT:
        for delta in DELTAS:
            found.setdefault(power(e_epsilon, delta), (e_epsilon, delta))
    return dict(sorted(found.items()))


def label(cell: Cell) -> str:
    """A cell by its B."""
    return f"B = {bound(cell):.4g}"


def problem_of(lab: Lab, users: int = USERS) -> Problem:
    """Who holds what, of a log without unique pairs."""
    return read(lab.log(PRESET, users), RunMode(bytes(16)))


def solve(problem: Problem, cell: Cell, goal: str, **more: object) -> Solved | None:
    """The optimum of one goal; None where it is proven, or found, that nothing of the kind can come out."""
    settings = {"epsilon": Fraction(math.log(Fraction(cell[0]))), "delta": cell[1], "goal": goal, "seconds": SECONDS}
    mechanism = build("optimal", settings | more, variant="published")
    assert isinstance(mechanism, Optimal)
    try:
        return mechanism.optimise(problem)[0]
    except ParameterError:
        return None


def sizes(found: Numbers, problem: Problem) -> None:
    """What is left of the log without unique pairs."""
    found["users"], found["pairs"] = problem.shape
    found["size"] = problem.size


def of(cells: DrawSamples) -> dict[str, DrawSample]:
    """The same, for the rows."""
    return {"users": cells["users"], "pairs": cells["pairs"], "|D|": cells["size"]}


def certified(cells: DrawSamples, gaps: Iterable[str]) -> str:
    """What is proven about some problems in all draws, in a sentence."""
    known = [gap for name in gaps for gap in cells[name].values if gap is not None]
    ended = sum(gap <= PROVEN for gap in known)
    if not known:
        return "No problem has a solution."
    worst = "" if ended == len(known) else f"; the others are within {100 * max(known):.2g} % of it"
    return f"Proven to be the optimum: {ended} of {len(known)} solutions{worst}."
