"""Zhang et al. 2016 (Safelog) on the preset `aol`: Figures 3 to 5 and Table 3, the retrieval task.

As in the paper the release is made from four fifths of the users and asked about the clicks of the last fifth; a draw
is such a split. Table 3's ε has no term for transitions, so queries and clicks are released, and the graph is that of
clicks, on both sides; Figure 3 is also run with transitions on both sides (b_t = 10), as the paper's graph has them.
The paper does not say which b it took (five for every K), nor q_f and c_f of Figures 4 and 5: here they are those of
Figure 3, 100, with b_q = b_c = 10. τ = 5 and p_g = 1. As nobody clicks on them, pool queries that pass by
chance change no score; the pool is the thousand most popular queries of the log's world.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
import pyarrow as pa

from hubbub.log import SearchLog
from hubbub.mechanisms.safelog import paper
from hubbub.papers.experiments.lab import Lab, Numbers
from hubbub.papers.experiments.rows import DrawSamples, Experiment, PaperFinding
from hubbub.papers.experiments.rule import DrawSample, average, best, close, every, falls, higher, lower, rises
from hubbub.worth.evidence import Evidence, numbers
from hubbub.worth.tasks.base import Setup, need
from hubbub.worth.tasks.graph import Graph
from hubbub.worth.tasks.retrieval import HeldOutFold, fold_scores, folded

NAME, PRESET = "Zhang et al. 2016", "aol"
KS, BS = (10, 30, 50, 100, 500), (1, 10, 35, 120, 500)
"""35 and 120 are near the turning points of equation (2) for K = 100 and K = 500."""
LIMITS = (10, 50, 100, 150, 200)
PRINTED_3 = {  # for each limit
    "IF": ("0.5884", "0.5888", "0.5903", "0.5910", "0.5920"),
    "RW": ("0.5826", "0.5828", "0.5843", "0.5850", "0.5850"),
    "RW-2": ("0.5891", "0.5893", "0.5909", "0.5916", "0.5923"),
}
RANKINGS = {"IF": "implicit_feedback", "RW": "random_walk", "RW-2": "impact_factor"}
FOLDS, FOLD = 5, 0
GRAPHS = {"clicks": "", "clicks and transitions": " with transitions"}
"""What both sides' graphs are made of, and what their numbers are called."""


def settings(K: int, b: int, limit: int = 100, tau: int = 5) -> dict[str, object]:
    """The settings of one release."""
    return {"K": K, "b": b, "b_q": 10, "b_c": 10, "q_f": limit, "c_f": limit, "tau": tau}


def said(K: object, b: object, limit: object = 100, more: str = "") -> str:
    """The settings in words, for the row."""
    return f"preset aol; safelog published, K={K}, b={b}, b_q=b_c=10{more}, q_f=c_f={limit}, tau=5, p_g=1; retrieval"


def released(
    lab: Lab, log: SearchLog, each: list[dict[str, object]], tables: Sequence[str] = ("queries", "clicks")
) -> Iterator[Evidence]:
    """The tables that one release publishes of the training users: queries and clicks, unless said otherwise."""
    return lab.sweep(log, "safelog", each, variant="published", tables=list(tables), pool=lab.pool)


def questions(lab: Lab) -> HeldOutFold:
    """The queries and clicks of the users that are kept for testing."""
    setup = Setup(seed=lab.seed, options={"fold": FOLD})
    ((_, test, _, _),) = folded(lab.original(PRESET, "count"), setup)
    return test


