"""The officer's lines give the δ on a card of crowd, and notice a card whose numbers were changed.

They are read from the page and run as they are, on cards made here; nothing in them is hubbub's.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.docs.blocks import ROOT, blocks

from hubbub.card.build import build_card
from hubbub.card.facts import Booked, Facts
from hubbub.card.owner import Owner
from hubbub.mechanisms import build

Change = Callable[[Any], None]
PAGE = ROOT / "docs" / "privacy-officer.md"


def lines() -> str:
    found = [block.code for block in blocks(PAGE) if "by hand" in block.code]
    assert len(found) == 1
    return found[0]


def by_hand(card: Any, where: Path, monkeypatch: pytest.MonkeyPatch) -> float:
    path = where / "demo" / "release-1" / "public" / "card.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(card), encoding="utf-8")
    monkeypatch.chdir(where)
    names: dict[str, Any] = {}
    exec(compile(lines(), "privacy-officer.md", "exec"), names)
    return float(names["delta"])


def card(tables: list[str] | None = None, epsilon: float = 2, delta: str = "1e-6") -> Any:
    mechanism = build("crowd", {"epsilon": epsilon, "delta": delta}, tables=tables)
    facts = Facts(Owner(), Booked("p", "d", 1, 0.0, 1.0, None, (), ()), "user", False, 0.05, None)
    return json.loads(build_card(mechanism, facts).text())


def test_they_do_without_hubbub() -> None:
    assert "import hubbub" not in lines() and "from hubbub" not in lines()


@pytest.mark.parametrize("tables", [None, ["queries"], ["clicks"], ["queries", "transitions"], ["log"]])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, "1e-8"), (2, "1e-6"), (4, "1e-5")])
def test_they_give_the_claim(
    tables: list[str] | None, epsilon: float, delta: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = card(tables, epsilon, delta)
    found = by_hand(made, tmp_path, monkeypatch)
    assert found == pytest.approx(made["claim"]["delta"], rel=1e-7) and found <= made["claim"]["delta"]
    assert made["claim"]["delta"] <= float(delta)


def changed(place: str, to: Callable[[Any], Any]) -> Change:
    """One number of the first step, or of the claim."""

    def change(made: Any) -> None:
        law = made["steps"][0]["law"]
        where, key = {
            "noise": (law["mu2"], 0),
            "recount": (made["steps"][1]["law"]["mu2"], 0),
            "mean": (law["tests"][-1], 0),
            "variance": (law["tests"][-1], 1),
            "threshold": (law["tests"][-1], 2),
            "keys": (made["steps"][0]["sensitivity"], "l0"),
            "δ": (made["claim"], "delta"),
            "ε": (made["claim"], "epsilon"),
        }[place]
        where[key] = to(where[key])

    return change


TAMPERED = {
    "noise": lambda text: str(float(text.partition("/")[0]) / float(text.partition("/")[2] or 1) * 0.999),
    "recount": lambda text: str(float(text.partition("/")[0]) / float(text.partition("/")[2] or 1) * 1.01),
    "mean": lambda n: n + n // 100,
    "variance": lambda n: n + n // 1000,
    "threshold": lambda n: n - n // 1000,
    "keys": lambda n: n + 1,
    "δ": lambda x: x * 0.9999,
    "ε": lambda x: x * 0.9999,
}


@pytest.mark.parametrize("place", TAMPERED)
def test_a_changed_number_shows(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = card()
    by_hand(made, tmp_path, monkeypatch)
    changed(place, TAMPERED[place])(made)
    with pytest.raises(AssertionError, match="does not follow"):
        by_hand(made, tmp_path, monkeypatch)
