"""Zhang and Yang 2017 on the preset `aol`: Table 5, Figures 1 and 2, the suggestion task.

As in the paper the logs are made from nine tenths of the users, and suggestions asked for after every prefix of the
sessions of the last tenth. Scores are over the prefixes that a log has a suggestion for; how many sessions that leaves
stands beside them. For the finding that smaller logs score higher there are two rows more: over every prefix, an
unanswered one scoring 0, and the original on the very prefixes that the private log answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from hubbub.papers.experiments.lab import Lab, Numbers
from hubbub.papers.experiments.rows import DrawSamples, Experiment, PaperFinding
from hubbub.papers.experiments.rule import DrawSample, close, falls, higher, lower
from hubbub.worth.evidence import Evidence
from hubbub.worth.tasks.graph import Graph, find
from hubbub.worth.tasks.suggestion import PARTS, Prefixes, learned, suggest, suggested
from hubbub.worth.tasks.suggestion import released as graph_of

NAME, PRESET = "Zhang & Yang 2017", "aol"
KS = (5, 10, 20, 30, 40, 50)
KS_KA = (*KS, 100, 200)
RUNS = ("original", "KA", "DP_C", "DP_S")
PRINTED = {
    "precision@5": ("0.0421", "0.0693", "0.1133", "0.1139"),
    "recall@5": ("0.1402", "0.2312", "0.3891", "0.3911"),
}
SESSIONS = ("18,475", "9,494", "4,144", "4,119")


def said(K: object = 20) -> str:
    """The parameters of a run, for a reader."""
    return f"preset aol; k-click k={K}; sessions published, T_gap=30, l_s=1, l_q=3, l=4, b=1, K={K}; suggestion"


def sweep(lab: Lab) -> Numbers:
    """Score the original log, and the logs of KA, DP_C and DP_S for every K."""
    trained, prefixes = learned(lab.original(PRESET, "count"), lab.seed)
    found: Numbers = {}
    _keep(found, "original", trained, prefixes)
    log = lab.training(PRESET, PARTS, PARTS - 1)
    for k, release in zip(KS_KA, lab.sweep(log, "k-click", [{"k": k} for k in KS_KA]), strict=True):
        _keep(found, f"KA {k}", graph_of(release), prefixes, release)
    settings = [{"b": 1, "K": K, "l_s": 1, "l_q": 3, "l": 4} for K in KS]
    for K, release in zip(KS, lab.sweep(log, "sessions", settings, variant="published"), strict=True):
        clicks = release.table("clicks")
        assert clicks is not None
        alone = Evidence.of_tables({"clicks": clicks}, "count")  # DP_S holds a copy of DP_C
        _keep(found, f"DP_C {K}", graph_of(alone), prefixes, alone)
        _keep(found, f"DP_S {K}", graph_of(release), prefixes, release)
        if K == 20:
            _keep(found, "original where DP_S answers", trained, answered(prefixes, graph_of(release)))
    return found


def _keep(found: Numbers, name: str, graph: Graph, prefixes: Prefixes, release: Evidence | None = None) -> None:
    """Keep the scores of a graph; a graph that answers nothing has none."""
    scores = suggested(graph, prefixes)
    for metric, value in scores.items():
        mean = metric in PRINTED and not scores["prefixes_evaluated"]
        found[f"{name} {metric}"] = None if mean else value
    for table in ("clicks", "sessions"):
        rows = None if release is None else release.table(table)
        if rows is not None:
            found[f"{name} released {table}"] = rows.num_rows


def answered(prefixes: Prefixes, graph: Graph) -> Prefixes:
    """The prefixes for which a graph has a suggestion."""
    asked, ask = np.unique(prefixes.last, return_inverse=True)
    node = find(prefixes.queries.take(asked), graph.queries)
    known = np.flatnonzero(node >= 0)
    kept = np.isin(ask, known[suggest(graph, node[known])[0]])
    place = np.cumsum(kept) - 1
    follows = kept[prefixes.prefix]
    return Prefixes(
        prefixes.queries,
        prefixes.last[kept],
        prefixes.session[kept],
        place[prefixes.prefix[follows]],
        prefixes.follows[follows],
    )


def _at(run: str, K: int = 20) -> str:
    return run if run == "original" else f"{run} {K}"


def table_5(cells: DrawSamples) -> Iterator[PaperFinding]:
    """Table 5: every log at K = 20."""
    evaluated = {run: cells[f"{_at(run)} sessions_evaluated"] for run in RUNS}
    counts = {f"sessions, {run}": sample for run, sample in evaluated.items()} | {
        "sessions": cells["original sessions"]
    }
    printed = {run: float(n.replace(",", "")) for run, n in zip(RUNS, SESSIONS, strict=True)}
    for a, b in (("original", "KA"), ("KA", "DP_C")):
        yield PaperFinding(
            f"sessions-{b.lower()}-below-{a.lower()}",
            f"{b} evaluates fewer sessions than {a}: {SESSIONS[RUNS.index(b)]} of {SESSIONS[RUNS.index(a)]}",
            evaluated,
            lower(evaluated[a], evaluated[b], (a, b)),
            said(),
            counts,
            printed=printed,
            caution="By construction: KA is a part of the original." if a == "original" else "",
        )
    yield PaperFinding(
        "sessions-dp_s-like-dp_c",
        "DP_S evaluates a similar number of sessions as DP_C: 4,119 and 4,144 (within 10 %)",
        evaluated,
        close(evaluated["DP_C"], evaluated["DP_S"], ("DP_C", "DP_S")),
        said(),
        counts,
        printed=printed,
        caution="Nearly by construction: DP_S holds a copy of DP_C.",
    )
    for metric, values in PRINTED.items():
        printed = {run: float(x) for run, x in zip(RUNS, values, strict=True)}
        scores = {run: cells[f"{_at(run)} {metric}"] for run in RUNS}
        for a, b in (("original", "KA"), ("KA", "DP_C"), ("DP_C", "DP_S")):
            yield PaperFinding(
                f"{metric}-{b.lower()}-above-{a.lower()}",
                f"{b} has a higher {metric} than {a}: {values[RUNS.index(b)]}, {values[RUNS.index(a)]}",
                scores,
                higher(scores[a], scores[b], (a, b)),
                said(),
                counts,
                printed=printed,
            )
    yield from smaller_is_better(cells, counts)


def smaller_is_better(cells: DrawSamples, counts: Mapping[str, DrawSample]) -> Iterator[PaperFinding]:
    """ "The runs releasing less sessions yield better IR utility scores": averaged as in the paper, and otherwise."""
    for metric in PRINTED:
        own, every_one = cells[f"original {metric}"], cells[f"original every_prefix.{metric}"]
        private, every_private = cells[f"DP_S 20 {metric}"], cells[f"DP_S 20 every_prefix.{metric}"]
        same = cells[f"original where DP_S answers {metric}"]
        prefixes = {
            "prefixes, original": cells["original prefixes_evaluated"],
            "prefixes, DP_S": cells["DP_S 20 prefixes_evaluated"],
            "prefixes": cells["original prefixes"],
        }
        yield PaperFinding(
            f"smaller-scores-higher-{metric}",
            f"the smaller private log scores higher on {metric}, averaged over what each log answers",
            {"original": own, "DP_S": private},
            higher(own, private, ("the original", "DP_S")),
            said(),
            {**counts, **prefixes},
            "The averages are over different sessions: see the next two rows.",
        )
        yield PaperFinding(
            f"smaller-scores-higher-{metric}-every-prefix",
            f"the same over every prefix, an unanswered one scoring 0: does the private log score higher on {metric}?",
            {"original": every_one, "DP_S": every_private},
            higher(every_one, every_private, ("the original", "DP_S")),
            said(),
            {**counts, **prefixes},
        )
        yield PaperFinding(
            f"smaller-scores-higher-{metric}-same-prefixes",
            f"its released content is more useful: on the prefixes that DP_S answers, it has a higher {metric} than "
            "the original",
            {"original": same, "DP_S": private},
            higher(same, private, ("the original", "DP_S")),
            said(),
            {**counts, **prefixes},
        )


def figure_1(cells: DrawSamples) -> Iterator[PaperFinding]:
    """Figure 1: how much of the log is left for each K."""
    for part, run, table, ks in (
        ("a", "KA", "clicks", KS_KA),
        ("b", "DP_C", "clicks", KS),
        ("c", "DP_S", "sessions", KS),
    ):
        rows = cells.series(f"{run} {{}} released {table}", ks, "K = {}")
        yield PaperFinding(
            f"{part}-{run.lower()}",
            f"{run}: distinct {'clickthrough tuples' if table == 'clicks' else 'sessions'} fall with K",
            rows,
            falls(rows),
            said(ks),
            cells.series(f"{run} {{}} sessions_evaluated", ks, "sessions evaluated, K = {}"),
            caution="By construction: the noise of a draw is the same for every K, so a higher threshold keeps a part.",
        )


def figure_2(cells: DrawSamples) -> Iterator[PaperFinding]:
    """Figure 2: scores against the number of evaluated sessions."""
    counts: dict[str, DrawSample] = {}
    for run, ks in CURVES.items():
        counts |= cells.series(f"{run} {{}} sessions_evaluated", ks, f"{run}, K = {{}}")
    matched = _draws(cells, lambda draw: _matched(draw, "KA", draw["DP_S 20 sessions_evaluated"]))
    yield PaperFinding(
        "a-smaller-k",
        "for as many evaluated sessions, K of differential privacy is much less than K of k-anonymity",
        {"K of KA that evaluates as many sessions as DP_S at K = 20": matched},
        higher(DrawSample((20.0,) * len(cells.draws)), matched, ("20", "the K of KA")),
        said(KS_KA),
        counts,
    )
    for part, metric in (("b", "precision@5"), ("c", "recall@5")):
        for name, expected in (
            ("few", "DP_S is better than KA where few sessions are evaluated"),
            ("many", "KA is better than DP_S where more are"),
        ):
            at = _draws(cells, partial(_common, end=name))
            k_anonymous, private = (_draws(cells, partial(_score, run=run, metric=metric, end=name)) for run in CURVES)
            rule = higher if name == "few" else lower
            yield PaperFinding(
                f"{part}-{name}",
                f"{expected} ({metric}, interpolated at the {'fewest' if name == 'few' else 'most'} that both reach)",
                {"KA": k_anonymous, "DP_S": private},
                rule(k_anonymous, private, ("KA", "DP_S")),
                said(KS_KA),
                {"sessions evaluated": at, **counts},
            )


CURVES: dict[str, Sequence[int]] = {"KA": KS_KA, "DP_S": KS}


def _draws(cells: DrawSamples, what: Callable[[Numbers], float | None]) -> DrawSample:
    return DrawSample(tuple(what(draw) for draw in cells.draws))


def _curve(draw: Numbers, run: str, metric: str) -> tuple[list[float], list[float]]:
    """Sessions evaluated, ascending, and what goes with each; runs that answer nothing left out."""
    found = {
        float(draw[f"{run} {K} sessions_evaluated"] or 0): float(K) if metric == "K" else draw[f"{run} {K} {metric}"]
        for K in CURVES[run]
    }
    known = sorted((sessions, value) for sessions, value in found.items() if sessions and value is not None)
    return [sessions for sessions, _ in known], [value for _, value in known]


def _matched(draw: Numbers, run: str, sessions: float | None) -> float | None:
    """The K at which a run evaluates so many sessions; None beyond its largest and smallest K."""
    at, values = _curve(draw, run, "K")
    if not at or not sessions or not at[0] <= sessions <= at[-1]:
        return None
    return float(np.interp(sessions, at, values))


def _common(draw: Numbers, end: str) -> float | None:
    """The fewest or the most evaluated sessions that both curves reach."""
    ends = [_curve(draw, run, "K")[0] for run in CURVES]
    if not all(ends):
        return None
    few, many = max(at[0] for at in ends), min(at[-1] for at in ends)
    return None if few >= many else few if end == "few" else many


def _score(draw: Numbers, run: str, metric: str, end: str) -> float | None:
    sessions = _common(draw, end)
    return None if sessions is None else float(np.interp(sessions, *_curve(draw, run, metric)))


EXPERIMENTS = (
    Experiment(
        "sessions/table-5",
        NAME,
        "Table 5: query suggestion with different query logs; K = 20",
        sweep,
        table_5,
        ("clicks", "times"),
    ),
    Experiment(
        "sessions/figure-1", NAME, "Figure 1: distinct clicks and sessions by K", sweep, figure_1, ("clicks", "times")
    ),
    Experiment(
        "sessions/figure-2",
        NAME,
        "Figure 2: utility by the number of evaluated sessions",
        sweep,
        figure_2,
        ("clicks", "times"),
    ),
)
