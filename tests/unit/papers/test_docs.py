"""The docs about the papers: made from the rows, complete; every figure and table of every paper is accounted for."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

from hubbub.papers.__main__ import pages
from hubbub.papers.experiments import ids
from hubbub.papers.experiments.rule import VERDICTS
from hubbub.papers.inventory import INVENTORY, PICTURE
from hubbub.papers.numbers import PAPERS, reproduce

DOCS = Path(__file__).parents[3] / "docs"
LAST = {  # the last figure, table and so on of each paper, by hand
    "korolova": {},
    "gotz": {"Figure": 8, "Table": 4},
    "safelog": {"Figure": 5, "Table": 4},
    "sessions": {"Figure": 2, "Table": 5},
    "hong": {"Figure": 6, "Table": 7},
}
OTHER = ("Theorem", "Proposition", "Corollary", "Section", "Algorithm", "Propositions", "Lemmas", "Experiments",
         "Conclusions")  # fmt: skip


def test_the_docs_are_what_the_rows_say() -> None:
    for path, text in pages(DOCS).items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name}: run python -m hubbub.papers docs"
    assert all(f"## {paper.title}" in (DOCS / "reproduce.md").read_text(encoding="utf-8") for paper in PAPERS.values())


def test_the_data_files_have_every_row() -> None:
    run = json.loads((DOCS / "data" / "experiments.json").read_text(encoding="utf-8"))
    assert [row["id"] for row in run["rows"]] == ids()
    assert all(row["verdict"] in VERDICTS and row["why"] and row["seen"] for row in run["rows"])
    with (DOCS / "data" / "numbers.csv").open(encoding="utf-8", newline="") as file:
        assert [row["id"] for row in csv.DictReader(file)] == [row.id for row in reproduce()]


@pytest.mark.parametrize("paper", LAST)
def test_every_figure_and_table_is_accounted_for_once(paper: str) -> None:
    names = [item.name for item in INVENTORY if item.paper == paper]
    assert len(set(names)) == len(names) > 0
    for kind, last in LAST[paper].items():
        found = sorted(int(name.split()[1]) for name in names if re.fullmatch(rf"{kind} \d+", name))
        assert found == list(range(1, last + 1))
    assert {name.split()[0] for name in names} <= {*LAST[paper], *OTHER}


def test_what_is_said_to_be_done_has_rows_and_the_rest_a_reason() -> None:
    numbers = {row.id.rpartition("/")[0] for row in reproduce()}
    experiments = {id.rpartition("/")[0] for id in ids()}
    for item in INVENTORY:
        assert item.done, f"{item.name} of {item.paper} is neither done nor explained"
        assert set(item.numbers) <= numbers and set(item.experiments) <= experiments
        assert item.not_run == PICTURE or not item.not_run or item.not_run.endswith(".")
    assert {id for item in INVENTORY for id in item.numbers} == {id for id in numbers if not id.startswith("strict/")}
    assert {id for item in INVENTORY for id in item.experiments} == experiments
