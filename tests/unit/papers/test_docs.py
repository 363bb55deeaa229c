"""The docs about the papers: made from the rows, complete; every figure and table of every paper is accounted for."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest
from markupsafe import escape

from hubbub.papers.__main__ import pages
from hubbub.papers.charts import charts
from hubbub.papers.experiments import ids
from hubbub.papers.experiments.rule import VERDICTS
from hubbub.papers.html import html
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
         "Conclusions", "Lemma")  # fmt: skip


def test_the_docs_are_what_the_rows_say() -> None:
    for path, text in pages(DOCS).items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name}: run python -m hubbub.papers docs"
    assert all(f"| {paper.title} |" in (DOCS / "reproduce.md").read_text(encoding="utf-8") for paper in PAPERS.values())


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


# ------------------------------------------------------------------ the page with charts


@pytest.fixture(scope="module")
def run() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((DOCS / "data" / "experiments.json").read_text(encoding="utf-8"))
    return found


def test_the_page_with_charts_is_made_of_the_same_rows(run: dict[str, Any]) -> None:
    """But for the drawings, whose letters are as wide as the fonts of a machine."""
    written = (DOCS / "papers.html").read_text(encoding="utf-8")
    drawn = re.sub(r"<svg.*?</svg>\s*", "", written, flags=re.DOTALL)
    assert drawn == html(run, lambda _: ""), "run python -m hubbub.papers docs"
    assert written.count("<svg") == len(charts(run["rows"]))
    for row in run["rows"]:
        assert str(escape(row["why"])) in written
    assert not re.search(r"<script|(?:src|href)=.https?:", written), "no script, nothing from a network"


def test_a_chart_has_the_papers_numbers_beside_ours(run: dict[str, Any]) -> None:
    chart = charts(run["rows"])["gotz/table-3/queries-distinct"]
    paper = {point["at"]: point["value"] for point in chart.rows if point["whose"] == "the paper"}
    assert paper == {"m = 1": 3334, "m = 4": 2087, "m = 8": 1440, "m = 20": 751, "m = 40": 408}
    (row,) = (row for row in run["rows"] if row["id"] == "gotz/table-3/queries-distinct")
    ours = {point["at"]: point["value"] for point in chart.rows if point["whose"] == "we see"}
    assert ours == {name: sample["mean"] for name, sample in row["seen"].items()}
    text = chart.svg()
    assert text.startswith("<svg") and "the paper" in text and "m = 40" in text


def test_every_table_with_printed_numbers_has_a_chart(run: dict[str, Any]) -> None:
    printed = {row["id"].rpartition("/")[0] for row in run["rows"] if row["printed"]}
    assert printed == {
        "korolova/fractions", "gotz/table-3", "gotz/table-3-pairs", "safelog/table-3", "sessions/table-5",
        *(f"hong/{part}" for part in ("table-4", "table-5", "table-6", "table-7", "figure-4", "figure-6")),
    }  # fmt: skip
    for part in printed:
        of_part = [chart for id, chart in charts(run["rows"]).items() if id.startswith(part + "/")]
        assert any(point["whose"] == "the paper" for chart in of_part for point in chart.rows)


def test_text_is_text_and_an_own_log_is_marked(run: dict[str, Any]) -> None:
    row = run["rows"][0] | {"why": "<script>x</script>"}
    text = html(run | {"rows": [row], "log": "staff/<b>"}, lambda _: "", [])
    assert "<script>" not in text and "&lt;script&gt;" in text
    assert "NOT PRIVATE. DO NOT PUBLISH." in text and "staff/&lt;b&gt;" in text
    assert "NOT PRIVATE" not in html(run, lambda _: "", [])
