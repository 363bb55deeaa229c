"""What was measured on made-up logs and is never proven: how often an interval holds the right number, by region.

`bench/coverage.py` measures it and bench/README.md has every line. Cards, pages and docs/using.md quote it from here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Span = tuple[int, int]
REGIONS = ("the largest tenth of the rows", "the middle", "the smallest tenth")
"""By published value, which a reader can see."""


@dataclass(frozen=True)
class Covered:
    """Which right number the stated interval held, and in how many per cent of the rows: least and most seen."""

    right: str
    largest: Span
    middle: Span
    smallest: Span

    @property
    def spans(self) -> tuple[Span, Span, Span]:
        """The measured ranges in the order of `REGIONS`."""
        return self.largest, self.middle, self.smallest

    def sentence(self) -> str:
        """What was measured, in one sentence for a card."""
        regions = [f"{low} to {high} % of {where}" for (low, high), where in zip(self.spans, REGIONS, strict=True)]
        return f"held {self.right} in {', '.join(regions)} (measured on made-up logs, never proven)"


EXACT = "the exact number of users"
LIMITED = "the count without noise, after each user was limited,"
CROWD = {
    "queries": Covered(EXACT, (99, 100), (98, 100), (96, 100)),
    "clicks": Covered(EXACT, (99, 100), (99, 100), (100, 100)),
    "transitions": Covered(EXACT, (100, 100), (100, 100), (100, 100)),
    "keywords": Covered(EXACT, (100, 100), (100, 100), (100, 100)),
}
"""crowd, by table: value ± its half width."""
BY_GROUP = Covered(EXACT, (100, 100), (99, 100), (96, 100))
"""crowd's tables by group, in the same way."""
HALF_WIDTH = "value +/- (3 noise_sd + value/8)"


def half_width(values: npt.ArrayLike, noise_sd: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Half of crowd's interval, row by row: room for noise, for the luck of rows that just passed, and for the model.

    The rule has two constants, found by looking at made-up logs: the least that held 95 % in every region of `queries`.
    """
    return 3 * np.asarray(noise_sd, float) + np.asarray(values, float) / 8


TOTALS = (0.98, 1.08)
"""crowd: the sum of a table's values over that of the exact numbers, the least and the most seen."""
GAUSSIAN = Covered(LIMITED, (94, 96), (92, 93), (90, 92))
"""One Gaussian draw that selects and counts: value ± 1.96 noise_sd."""
LAPLACE = Covered(LIMITED, (94, 97), (92, 96), (83, 97))
"""One Laplace draw that selects and counts: value ± the half width on the card."""


def table(_: str) -> str:
    """The table of measured coverage, for the documentation."""
    rows = [("crowd, " + name, covered) for name, covered in CROWD.items()]
    rows += [("gaussian", GAUSSIAN), ("Laplace noise, strict variants", LAPLACE)]
    head = f"| | held | {' | '.join(REGIONS)} |"
    lines = [
        f"| {name} | {covered.right.rstrip(',')} | " + " | ".join(f"{a} to {b} %" for a, b in covered.spans) + " |"
        for name, covered in rows
    ]
    return "\n".join([head, "|---|---|---|---|---|", *lines]) + "\n"
