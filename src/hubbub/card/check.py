"""Check a card again: hashes, then ε and δ from the steps, then the whole card and its pages made anew.

Each look sees what the others do not: a changed row (hash), a number that does not follow from its step
(recomputation), any word or number that does not follow from the mechanism and from the facts stated on the
card (made anew and compared whole). What is left to believe are those facts: see `card/facts.py`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from hubbub.card.earlier import WRITTEN, look_again
from hubbub.card.notice import NOTICE, read_notice
from hubbub.card.schema import STAMP, VERSION, Card, integrity, sha256_of
from hubbub.errors import HubbubError, InputError, Refused
from hubbub.privacy.gaussian import AnyStep, read_any, total
from hubbub.privacy.guarantee import Neighbours
from hubbub.public.groups import Grouping
from hubbub.public.lists import OwnPrior, QueryPool, UrlList
from hubbub.public.words import Vocabulary

if TYPE_CHECKING:
    from hubbub.mechanisms.base import Mechanism

DRAFT = "draft"
"""The folder of a release that nobody has approved yet, where else `public` is."""


@dataclass(frozen=True)
class Finding:
    """One thing looked at: what, whether it holds, and what was seen."""

    what: str
    holds: bool
    seen: str


def load(release: str | Path, *, draft: bool = False) -> dict[str, object]:
    """The card of a release folder, as plain data; of a draft only where that is asked for."""
    path = Path(release)
    drafted = path / DRAFT / "card.json"
    for candidate in (path, path / "card.json", path / "public" / "card.json", *([drafted] if draft else [])):
        if candidate.is_file():
            try:
                document = json.loads(candidate.read_text(encoding="utf-8"))
                json.dumps(document, allow_nan=False)  # infinity is no number of a card
            except (ValueError, OSError, RecursionError) as error:
                raise InputError("The card cannot be read.", given=f"{candidate}: {error}") from error
            if not isinstance(document, dict):
                raise InputError("The card is not a JSON object.", given=candidate)
            return document
    if drafted.is_file():
        raise _draft(path)
    raise InputError("There is no release here.", given=path, next="give the folder that `hubbub release --out` wrote")


def refuse_draft(document: dict[str, object], release: str | Path) -> None:
    """A draft is nothing to publish, to export or to build on, even where its own folder is named."""
    about = document.get("release")
    if isinstance(about, dict) and about.get("draft"):
        raise _draft(Path(release))


def _draft(path: Path) -> Refused:
    return Refused(
        "This release is a draft: nobody has approved it yet.",
        given=path,
        next=f"look at its rows: hubbub review {path}; then approve it: hubbub review {path} --approve --by NAME",
    )


def parsed(document: dict[str, object]) -> Card:
    """The card as this version knows it; what another version wrote is told as such, and never misread."""
    try:
        return Card.model_validate(document)
    except ValidationError as error:
        first, made = error.errors()[0], document.get("implementation")
        software = made.get("software") if isinstance(made, dict) else None
        raise InputError(
            "The card does not have the fields that this version of hubbub writes.",
            given=f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}",
            next=f"read it with the version that wrote it ({software or 'not stated'}), or ask its owner",
        ) from None


def public_folder(release: str | Path) -> Path:
    """Where a release's public files are."""
    path = Path(release)
    if path.is_file():
        return path.parent
    for name in ("public", DRAFT):
        if (path / name).is_dir():
            return path / name
    return path


def check(release: str | Path, *, draft: bool = False) -> list[Finding]:
    """Everything about a release that can be re-checked without the log."""
    document = load(release, draft=draft)
    if document.get("card_version") != VERSION and document.get("card_version") in WRITTEN:
        public = public_folder(release)
        return [*(Finding(*seen) for seen in look_again(document, public)), *_notice(document["integrity"], public)]
    try:
        card = Card.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(p) for p in first["loc"])
        return [Finding("the card has every field and no other", False, f"{where}: {first['msg']}")]
    findings = [Finding("the card has every field and no other", True, f"version {card.card_version}")]
    if card.card_version != VERSION:
        return [*findings, Finding("the card's version is known", False, f"{card.card_version}, this is {VERSION}")]
    seen = integrity(document)
    findings.append(Finding("the card is as it was written", seen == card.integrity, seen))
    public = public_folder(release)
    findings += _notice(card.integrity, public)
    findings += _files(card, public)
    findings += _numbers(card)
    findings += _made_anew(card, document)
    if not card.release.draft:  # a draft has no pages
        findings += _pages(card, public)
    return findings


def _notice(card: object, public: Path) -> Iterator[Finding]:
    """What became of the release since; nothing, where no notice stands beside its card."""
    what = "the release stands"
    try:
        notice = read_notice(public)
    except InputError as error:
        yield Finding(what, False, f"its notice cannot be believed: {error.given}")
        return
    if notice is not None:
        ours = notice.card == card
        seen = notice.words() if ours else f"a notice about another card, {notice.release}"
        yield Finding(what, ours and notice.state != "withdrawn", seen)


