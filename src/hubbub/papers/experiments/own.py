"""Somebody's own log for the experiments: which one it is, what it has, and where its rows are kept.

Every row against a raw log is for its owner's eyes only: nothing is released and nothing is spent, and whatever is
written goes to `OUT/owner-only/`, marked NOT PRIVATE. All draws are of the one log: they differ by split and noise.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from hubbub.errors import OutputError
from hubbub.files import disk_errors
from hubbub.log import SearchLog
from hubbub.papers.experiments.rows import ExperimentRow
from hubbub.release.folder import DO_NOT_PUBLISH

FACTS, MARK = "log.json", "NOT-PRIVATE.txt"
WORDS = {
    "clicks": "clicked URLs",
    "times": "times",
    "lists": "document frequencies, which only a synthetic log's truth has",
    "results": "public result pages, which only a synthetic log's truth has",
    "topics": "topics of queries, which only a synthetic log's truth has",
}
"""What an experiment may need, in words."""


@dataclass(frozen=True)
class OwnLog:
    """A log that the experiments are run on instead of synthetic ones."""

    name: str
    """What its owner calls it: population and data set."""
    path: Path
    """Its cleaned rows."""
    users: int
    has: frozenset[str]
    facts: dict[str, object]
    """What tells it from another log when a run goes on; exact, so for the owner only."""

    @classmethod
    def of(cls, log: SearchLog, name: str) -> OwnLog:
        """An open log, which must stay open while experiments run."""
        (facts,) = log.engine.fetch(
            'SELECT count(*) AS "rows", count(DISTINCT uid) AS users, count(url) AS clicks, count("time") AS times, '
            'sum(length(query)) AS letters, min("time") AS first, max("time") AS last FROM log'
        ).to_pylist()
        facts = {key: None if value is None else int(value) for key, value in facts.items()}
        has = frozenset(what for what in ("clicks", "times") if facts[what])
        return cls(name, log.ingested.log, facts["users"], has, {"name": name, **facts})

    def lacks(self, needs: Sequence[str]) -> str:
        """What of these it does not have, in words; empty where it has everything."""
        return ", ".join(WORDS[need] for need in needs if need not in self.has)


def not_run(row: ExperimentRow, lacking: str) -> ExperimentRow:
    """The row of an experiment that needs what the log does not have."""
    why = f"Not run: the log has no {lacking}."
    return replace(about(row), verdict="not shown", why=why, p=None, corrected="not shown", caution="")


def about(row: ExperimentRow) -> ExperimentRow:
    """A row in words that are true of this log: no preset, so nothing was fitted to the paper."""
    caution = re.sub(r"(?:Partly c|C)ircular: .*?\.(?: |$)", "", row.caution)
    return replace(
        row, parameters=re.sub(r"^preset \w+(?:, five times the users)?", "the log", row.parameters), caution=caution
    )


@contextmanager
def kept(out: str | Path, own: OwnLog) -> Iterator[Path]:
    """The folder for rows and draws: new, or one of an earlier run on the same log, which then goes on."""
    folder = Path(out).absolute() / "owner-only"
    with disk_errors(folder, "--out"):
        facts = folder / FACTS
        if not facts.is_file() and folder.parent.exists() and any(folder.parent.iterdir()):
            raise OutputError(
                "The output folder holds something else than experiments on a log.",
                given=out,
                allowed="a new folder, or one that an earlier run with --log wrote",
                next="choose another --out",
            )
        if facts.is_file() and json.loads(facts.read_text(encoding="utf-8")) != own.facts:
            raise OutputError(
                "The output folder has rows of another log, or of this one under another name.",
                given=out,
                next="choose another --out, or name population and data set as before",
            )
        folder.mkdir(0o700, parents=True, exist_ok=True)
        (folder / MARK).write_text(DO_NOT_PUBLISH, encoding="utf-8")
        facts.write_text(json.dumps(own.facts, indent=1) + "\n", encoding="utf-8")
        yield folder
