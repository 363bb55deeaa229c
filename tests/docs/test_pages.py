"""Every block of the README and of docs/ runs as printed, and every link leads somewhere."""

from __future__ import annotations

import gzip
import re
import shutil
from pathlib import Path

import pytest
from tests.docs.blocks import BLOCK, DATA, PAGES, ROOT, RUN, blocks, name
from tests.docs.reader import read
from typer.testing import CliRunner

from hubbub.cli import app

LINKED = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")), ROOT / "bench" / "README.md"]
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.*?)\s*$", re.MULTILINE)
USERS = 4_000  # with fewer, some page has a release without rows
FEW = 800
OF_FEW = ("docs/compare.md", "docs/estimate.md", "docs/reproduce.md")
"""Pages that draw from the log again and again, and show of it what a log of fewer users has as well."""


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `make demo` leaves behind, under the same names, of fewer users."""
    folder = tmp_path_factory.mktemp("demo") / "demo"
    made = CliRunner().invoke(app, ["demo", "--quiet", "--out", str(folder), "--users", str(USERS)])
    assert made.exit_code == 0, made.output
    (folder / f"log-{USERS}.tsv.gz").rename(folder / "log-20000.tsv.gz")
    (folder / f"truth-{USERS}").rename(folder / "truth-20000")
    run = folder / "release-1" / "owner-only" / "run.toml"
    run.write_text(run.read_text(encoding="utf-8").replace(f"log-{USERS}.", "log-20000."), encoding="utf-8")
    return folder


@pytest.mark.parametrize("page", [page for page in PAGES if any(b.runs for b in blocks(page))], ids=name)
def test_every_block_runs(page: Path, demo: Path, tmp_path: Path) -> None:
    where = tmp_path / "reader"
    where.mkdir()
    shutil.copytree(demo, where / "demo")
    if name(page) in OF_FEW:
        keep(FEW, where / "demo" / "log-20000.tsv.gz")
    read(page, where)


def keep(users: int, log: Path) -> None:
    """Cut a log down to the first users that it names."""
    with gzip.open(log, "rt", encoding="utf-8") as file:
        header, *rows = file
    first = set(list(dict.fromkeys(row.split("\t")[0] for row in rows))[:users])
    with gzip.open(log, "wt", encoding="utf-8") as file:
        file.writelines([header, *(row for row in rows if row.split("\t")[0] in first)])


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_block_runs_shows_data_or_says_why_not(page: Path) -> None:
    for block in blocks(page):
        place = f"{name(page)}, line {block.line}"
        assert block.language in RUN + DATA or block.not_run, (
            f"{place}: what is {block.language!r}, and why is it not run?"
        )
        commands = re.search(r"^(\$ )?(hubbub|make|python|pip) ", block.code, re.MULTILINE)
        assert block.language in RUN or block.not_run or not commands, f"{place}: a command that nothing runs"


def test_the_readme_shows_how_to_start() -> None:
    kinds = [block.language for block in blocks(ROOT / "README.md") if block.runs]
    assert "sh" in kinds and "python" in kinds


def anchor(heading: str) -> str:
    """A heading as the fragment of a link, by GitHub's rule."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("\\", "")
    return re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")


@pytest.mark.parametrize("page", LINKED, ids=name)
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