def grid(lab: Lab) -> Numbers:
    """Every K and b on the graph of clicks; then K = 500, b = 10 with transitions, too."""
    test, trained = questions(lab), lab.training(PRESET, FOLDS, FOLD)
    found: Numbers = {}
    every_setting = [(K, b) for K in KS for b in BS]
    runs = released(lab, trained, [settings(K, b) for K, b in every_setting])
    for (K, b), release in zip(every_setting, runs, strict=True):
        scored(found, f"K={K} b={b}", release, test)
        if (K, b) == (500, 10):
            beside(found, GRAPHS["clicks"], trained, release, test)
    setting = settings(500, 10) | {"b_t": 10}
    (release,) = released(lab, trained, [setting], ("queries", "clicks", "transitions"))
    name = GRAPHS["clicks and transitions"]
    scored(found, f"K=500 b=10{name}", release, test)
    beside(found, name, trained, release, test)
    return found


def beside(found: Numbers, name: str, trained: SearchLog, release: Evidence, test: HeldOutFold) -> None:
    """What the log that a release was made from scores on the same kind of graph: on all questions, and on those that
    the release knows."""
    ours = Evidence.of_log(trained, "count")
    transitions = None if release.table("transitions") is None else ours.table("transitions")
    graph = Graph.of(need(ours, "clicks", "original"), transitions)
    same = restricted(test, Graph.of(need(release, "clicks", "release"), release.table("transitions")))
    for whose, asked in (("original", test), ("same", same)):
        for metric, value in fold_scores(graph, asked, asked.within(graph)).items():
            found[f"{whose}{name} {metric}"] = value if asked.row.size else None


def scored(found: Numbers, name: str, release: Evidence, test: HeldOutFold) -> None:
    """The scores of one release; where it answers no question there are none."""
    graph = Graph.of(need(release, "clicks", "release"), release.table("transitions"))
    scores = fold_scores(graph, test, test.within(graph))
    answered = scores["test_queries_evaluated"]
    for metric, value in scores.items():
        found[f"{name} {metric}"] = value if answered or metric.startswith("test") else None
    found[f"{name} released"] = need(release, "queries", "release").num_rows


def restricted(test: HeldOutFold, graph: Graph) -> HeldOutFold:
    """The test queries that a graph knows."""
    known = np.append(graph.known(), False)[test.within(graph).node]
    place = np.cumsum(known) - 1
    rows = known[test.row]
    return HeldOutFold(
        test.queries.filter(pa.array(known)), place[test.row[rows]], test.url.filter(pa.array(rows)), test.shown[rows]
    )


def _answered(cells: DrawSamples, *names: str) -> dict[str, DrawSample]:
    """How many test queries the scores are about."""
    found = {f"test queries, {name}": cells[f"{name} test_queries_evaluated"] for name in names}
    return found | {"all test queries": cells["original test_queries"]}


def figure_3(cells: DrawSamples) -> Iterator[PaperFinding]:
    """Figure 3: K = 500, b = 10 against the log it was made from, on the graph of clicks, then with transitions."""
    for (graph, name), (short, ranking) in product(GRAPHS.items(), RANKINGS.items()):
        here, original, same = f"K=500 b=10{name}", f"original{name}", f"same{name}"
        command = said(500, 10, more=", b_t=10" if name else "")
        end = "-transitions" if name else ""
        for measure in ("nDCG@10", "MAP@10"):
            ours, theirs = (cells[f"{side} {ranking}.{measure}"] for side in (original, here))
            yield PaperFinding(
                f"{short.lower()}-{measure.lower()}{end}",
                f"{short}: {measure} of the anonymized log is comparable to the original's (within 10 %), "
                f"both on the graph of {graph}"
                + (" (the paper has MAP, without a cut-off)" if measure == "MAP@10" else ""),
                {"original": ours, "anonymized": theirs},
                close(ours, theirs, ("the original", "the anonymized log")),
                command,
                _answered(cells, original, here),
            )
        ours, theirs = cells[f"{same} {ranking}.nDCG@10"], cells[f"{here} {ranking}.nDCG@10"]
        yield PaperFinding(
            f"{short.lower()}-ndcg@10{end}-same-queries",
            f"{short}: the same, on the test queries that the anonymized log knows",
            {"original": ours, "anonymized": theirs},
            close(ours, theirs, ("the original", "the anonymized log")),
            command,
            _answered(cells, here),
        )


