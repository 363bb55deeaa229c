"""A draft for reviews: rows that a rule, a topic, a name and a near duplicate flag, and one that nothing flags."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import HEADER, RELEASE, run_hubbub

TABLES = ("--tables", "queries,clicks,transitions")
QUERIES = ("weather", "jane doe", "call 212-555-0123", "janedoe", "divorce lawyer")
BOUNDS = (*RELEASE[:-1], "d=10", "--set", "d_c=10", "--set", "d_t=10")


def make_draft(folder: Path) -> Path:
    """A log, a draft of it and their ledger in this folder; noise is seeded, so that every row is known."""
    lines = [HEADER]
    for user in range(300):
        for minute, query in enumerate(QUERIES):
            lines.append(f"{user}\t{query}\t2006-03-01 08:{minute:02}:00\t1\thttp://{query.split()[0]}.example")
    (folder / "log.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HUBBUB_LEDGER", str(folder / "ledger.sqlite"))
        seeded = (*BOUNDS, *TABLES, "--review", "--seed", 1, "--not-private")
        run_hubbub("release", folder / "log.tsv", *seeded, "--out", folder / "draft")
    return folder / "draft"
