"""Götz et al. 2009 on the preset `gotz`: Table 3, Figures 2 and 3, the counts themselves for several m (§7.2).

The paper does not state ε of Table 3 and Figures 2 and 3; 5 is the ε of Figure 4, and the one that fits Table 3 (see
docs/synthetic-log.md). It leaves open which m items of a user are kept: here they are drawn by a hash. A release is
ZEALOUS as published (Theorem 2, U the number of users); counts are numbers of users on both sides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from hubbub.papers.experiments.lab import Lab, Numbers, counted
from hubbub.papers.experiments.rows import DrawSamples, Experiment, PaperFinding
from hubbub.papers.experiments.rule import (
    Decision,
    DrawSample,
    apart_by_chance,
    best,
    direction,
    every,
    falls,
    lower,
    near,
    peaks,
    rises,
    times,
)
from hubbub.steps.keys import KEYWORDS, QUERIES, TRANSITIONS
from hubbub.worth.evidence import find, numbers
from hubbub.worth.tasks.base import need
from hubbub.worth.tasks.counts import compare

NAME, PRESET = "Götz et al. 2009", "gotz"
KINDS = ("keywords", "queries", "clicks", "transitions")
COMMON = KINDS[:3]
"""Kinds of which enough are released at 20,000 users; query pairs need five times as many (gotz_pairs)."""
MS, TOPS = (1, 2, 4, 8, 20, 40), ("10", "100", "1000")
OTHERS = len(MS) - 1
"""Values of m that the best m > 1 is chosen from."""
EPSILONS = (1, 2, 4, 6, 8, 10)
"""Figures 5 to 7 have ε from 0 to 10 on one axis and k from 0 to 100 on the other: k = 10 ε stand side by side."""
OF_LOG = {"keywords": KEYWORDS, "queries": QUERIES, "transitions": TRANSITIONS}
"""What is counted in a k-query anonymous log; it is not designed to publish clicks (§8.1)."""
PRINTED = {  # Table 3 for m = 1, 4, 8, 20, 40: distinct items, and total counts in thousands
    "keywords": ((6667, 6043, 5372, 4062, 2964), (329, 1157, 1894, 3106, 3871)),
    "queries": ((3334, 2087, 1440, 751, 408), (147, 314, 402, 464, 439)),
    "clicks": ((2813, 1576, 1001, 486, 246), (118, 234, 286, 317, 290)),
    "transitions": ((331, 169, 100, 40, 13), (8, 14, 15, 12, 7)),
}
FIVEFOLD = "preset gotz, five times the users"
"""Where rows about query pairs are run, in words."""
NONE: dict[str, float | None] = {"release": None}
CIRCULAR = "Circular: the preset gotz was fitted to Tables 3 and 4, at 500,000 users and ε = 5."
PER_USER = {"keywords": 56, "queries": 20, "clicks": 14, "transitions": 7}
"""Table 4."""


def zealous(lab: Lab, epsilon: int = 5, m: int = 1) -> dict[str, object]:
    """The settings of ZEALOUS in every run of this paper."""
    return {"epsilon": epsilon, "delta": "0.001", "m": m, "U": lab.users, "keep": "random"}


def said(epsilon: object = 5, m: object = 1, where: str = "preset gotz") -> str:
    """The settings in words, for the row."""
    return f"{where}; zealous published, epsilon={epsilon}, delta=0.001, m={m}, U=users, keep=random"


def k_query(lab: Lab, k: int, kinds: Sequence[str] = tuple(OF_LOG)) -> dict[str, pa.Table]:
    """Histograms of the log without the queries of fewer than k users (§8, Algorithms)."""
    log = lab.log(PRESET)
    often = f"SELECT query FROM ({QUERIES.distinct()}) AS held GROUP BY query HAVING count(*) >= {k}"
    log.engine.save("k_query", f"SELECT l.* FROM log AS l JOIN ({often}) AS often ON often.query = l.query")
    return {kind: counted(log, OF_LOG[kind], "k_query") for kind in kinds}


# ------------------------------------------------------------------ Table 3, Figures 2 and 3


def by_m(lab: Lab, kinds: Sequence[str] = KINDS) -> Numbers:
    """Release every kind of item at every m, and score each release."""
    found: Numbers = {}
    original, people = lab.original(PRESET), lab.log(PRESET).users()
    for kind in kinds:
        ours = need(original, kind, "original")
        events = need(lab.original(PRESET, "count"), kind, "original")
        found[f"{kind} per user"] = int(numbers(events).sum()) / people
        found[f"{kind} distinct"] = ours.num_rows
        for m in MS:
            theirs = need(lab.run(lab.log(PRESET), "zealous", zealous(lab, m=m), variant="published", tables=[kind]),
                          kind, "release")  # fmt: skip
            scores = compare(numbers(ours), numbers(theirs), find(ours, theirs))
            for metric in ("distinct", "total", *(f"{s}@{j}" for s in ("coverage", "l1", "kl") for j in TOPS)):
                precise = metric.startswith(("l1", "kl")) and not theirs.num_rows  # of nothing there is no precision
                found[f"{kind} m={m} {metric}"] = None if precise else scores.get(metric, NONE)["release"]
    return found


def over_m(cells: DrawSamples, kind: str, metric: str) -> dict[str, DrawSample]:
    """The samples of one metric, by m."""
    return cells.series(f"{kind} m={{}} {metric}", MS, "m = {}")


def table_3(cells: DrawSamples) -> Iterator[PaperFinding]:
    """Table 3: numbers of distinct items, and their total counts."""
    for kind in KINDS:
        yield from counts_by_m(cells, kind)
    lost = {kind: _lost(cells, kind) for kind in KINDS}
    yield PaperFinding(
        "larger-domains-lose-more",
        "the decrease is more dramatic for larger domains: 55, 88, 91, 96 %",
        lost,
        rises(lost),
        said(m="1, 40"),
        {kind: cells[f"{kind} m=1 distinct"] for kind in KINDS},
        caution=CIRCULAR,
    )


def counts_by_m(cells: DrawSamples, kind: str, where: str = "preset gotz") -> Iterator[PaperFinding]:
    """Table 3 for one kind of item."""
    distinct, total = over_m(cells, kind, "distinct"), over_m(cells, kind, "total")
    of = {"distinct in the log": cells[f"{kind} distinct"]}
    printed = ", ".join(map(str, PRINTED[kind][0]))
    yield PaperFinding(
        f"{kind}-distinct",
        f"falls with m: {printed} for m = 1, 4, 8, 20, 40",
        distinct,
        falls(distinct),
        said(m=MS, where=where),
        of,
        printed=_printed(kind, 0),
        caution=CIRCULAR,
    )
    share, lost = 100 * (1 - PRINTED[kind][0][-1] / PRINTED[kind][0][0]), _lost(cells, kind)
    yield PaperFinding(
        f"{kind}-decrease",
        f"{share:.1f} % fewer at m = 40 than at m = 1 (shown: within 10 points)",
        {"per cent": lost},
        near(lost, share, 10),
        said(m="1, 40", where=where),
        {"m = 1": distinct["m = 1"], "m = 40": distinct["m = 40"]},
        caution=CIRCULAR,
    )
    printed = ", ".join(map(str, PRINTED[kind][1]))
    expected, rule = ("still rises at m = 40", rises) if kind == "keywords" else ("rises, then falls", peaks)
    yield PaperFinding(
        f"{kind}-total",
        f"{expected}: {printed} thousand",
        total,
        rule(total),
        said(m=MS, where=where),
        distinct,
        printed=_printed(kind, 1, 1000),
        caution=CIRCULAR,
    )
    tip, typical = _tip(total), cells[f"{kind} per user"]
    if kind != "keywords":
        yield PaperFinding(
            f"{kind}-tipping-point",
            "the m with the highest total is about the number of items per user "
            f"({PER_USER[kind]} in Table 4; shown: within a factor of 2)",
            {"m of the highest total": tip, "items per user": typical},
            times(typical, tip, 1, 2, ("the number of items per user", "the m of the highest total")),
            said(m=MS, where=where),
            distinct,
            caution=CIRCULAR,
        )


def _lost(cells: DrawSamples, kind: str) -> DrawSample:
    """By how many per cent m = 40 releases fewer items than m = 1."""
    return cells[f"{kind} m=40 distinct"].with_other(cells[f"{kind} m=1 distinct"], _loss)


def _printed(kind: str, which: int, unit: int = 1) -> dict[str, float]:
    """A line of the paper's Table 3: m = 1, 4, 8, 20, 40."""
    return {f"m = {m}": unit * n for m, n in zip((1, 4, 8, 20, 40), PRINTED[kind][which], strict=True)}


