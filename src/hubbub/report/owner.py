"""The owner's report: exact facts of the log, and three different words about ε on one axis. Not private.

Claimed (by a paper), proven (by us, for what ran) and empirical (what audits of the installed code would have refuted)
are never one number. Audits run on parameters of their own, so their number stands beside what is proven for those.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hubbub.guarantee import number
from hubbub.report.page import jinja

NAME = "report.html"
LEFT, RIGHT, ROW = 150, 620, 44


@dataclass(frozen=True)
class Mark:
    """One number on the axis."""

    word: str
    value: float
    x: float
    text: str


@dataclass(frozen=True)
class Line:
    """One row of the axis: what its numbers are about."""

    about: str
    y: int
    marks: list[Mark]


def axis(epsilon: Mapping[str, Any]) -> tuple[list[Line], list[tuple[float, str]]]:
    """The rows and the ticks; numbers that do not exist have no mark."""
    audit = epsilon.get("audit") or {}
    rows = {
        "this release": {"claimed": epsilon.get("claimed"), "proven": epsilon.get("proven")},
        "as audited": {"proven": audit.get("of_proven"), "empirical, at least": audit.get("empirical")},
    }
    largest = max([float(v) for row in rows.values() for v in row.values() if v is not None], default=1.0) or 1.0

    def place(value: float) -> float:
        return round(LEFT + (RIGHT - LEFT) * value / largest, 1)

    lines = []
    for i, (about, row) in enumerate(rows.items()):
        marks = [Mark(word, float(v), place(float(v)), number(float(v))) for word, v in row.items() if v is not None]
        lines.append(Line(about, 40 + i * 2 * ROW, marks))
    return lines, [(place(largest * i / 4), number(largest * i / 4)) for i in range(5)]


def write_report(folder: Path, what: str, facts: Mapping[str, Any]) -> None:
    """Write `report.html` into `owner-only/`."""
    lines, ticks = axis(facts["epsilon"])
    page = jinja().get_template("owner.html")
    text = page.render(what=what, facts=facts, lines=lines, ticks=ticks, left=LEFT, right=RIGHT, bottom=40 + 4 * ROW)
    (folder / NAME).write_text(text, encoding="utf-8")
