"""Lay the pages of the repository out for Sphinx: the same places, with a list of contents."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

NOTEBOOKS = Path(__file__).resolve().with_name("notebooks.py")
ROOT = Path(__file__).resolve().parents[2]
BESIDE = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "bench/README.md", "verify/README.md")
FILES = ("LICENSE", "CITATION.cff")
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)#\s]+)(#[^)\s]*)?\)")
SHOWN = {
    "<!-- site: demo -->": """<iframe src="../demo/public/index.html" title="The public page of a release"></iframe>

On a page of their own: <a href="../demo/public/index.html">the public page</a>, and
<a href="../demo/owner-only/report.html">the owner's report</a>, which a real log's owner would show to nobody.
""",
    "<!-- site: papers -->": '<iframe src="papers.html" title="The papers again: every row, with charts"></iframe>\n',
}


def stage(source: Path) -> None:
    """Copy the pages into a new folder, each as Sphinx wants it."""
    shutil.copytree(ROOT / "docs", source / "docs", ignore=shutil.ignore_patterns("__pycache__"))
    for name in (*BESIDE, *FILES):
        (source / name).parent.mkdir(exist_ok=True)
        shutil.copy2(ROOT / name, source / name)
    for notebook in sorted(source.rglob("*.ipynb")):
        run = [sys.executable, str(NOTEBOOKS), str(notebook), str(notebook.with_suffix(".md"))]
        subprocess.run(run, check=True)
    for page in source.rglob("*.md"):
        text = set_links(page.read_text(encoding="utf-8"))
        for mark, shown in SHOWN.items():
            text = text.replace(mark, shown)
        page.write_text(text, encoding="utf-8")
    first = source / "README.md"
    first.write_text(first.read_text(encoding="utf-8") + contents(source), encoding="utf-8")


def set_links(text: str) -> str:
    """Links as a site has them.

    A notebook is the page that was made of it, unless the link names the file itself. A page that is HTML already
    opens; Sphinx would offer it as a file to keep.
    """

    def link(found: re.Match[str]) -> str:
        shown, target, heading = found[1], found[2], found[3] or ""
        if target.endswith(".html"):
            return f'<a href="{target}{heading}">{shown}</a>'
        if target.endswith(".ipynb") and shown != f"`{Path(target).name}`":
            return f"[{shown}]({target.removesuffix('.ipynb')}.md{heading})"
        return found[0]

    return LINK.sub(link, text)


def contents(source: Path) -> str:
    """What the side of every page lists: what docs/index.md links, under its own headings, each page once."""
    index = source / "docs" / "index.md"
    said, seen = [_tree("", ["docs/index"])], {"docs/index", "README"}
    for section in index.read_text(encoding="utf-8").split("\n## ")[1:]:
        title, _, text = section.partition("\n")
        targets = [(index.parent / found[2]).resolve() for found in LINK.finditer(text) if found[2].endswith(".md")]
        names = [str(target.relative_to(source.resolve()).with_suffix("")) for target in targets]
        fresh = [name for name in dict.fromkeys(names) if name not in seen]
        said.append(_tree(title, fresh))
        seen.update(fresh)
    rest = {str(page.relative_to(source))[:-3] for page in source.rglob("*.md")} - seen
    return "\n".join([*said, _tree("More", sorted(rest))])


def _tree(title: str, names: list[str]) -> str:
    caption = f":caption: {title}\n" if title else ""
    return "\n```{toctree}\n:hidden:\n" + caption + "\n" + "\n".join(f"/{name}" for name in names) + "\n```\n"
