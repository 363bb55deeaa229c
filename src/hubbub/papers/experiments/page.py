"""A run of the experiments as one document, and the summary of it that stands on the docs page.

The document holds every row with all its digits; summaries, charts and the docs are made from it. Of a run of some
figures only, their rows replace those of an earlier document (`merged`).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from hubbub.errors import OurBug
from hubbub.files import disk_errors
from hubbub.papers.experiments.rows import ExperimentRow
from hubbub.papers.experiments.rule import VERDICTS, Decision

Record = dict[str, Any]
ROWS, PAGE = "rows.json", "papers.html"


def document(rows: Sequence[ExperimentRow]) -> Record:
    """The rows of one run, and the command that makes them all."""
    return {"command": command(rows[0].record()), "rows": [row.record() for row in rows]}


def command(row: Record) -> str:
    """The command of a row, for all rows."""
    return str(row["command"]).replace(f" {row['id']}", "")


def merged(old: Record, new: Record, ids: Sequence[str]) -> Record:
    """Every row there is: of another run with as many users or, where that has it not, of the earlier one.

    They may differ in their draws: the command of each row says how many it has.
    """
    if _undrawn(old["command"]) != _undrawn(new["command"]):
        raise OurBug(f"another run: {new['command']}")
    known = {row["id"]: row for row in (*old["rows"], *new["rows"])}
    if unknown := [row["id"] for row in new["rows"] if row["id"] not in ids]:
        raise OurBug(f"there is no row {', '.join(unknown)}")
    if lacking := [id for id in ids if id not in known]:
        raise OurBug(f"neither run has {', '.join(lacking)}")
    return {"command": old["command"], "rows": [_among(known[id], len(ids)) for id in ids]}


DRAWN = re.compile(r" --draws (\d+)")


def _undrawn(command: str) -> str:
    return DRAWN.sub("", command)


def _among(row: Record, statements: int) -> Record:
    """A row whose second verdict allows for as many statements as there are now."""
    if row["p"] is None:
        return row
    return row | {"corrected": Decision(row["verdict"], row["why"], row["p"]).corrected(statements)}


def page(found: Record) -> str:
    """How many rows of each paper have which verdict, and which stand among so many."""
    rows: list[Record] = found["rows"]
    lines = ["## The experiments, by paper", "", f"`{found['command']}`", ""]
    lines += ["| | " + " | ".join([*VERDICTS, "tested", "stand"]) + " |", "|---" * 7 + "|"]
    lines += [_counted(paper, list(same)) for paper, same in groupby(rows, key=lambda row: row["paper"])]
    lines += [_counted("together", rows), ""]
    if bare := sum(any(sample["draws"] is None for sample in row["seen"].values()) for row in rows):
        lines += [
            f"Of {bare} rows means and intervals were kept, not draws: *tested* and *stand* are about the others.",
            "",
        ]
    of_draws = Counter(DRAWN.findall(row["command"])[0] for row in rows)
    if len(of_draws) > 1:
        told = ", ".join(f"{many} have {draws}" for draws, many in sorted(of_draws.items()))
        lines += [f"Not all rows have as many draws: {told}; the command of a row says how many.", ""]
    return "\n".join(lines).rstrip() + "\n"


def _counted(name: str, rows: Sequence[Record]) -> str:
    verdicts = Counter(row["verdict"] for row in rows)
    tested = [row for row in rows if row["p"] is not None and row["verdict"] != "not shown"]
    stand = sum(row["corrected"] == row["verdict"] for row in tested)
    return f"| {name} | " + " | ".join(str(verdicts[v]) for v in VERDICTS) + f" | {len(tested)} | {stand} |"


def text_of(found: Record) -> str:
    """A document as JSON, with all digits."""
    return json.dumps(found, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def write(out: Path, rows: Sequence[ExperimentRow], log: str | None = None) -> None:
    """The document beside the cells, and the page with charts made from it; of an own log both name the log."""
    from hubbub.papers.html import html

    with disk_errors(out, "--out"):
        out.mkdir(parents=True, exist_ok=True)
        found = document(rows) if log is None else {"log": log, **document(rows)}
        (out / ROWS).write_text(text_of(found), encoding="utf-8")
        (out / PAGE).write_text(html(found), encoding="utf-8")
