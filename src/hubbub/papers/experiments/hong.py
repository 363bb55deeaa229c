"""Hong et al. 2012 on 2,500 users of the preset `aol`: the pattern of Table 4, the largest output for each (ε, δ).

The relaxation is solved once: its largest output is B times that for B = 1, B = min{ε, ln 1/(1−δ)}, and never above nB
for n users, on any log (see `hubbub reproduce hong`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from hubbub.mechanisms.optimal.published.problem import read
from hubbub.mechanisms.optimal.published.size import optimum
from hubbub.papers.experiments.lab import Lab, Numbers
from hubbub.papers.experiments.rows import DrawSamples, Experiment, PaperFinding
from hubbub.papers.experiments.rule import Decision, DrawSample, rises
from hubbub.papers.numbers.hong import limit, power
from hubbub.papers.numbers.hong_printed import DELTAS, OUTPUT
from hubbub.steps.mode import RunMode

NAME, PRESET, USERS = "Hong et al. 2012", "aol", 2500
SAID = f"preset aol, {USERS} users (or fewer, with --users); optimal published, goal=size, the relaxation at B = 1"
SECONDS = 20
LOOSEST, TIGHTEST = ("2.3", "0.8"), ("1.001", "1e-4")


def bound(e_epsilon: str, delta: str) -> float:
    """B = min{ε, ln 1/(1−δ)} of one cell of the table."""
    return math.log(power(e_epsilon, delta))


def output(lab: Lab) -> Numbers:
    """The relaxation's optimum, which no whole number of rows can pass."""
    problem = read(lab.log(PRESET, USERS), RunMode(bytes(16)))
    users, pairs = problem.shape
    found: Numbers = {"users": users, "pairs": pairs, "size": problem.size}
    found["optimum"] = optimum(problem, SECONDS).bound
    return found


def table_4(cells: DrawSamples) -> Iterator[PaperFinding]:
    """Table 4: the pattern that its numbers follow, and sizes that no log could give."""
    one, n, size = cells["optimum"], cells["users"], cells["size"]
    evaluated = {"users": n, "pairs": cells["pairs"], "|D|": size}
    loosest, tightest = bound(*LOOSEST), bound(*TIGHTEST)

    def largest_output(B: float) -> DrawSample:
        return _times(one, B)

    classes: dict[Fraction, set[int]] = {}
    for e_epsilon, printed in OUTPUT.items():
        for delta, value in zip(DELTAS, printed, strict=True):
            classes.setdefault(power(e_epsilon, delta), set()).add(value)
    sizes = {f"B = {math.log(B):.4g}": float(max(values)) for B, values in sorted(classes.items())}
    by_bound = {f"B = {math.log(B):.4g}": largest_output(math.log(B)) for B in sorted(classes)}
    apart = sum(len(values) > 1 for values in classes.values())
    yield PaperFinding(
        "rises-with-B",
        "the largest output grows with B = min{ε, ln 1/(1−δ)}, and depends on nothing else "
        f"({len(classes)} values of B; printed: {apart} of them with more than one size)",
        by_bound,
        rises(by_bound),
        SAID,
        evaluated,
        printed=sizes,
        caution="By construction: the relaxation is linear, so it is solved once and multiplied by B.",
    )
    yield PaperFinding(
        "loosest-cell",
        "13901 rows come out at e^ε = 2.3, δ = 0.8 (26.2 % of the rows)",
        {
            "rows, relaxation": largest_output(loosest),
            "nB": _times(n, loosest),
            "per cent of the rows": _per_cent(largest_output(loosest), size),
        },
        Decision(
            "impossible",
            f"At most nB rows can come out of any log; for the paper's 1980 users that is {limit(*LOOSEST):.0f}.",
        ),
        SAID,
        evaluated,
    )
    least = largest_output(tightest)
    yield PaperFinding(
        "tightest-cell",
        "3759 rows come out at e^ε = 1.001, δ = 1e-4 (7.08 % of the rows)",
        {"rows, relaxation": least, "nB": _times(n, tightest)},
        Decision(
            "impossible",
            f"At most nB rows can come out of any log; for the paper's 1980 users that is {limit(*TIGHTEST):.2g}.",
        ),
        SAID,
        evaluated,
    )
    ratio = loosest / tightest
    yield PaperFinding(
        "growth",
        f"from the tightest to the loosest cell the output grows {OUTPUT['2.3'][-1] / OUTPUT['1.001'][0]:.2f}-fold",
        {"growth, relaxation": largest_output(loosest).with_other(least, lambda a, b: a / b if b else 0.0)},
        Decision("impossible", f"The optimum is proportional to B on any log, and B grows {ratio:.0f}-fold."),
        SAID,
        evaluated,
    )


def _times(sample: DrawSample, factor: float) -> DrawSample:
    return DrawSample(tuple(None if value is None else value * factor for value in sample.values))


def _per_cent(part: DrawSample, whole: DrawSample) -> DrawSample:
    return part.with_other(whole, lambda a, b: 100 * a / b if b else 0.0)


EXPERIMENTS = (
    Experiment("hong/table-4", NAME, "Table 4: the largest output for each (ε, δ)", output, table_4, ("clicks",)),
)