def _loss(after: float, before: float) -> float:
    return 100 * (1 - after / before) if before else 0.0


def _tip(series: Mapping[str, DrawSample]) -> DrawSample:
    """The m with the highest total count, draw by draw."""
    columns = zip(*(sample.values for sample in series.values()), strict=True)
    return DrawSample(tuple(MS[int(np.argmax([-1.0 if x is None else x for x in column]))] for column in columns))


def figure_2(cells: DrawSamples, kinds: Sequence[str] = COMMON, where: str = "preset gotz") -> Iterator[PaperFinding]:
    """Figure 2: coverage and precision by m."""
    for kind in kinds:
        covered, released = over_m(cells, kind, "coverage@1000"), over_m(cells, kind, "distinct")
        yield PaperFinding(
            f"{kind}-coverage",
            "the coverage of the top 1000 decreases as m increases",
            covered,
            falls(covered),
            said(m=MS, where=where),
            released,
        )
        deeper = cells.series(f"{kind} m=1 coverage@{{}}", TOPS, "top {}")
        yield PaperFinding(
            f"{kind}-coverage-by-j",
            "coverage gets worse for increasing j",
            deeper,
            falls(deeper),
            said(where=where),
            {"released": cells[f"{kind} m=1 distinct"]},
            caution="Partly by construction: with n items released, the coverage of the top 1000 is n/1000 at most.",
        )
        small = "for small j, values of m > 1 give better precision (smaller L1 distance)"
        for name, statement, metric, many in (
            ("precision-top-10", small, "l1@10", True),
            ("kl-top-10", "the same by the KL divergence (over the items that are left)", "kl@10", True),
            ("precision-top-1000", "for large j, m = 1 gives better precision", "l1@1000", False),
        ):
            far = over_m(cells, kind, metric)
            least = _least(far)
            sides = [(far["m = 1"], "m = 1"), (far[least], f"the best m > 1 ({least})")]
            (worse, worse_name), (better, better_name) = sides if many else reversed(sides)
            yield PaperFinding(
                f"{kind}-{name}",
                statement,
                far,
                lower(worse, better, (worse_name, better_name)).chosen_from(OTHERS),
                said(m=MS, where=where),
                released,
            )


