"""The docs about the papers, made again: `python -m hubbub.papers docs [OUT]`, OUT a finished run of the experiments.

data/numbers.csv, reproduce.md               from the papers' formulas, computed now
data/experiments.json, experiments.md        from OUT, or from the rows that are there
papers.html                                  both, with charts
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from hubbub.papers import inventory
from hubbub.papers.experiments import ids
from hubbub.papers.experiments import page as experiments
from hubbub.papers.html import html
from hubbub.papers.numbers import PAPERS, reproduce
from hubbub.papers.numbers import page as numbers

MARK = "<!-- what follows is made by python -m hubbub.papers -->"


def pages(docs: Path, out: Path | None = None) -> dict[Path, str]:
    """Every file and its text."""
    stored = docs / "data" / "experiments.json"
    run = json.loads(stored.read_text(encoding="utf-8"))
    if out is not None:
        run = experiments.merged(run, json.loads((out / experiments.ROWS).read_text(encoding="utf-8")), ids())
    rows = reproduce()
    titles = {key: paper.title for key, paper in PAPERS.items()}
    written = (docs / "experiments.md").read_text(encoding="utf-8").partition(MARK)[0]
    listed = "\n".join(inventory.listed(inventory.INVENTORY, titles))
    return {
        stored: experiments.text_of(run),
        docs / "experiments.md": f"{written}{MARK}\n\n{experiments.page(run)}\n## Every figure and table\n{listed}\n",
        docs / "data" / "numbers.csv": numbers.table(rows),
        docs / "reproduce.md": numbers.page(rows),
    }


if __name__ == "__main__":
    docs = Path(sys.argv[1])
    for path, text in pages(docs, Path(sys.argv[2]) if len(sys.argv) > 2 else None).items():
        path.write_text(text, encoding="utf-8")
    found = json.loads((docs / "data" / "experiments.json").read_text(encoding="utf-8"))
    (docs / "papers.html").write_text(html(found), encoding="utf-8")
