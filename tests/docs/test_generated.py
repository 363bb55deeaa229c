"""Tables of parameters, public names, rooms and the way of a release are those of the code, and none is missing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.docs.blocks import PAGES, ROOT, name
from tests.docs.generated import made, parts
from tests.docs.way import way

import hubbub
from hubbub.mechanisms import mechanisms


@pytest.mark.parametrize("page", [page for page in PAGES if parts(page)], ids=name)
def test_made_parts_are_what_the_code_says(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert made(text) == text, "run python -m tests.docs.generated"


def named(kind: str) -> set[str]:
    """What all pages together have of a kind of part."""
    return {each for page in PAGES for k, names in parts(page) if k == kind for each in names.split(", ")}


def test_every_public_name_is_in_the_reference() -> None:
    assert named("api") == set(hubbub.__all__)


def test_every_mechanism_has_its_parameters_on_a_page() -> None:
    assert named("parameters") == {n for n, mechanism in mechanisms().items() if mechanism.parameters}


def test_the_picture_of_the_rooms_is_drawn_from_a_release() -> None:
    """`make.py` draws it in a process of its own: pictures are not a package."""
    pictures = ROOT / "docs" / "pictures"
    code = (
        "import json, sys; sys.path.insert(0, sys.argv[1]); import rooms; from tests.docs.way import Called, Way; "
        "calls, threads = json.load(sys.stdin); print(rooms.svg(Way(tuple(Called(*c) for c in calls), tuple(threads))))"
    )
    told = json.dumps([[[c.file, c.name, c.chapter] for c in way().calls], way().threads])
    command = [sys.executable, "-c", code, str(pictures)]
    drawn = subprocess.run(command, input=told, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert drawn == (pictures / "rooms.svg").read_text(encoding="utf-8"), "run python docs/pictures/make.py rooms"
