"""The changelog has the form that tools and packagers read, and one version is stated everywhere."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import hubbub
from hubbub.card.schema import VERSION
from hubbub.privacy.ledger import file as ledger

ROOT = Path(__file__).parents[2]
SECTIONS = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")
TITLE = re.compile(r"## \[(Unreleased|\d+\.\d+\.\d+)\](?: - (\d{4}-\d{2}-\d{2}))?")


def faults(text: str) -> list[str]:
    """What a reader of changelogs would stumble over."""
    found, versions = [], []
    for line in text.splitlines():
        if line.startswith("## "):
            title = TITLE.fullmatch(line)
            if title is None or (title[1] == "Unreleased") != (title[2] is None):
                found.append(f"no version with a date: {line}")
            else:
                versions.append(title[1])
        elif line.startswith("### ") and line.removeprefix("### ") not in SECTIONS:
            found.append(f"no section of a changelog: {line}")
    numbers = [tuple(map(int, version.split("."))) for version in versions if version != "Unreleased"]
    if versions[:1] != ["Unreleased"] or numbers != sorted(numbers, reverse=True) or len(versions) != len({*versions}):
        found.append(f"Unreleased, then the newest first: {versions}")
    return found


def test_the_changelog_has_its_form() -> None:
    assert faults((ROOT / "CHANGELOG.md").read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "text",
    [
        "## [0.2.0]\n",
        "## [Unreleased] - 2026-01-01\n",
        "## [Unreleased]\n### New\n",
        "## [Unreleased]\n## [0.1.0] - 2026-01-01\n## [0.2.0] - 2026-02-01\n",
        "## [0.1.0] - 2026-01-01\n",
        "",
    ],
)
def test_other_forms_are_seen(text: str) -> None:
    assert faults(text)


def test_one_version_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    assert cited is not None and hubbub.__version__ == project["version"] == cited[1]


def test_the_page_on_versions_names_those_of_the_files() -> None:
    page = (ROOT / "docs" / "versions.md").read_text(encoding="utf-8")
    assert f"`card_version`, now {VERSION} |" in page and f"| the ledger | its own, now {ledger.VERSION} |" in page
