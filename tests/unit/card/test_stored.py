"""What hubbub 0.1 wrote still checks (tests/stored.py): cards by their numbers and hashes, the ledger by its sums."""

from __future__ import annotations

import gzip
import json
import zipfile
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from tests.ledgers import spend
from tests.stored import HERE

from hubbub.card.check import check
from hubbub.card.earlier import WRITTEN, look_again
from hubbub.card.schema import VERSION, integrity
from hubbub.privacy.ledger import Ledger

STORED = sorted(HERE.glob("*/*.zip"))
LATER = "99.0"


def unpacked(path: Path, to: Path) -> Path:
    """A stored release, as a folder."""
    zipfile.ZipFile(path).extractall(to / "public")
    return to


def changed(folder: Path, **sections: dict[str, Any]) -> None:
    """Forge fields of a card, and its own hash with them."""
    path = folder / "public" / "card.json"
    card = json.loads(path.read_text(encoding="utf-8"))
    for section, fields in sections.items():
        card[section].update(fields)
    path.write_text(json.dumps(card | {"integrity": integrity(card)}), encoding="utf-8")


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if cards had another version by now."""
    monkeypatch.setattr(import_module("hubbub.card.check"), "VERSION", LATER)


def test_there_are_some_and_the_present_version_is_among_those_that_keep_checking() -> None:
    assert {path.stem for path in STORED} >= {"crowd", "korolova", "k-query"}
    assert VERSION in WRITTEN


@pytest.mark.parametrize("path", STORED, ids=lambda path: f"{path.parent.name} {path.stem}")
def test_a_stored_card_checks(path: Path, tmp_path: Path, later: None) -> None:
    found = check(unpacked(path, tmp_path))
    assert [one for one in found if not one.holds] == []
    seen = " ".join(f"{one.what}: {one.seen}" for one in found)
    assert "an earlier one" in seen and "uvx hubbub==0.1.0 card" in seen
    assert ("the claim follows" in seen) is (path.stem != "k-query")


@pytest.mark.parametrize(
    ("forged", "broken"),
    [
        ({"claim": {"epsilon": 0.5}}, "the claim follows from the steps"),
        ({"claim": {"delta": 1e-9}}, "the claim follows from the steps"),
        ({"mechanism": {"stamp": "x"}}, "the claim follows from the steps"),
        ({"unit": {"neighbouring": "replace"}}, "the claim follows from the steps"),
        ({"release": {"files": []}}, "public/ holds the listed files and no other"),
        ({"release": {"files": None}}, "the card has what its version has"),
    ],
)
def test_a_forged_one_does_not(forged: dict[str, Any], broken: str, tmp_path: Path, later: None) -> None:
    release = unpacked(HERE / "0.1" / "korolova.zip", tmp_path)
    changed(release, **forged)
    assert broken in [one.what for one in check(release) if not one.holds]


def test_an_edited_card_a_changed_table_and_a_changed_page_are_seen(tmp_path: Path, later: None) -> None:
    release = unpacked(HERE / "0.1" / "crowd.zip", tmp_path)
    card = release / "public" / "card.json"
    card.write_text(card.read_text(encoding="utf-8").replace("A stored release", "Another"), encoding="utf-8")
    (release / "public" / "index.html").write_text("<p>nothing</p>", encoding="utf-8")
    broken = [one.what for one in check(release) if not one.holds]
    assert broken == ["the card is as it was written", "index.html has its hash and its rows"]


def test_a_version_that_nobody_wrote_is_refused(tmp_path: Path, later: None) -> None:
    release = unpacked(HERE / "0.1" / "crowd.zip", tmp_path)
    path = release / "public" / "card.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"card_version": "1.0"', '"card_version": "0.7"'))
    assert not all(one.holds for one in check(release))


def test_a_step_whose_numbers_do_not_follow(tmp_path: Path) -> None:
    release = unpacked(HERE / "0.1" / "korolova.zip", tmp_path)
    card = json.loads((release / "public" / "card.json").read_text(encoding="utf-8"))
    card["steps"][0]["delta"] *= 0.5
    broken = [what for what, holds, _ in look_again(card, release / "public") if not holds]
    assert any(what.startswith("step") for what in broken)


def test_the_stored_ledger_adds_up_and_goes_on(tmp_path: Path) -> None:
    for stored in HERE.glob("*/ledger.sqlite.gz"):
        path = tmp_path / f"{stored.parent.name}.sqlite"
        path.write_bytes(gzip.decompress(stored.read_bytes()))
        path.chmod(0o600)
        with Ledger(path) as ledger:
            before = ledger.spent("stored")
            assert before.releases == 2 and before.epsilon <= 4.0
            assert (before.basic_epsilon, before.basic_delta) == pytest.approx((4.0, 1.790078827158115e-05))
            assert [entry.mechanism for entry in ledger.entries("stored")] == ["crowd", "korolova"]
            assert ledger.spent("tried").not_private == 1
            spend(ledger, population="stored", dataset="log")
            assert ledger.spent("stored").basic_epsilon == pytest.approx(5.0)
