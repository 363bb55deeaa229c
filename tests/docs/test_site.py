"""The site, built once from the repository's pages: every link in it resolves, and nothing comes from a network."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import expect
from tests.browser.conftest import launched, watched
from tests.docs.blocks import PAGES, ROOT

FETCHED = {
    ("link", "href"),
    ("script", "src"),
    ("img", "src"),
    ("iframe", "src"),
    ("source", "src"),
    ("source", "srcset"),
}
STYLE = re.compile(r"@import\s+[\"']?([^\"';)]+)|url\(\s*[\"']?([^\"')]+)")


class Page(HTMLParser):
    """What a page links, what a browser would fetch for it, and its anchors."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.anchors: set[str] = set()
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if (tag, name) in FETCHED:
                self.fetched.append(value or "")
            elif name == "href":
                self.links.append(value or "")
            elif name in ("id", "name"):
                self.anchors.add(value or "")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, around two pages that stand for those of a release: the tests of pages look at real ones."""
    folder = tmp_path_factory.mktemp("site")
    for page in ("public/index.html", "owner-only/report.html"):
        made = folder / "demo" / "release-1" / page
        made.parent.mkdir(parents=True)
        made.write_text("<!doctype html><title>A page of a release</title>", encoding="utf-8")
    command = [sys.executable, str(ROOT / "tools" / "site"), str(folder / "site"), "--demo", str(folder / "demo")]
    built = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert built.returncode == 0, built.stdout + built.stderr
    return folder / "site"


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {file.resolve(): Page(file) for file in site.rglob("*.html")}


def local(page: Path, target: str) -> tuple[Path, str] | None:
    """The file and the anchor that a target names; none if it lies outside of the site."""
    parts = urlsplit(target)
    if parts.scheme or parts.netloc:
        return None
    return ((page.parent / unquote(parts.path)) if parts.path else page).resolve(), unquote(parts.fragment)


def test_every_link_resolves(pages: dict[Path, Page]) -> None:
    wrong = []
    for page, said in pages.items():
        for target in said.links + said.fetched:
            found = local(page, target)
            if found is None:
                continue
            file, anchor = found
            known = pages[file].anchors | {""} if file in pages else {anchor}
            if not file.is_file() or anchor not in known:
                wrong.append(f"{page.name}: {target}")
    assert not wrong


def test_nothing_is_fetched_from_a_network(site: Path, pages: dict[Path, Page]) -> None:
    assert not [(page.name, target) for page, said in pages.items() for target in said.fetched if outside(target)]
    for style in site.rglob("*.css"):
        targets = ["".join(found) for found in STYLE.findall(style.read_text(encoding="utf-8"))]
        assert not [target for target in targets if outside(target)], style
    scripts = "".join(each.read_text(encoding="utf-8") for each in site.rglob("*.js") if each.name != "searchindex.js")
    assert "//cdn" not in scripts and "mathjax" not in scripts.lower()


def outside(target: str) -> bool:
    """Whether a browser would ask another machine for it."""
    return bool(urlsplit(target).netloc) or urlsplit(target).scheme in ("http", "https")


def test_a_fetch_would_be_seen(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text('<script src="https://cdn.example/x.js"></script><a href="https://example.org">there</a>', "utf-8")
    assert [target for target in Page(page).fetched if outside(target)] == ["https://cdn.example/x.js"]


def test_every_page_is_on_the_site_and_listed_beside_it(site: Path, pages: dict[Path, Page]) -> None:
    listed = set(_reached(site / "README.html", pages))
    for page in PAGES:
        made = (site / page.relative_to(ROOT)).with_suffix(".html").resolve()
        assert made in pages and made in listed, page


def _reached(page: Path, pages: dict[Path, Page]) -> Iterator[Path]:
    for target in pages[page.resolve()].links:
        found = local(page, target)
        if found:
            yield found[0]


def test_search_needs_no_server(site: Path, pages: dict[Path, Page]) -> None:
    """The index is a script: a page opened as a file may load a script, and may fetch nothing."""
    assert "searchindex.js" in [urlsplit(each).path for each in pages[(site / "search.html").resolve()].fetched]
    assert '"transcript"' in (site / "searchindex.js").read_text(encoding="utf-8")


def test_formulas_are_set_when_the_site_is_built(site: Path) -> None:
    proof = (site / "docs" / "proofs" / "crowd.html").read_text(encoding="utf-8")
    assert "finite set H<sub>u</sub> of her" in proof and "U = 2<sup>k</sup>" in proof
    assert '<pre class="formula">μ<sub>r</sub>² = m<sub>r</sub>² 4<sup>k</sup> / (m<sub>r</sub> V − 4)' in proof


def test_pages_fit_two_screens_and_search_works_from_the_disk(site: Path) -> None:
    """In a real browser with its network off; whatever a page asks of another machine, or complains about, fails."""
    pages = ("README", "docs/index", "docs/proofs/crowd", "docs/notebooks/first-release", "docs/api")
    with launched() as browser, watched(browser) as opens:
        for width in (390, 1280):
            page = opens(width=width)
            for name in pages:
                page.goto((site / f"{name}.html").as_uri())
                assert page.evaluate("document.documentElement.scrollWidth") <= width, f"{name} at {width}"
                assert page.locator("article h1").is_visible()
            page.goto((site / "search.html").as_uri() + "?q=transcript")
            expect(page.locator("#search-results a", has_text="what is proven, and the proof").first).to_be_visible()


def test_notebooks_are_shown_with_what_they_print_and_draw(site: Path) -> None:
    for notebook in sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")):
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells), "kept without outputs"
        page = (site / "docs" / "notebooks" / notebook.name).with_suffix(".html").read_text(encoding="utf-8")
        assert page.count("<img") == 1, f"{notebook.name}: one chart"
        assert page.count("highlight-text") >= 3, f"{notebook.name}: what its cells printed"
        assert (site / "_downloads").exists() and f"/{notebook.name}" in page, "the file itself, to run"


def test_a_cell_that_fails_stops_the_build(tmp_path: Path) -> None:
    bad = {"cells": [{"cell_type": "code", "source": ["1 / 0"]}]}
    (tmp_path / "bad.ipynb").write_text(json.dumps(bad), encoding="utf-8")
    command = [sys.executable, str(ROOT / "tools" / "site" / "notebooks.py"), str(tmp_path / "bad.ipynb")]
    ran = subprocess.run([*command, str(tmp_path / "bad.md")], capture_output=True, text=True)
    assert ran.returncode and "bad.ipynb, cell 0" in ran.stderr and not (tmp_path / "bad.md").exists()


def test_links_keep_their_headings() -> None:
    spec = importlib.util.spec_from_file_location("site_stage", ROOT / "tools" / "site" / "stage.py")
    assert spec is not None and spec.loader is not None
    stage = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(stage)
    assert stage.set_links("[a](b.html#c) [a](b.html)") == '<a href="b.html#c">a</a> <a href="b.html">a</a>'
    assert stage.set_links("[a](b.ipynb#c) [`b.ipynb`](b.ipynb) [a](b.md#c)") == (
        "[a](b.md#c) [`b.ipynb`](b.ipynb) [a](b.md#c)"
    )


def test_a_folder_that_is_no_site_and_a_demo_without_a_release_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    command = [sys.executable, str(ROOT / "tools" / "site"), str(tmp_path), "--demo", str(tmp_path)]
    assert "holds no release of a demo" in subprocess.run(command, capture_output=True, text=True).stderr
    (tmp_path / "release-1" / "public").mkdir(parents=True)
    refused = subprocess.run(command, capture_output=True, text=True)
    assert refused.returncode and "is there and is no site" in refused.stderr
    assert (tmp_path / "mine.txt").read_text(encoding="utf-8") == "mine"
