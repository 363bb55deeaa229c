"""Check a card again: hashes, then ε and δ from the steps, then the mechanism rebuilt from its parameters.

Three independent looks, because each sees what the others do not: a changed row (hash), a changed number
(recomputation), a changed step with a matching number (the rebuilt mechanism), any other edit (the
card's own hash).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from hubbub.card.schema import STAMP, VERSION, Card, integrity, sha256_of
from hubbub.errors import HubbubError, InputError
from hubbub.gaussian import AnyStep, read_any, total
from hubbub.guarantee import Neighbours


@dataclass(frozen=True)
class Finding:
    """One thing looked at: what, whether it holds, and what was seen."""

    what: str
    holds: bool
    seen: str


def load(release: str | Path) -> dict[str, object]:
    """The card of a release folder, as plain data."""
    path = Path(release)
    for candidate in (path, path / "card.json", path / "public" / "card.json"):
        if candidate.is_file():
            try:
                document = json.loads(candidate.read_text(encoding="utf-8"))
            except (ValueError, OSError) as error:
                raise InputError("The card cannot be read.", given=f"{candidate}: {error}") from error
            if not isinstance(document, dict):
                raise InputError("The card is not a JSON object.", given=candidate)
            return document
    raise InputError("There is no release here.", given=path, next="give the folder that `hubbub release --out` wrote")


def public_folder(release: str | Path) -> Path:
    """Where a release's public files are."""
    path = Path(release)
    if path.is_file():
        return path.parent
    return path / "public" if (path / "public").is_dir() else path


def check(release: str | Path) -> list[Finding]:
    """Everything about a release that can be re-checked without the log."""
    document = load(release)
    try:
        card = Card.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(p) for p in first["loc"])
        return [Finding("the card has every field and no other", False, f"{where}: {first['msg']}")]
    findings = [Finding("the card has every field and no other", True, f"version {card.card_version}")]
    if card.card_version.split(".")[0] != VERSION.split(".")[0]:
        return [*findings, Finding("the card's version is known", False, f"{card.card_version}, this is {VERSION}")]
    seen = integrity(document)
    findings.append(Finding("the card is as it was written", seen == card.integrity, seen))
    findings += _files(card, public_folder(release))
    findings += _numbers(card)
    findings += _mechanism(card)
    return findings


def _files(card: Card, public: Path) -> Iterator[Finding]:
    import pyarrow as pa
    import pyarrow.parquet

    listed = {f.path for f in card.release.files} | {"card.json"}
    present = {str(p.relative_to(public)) for p in public.rglob("*") if p.is_file()}
    yield Finding("public/ holds the listed files and no other", present == listed, ", ".join(sorted(present ^ listed)))
    for file in card.release.files:
        path = public / file.path
        if not path.is_file():
            continue
        yield Finding(f"{file.path} has its hash", sha256_of(path) == file.sha256, file.sha256[:16])
        if file.rows is not None:
            try:
                table = pyarrow.parquet.read_table(path)
                same = table.num_rows == file.rows and table.column_names == file.columns
                seen = f"{table.num_rows} rows, {', '.join(table.column_names)}"
            except (pa.ArrowInvalid, OSError) as error:
                same, seen = False, str(error)
            yield Finding(f"{file.path} has its rows and columns", same, seen)


def _numbers(card: Card) -> Iterator[Finding]:
    steps: list[AnyStep] = []
    for part in card.steps:
        try:
            step = read_any(part.model_dump())
        except (HubbubError, ValueError, KeyError, ArithmeticError) as error:
            yield Finding(f"step {part.name} can be accounted for", False, str(error))
            return
        again = step.record()
        same = _close(part.epsilon, again["epsilon"]) and _close(part.delta, again["delta"])
        same = same and again == part.model_dump()
        what = "its numbers follow from its law"
        yield Finding(f"step {part.name}: {what}", same, f"ε = {again['epsilon']}, δ = {again['delta']}")
        steps.append(step)
    if not card.mechanism.private:
        nothing = card.claim.epsilon is None and card.claim.delta is None and card.mechanism.stamp == STAMP
        yield Finding("a release that is not private claims nothing", nothing, card.claim.sentence)
        return
    factor = 2 if card.unit.neighbouring == Neighbours.REPLACE else 1
    loss = total(steps, card.claim.epsilon)
    epsilon, delta = loss.epsilon * factor, loss.delta
    same = card.mechanism.stamp is None and not card.implementation.randomness.seeded
    for stated_epsilon, stated_delta in (
        (card.claim.epsilon, card.claim.delta),
        (card.accounting.total_epsilon, card.accounting.total_delta),
    ):
        same = same and _close(stated_epsilon, epsilon) and _close(stated_delta, delta)
    yield Finding("the claim follows from the steps", same, f"ε = {epsilon:.6g}, δ = {delta:.6g}")


def _mechanism(card: Card) -> Iterator[Finding]:
    """Rebuild the mechanism from its raw parameters; it must state the same steps and claims."""
    from hubbub.mechanisms import build

    what = "the mechanism, rebuilt from its parameters, states the same"
    try:
        rebuilt = build(
            card.mechanism.name,
            card.mechanism.parameters,
            variant=card.mechanism.variant,
            neighbours=card.unit.neighbouring,
            tables=card.mechanism.tables,
            serp=_listed(card),
        )
    except HubbubError as error:
        yield Finding(what, False, str(error).splitlines()[0])
        return
    same = [s.record() for s in rebuilt.steps()] == [s.model_dump() for s in card.steps]
    proven, claimed = rebuilt.proven(), rebuilt.claimed()
    if card.mechanism.private:
        same = same and _close(card.claim.epsilon, proven.epsilon) and _close(card.claim.delta, proven.delta)
        same = same and card.claim.definition == proven.definition.value
    same = same and _close(card.mechanism.claimed.epsilon, claimed.epsilon)
    same = same and card.mechanism.claimed.holds == claimed.holds
    yield Finding(what, same, f"{card.mechanism.name} ({card.mechanism.variant})")


def _listed(card: Card) -> object:
    """A stand-in for the public result list: its rows change no number of the claim."""
    from hubbub.lists import UrlList

    for public in card.mechanism.public_lists:
        if public.get("use") == "serp":
            return UrlList(public["name"], None, public["sha256"])
    return None


def _close(stated: float | None, computed: object) -> bool:
    if stated is None or not isinstance(computed, float):
        return stated is computed
    return math.isclose(stated, computed, rel_tol=1e-12, abs_tol=0.0)
