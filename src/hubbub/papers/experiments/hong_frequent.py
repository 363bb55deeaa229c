"""Hong et al. 2012, F-UMP: Tables 5 and 6, Figures 3 and 6, frequent pairs by |O|, s and (ε, δ).

The paper's sizes are above what any log gives (`hubbub reproduce hong/tables-5-6`). Here |O| is the same part of λ, the
largest output of our log at e^ε = 2, δ = 0.5: 3000/13088 of it, and so on. λ is in whole rows, as they come out: the
relaxation's, which the paper has, is nearly half as large again, and no output of that size exists. In Figures 3(a)
and (b) one |O| serves every (ε, δ): here four fifths of the largest output at δ = 0.2, as the paper's 3000
is of its smallest λ.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction

import numpy as np

from hubbub.mechanisms.optimal.published.frequent import frequent
from hubbub.mechanisms.optimal.published.problem import Integers, Problem
from hubbub.mechanisms.optimal.sample import sample_users
from hubbub.noise import SeededNoise
from hubbub.papers.experiments.hong_problem import (
    NAME,
    SAID,
    Cell,
    bound,
    certified,
    classes,
    label,
    of,
    problem_of,
    sizes,
    solve,
)
from hubbub.papers.experiments.lab import Lab, Numbers
from hubbub.papers.experiments.rows import DrawSamples, Experiment, PaperFinding
from hubbub.papers.experiments.rule import DrawSample, average, every, falls, higher, near, rises
from hubbub.papers.numbers.hong_printed import DISTANCES, LARGEST, RECALL, SIZES
from hubbub.worth.tasks.frequent_pairs import diff_ratio, supported

CELL: Cell = ("2.0", "0.5")
TIGHT: Cell = ("2.0", "0.2")
"""The (ε, δ) of Tables 5 and 6; and the tightest at which our log gives more than a few rows."""
LOOSER = [cell for cell in classes().values() if bound(cell) >= bound(TIGHT)]
FIXED = 500
"""1/s in Figures 3(a), 3(b) and 6."""
OUTPUTS = 10
"""Random outputs of one solution, as in Figure 6."""
RATIOS = (20, 40, 60, 80, 100)
"""Difference ratios in per cent, on the way from the best to the worst."""
FIGURE_6 = {4000: 75, 6000: 90}
"""|O|, and per cent of the triplets with a difference ratio below 40 %."""


def by_size(lab: Lab) -> Numbers:
    """Every s and every |O| at one (ε, δ); Figure 6 from the solutions at s = 1/500."""
    found: Numbers = {}
    problem = problem_of(lab)
    sizes(found, problem)
    most = solve(problem, CELL, "size")
    largest = 0 if most is None else int(most.x.sum())
    found["largest"] = largest
    for inverse in RECALL:
        found[f"1/s={inverse} frequent"] = frequent(problem, Fraction(1, inverse)).size
        for printed in SIZES:
            size = max(1, round(largest * printed / LARGEST))
            x = scored(found, f"1/s={inverse} O={printed}", problem, CELL, size, inverse)
            if inverse == FIXED and printed in FIGURE_6:
                shares = None if x is None else sampled(problem, x, size, lab.seed)
                found |= {f"O={printed} below {t}": None if shares is None else shares[t] for t in RATIOS}
    return found


def by_bound(lab: Lab) -> Numbers:
    """One |O| and one s at every (ε, δ) that gives so many rows."""
    found: Numbers = {}
    problem = problem_of(lab)
    sizes(found, problem)
    found["frequent"] = frequent(problem, Fraction(1, FIXED)).size
    most = solve(problem, TIGHT, "size")
    size = max(1, math.floor(0.8 * int(most.x.sum()))) if most is not None else 1
    found["rows"] = size
    for cell in LOOSER:
        scored(found, label(cell), problem, cell, size, FIXED)
    return found


def scored(found: Numbers, name: str, problem: Problem, cell: Cell, size: int, inverse: int) -> Integers | None:
    """Solve one problem; recall, precision and distances of what comes out. Gives x, None where there is none."""
    solved = solve(problem, cell, "frequent", O=size, s=Fraction(1, inverse))
    x = None if solved is None or not solved.certificate.certified else solved.x
    found[f"{name} rows"] = size
    found[f"{name} gap"] = None if solved is None or x is None else solved.certificate.gap
    for metric in ("recall", "precision", "support_distance", "average_support_distance"):
        scores = None if x is None else supported(problem.totals, x, np.arange(x.size), Fraction(1, inverse))[metric]
        found[f"{name} {metric}"] = None if scores is None else scores["release"]
    return x


def sampled(problem: Problem, x: Integers, size: int, seed: int) -> dict[int, float] | None:
    """Per cent of the triplets of frequent pairs with a difference ratio below some values, over ten random outputs."""
    often = np.isin(problem.pairs, frequent(problem, Fraction(1, FIXED)))
    if not often.any():
        return None
    key = problem.pairs * problem.shape[0] + problem.users  # ascending, as entries are
    shares = []
    for i in range(OUTPUTS):
        pairs, users = sample_users(problem, x, SeededNoise(OUTPUTS * seed + i))
        drawn = np.bincount(np.searchsorted(key, pairs * problem.shape[0] + users), minlength=key.size)
        ratios = diff_ratio(problem.counts[often], drawn[often], problem.size, size)
        shares.append([100 * float((100 * ratios < t).mean()) for t in RATIOS])
    return dict(zip(RATIOS, np.mean(shares, axis=0).tolist(), strict=True))


# ------------------------------------------------------------------ Tables 5 and 6


def _by_o(cells: DrawSamples, inverse: int, metric: str) -> dict[str, DrawSample]:
    return {_part(size): cells[f"1/s={inverse} O={size} {metric}"] for size in SIZES}


def _part(size: int) -> str:
    """An |O| of the paper as the part of λ that it is."""
    return f"|O|/λ = {size / LARGEST:.3f}"


def _about(cells: DrawSamples, inverse: int) -> dict[str, DrawSample]:
    rows = {f"rows, {name}": sample for name, sample in _by_o(cells, inverse, "rows").items()}
    return of(cells) | {"λ": cells["largest"], "frequent pairs": cells[f"1/s={inverse} frequent"]} | rows


def table_5(cells: DrawSamples) -> Iterator[PaperFinding]:
    """Table 5: recall by |O| and s; and precision, which the text says is always 1."""
    for inverse, printed in RECALL.items():
        by = _by_o(cells, inverse, "recall")
        often, rows = cells[f"1/s={inverse} frequent"], cells[f"1/s={inverse} O={SIZES[-1]} rows"]
        most = rows.with_other(often, lambda n, of: min(1.0, n / of) if of else 0.0).mean or 1.0
        least = DrawSample((0.8,) * len(cells.draws))
        yield PaperFinding(
            f"recall-{inverse}",
            f"s = 1/{inverse}: over 80 % of the frequent pairs stay frequent, for every |O|",
            by,
            every([higher(least, sample, ("0.8", f"the recall at {name}")) for name, sample in by.items()]),
            f"{SAID}, goal=frequent, e^ε=2, δ=0.5, s=1/{inverse}, |O| as a part of λ",
            _about(cells, inverse),
            certified(cells, _gaps([inverse]))
            + (f" With so few rows, recall can be {most:.2g} at most." if most < 1 else ""),
            printed=dict(zip(by, printed, strict=True)),
        )
    names = [f"1/s={inverse} O={size}" for inverse in RECALL for size in SIZES]
    least = _least([cells[f"{name} precision"] for name in names])
    yield PaperFinding(
        "precision",
        "precision is always 1, for every |O| and s",
        {"the least precision": least, "the mean": average(cells[f"{name} precision"] for name in names)},
        near(least, 1, 0),
        f"{SAID}, goal=frequent, e^ε=2, δ=0.5, every s and |O|",
        of(cells) | {"λ": cells["largest"]},
        certified(cells, _gaps(RECALL)),
    )


def _gaps(inverses: Iterable[int]) -> list[str]:
    return [f"1/s={inverse} O={size} gap" for inverse in inverses for size in SIZES]


def _least(samples: list[DrawSample]) -> DrawSample:
    columns = (DrawSample(column) for column in zip(*(sample.values for sample in samples), strict=True))
    return DrawSample(tuple(min(column.known, default=None) for column in columns))


def table_6(cells: DrawSamples) -> Iterator[PaperFinding]:
    """Table 6: the sum of support distances by |O| and s."""
    for inverse, printed in DISTANCES.items():
        by = _by_o(cells, inverse, "support_distance")
        yield PaperFinding(
            f"distance-{inverse}",
            f"s = 1/{inverse}: the sum of support distances increases as the output grows",
            by,
            rises(by),
            f"{SAID}, goal=frequent, e^ε=2, δ=0.5, s=1/{inverse}, |O| as a part of λ",
            _about(cells, inverse),
            certified(cells, _gaps([inverse])),
            printed=dict(zip(by, printed, strict=True)),
        )


# ------------------------------------------------------------------ Figures 3 and 6


def figure_3_ab(cells: DrawSamples) -> Iterator[PaperFinding]:
    """Figure 3(a) and (b): recall and distances by (ε, δ), at one |O|."""
    names = [label(cell) for cell in LOOSER]
    said = f"{SAID}, goal=frequent, s=1/{FIXED}, |O| = 4/5 of the largest output at δ = 0.2; B from there on"
    about = of(cells) | {"|O|": cells["rows"], "frequent pairs": cells["frequent"]}
    note = certified(cells, [f"{name} gap" for name in names])
    recall, distances = (cells.series(f"{{}} {metric}", names) for metric in ("recall", "support_distance"))
    yield PaperFinding(
        "a-recall", "recall increases with ε and δ, that is with B", recall, rises(recall), said, about, note
    )
    yield PaperFinding(
        "b-distance", "the sum of support distances falls with B", distances, falls(distances), said, about, note
    )


def figure_3_c(cells: DrawSamples) -> Iterator[PaperFinding]:
    """Figure 3(c): the average distance by s, of the solutions of Table 6."""
    by = {f"s = 1/{inverse}": average(_by_o(cells, inverse, "average_support_distance").values()) for inverse in RECALL}
    yield PaperFinding(
        "c-average",
        "the average support distance decreases as s increases (mean over |O|)",
        by,
        falls(by),
        f"{SAID}, goal=frequent, e^ε=2, δ=0.5, every s and |O|",
        of(cells) | {f"frequent pairs, s = 1/{n}": cells[f"1/s={n} frequent"] for n in RECALL},
        certified(cells, _gaps(RECALL)),
    )


def figure_6(cells: DrawSamples) -> Iterator[PaperFinding]:
    """Figure 6: difference ratios of (query, url, user) triplets."""
    for printed, share in FIGURE_6.items():
        by = {f"DiffRatio < {t / 100:g}": cells[f"O={printed} below {t}"] for t in RATIOS}
        yield PaperFinding(
            f"o-{printed}",
            f"{_part(printed)}: about {share} % of the triplets have a difference ratio below 40 % (within 10 points)",
            by,
            near(by["DiffRatio < 0.4"], share, 10),
            f"{SAID}, goal=frequent, e^ε=2, δ=0.5, s=1/{FIXED}; {OUTPUTS} random outputs of each solution",
            of(cells) | {"|O|": cells[f"1/s={FIXED} O={printed} rows"]},
            "A triplet of which no row comes out is 100 % off; of one click, one row is |D|/|O| times its share.",
            {"DiffRatio < 0.4": share},
        )


EXPERIMENTS = (
    Experiment(
        "hong/table-5", NAME, "Table 5: recall of frequent pairs by |O| and s", by_size, table_5, ("clicks",)
    ),
    Experiment(
        "hong/table-6", NAME, "Table 6: sum of support distances by |O| and s", by_size, table_6, ("clicks",)
    ),
    Experiment(
        "hong/figure-3", NAME, "Figure 3(a, b): recall and distances by (ε, δ)", by_bound, figure_3_ab, ("clicks",)
    ),
    Experiment(
        "hong/figure-3c", NAME, "Figure 3(c): average support distance by s", by_size, figure_3_c, ("clicks",)
    ),
    Experiment("hong/figure-6", NAME, "Figure 6: difference ratios of triplets", by_size, figure_6, ("clicks",)),
)  # fmt: skip
