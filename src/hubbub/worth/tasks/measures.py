"""Ranking measures by ir-measures, from arrays. Items are numbers; a list is given by (row, item, rank)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hubbub.extras import imported
from hubbub.worth.tasks.graph import Floats, Ints


@dataclass(frozen=True)
class Lists:
    """Ranked lists of items, or judgements of them, one list for each of `rows` rows."""

    row: Ints
    item: Ints
    rank: Ints
    """From 0 in a ranking; in a judgement the gain, 1 or more."""
    rows: int


def measured(names: Sequence[str], truth: Lists, found: Lists) -> dict[str, Floats]:
    """Each measure of each row. A row with no list scores 0; every row must have a judgement."""
    ir_measures = imported("ir_measures", "measures", "The task needs ir-measures, which")
    measures = {ir_measures.parse_measure(name): name for name in names}
    judged = _nested(truth, truth.rank)
    # trec_eval orders by score and ignores the order given: unique whole numbers keep ours.
    ranked = _nested(found, found.item.size - found.rank)
    scores = {name: np.zeros(truth.rows) for name in names}
    if ranked:
        for metric in ir_measures.iter_calc(list(measures), judged, ranked):
            scores[measures[metric.measure]][int(metric.query_id)] = metric.value
    return scores


def _nested(lists: Lists, value: Ints) -> dict[str, dict[str, int]]:
    made: dict[str, dict[str, int]] = {}
    for row, item, number in zip(
        lists.row.astype(str).tolist(), lists.item.astype(str).tolist(), value.tolist(), strict=True
    ):
        made.setdefault(row, {})[item] = number
    return made


def mean(values: Floats) -> float:
    """The mean; 0 of nothing, as an unanswered question scores 0."""
    return float(values.mean()) if values.size else 0.0
