"""Every shell and Python block of the README and of docs/ runs as printed, and every link leads somewhere."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RUNNABLE = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
LINKED = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")), ROOT / "bench" / "README.md"]
BLOCK = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```[^\S\n]*$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.*?)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A block of code, and the line it begins on."""

    language: str
    code: str
    line: int


def blocks(page: Path) -> Iterator[Block]:
    """The blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    for found in BLOCK.finditer(text):
        yield Block(found[1], found[2], text.count("\n", 0, found.start()) + 2)


def runs(block: Block) -> bool:
    """Blocks of `make` need a clone and a network; what they call is tested elsewhere."""
    return block.language in ("sh", "python") and not block.code.startswith("make")


def run(command: list[str], where: Path) -> subprocess.CompletedProcess[str]:
    """Run in a folder, with this environment's commands first and a ledger of its own."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    given = os.environ | {"PATH": path, "HUBBUB_LEDGER": str(where / "ledger-of-the-test.sqlite")}
    return subprocess.run(command, cwd=where, env=given, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `make demo` leaves behind."""
    folder = tmp_path_factory.mktemp("demo")
    made = run(["hubbub", "demo", "--out", "demo"], folder)
    assert made.returncode == 0, made.stderr
    return folder / "demo"


@pytest.mark.parametrize("page", RUNNABLE, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_runs(page: Path, demo: Path, tmp_path: Path) -> None:
    where = tmp_path / "reader"
    where.mkdir()
    shutil.copytree(demo, where / "demo")
    for block in filter(runs, blocks(page)):
        command = ["bash", "-euo", "pipefail", "-c"] if block.language == "sh" else [sys.executable, "-c"]
        done = run([*command, block.code], where)
        assert done.returncode == 0, f"{page.name}, line {block.line}\n{done.stdout}\n{done.stderr}"


def test_the_readme_shows_how_to_start() -> None:
    kinds = [block.language for block in blocks(ROOT / "README.md") if runs(block)]
    assert "sh" in kinds and "python" in kinds


def anchor(heading: str) -> str:
    """A heading as the fragment of a link, by GitHub's rule."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("\\", "")
    return re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")


@pytest.mark.parametrize("page", LINKED, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    for target in LINK.findall(text):
        if target.startswith(("https://", "mailto:")):
            continue
        path, _, fragment = target.partition("#")
        leads_to = page.parent / path if path else page
        assert leads_to.exists(), f"{page.name} links to {target}"
        if fragment:
            headings = {anchor(h) for h in HEADING.findall(BLOCK.sub("", leads_to.read_text(encoding="utf-8")))}
            assert fragment in headings, f"{page.name} links to {target}, which has no such heading"
