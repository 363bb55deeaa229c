"""A reader of each kind needs at most three pages: docs/index.md names them; they show every command of the work."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.docs.blocks import ROOT, blocks

DOCS = ROOT / "docs"
MOST = 3
LINK = re.compile(r"\]\(([^)#\s]+)")
WORK = {
    "own a log": [
        "make demo", "hubbub estimate", "hubbub release", "--columns", "--population", "hubbub card",
        "hubbub ledger cap", "hubbub ledger show", "hubbub evaluate", "hubbub report", "hubbub.Release(",
    ],
    "have to agree to a release": [
        "hubbub card", "--check", "hubbub ledger show", "hubbub ledger export", "hubbub review", "--review",
        "hubbub audit", "--mutants", "--screen",
    ],
    "work with a release, or with the papers behind it": [
        "read_parquet", "hubbub.Release(", "hubbub.simulate(", ".interval(", "hubbub card", "hubbub export",
        "hubbub reproduce", "--experiments",
    ],
}  # fmt: skip


def readers() -> dict[str, list[Path]]:
    """Who reads which pages, by the table on docs/index.md."""
    text = (DOCS / "index.md").read_text(encoding="utf-8")
    table = text.partition("## Three pages for you\n")[2].partition("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if "](" in line]
    return {who: [(DOCS / target).resolve() for target in LINK.findall(pages)] for who, pages in rows}


@pytest.mark.parametrize("who", WORK)
def test_three_pages_show_every_command_of_the_work(who: str) -> None:
    pages = readers()[who]
    assert 1 <= len(pages) <= MOST
    typed = "".join(block.code for page in pages for block in blocks(page))
    missing = [command for command in WORK[who] if command not in typed]
    assert not missing, f"{who}: no block of {', '.join(page.name for page in pages)} shows {missing}"


def test_the_readme_names_the_same_pages() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Where to go on\n")[2].partition("\n## ")[0]
    named = [[(ROOT / target).resolve() for target in LINK.findall(line)] for line in text.splitlines() if "](" in line]
    assert named[: len(WORK)] == list(readers().values())
    assert list(readers()) == list(WORK)
