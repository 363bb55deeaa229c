"""The map of the package names every room once, and every room says what it is for."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from tests.docs.way import mapped

import hubbub

HOME = Path(hubbub.__file__).parent


def test_the_map_names_every_room_and_every_module_beside_them_once() -> None:
    there = {p.stem for p in HOME.iterdir() if not p.name.startswith("_") and (p.suffix == ".py" or p.is_dir())}
    assert sorted(mapped()) == sorted(there - {"proofs"})  # the proofs are pages, in an installed package alone


def test_every_room_says_in_one_sentence_what_it_is_for() -> None:
    for room in mapped():
        first = (import_module(f"hubbub.{room}").__doc__ or "").split("\n\n")[0]
        assert first.endswith(".") and len(first) < 240, f"{room}: {first!r}"