def _files(card: Card, public: Path) -> Iterator[Finding]:
    import pyarrow as pa
    import pyarrow.parquet

    listed = {f.path for f in card.release.files} | {"card.json"}
    present = {str(p.relative_to(public)) for p in public.rglob("*") if p.is_file()} - {NOTICE}
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
        yield Finding(
            f"step {part.name}: its numbers follow from its law", same, f"ε = {again['epsilon']}, δ = {again['delta']}"
        )
        steps.append(step)
    if not card.mechanism.private:
        nothing = card.claim.epsilon is None and card.claim.delta is None and card.mechanism.stamp == STAMP
        yield Finding("a release that is not private claims nothing", nothing, card.claim.sentence)
        return
    factor = 2 if card.unit.neighbouring == Neighbours.REPLACE else 1
    what = "the claim follows from the steps"
    try:
        loss = total(steps, card.claim.epsilon)
    except HubbubError as error:
        yield Finding(what, False, str(error))
        return
    epsilon, delta = loss.epsilon * factor, loss.delta
    same = card.mechanism.stamp is None and not card.implementation.randomness.seeded
    for stated_epsilon, stated_delta in (
        (card.claim.epsilon, card.claim.delta),
        (card.accounting.total_epsilon, card.accounting.total_delta),
    ):
        same = same and _close(stated_epsilon, epsilon) and _close(stated_delta, delta)
    yield Finding(what, same, f"ε = {epsilon:.6g}, δ = {delta:.6g}")


def stated_mechanism(card: Card) -> Mechanism:
    """The mechanism that a card names, made again from its parameters; its lists are stand-ins."""
    from hubbub.mechanisms import build_stated

    return build_stated(
        card.mechanism.name,
        card.mechanism.parameters,
        variant=card.mechanism.variant,
        neighbours=card.unit.neighbouring,
        tables=card.mechanism.tables,
        serp=_listed(card),
        pool=_pool(card, "pool"),
        public_list=[QueryPool.read(p) for p in card.mechanism.public_lists if p.get("use") == "list"],
        previous=_pool(card, "previous"),
        own_prior=next((OwnPrior.read(p) for p in card.mechanism.public_lists if p.get("use") == "prior"), None),
        vocabulary=next((Vocabulary.read(p) for p in card.mechanism.public_lists if p.get("use") == "words"), None),
        by=[Grouping.read(p) for p in card.mechanism.public_lists if p.get("use") == "groups"],
    )


def _made_anew(card: Card, document: dict[str, object]) -> Iterator[Finding]:
    """Rebuild the mechanism from its parameters, make the card again from it and the facts, and compare whole."""
    from hubbub.card.build import build_card
    from hubbub.card.facts import facts_of

    try:
        mechanism = stated_mechanism(card)
        anew = build_card(mechanism, facts_of(card)).document()
    except (HubbubError, ValueError, TypeError, LookupError, ArithmeticError) as error:
        what = "the card can be made again from its parameters and facts"
        yield Finding(what, False, str(error).splitlines()[0] if str(error) else type(error).__name__)
        return
    for section in Card.model_fields:
        if section != "integrity":
            differing = next(_differences(document[section], anew[section], section), "")
            yield Finding(f"{section}: every word and number follows", not differing, differing or "as made again")


def _differences(found: object, expected: object, where: str) -> Iterator[str]:
    """Where two documents differ; floats may differ in their last digits, as libraries do."""
    if isinstance(found, dict) and isinstance(expected, dict) and found.keys() == expected.keys():
        for key in expected:
            yield from _differences(found[key], expected[key], f"{where}.{key}")
    elif isinstance(found, list) and isinstance(expected, list) and len(found) == len(expected):
        for n, (one, other) in enumerate(zip(found, expected, strict=True)):
            yield from _differences(one, other, f"{where}[{n}]")
    elif not _same(found, expected):
        yield f"{where} is {_short(found)}, should be {_short(expected)}"


def _same(found: object, expected: object) -> bool:
    if isinstance(found, bool) or isinstance(expected, bool):
        return found is expected
    if isinstance(found, int | float) and isinstance(expected, int | float):
        return found == expected or math.isclose(found, expected, rel_tol=1e-12, abs_tol=0.0)
    return type(found) is type(expected) and found == expected


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 120 else text[:117] + "…"


def _pages(card: Card, public: Path) -> Iterator[Finding]:
    """The pages are what most people read: they must say what the card says."""
    import pyarrow as pa
    from jinja2 import TemplateError

    from hubbub.show.page import read_tables, render

    try:
        pages = render(card, read_tables(public, card))
    except (pa.ArrowException, TemplateError, OSError, ValueError, LookupError, TypeError) as error:
        yield Finding("the pages can be made again from the card and the tables", False, str(error).splitlines()[0])
        return
    for name, text in pages.items():
        path = public / name
        same = path.is_file() and path.read_bytes() == text.encode("utf-8")
        yield Finding(f"{name} says what the card says", same, "as made again" if same else "other words")


def _listed(card: Card) -> UrlList | None:
    """A stand-in for the public result list: its rows change no number of the claim."""
    for public in card.mechanism.public_lists:
        if public.get("use") == "serp":
            return UrlList(public["name"], None, public["sha256"])
    return None


def _pool(card: Card, use: str) -> QueryPool | None:
    """A stand-in for a list of queries: its rows change no number of the claim."""
    return next((QueryPool.read(p) for p in card.mechanism.public_lists if p.get("use") == use), None)


def _close(stated: float | None, computed: object) -> bool:
    if stated is None or not isinstance(computed, float):
        return stated is computed
    return math.isclose(stated, computed, rel_tol=1e-12, abs_tol=0.0)
