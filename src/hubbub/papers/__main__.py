"""The docs about the papers, made again: `python -m hubbub.papers docs [OUT]`, OUT a finished run of the experiments.

data/numbers.csv          from the papers' formulas, computed now
data/experiments.json     from OUT, or from the rows that are there
reproduce.md              how many rows of both have which verdict
papers.html               every row of both, with charts
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from hubbub.papers.experiments import ids
from hubbub.papers.experiments import page as experiments
from hubbub.papers.html import html
from hubbub.papers.numbers import page as numbers
from hubbub.papers.numbers import reproduce

MARK = "<!-- what follows is made by python -m hubbub.papers -->"


def pages(docs: Path, out: Path | None = None) -> dict[Path, str]:
    """Every file and its text."""
    stored = docs / "data" / "experiments.json"
    run = json.loads(stored.read_text(encoding="utf-8"))
    if out is not None:
        run = experiments.merged(run, json.loads((out / experiments.ROWS).read_text(encoding="utf-8")), ids())
    rows = reproduce()
    written = (docs / "reproduce.md").read_text(encoding="utf-8").partition(MARK)[0]
    return {
        stored: experiments.text_of(run),
        docs / "data" / "numbers.csv": numbers.table(rows),
        docs / "reproduce.md": f"{written}{MARK}\n\n{numbers.page(rows)}\n{experiments.page(run)}",
    }


if __name__ == "__main__":
    docs = Path(sys.argv[1])
    for path, text in pages(docs, Path(sys.argv[2]) if len(sys.argv) > 2 else None).items():
        path.write_text(text, encoding="utf-8")
    found = json.loads((docs / "data" / "experiments.json").read_text(encoding="utf-8"))
    (docs / "papers.html").write_text(html(found), encoding="utf-8")
