"""What is popular, and in which order: the lists that a search team or a journalist would print.

`overlap@k` is the share of the original's k most frequent queries that are among the release's k; the order is
Spearman's rank correlation with the original's numbers, within bands of frequency, a missing query counting as 0. The
floor is what anybody knows of words; the ceiling is 1, which the log itself has.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from hubbub.worth.evidence import Evidence, Integers, find, numbers
from hubbub.worth.tasks.base import NotEvaluable, Scores, Setup, Task, need
from hubbub.worth.tasks.public_words import public_words
from hubbub.worth.tasks.sides import fisher, wilson

DEPTHS = (10, 100, 1_000, 10_000)


class Popularity(Task, register=True):
    """Overlap of the most frequent queries, and rank correlation by band."""

    name = "popularity"
    about = "whether the most frequent queries are the same, and in the same order, by band of frequency"
    paper = "none"
    reads = ("queries",)

    def score(self, original: Evidence, release: Evidence, setup: Setup) -> Scores:
        """Top lists, then the order within bands."""
        theirs, ours = need(release, "queries", "release"), need(original, "queries", "original")
        if not ours.num_rows:
            raise NotEvaluable("the original has no queries")
        sides = {"original": ours, "release": theirs, "floor": public_words(setup)}
        if release.keys_only("queries"):
            raise NotEvaluable("the release has queries without numbers, so nothing is more popular than another")
        made: Scores = {}
        start = 0
        for depth in DEPTHS:
            if depth > ours.num_rows:
                break
            kept = {side: float((find(ours[:depth], t[:depth]) >= 0).mean()) for side, t in sides.items()}
            low, high = wilson(kept["release"], depth)
            made[f"overlap@{depth}"] = {**kept, "ceiling": 1.0, "low": low, "high": high}
            rows = ours[start:depth]
            order = {side: agreement(rows, table) for side, table in sides.items()}
            if order["original"] is not None:
                ends = (None, None) if order["release"] is None else fisher(order["release"], rows.num_rows)
                beside = dict(zip(("low", "high"), ends, strict=True))
                made[f"places_{start + 1}_to_{depth}.spearman"] = {**order, "ceiling": 1.0, **beside}
            start = depth
        if not made:
            raise NotEvaluable(f"the original has fewer than {DEPTHS[0]} queries")
        return made


def agreement(rows: pa.Table, table: pa.Table) -> float | None:
    """Spearman's rank correlation of these rows' numbers with those of a table; None where one side is all ties."""
    from scipy.stats import spearmanr

    at, n = find(rows, table), numbers(table)
    theirs: Integers = np.where(at >= 0, n[at] if n.size else 0, 0)
    if np.unique(theirs).size < 2 or np.unique(numbers(rows)).size < 2:
        return None
    return float(spearmanr(numbers(rows), theirs).statistic)
