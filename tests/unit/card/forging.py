"""What a forger of cards does: change one, with or without computing every hash again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hubbub.card import check
from hubbub.card.schema import integrity, sha256_of

Change = Callable[[Any], None]


def broken(release: Path) -> list[str]:
    """What does not hold about a release."""
    return [f.what for f in check(release) if not f.holds]


def read(release: Path) -> Any:
    return json.loads((release / "public" / "card.json").read_text())


def write(release: Path, card: Any, *, reseal: bool = True) -> None:
    """Put a card in the place of another; `reseal` also forges the hash of the card and of every file."""
    if reseal:
        for file in card["release"]["files"]:
            if (path := release / "public" / file["path"]).is_file():
                file["sha256"] = sha256_of(path)
        card["integrity"] = integrity(card)
    (release / "public" / "card.json").write_text(json.dumps(card))


def edit(release: Path, change: Change, *, reseal: bool = True) -> None:
    card = read(release)
    change(card)
    write(release, card, reseal=reseal)
