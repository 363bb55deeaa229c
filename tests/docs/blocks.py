"""The pages of the documentation, their fenced blocks, and which of those are run.

`python`, `sh`, `console` and `sql` run, in the order of the page, in one folder per page. A block that cannot says why,
in a comment on the line above it: `<!-- not run: needs R -->`. Blocks of data (`text`, `json`, …) are only shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
RUN = ("python", "sh", "console", "sql")
DATA = ("", "text", "json", "jsonl", "toml", "yaml", "csv", "tsv", "bibtex")
BLOCK = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```[^\S\n]*$", re.DOTALL | re.MULTILINE)
REASON = re.compile(r"<!-- not run: (\S[^\n]*) -->\n\Z")


@dataclass(frozen=True)
class Block:
    """A block of code, the line it begins on, and why it is not run, if it is not."""

    language: str
    code: str
    line: int
    not_run: str | None

    @property
    def runs(self) -> bool:
        """Whether the tests run it."""
        return self.language in RUN and self.not_run is None


def blocks(page: Path) -> Iterator[Block]:
    """The blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    for found in BLOCK.finditer(text):
        reason = REASON.search(text, 0, found.start())
        yield Block(found[1], found[2], text.count("\n", 0, found.start()) + 2, reason[1] if reason else None)


def name(page: Path) -> str:
    """A page's path inside the repository, as the id of a test."""
    return str(page.relative_to(ROOT))
