"""The owner's page: one table, the charts, what does not compare; and the same numbers as CSV and JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from hubbub.files import write_whole
from hubbub.look.compare.charts import charts
from hubbub.look.compare.finding import ALL, EVERY, PRECISION, SESSIONS, finding
from hubbub.look.compare.summary import Comparison, notes
from hubbub.look.compare.words import Column, budget, columns, original, text, title
from hubbub.privacy.guarantee import small

LETTERS = {"epsilon": "ε", "delta": "δ"}
PAGE, TABLE, DOCUMENT = "compare.html", "compare.csv", "compare.json"


def write(comparison: Comparison, folder: Path) -> None:
    """Replace the three files, each whole."""
    write_whole(folder / DOCUMENT, json.dumps(record(comparison), indent=2, ensure_ascii=False, allow_nan=False) + "\n")
    write_whole(folder / TABLE, comparison.csv())
    write_whole(folder / PAGE, render(comparison))


def record(comparison: Comparison) -> dict[str, Any]:
    """The comparison as one JSON document."""
    found = finding(comparison.rows)
    return comparison.record() | {"smaller_log": None if found is None else found.record()}


def render(comparison: Comparison) -> str:
    """The page, a function of the comparison."""
    from hubbub.show.charts import page as drawing
    from hubbub.show.page import jinja

    asked = comparison.asked.get("budget", {})
    bare = [replace(chart, rows=()) for chart in charts(comparison)]  # the numbers stand in the tables of the page
    figures = [drawing.figure(chart, f"chart-{i + 1}") for i, chart in enumerate(bare)]
    return (
        jinja()
        .get_template("compare.html")
        .render(
            asked=comparison.asked,
            common=[f"{LETTERS[name]} = {small(float(Fraction(value)))}" for name, value in asked.items()],
            rows=comparison.rows,
            ran=[row for row in comparison.rows if not row.reason],
            columns=columns(comparison),
            original=partial(original, comparison.originals()),
            metrics=comparison.metrics(),
            front=comparison.front(),
            notes=list(notes(comparison.rows)),
            finding=finding(comparison.rows),
            scores=[Column(metric, title(metric)) for metric in (PRECISION, EVERY, SESSIONS, ALL)],
            figures=figures,
            style=drawing.style(),
            script=drawing.script() if figures else "",
            budget=budget,
            text=text,
            title=title,
        )
    )
