"""`counts` and `frequent-pairs` on any counts: ranges, and what scaling or dropping keys does."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub.worth.evidence import Integers
from hubbub.worth.tasks.counts import compare, distribution
from hubbub.worth.tasks.frequent_pairs import supported

ROWS = st.lists(st.tuples(st.integers(1, 10**6), st.integers(0, 10**6), st.booleans()), min_size=1, max_size=30)
"""For each key of the original: its count, the release's, and whether the release has it."""


def sides(rows: list[tuple[int, int, bool]]) -> tuple[Integers, Integers, Integers]:
    """c from the largest down, x, and where each key of c stands in x."""
    rows = sorted(rows, reverse=True)
    kept = [there for _, _, there in rows]
    c, x = np.array([n for n, _, _ in rows]), np.array([n for _, n, there in rows if there], np.int64)
    return c, x, np.where(kept, np.cumsum(kept) - 1, -1)


@given(ROWS, st.integers(2, 1000))
def test_counts(rows: list[tuple[int, int, bool]], factor: int) -> None:
    c, x, at = sides(rows)
    found = {metric: pair["release"] for metric, pair in compare(c, x, at).items()}
    scaled = {metric: pair["release"] for metric, pair in compare(c, factor * x, at).items()}
    assert found["unknown"] == 0 and found["distinct"] == x.size
    for metric, value in found.items():
        if metric.startswith(("coverage", "l1")):
            assert value is not None and 0 <= value <= 1
        if metric == "total_variation":
            assert value is None or -1e-12 <= value <= 1 + 1e-12
        if metric.startswith("kl"):
            assert value is None or value >= 0
        if value is None:
            assert scaled[metric] is None
        elif metric != "total":
            assert scaled[metric] == pytest.approx(value, rel=1e-9, abs=1e-12), "only relative frequencies matter"
    bins = distribution(c, x)
    assert sum(b["original"] or 0 for b in bins) == c.size
    assert sum(b["release"] or 0 for b in bins) == int((x > 0).sum())


@given(ROWS, st.integers(2, 1000), st.integers(1, 2000))
def test_supports(rows: list[tuple[int, int, bool]], factor: int, denominator: int) -> None:
    c, x, at = sides(rows)
    found, scaled = (supported(c, times * x, at, Fraction(1, denominator)) for times in (1, factor))
    assert found["frequent"] == scaled["frequent"] and found["recall"] == scaled["recall"]
    for metric in ("precision", "recall"):
        value = found[metric]["release"]
        assert value is None or 0 <= value <= 1
    whole = supported(c, c, np.arange(c.size), Fraction(1, denominator))
    assert all(pair["original"] == pair["release"] for pair in whole.values())
