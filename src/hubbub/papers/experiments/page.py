"""The tables of the docs page, from the rows of one run.

`python -m hubbub.papers.experiments.page docs/experiments.md OUT` puts those of a finished run (`--out OUT`) below
the mark in that page; what stands above it is written by hand. Of a run of some figures only, their tables replace
those on the page, the others stay, and the summary is counted again.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from hubbub.errors import OurBug
from hubbub.files import disk_errors
from hubbub.papers.experiments.rows import ExperimentRow
from hubbub.papers.experiments.rule import VERDICTS
from hubbub.papers.experiments.show import listed

MARK = "<!-- what follows is made by hubbub.papers.experiments.page -->"


def page(rows: Sequence[ExperimentRow]) -> str:
    """A summary, then a table for every figure and table of the papers."""
    command = rows[0].command.replace(f" {rows[0].id}", "")
    found = ["## One run", "", f"`{command}`", "", "| | rows | " + " | ".join(VERDICTS) + " |", "|---" * 6 + "|"]
    for paper, of_paper in groupby(rows, key=lambda row: row.paper):
        found.append(_counted(paper, Counter(row.verdict for row in of_paper)))
    for paper, of_paper in groupby(rows, key=lambda row: row.paper):
        found += ["", f"## {paper}", *_tables(list(of_paper))]
    return "\n".join(found) + "\n"


def _counted(paper: str, verdicts: Counter[str]) -> str:
    return f"| {paper} | {verdicts.total()} | " + " | ".join(str(verdicts[v]) for v in VERDICTS) + " |"


def merged(page: str, run: str) -> str:
    """A page with the tables of another run in place of its own: a run of as many users, draws and seeds."""
    if not page.strip():
        return run
    old, new = (re.split(r"(?m)^(?=##)", text) for text in (page, run))
    if old[1].split("`")[1] != new[1].split("`")[1]:
        raise OurBug(f"another run: {new[1].split('`')[1]}")
    tables = {part.partition("\n")[0]: part for part in new if part.startswith("###")}
    paper, many = "", dict[str, Counter[str]]()
    for at, part in enumerate(old):
        title = part.partition("\n")[0]
        if title.startswith("## "):
            paper = title.removeprefix("## ")
        elif title in tables:
            old[at] = tables.pop(title).rstrip("\n") + part[len(part.rstrip("\n")) :]
        counted = many.setdefault(paper, Counter())
        counted.update(re.findall(rf"(?m)^\| `.*\| \*\*({'|'.join(VERDICTS)})\*\*\. ", old[at]))
    if tables:
        raise OurBug(f"the page has no table {', '.join(tables)}")
    head = old[1].partition("|---")[0] + "|---" * 6 + "|\n"
    old[1] = head + "\n".join(_counted(name, n) for name, n in many.items() if n) + "\n\n"
    return "".join(old)


def _tables(rows: Sequence[ExperimentRow]) -> Iterator[str]:
    for part, together in groupby(rows, key=lambda row: row.part):
        yield from ("", f"### {part}", "")
        yield from ("| id | the paper | we see | evaluated | verdict, why | parameters |", "|---|---|---|---|---|---|")
        for row in together:
            cells = (f"`{row.id}`", row.expected, listed(row.seen), listed(row.evaluated))
            told = (*cells, f"**{row.verdict}**. {row.why}", row.parameters)
            yield "| " + " | ".join(cell.replace("|", "\\|").replace("*ε", "\\*ε") for cell in told) + " |"


def write(out: Path, rows: Sequence[ExperimentRow]) -> None:
    """Rows with all their digits, and the tables, beside the cells."""
    text = json.dumps({"rows": [row.record() for row in rows]}, indent=1, ensure_ascii=False, allow_nan=False)
    with disk_errors(out, "--out"):
        out.mkdir(parents=True, exist_ok=True)
        (out / "rows.json").write_text(text + "\n", encoding="utf-8")
        (out / "experiments.md").write_text(page(rows), encoding="utf-8")


def main(path: Path, out: Path) -> None:
    """Replace what stands below the mark, or the tables of it that were run again."""
    head, _, below = path.read_text(encoding="utf-8").partition(MARK)
    run = (out / "experiments.md").read_text(encoding="utf-8")
    path.write_text(head + MARK + "\n\n" + merged(below.lstrip("\n"), run), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
