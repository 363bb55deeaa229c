"""Every theorem has its code, its exact test, its sampled test and its mutant; and every one of them exists."""

from __future__ import annotations

import pkgutil
import re
import tomllib

import pytest
from tests.docs.blocks import ROOT

THEOREM = re.compile(r"^(?:> )?\*\*((?:Theorem|Lemma [CDEW])[^*]*)\.\*\*", re.MULTILINE)
"""What a page states as a theorem; lemmas serve one, but for the clock, on which two mechanisms stand, and for the core
of `crowd`: adaptive rounds (C) and keys that nobody else holds (D, E)."""
ROWS = tomllib.loads((ROOT / "docs" / "data" / "theorems.toml").read_text(encoding="utf-8"))["theorem"]
PARTS = ("page", "name", "says", "code", "exact", "sampled", "mutant")
MUTANTS = "".join(
    file.read_text(encoding="utf-8") for file in sorted((ROOT / "src" / "hubbub" / "audit").rglob("*.py"))
)


def test_every_theorem_of_the_proof_pages_has_a_row_and_no_other_has() -> None:
    proven = {
        (page.name, name)
        for page in (ROOT / "docs" / "proofs").glob("*.md")
        for name in THEOREM.findall(page.read_text(encoding="utf-8"))
    }
    assert len(proven) > 15
    assert {(row["page"], row["name"]) for row in ROWS} == proven
    assert len(ROWS) == len(proven)


@pytest.mark.parametrize("row", ROWS, ids=[f"{row['page']}-{row['name']}" for row in ROWS])
def test_a_row_is_whole_and_names_what_is_there(row: dict[str, str]) -> None:
    assert tuple(row) == PARTS
    assert callable(pkgutil.resolve_name(row["code"]))
    for look in (row["exact"], row["sampled"]):
        if look.startswith("hubbub.audit.checks."):
            assert callable(pkgutil.resolve_name(look))
        else:
            file, _, test = look.partition("::")
            assert f"\ndef {test}(" in (ROOT / file).read_text(encoding="utf-8")
    assert f'"{row["mutant"]}"' in MUTANTS