def figure_4(cells: DrawSamples) -> Iterator[PaperFinding]:
    """Figure 4: scores by b, for each K."""
    for K in KS:
        for short in ("IF", "RW"):
            by = cells.series(f"K={K} b={{}} {RANKINGS[short]}.nDCG@10", BS, "b = {}")
            yield PaperFinding(
                f"{short.lower()}-k-{K}",
                f"{short}, K = {K}: as b increases, nDCG@10 decreases",
                by,
                falls(by),
                said(K, BS),
                cells.series(f"K={K} b={{}} test_queries_evaluated", BS, "test queries, b = {}"),
            )
    for short in ("IF", "RW"):
        drop = {
            f"K = {K}": cells[f"K={K} b=1 {RANKINGS[short]}.nDCG@10"] - cells[f"K={K} b=35 {RANKINGS[short]}.nDCG@10"]
            for K in (10, 500)
        }
        yield PaperFinding(
            f"{short.lower()}-insensitive",
            f"{short}: less sensitive to b where b is much smaller than K (what b = 35 costs against b = 1)",
            drop,
            lower(drop["K = 10"], drop["K = 500"], ("the loss at K = 10", "the loss at K = 500")),
            said("10, 500", "1, 35"),
            _answered(cells, *(f"K={K} b={b}" for K in (10, 500) for b in (1, 35))),
        )
    both = {
        short: average([cells[f"K={K} b={b} {RANKINGS[short]}.nDCG@10"] for K in KS for b in BS])
        for short in ("RW", "IF")
    }
    yield PaperFinding(
        "if-above-rw",
        "implicit feedback performs better than the random walk (mean over all K and b)",
        both,
        higher(both["RW"], both["IF"], ("the random walk", "implicit feedback")),
        said(KS, BS),
        {"test queries, K = 10, b = 1": cells["K=10 b=1 test_queries_evaluated"]},
    )


def figure_5(cells: DrawSamples) -> Iterator[PaperFinding]:
    """Figure 5: privacy by equation (2) beside utility."""
    for K, turn in ((100, 35), (500, 120)):
        epsilons = {b: paper.epsilon(q_f=100, c_f=100, b=b, K=K, b_q=10, b_c=10) for b in BS}
        by = cells.series(f"K={K} b={{}} implicit_feedback.nDCG@10", BS, "b = {}")
        draws = len(cells.draws)
        seen = by | {f"ε by equation (2), b = {b}": DrawSample((epsilon,) * draws) for b, epsilon in epsilons.items()}
        least = min(epsilons, key=lambda b: epsilons[b])
        answered = cells.series(f"K={K} b={{}} test_queries_evaluated", BS, "test queries, b = {}")
        highest = best(by)
        note = f"Of these b, equation (2) is smallest at {least}; the turning point is {paper.turning_point(K):.4g}."
        yield PaperFinding(
            f"turning-point-k-{K}",
            f"K = {K}: at the turning point of ε (b = {turn} here) utility remains high (within 10 % of the best b)",
            seen,
            close(by[highest], by[f"b = {turn}"], (f"the best ({highest})", f"b = {turn}")).chosen_from(len(BS)),
            said(K, BS),
            answered,
            note,
        )
        yield PaperFinding(
            f"beyond-k-{K}",
            f"K = {K}: beyond it both get worse: at b = 500 ε is greater and nDCG@10 smaller",
            seen,
            every(
                [
                    higher(seen[f"ε by equation (2), b = {turn}"], seen["ε by equation (2), b = 500"],
                           (f"ε at b = {turn}", "ε at b = 500")),
                    lower(by[f"b = {turn}"], by["b = 500"], (f"nDCG@10 at b = {turn}", "nDCG@10 at b = 500")),
                ]
            ),
            said(K, BS),
            answered,
            caution="Half by construction: ε is computed from equation (2), only nDCG@10 is measured.",
        )  # fmt: skip


