"""Korolova et al. 2009, its two applications: keyword generation, and what people fear.

The text that we have ends before the experiments. Its introduction says that keywords and fears from the perturbed log
"closely resemble" those from the log itself; that is what is asked here, and within 10 % is what we call close. Second
hand, from those who cite the paper: that keywords come from seed URLs by walks on the click graph (Fuxman et al. 2008),
and that fears are the queries "fear of …". For these the log has five times the users, as hardly one is released of
20,000.
Result pages are the synthetic log's own; they hold ten pages for each of the world's most popular queries.
"""

from __future__ import annotations

from collections.abc import Iterator

from hubbub.papers.experiments.korolova import DELTA, EPSILON, NAME, PRESET
from hubbub.papers.experiments.lab import Lab, Numbers
from hubbub.papers.experiments.rows import DrawSamples, Experiment, PaperFinding
from hubbub.papers.experiments.rule import DrawSample, best, close
from hubbub.public.lists import UrlList
from hubbub.worth.evidence import Evidence
from hubbub.worth.tasks.base import NotEvaluable, Setup, Task, need
from hubbub.worth.tasks.fears import Fears
from hubbub.worth.tasks.keyword_generation import KeywordGeneration

DS = (1, 5, 20)
SECOND_HAND = "Second hand: our text of the paper has the claim, not the experiment."
FEARED = {
    "overlap@10": "the ten most frequent fears of the log are among those of the release",
    "kendall_tau@10": "and in the same order",
}
FOUND = {
    "precision": "the keywords that the release gives are the log's",
    "recall": "the log's keywords are among those that the release gives",
    "recall_by_clicks": "the same, each keyword as often as it is clicked",
}


def settings(d: int) -> dict[str, object]:
    """One release."""
    return {"epsilon": EPSILON, "delta": DELTA, "d": d}


def said(tables: str, where: str = "preset aol") -> str:
    """The settings in words, for the row."""
    return f"{where}; korolova published, epsilon={EPSILON}, delta={DELTA}, d={DS}; {tables}"


def fears(lab: Lab) -> Numbers:
    """The completions of "fear of" in each release's queries."""
    found: Numbers = {}
    lab = lab.fivefold
    for d in DS:
        release = lab.run(lab.log(PRESET), "korolova", settings(d), variant="published")
        found[f"d={d} released"] = need(release, "queries", "release").num_rows
        _keep(found, d, Fears(), lab, release, ("completions", *FEARED))
    return found


def keywords(lab: Lab) -> Numbers:
    """Keywords of the topics from each release's clicks on public result pages."""
    found: Numbers = {}
    log = lab.log(PRESET)
    listed = lab.truth(PRESET).table("serp")
    assert listed is not None
    serp = UrlList("results", listed.select(["query", "url"]).group_by(["query", "url"]).aggregate([]), "")
    for d in DS:
        release = lab.run(log, "korolova", settings(d) | {"d_c": d}, variant="published", serp=serp)
        found[f"d={d} released"] = need(release, "clicks", "release").num_rows
        _keep(found, d, KeywordGeneration(), lab, release, ("keywords", "concepts_with_keywords", *FOUND))
    return found


def _keep(found: Numbers, d: int, task: Task, lab: Lab, release: Evidence, metrics: tuple[str, ...]) -> None:
    """The scores of one release; none where the task says that there is nothing to score."""
    try:
        scores = task.score(
            lab.original(PRESET, "count"), release, Setup(None if lab.own is not None else lab.truth(PRESET), lab.seed)
        )
    except NotEvaluable:
        scores = {}
    for metric in metrics:
        for side in ("original", "release"):
            found[f"d={d} {metric} {side}"] = scores[metric][side] if metric in scores else None


def resemble(
    cells: DrawSamples, metric: str, statement: str, parameters: str, of: dict[str, DrawSample]
) -> PaperFinding:
    """Whether a score is within 10 % of 1, what the log itself has, at the best d."""
    series = cells.series(f"d={{}} {metric} release", DS, "d = {}")
    at = best(series)
    whole = DrawSample((1.0,) * len(cells.draws))
    return PaperFinding(
        metric.replace("_", "-"),
        f"{statement} (within 10 %, at the best d)",
        series,
        close(whole, series[at], ("the log itself", f"the release at {at}")).chosen_from(len(DS)),
        parameters,
        of,
        caution=SECOND_HAND,
    )


def human_fears(cells: DrawSamples) -> Iterator[PaperFinding]:
    """Fears closely resemble those of the log."""
    of = cells.series("d={} released", DS, "queries released, d = {}")
    of |= cells.series("d={} completions release", DS, "fears released, d = {}")
    of |= {"fears in the log": cells["d=1 completions original"]}
    for metric, statement in FEARED.items():
        where = "preset aol, five times the users"
        yield resemble(cells, metric, f"studying fears: {statement}", said("queries; fears", where), of)


def keyword_generation(cells: DrawSamples) -> Iterator[PaperFinding]:
    """Keywords closely resemble those of the log."""
    of = cells.series("d={} released", DS, "clicks released, d = {}")
    of |= cells.series("d={} keywords release", DS, "keywords, d = {}")
    of |= {"keywords of the log": cells["d=1 keywords original"]}
    for metric, statement in FOUND.items():
        yield resemble(
            cells, metric, f"keyword generation: {statement}", said("d_c=d, queries and clicks; keyword-generation"), of
        )


EXPERIMENTS = (
    Experiment("korolova/keywords", NAME, "Keyword generation", keywords, keyword_generation, ("clicks", "results")),
    Experiment("korolova/fears", NAME, "Studying human fears", fears, human_fears),
)
