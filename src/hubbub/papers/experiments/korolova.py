"""Korolova et al. 2009 on the preset `aol`: the shares of distinct queries and of search volume that are published.

The text of the paper that we have ends before its experiments; its introduction says that both shares are
"non-negligible". 0.75 % and 10 % are second hand, from section 2 of Zhang & Yang 2017 ("more than 10%"); neither their
parameters nor the size of the log are known to us. Here: the mechanism as published at e^ε = 10 and δ = 1e-5, for
several d.
"""

from __future__ import annotations

from collections.abc import Iterator

from hubbub.papers.experiments.lab import Lab, Numbers
from hubbub.papers.experiments.rows import DrawSamples, Experiment, PaperFinding
from hubbub.papers.experiments.rule import DrawSample, best, higher, near
from hubbub.worth.evidence import find
from hubbub.worth.tasks.base import need
from hubbub.worth.tasks.counts import published

NAME, PRESET = "Korolova et al. 2009", "aol"
DS = (1, 2, 5, 10, 20, 40)
EPSILON, DELTA = "2.302585", "1e-5"
SAID = f"preset aol; korolova published, epsilon={EPSILON}, delta={DELTA}, d={DS}; counts"


def shares(lab: Lab) -> Numbers:
    """The shares of distinct queries and of searches that are published, for every d."""
    found: Numbers = {}
    original = lab.original(PRESET, "count")
    queries = need(original, "queries", "original")
    found["distinct"] = queries.num_rows
    for d in DS:
        settings = {"epsilon": EPSILON, "delta": DELTA, "d": d}
        theirs = need(lab.run(lab.log(PRESET), "korolova", settings, variant="published"), "queries", "release")
        scores = published(original, queries, find(queries, theirs) >= 0)
        found[f"d={d} released"] = theirs.num_rows
        found |= {f"d={d} {name}": 100 * (pair["release"] or 0.0) for name, pair in scores.items()}
    return found


def fractions(cells: DrawSamples) -> Iterator[PaperFinding]:
    """Whether both shares are non-negligible, and near the figures that we have."""
    distinct, volume = (cells.series(f"d={{}} published_{what}", DS, "d = {}") for what in ("distinct", "volume"))
    released = cells.series("d={} released", DS, "released, d = {}") | {"distinct in the log": cells["distinct"]}
    none = DrawSample((0.0,) * len(cells.draws))
    for name, series, printed, words in (
        ("distinct", distinct, 0.75, "distinct queries"),
        ("volume", volume, 10, "search volume"),
    ):
        at = best(series)
        yield PaperFinding(
            f"{name}-non-negligible",
            f"a non-negligible share of {words} can be published (more than none, at the best d)",
            series,
            higher(none, series[at], ("none", f"the share at {at}")).chosen_from(len(DS)),
            SAID,
            released,
            caution="By construction: the paper names no number, and one released query is more than none. What is "
            f"called non-negligible here is {series[at].mean or 0:.2g} %.",
        )
        yield PaperFinding(
            f"{name}-number",
            f"about {printed:g} % of {words} (at the best d; shown: within half of it)",
            series,
            near(series[at], printed, printed / 2),
            SAID,
            released,
            "Parameters and size of the paper's log are not known to us; thresholds do not grow with the number of "
            "users, so that a larger log keeps more.",
            {at: printed},
            "Second hand: the number is from section 2 of Zhang & Yang 2017, not from the paper itself.",
        )
    yield PaperFinding(
        "volume-above-distinct",
        "the published queries carry a larger share of the volume than of distinct queries",
        {f"distinct, {d}": sample for d, sample in distinct.items()} | {f"volume, {d}": s for d, s in volume.items()},
        higher(distinct["d = 1"], volume["d = 1"], ("the share of distinct queries", "the share of volume")),
        SAID,
        released,
        caution="Nearly by construction: a threshold on counts keeps the most frequent queries.",
    )


EXPERIMENTS = (
    Experiment("korolova/fractions", NAME, "Experiments: shares of queries and of volume published", shares, fractions),
)
