"""The tables of the docs page, from the rows of one run.

`python -m hubbub.reproduce.experiments.page docs/experiments.md OUT` puts those of a finished run (`--out OUT`) below
the mark in that page; what stands above it is written by hand.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from hubbub.folder import disk_errors
from hubbub.reproduce.experiments.rows import Row
from hubbub.reproduce.experiments.rule import VERDICTS
from hubbub.reproduce.experiments.show import listed

MARK = "<!-- what follows is made by hubbub.reproduce.experiments.page -->"


def page(rows: Sequence[Row]) -> str:
    """A summary, then a table for every figure and table of the papers."""
    command = rows[0].command.replace(f" {rows[0].id}", "")
    found = ["## One run", "", f"`{command}`", "", "| | rows | " + " | ".join(VERDICTS) + " |", "|---" * 6 + "|"]
    for paper, of_paper in groupby(rows, key=lambda row: row.paper):
        together = list(of_paper)
        many = Counter(row.verdict for row in together)
        found.append(f"| {paper} | {len(together)} | " + " | ".join(str(many[v]) for v in VERDICTS) + " |")
    for paper, of_paper in groupby(rows, key=lambda row: row.paper):
        found += ["", f"## {paper}", *_tables(list(of_paper))]
    return "\n".join(found) + "\n"


def _tables(rows: Sequence[Row]) -> Iterator[str]:
    for part, together in groupby(rows, key=lambda row: row.part):
        yield from ("", f"### {part}", "")
        yield from ("| id | the paper | we see | evaluated | verdict, why | parameters |", "|---|---|---|---|---|---|")
        for row in together:
            cells = (f"`{row.id}`", row.expected, listed(row.seen), listed(row.evaluated))
            told = (*cells, f"**{row.verdict}**. {row.why}", row.parameters)
            yield "| " + " | ".join(cell.replace("|", "\\|").replace("*ε", "\\*ε") for cell in told) + " |"


def write(out: Path, rows: Sequence[Row]) -> None:
    """Rows with all their digits, and the tables, beside the cells."""
    text = json.dumps({"rows": [row.record() for row in rows]}, indent=1, ensure_ascii=False, allow_nan=False)
    with disk_errors(out, "--out"):
        out.mkdir(parents=True, exist_ok=True)
        (out / "rows.json").write_text(text + "\n", encoding="utf-8")
        (out / "experiments.md").write_text(page(rows), encoding="utf-8")


def main(path: Path, out: Path) -> None:
    """Replace what stands below the mark."""
    head = path.read_text(encoding="utf-8").partition(MARK)[0]
    path.write_text(head + MARK + "\n\n" + (out / "experiments.md").read_text(encoding="utf-8"), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
