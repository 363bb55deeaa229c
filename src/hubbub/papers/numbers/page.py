"""All rows as a docs page and as a data file; `python -m hubbub.papers docs` writes both again."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from io import StringIO
from itertools import groupby

from hubbub.papers.numbers.rows import PAPERS, VERDICTS, NumberRow, shown

INTRODUCTION = """\
# The papers' numbers, computed again

hubbub builds on five papers about publishing search logs. Their tables and claims that follow from formulas are
computed again here, with real-valued noise as the papers have it and unrounded, by the functions that the mechanisms
use wherever they have them. Nothing is sampled and no log is read. The page is made by a program; `hubbub reproduce`
shows every row with its reason, and so do [papers.html](papers.html) and [data/numbers.csv](data/numbers.csv).
Which figure or table has which rows, and which has none, is in [the list of
all of them](experiments.md#every-figure-and-table).

```sh
hubbub reproduce gotz/table-2
hubbub reproduce safelog/prefilter/released
hubbub reproduce sessions --json > rows.json
```

A verdict is **match** (the printed number is the computed one rounded, or the statement is right), **holds** (an
inequality, such as a claimed bound, stands), **differs** (it is not, or does not: then the row says what was computed,
and the probabilities of a counterexample), or **impossible** (no log and no program could give it under the paper's own
constraints). An id may be cut at any `/`. With `--json`, numbers
have all their digits. The command ends with exit code 1 only if a number is not what our own study of the papers found,
which would be our mistake.

What hubbub draws is discrete, and what is proven about it is on its proof pages and cards; none of the claims below is
relied on there.
"""


def page(rows: Sequence[NumberRow]) -> str:
    """The text of docs/reproduce.md: every paper part by part, and every row that neither matches nor holds."""
    lines = [INTRODUCTION, *_head("")]
    papers = {key: list(same) for key, same in groupby(rows, key=lambda row: row.id.partition("/")[0])}
    lines += [_counted(PAPERS[key].title, of_paper) for key, of_paper in papers.items()]
    for key, of_paper in papers.items():
        lines += ["", f"## {PAPERS[key].title}", "", *_head("")]
        lines += [_counted(part, list(same)) for part, same in groupby(of_paper, key=lambda row: row.part)]
        wrong = [row for row in of_paper if row.verdict not in ("match", "holds")]
        if wrong:
            lines += ["", "| id | expected | computed | verdict |", "|---|---|---|---|"]
        for row in wrong:
            lines.append(_line(f"`{row.id}`", row.printed, shown(row.computed), row.verdict))
    return "\n".join(lines) + "\n"


def _head(first: str) -> tuple[str, str]:
    return _line(first, "rows", *VERDICTS), "|---" * (2 + len(VERDICTS)) + "|"


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
