"""Tables of parameters and the reference of public names are those of the code, and none is missing."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.docs.blocks import PAGES, name
from tests.docs.generated import made, parts

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
