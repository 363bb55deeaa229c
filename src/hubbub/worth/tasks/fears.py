"""What people fear: Korolova et al.'s second application.

The queries that begin with a phrase, "fear of …", ranked by how often they are asked: which completions the release
still knows, and whether it ranks them as the original does. Truth, where there is any, names the phrase and how
popular each completion really is.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hubbub.worth.evidence import Evidence, Integers, find, numbers
from hubbub.worth.tasks.base import NotEvaluable, Scores, Setup, Task, need

PHRASE = "fear of"
DEPTHS = (10, 20)


class Fears(Task, register=True):
    """The most frequent completions of a phrase, and their order."""

    name = "fears"
    about = 'the most frequent completions of a phrase ("fear of …"), and whether their order is kept'
    paper = "Korolova et al. 2009, experiments"
    reads = ("queries",)
    truth = ("completions",)

    def score(self, original: Evidence, release: Evidence, setup: Setup) -> Scores:
        """Overlap of the top completions, rank agreement with the original and, if known, with the truth."""
        theirs = need(release, "queries", "release")
        known = setup.known("completions")
        phrase = known.column("phrase")[0].as_py() if known is not None and known.num_rows else PHRASE
        ours = completions(need(original, "queries", "original"), phrase)
        theirs = completions(theirs, phrase)
        if not ours.num_rows:
            raise NotEvaluable(f"no query of the original begins with {phrase!r}")
        setup.say(f"{phrase!r}: {ours.num_rows:,} completions in the original, {theirs.num_rows:,} in the release")
        scores: Scores = {"completions": {"original": ours.num_rows, "release": theirs.num_rows}}
        numbered = not release.keys_only("queries")
        for depth in DEPTHS:
            top = ours.slice(0, depth)
            both = find(top, theirs.slice(0, depth) if numbered else theirs) >= 0
            scores[f"overlap@{depth}"] = {"original": 1.0, "release": float(both.mean())}
            tau = agreement(top, theirs) if numbered else None
            scores[f"kendall_tau@{depth}"] = {"original": agreement(top, ours), "release": tau}
        if known is not None:
            true = known.select(["query"]).append_column("n", shares(known))
            scores["kendall_tau_truth"] = {
                "original": agreement(true, ours),
                "release": agreement(true, theirs) if numbered else None,
            }
        setup.details["completions"] = {
            "phrase": phrase,
            "original": ours.slice(0, DEPTHS[-1]).to_pylist(),
            "release": theirs.slice(0, DEPTHS[-1]).to_pylist(),
        }
        return scores


def completions(queries: pa.Table, phrase: str) -> pa.Table:
    """The queries that begin with the phrase and go on."""
    return queries.filter(pc.starts_with(queries.column("query"), pattern=phrase + " "))


def shares(known: pa.Table) -> pa.Array:
    """True popularity as whole numbers, so that it is a table like the others."""
    return pa.array(np.rint(known.column("share").to_numpy() * 1e12).astype(np.int64))


def agreement(rows: pa.Table, table: pa.Table) -> float | None:
    """Kendall's τ-b between the counts of these rows and those of a table, 0 where it lacks one; None if undefined."""
    at, n = find(rows, table), numbers(table)
    return kendall(numbers(rows), np.where(at >= 0, n[at] if n.size else 0, 0))


def kendall(a: Integers, b: Integers) -> float | None:
    """τ-b; None where one side is all ties."""
    from scipy.stats import kendalltau

    if np.unique(a).size < 2 or np.unique(b).size < 2:
        return None
    return float(kendalltau(a, b).statistic)
