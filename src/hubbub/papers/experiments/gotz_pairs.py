"""Götz et al. 2009, query pairs: Table 3 and Figures 2 to 5 at five times the users of the other kinds of items.

A pair of queries is rare: of 20,000 users ZEALOUS releases two pairs at m = 1, of 100,000 about forty, and of the
paper's 500,000 it was 331. Figures 7 and 8, which learn from query pairs, are run at the same size (gotz_tasks).
"""

from __future__ import annotations

from collections.abc import Iterator

from hubbub.papers.experiments import gotz, gotz_epsilon
from hubbub.papers.experiments.gotz import FIVEFOLD, NAME
from hubbub.papers.experiments.lab import Lab, Numbers
from hubbub.papers.experiments.rows import DrawSamples, Experiment, PaperFinding

PAIRS = ("transitions",)


def by_m(lab: Lab) -> Numbers:
    """Query pairs at every m."""
    return gotz.by_m(lab.fivefold, PAIRS)


def by_epsilon(lab: Lab) -> Numbers:
    """Query pairs at every ε and k."""
    return gotz_epsilon.by_epsilon(lab.fivefold, PAIRS)


def table_3(cells: DrawSamples) -> Iterator[PaperFinding]:
    """Table 3, its last two lines."""
    yield from gotz.counts_by_m(cells, *PAIRS, FIVEFOLD)


def figures_2_and_3(cells: DrawSamples) -> Iterator[PaperFinding]:
    """Coverage and precision by m and top-j."""
    yield from gotz.figure_2(cells, PAIRS, FIVEFOLD)
    yield from gotz.regimes(cells, PAIRS, FIVEFOLD)


def figures_4_and_5(cells: DrawSamples) -> Iterator[PaperFinding]:
    """The distribution of counts, and average differences by ε and k."""
    yield from gotz_epsilon.shapes(cells, PAIRS, FIVEFOLD)
    yield from gotz_epsilon.figure_5(cells, PAIRS, FIVEFOLD)


EXPERIMENTS = (
    Experiment("gotz/table-3-pairs", NAME, "Table 3, query pairs, at five times the users", by_m, table_3, ("times",)),
    Experiment(
        "gotz/figures-2-3-pairs", NAME, "Figures 2 and 3, query pairs, at five times the users", by_m, figures_2_and_3,
        ("times",),
    ),
    Experiment(
        "gotz/figures-4-5-pairs", NAME, "Figures 4 and 5, query pairs, at five times the users", by_epsilon,
        figures_4_and_5, ("times",),
    ),
)  # fmt: skip
