"""All rows as a data file, and how many have which verdict; `python -m hubbub.papers docs` writes both again."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from io import StringIO
from itertools import groupby

from hubbub.papers.numbers.rows import PAPERS, VERDICTS, NumberRow, shown


def page(rows: Sequence[NumberRow]) -> str:
    """How many rows of each paper have which verdict."""
    lines = ["## The numbers, by paper", "", _line("", "rows", *VERDICTS), "|---" * (2 + len(VERDICTS)) + "|"]
    for key, of_paper in groupby(rows, key=lambda row: row.id.partition("/")[0]):
        lines.append(_counted(PAPERS[key].title, list(of_paper)))
    return "\n".join(lines) + "\n"


def _counted(name: str, rows: Sequence[NumberRow]) -> str:
    many = Counter(row.verdict for row in rows)
    return _line(name, str(len(rows)), *(str(many[verdict]) for verdict in VERDICTS))


def _line(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("*", "\\*") for cell in cells) + " |"


def table(rows: Sequence[NumberRow]) -> str:
    """Every row as CSV, numbers to the digits that people are shown."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("id", "paper", "part", "expected", "computed", "verdict", "why"))
    for row in rows:
        writer.writerow((row.id, row.paper, row.part, row.printed, shown(row.computed), row.verdict, row.why))
    return text.getvalue()