# ------------------------------------------------------------------ Table 3


def equal_sizes(lab: Lab) -> Numbers:
    """The same number of searches for every q_f: the more of each user, the fewer users."""
    test = questions(lab)
    found: Numbers = {}
    trained = lab.training(PRESET, FOLDS, FOLD)
    searches = 'SELECT DISTINCT uid, "time", query FROM log'
    often = f"SELECT query FROM ({searches}) AS s GROUP BY query HAVING count(*) >= 5"
    clean = lab.some(trained, "clean", f"query IN ({often})")
    rows = clean.engine.fetch(
        f"SELECT uid, count(*) AS n FROM ({searches}) AS s GROUP BY uid ORDER BY md5(concat('{lab.seed}', uid))"
    )
    n = numbers(rows)
    size = int(np.minimum(n, min(LIMITS)).sum())
    for limit in LIMITS:
        upto = int(np.searchsorted(np.cumsum(np.minimum(n, limit)), size))
        clean.engine.register("chosen", rows.slice(0, upto + 1).select(["uid"]))
        log = lab.some(clean, f"limit-{limit}", "uid IN (SELECT uid FROM chosen)")
        release = next(released(lab, log, [settings(10, 10, limit, tau=1)]))
        scored(found, f"limit={limit}", release, test)
        found[f"limit={limit} users"] = upto + 1
        found[f"limit={limit} searches"] = int(np.minimum(n[: upto + 1], limit).sum())
    found["original test_queries"] = len(test.queries)
    return found


def table_3(cells: DrawSamples) -> Iterator[PaperFinding]:
    """Table 3: q_f = c_f from 10 to 200, K = b = 10."""
    evaluated = {
        f"{what}, q_f = {limit}": cells[f"limit={limit} {name}"]
        for what, name in (("users", "users"), ("searches", "searches"), ("test queries", "test_queries_evaluated"))
        for limit in LIMITS
    }
    for short, ranking in RANKINGS.items():
        by = cells.series(f"limit={{}} {ranking}.nDCG@10", LIMITS, "q_f = {}")
        first, *_, last = PRINTED_3[short]
        printed = {f"q_f = {limit}": float(x) for limit, x in zip(LIMITS, PRINTED_3[short], strict=True)}
        yield PaperFinding(
            f"{short.lower()}-alike",
            f"{short}: results do not differ much: q_f = 10 and 200 within 10 % ({first}, {last})",
            by,
            close(by["q_f = 10"], by["q_f = 200"], ("q_f = 10", "q_f = 200")),
            said(10, 10, LIMITS) + "; users chosen so that all runs have as many searches",
            evaluated,
            printed=printed,
        )
        yield PaperFinding(
            f"{short.lower()}-rises",
            f"{short}: slightly higher with larger q_f and c_f, from {first} to {last}",
            by,
            rises(by),
            said(10, 10, LIMITS) + "; users chosen so that all runs have as many searches",
            evaluated,
            printed=printed,
        )


EXPERIMENTS = (
    Experiment(
        "safelog/figure-3",
        NAME,
        "Figure 3: utility of the anonymized and the original log",
        grid,
        figure_3,
        ("clicks", "times"),
    ),
    Experiment(
        "safelog/figure-4", NAME, "Figure 4: noise scale b and nDCG@10, for each K", grid, figure_4, ("clicks", "times")
    ),
    Experiment(
        "safelog/figure-5",
        NAME,
        "Figure 5: b and ε, with nDCG@10 by implicit feedback",
        grid,
        figure_5,
        ("clicks", "times"),
    ),
    Experiment(
        "safelog/table-3",
        NAME,
        "Table 3: q_f, c_f and nDCG@10 at equal sizes; K = b = 10",
        equal_sizes,
        table_3,
        ("clicks",),
    ),
)