def _least(series: Mapping[str, DrawSample]) -> str:
    """The m above 1 whose mean is the smallest."""
    others = {name: DrawSample(tuple(None if x is None else -x for x in s.values)) for name, s in series.items()}
    del others["m = 1"]
    return best(others)


def figure_3(cells: DrawSamples) -> Iterator[PaperFinding]:
    """Figure 3: which m is the most precise."""
    for kind, m in (("keywords", 8), ("queries", 2)):
        kl, here = over_m(cells, kind, "kl@100"), f"m = {m}"
        lower_still = [name for name in kl if direction(kl[here], kl[name]) < 0]
        decision = lower(kl["m = 1"], kl[here], ("m = 1", here))
        if lower_still:
            p = min(apart_by_chance(kl[here], kl[name]) for name in lower_still)
            decision = Decision("differs", f"{', '.join(lower_still)}: lower than {here}.", p).chosen_from(OTHERS)
        yield PaperFinding(
            f"{kind}-kl",
            f"m = 1 does not always give the best precision: m = {m} has the lowest KL divergence (top 100 here)",
            kl,
            decision,
            said(m=MS),
            over_m(cells, kind, "distinct"),
        )
    yield from regimes(cells, COMMON)


def regimes(cells: DrawSamples, kinds: Sequence[str], where: str = "preset gotz") -> Iterator[PaperFinding]:
    """Figure 3 in a sentence: which m for what."""
    for kind in kinds:
        covered, top = over_m(cells, kind, "coverage@1000"), over_m(cells, kind, "l1@10")
        least = _least(top)
        yield PaperFinding(
            f"{kind}-regimes",
            "two regimes: for coverage (top 1000) m = 1 is best, for a few items (L1 of the top 10) a larger m",
            {f"coverage, {m}": sample for m, sample in covered.items()} | {f"L1, {m}": s for m, s in top.items()},
            every(
                [
                    lower(covered["m = 1"], covered["m = 40"], ("that at m = 1", "the coverage at m = 40")),
                    lower(
                        top["m = 1"], top[least], ("the L1 distance at m = 1", f"the least at m > 1 ({least})")
                    ).chosen_from(OTHERS),
                ]
            ),
            said(m=MS, where=where),
            over_m(cells, kind, "distinct"),
        )


EXPERIMENTS = (
    Experiment(
        "gotz/table-3",
        NAME,
        "Table 3: distinct items and total counts with different m",
        by_m,
        table_3,
        ("clicks", "times"),
    ),
    Experiment(
        "gotz/figure-2",
        NAME,
        "Figure 2: coverage and precision by m, for several top-j",
        by_m,
        figure_2,
        ("clicks", "times"),
    ),
    Experiment(
        "gotz/figure-3",
        NAME,
        "Figure 3: coverage and precision by top-j, for several m",
        by_m,
        figure_3,
        ("clicks", "times"),
    ),
)
