"""What cards quote of the measured coverage is what the table in bench/README.md has: the least and the most of it."""

from __future__ import annotations

import math

import pytest
from tests.docs.blocks import ROOT

from hubbub.mechanisms import measured

NOT_SELECTED_BY_IT = "published"
"""Their values have noise of their own."""


def rows() -> list[list[str]]:
    text = (ROOT / "bench" / "README.md").read_text(encoding="utf-8")
    section = text.split("\n## Coverage\n")[1].split("\n## ")[0]
    found = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if "±" in line]
    return [row for row in found if len(row) > 2]


def spans(cells: list[list[str]]) -> tuple[tuple[int, int], ...]:
    """Largest, middle, smallest; rounded outwards."""
    columns = zip(*[[float(cell.split(" ±")[0]) for cell in row] for row in cells], strict=True)
    return tuple((math.floor(min(column)), math.ceil(max(column))) for column in columns)


@pytest.mark.parametrize("table", measured.CROWD)
def test_crowd(table: str) -> None:
    assert spans([row[8:11] for row in rows() if len(row) == 12 and row[1] == table]) == measured.CROWD[table].spans


def test_totals_of_crowd() -> None:
    totals = [float(row[11].split(" ±")[0]) for row in rows() if len(row) == 12]
    assert (min(totals), max(totals)) == measured.TOTALS


def test_the_others() -> None:
    others = [row for row in rows() if len(row) == 8 and NOT_SELECTED_BY_IT not in row[0]]
    gaussian = [row[4:7] for row in others if "gaussian" in row[0]]
    laplace = [row[4:7] for row in others if "gaussian" not in row[0]]
    assert spans(gaussian) == measured.GAUSSIAN.spans and spans(laplace) == measured.LAPLACE.spans
