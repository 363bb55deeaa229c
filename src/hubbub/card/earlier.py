"""Cards of earlier versions keep checking: what can be computed again from their text, whatever fields cards have now.

Nothing here uses the card's present shape. What is not made again are words: sentences and pages are those of the
version that wrote them. Their hashes hold them, and that version says them again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hubbub.card.notice import NOTICE
from hubbub.card.schema import STAMP, integrity, sha256_of
from hubbub.errors import HubbubError
from hubbub.privacy.gaussian import AnyStep, read_any, total
from hubbub.privacy.guarantee import Neighbours

WRITTEN = ("1.0",)
"""Every version of cards that a release of hubbub has written. None is ever taken out."""
Seen = tuple[str, bool, str]
"""What was looked at, whether it holds, and what was seen."""


def look_again(document: dict[str, Any], public: Path) -> Iterator[Seen]:
    """Hashes, files, and ε and δ from the steps, of a card of an earlier version."""
    yield "the card's version is known", True, f"{document['card_version']}, an earlier one"
    seen = integrity(document)
    yield "the card is as it was written", seen == document.get("integrity"), seen
    try:
        yield from _files(document["release"]["files"], public)
        yield from _numbers(document)
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, HubbubError) as error:
        yield "the card has what its version has", False, f"{type(error).__name__}: {error}".splitlines()[0]
        return
    software = document["implementation"]["software"].replace(" ", "==")
    yield "its words", True, f"are those of its version, and not made again here: `uvx {software} card RELEASE --check`"


def _files(files: list[dict[str, Any]], public: Path) -> Iterator[Seen]:
    import pyarrow.parquet

    listed = {file["path"] for file in files} | {"card.json"}
    present = {path.relative_to(public).as_posix() for path in public.rglob("*") if path.is_file()} - {NOTICE}
    yield "public/ holds the listed files and no other", present == listed, ", ".join(sorted(present ^ listed))
    for file in files:
        path = public / file["path"]
        same = path.is_file() and sha256_of(path) == file["sha256"]
        if same and file.get("rows") is not None:
            same = pyarrow.parquet.read_metadata(path).num_rows == file["rows"]
        yield f"{file['path']} has its hash and its rows", same, file["sha256"][:16]


def _numbers(document: dict[str, Any]) -> Iterator[Seen]:
    claim, mechanism = document["claim"], document["mechanism"]
    steps: list[AnyStep] = []
    for stated in document["steps"]:
        step = read_any(stated)
        again = step.record()
        same = all(_close(stated[name], again[name]) for name in ("epsilon", "delta"))
        yield f"step {stated['name']}: its numbers follow from its law", same, f"ε = {again['epsilon']}"
        steps.append(step)
    if not mechanism["private"]:
        nothing = claim["epsilon"] is None and claim["delta"] is None and mechanism["stamp"] == STAMP
        yield "a release that is not private claims nothing", nothing, claim["sentence"]
        return
    loss = total(steps, claim["epsilon"])
    epsilon = loss.epsilon * (2 if document["unit"]["neighbouring"] == Neighbours.REPLACE else 1)
    seeded = document["implementation"]["randomness"]["seeded"]
    same = mechanism["stamp"] is None and not seeded
    same = same and _close(claim["epsilon"], epsilon) and _close(claim["delta"], loss.delta)
    yield "the claim follows from the steps", same, f"ε = {epsilon:.6g}, δ = {loss.delta:.6g}"


def _close(stated: object, computed: object) -> bool:
    if not isinstance(stated, int | float) or not isinstance(computed, int | float):
        return stated is computed
    return math.isclose(stated, computed, rel_tol=1e-12, abs_tol=0.0)
