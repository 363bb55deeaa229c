"""The docs page of all rows. `python -m hubbub.papers.numbers.page docs/reproduce.md` writes it again."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from hubbub.papers.numbers.rows import PAPERS, VERDICTS, NumberRow, shown

INTRODUCTION = """\
# The papers' numbers, computed again

hubbub builds on five papers about publishing search logs. Their tables and claims that follow from formulas are
computed again here, with real-valued noise as the papers have it and unrounded, by the functions that the mechanisms
use wherever they have them. Nothing is sampled and no log is read. The page is made by a program; `hubbub reproduce`
shows the same rows.

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


def page() -> str:
    """The text of docs/reproduce.md."""
    papers = {paper.title: list(paper.rows()) for paper in PAPERS.values()}
    lines = [INTRODUCTION, "| | rows | " + " | ".join(VERDICTS) + " |", "|---" * (2 + len(VERDICTS)) + "|"]
    for title, rows in papers.items():
        many = Counter(row.verdict for row in rows)
        lines.append(f"| {title} | {len(rows)} | " + " | ".join(str(many[v]) for v in VERDICTS) + " |")
    for title, rows in papers.items():
        lines += ["", f"## {title}", *_tables(rows)]
    return "\n".join(lines) + "\n"


def _tables(rows: Iterable[NumberRow]) -> Iterator[str]:
    for part, together in groupby(rows, key=lambda row: row.part):
        yield from ("", f"### {part}", "", "| id | expected | computed | verdict | why |", "|---|---|---|---|---|")
        for row in together:
            cells = (f"`{row.id}`", row.printed, shown(row.computed), row.verdict, row.why)
            yield "| " + " | ".join(cell.replace("|", "\\|").replace("*", "\\*") for cell in cells) + " |"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")
