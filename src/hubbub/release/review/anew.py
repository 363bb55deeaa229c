"""A reviewed release, written anew: the drawn rows without those that were struck, a new card, new pages. No noise.

The ledger knows the drawn tables by their hashes: a review belongs to the ledger of its release. A draft becomes
`committed` when it is approved, once; a release that stood already gets a successor, and a notice that points to it.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from hubbub.card.build import build_card, with_pages
from hubbub.card.check import check, load, parsed, public_folder, stated_mechanism
from hubbub.card.facts import Facts, Written, facts_of
from hubbub.card.notice import write_notice
from hubbub.card.schema import Card, sha256_of
from hubbub.errors import ParameterError, Refused
from hubbub.files import PRIVATE, READABLE, lock, permit, whole
from hubbub.privacy.ledger import Entry, Ledger, Output
from hubbub.privacy.ledger.seen import STATE
from hubbub.release.earlier import output_of
from hubbub.release.review.strikes import Strikes
from hubbub.show.page import write_pages

KEPT = ("NOT-PRIVATE.txt", "run.toml", "facts.json")
"""Of `owner-only/`: what holds no text of the log."""
AS_DRAWN = "the rows were reviewed after publication"


@dataclass(frozen=True)
class Approved:
    """What an approval wrote."""

    out: Path
    rows: dict[str, int]
    struck: list[dict[str, object]]
    tables: tuple[str, ...]
    entry: Entry


def drawn_tables(release: Path) -> tuple[Card, dict[str, pa.Table]]:
    """The card of a draft or a release, and its tables; refused unless it is as it was written."""
    broken = [f"{finding.what}: {finding.seen}" for finding in check(release, draft=True) if not finding.holds]
    if broken:
        raise Refused("The release is not as it was written.", given=broken[0], next=f"hubbub card {release} --check")
    card, public = parsed(load(release, draft=True)), public_folder(release)
    return card, {table: pq.read_table(public / f"{table}.parquet") for table in card.release.contains}


def approve(release: Path, strikes: Strikes, by: str, out: Path, ledger: Ledger, reason: str = AS_DRAWN) -> Approved:
    """Write the release anew without what was struck, into a folder of its own."""
    by = named_reviewer(by)
    with alone(public_folder(release)):
        card, tables = drawn_tables(release)
        draft = bool(card.release.draft)
        entry = entry_of(ledger, card)
        _refuse_series(ledger, entry, release)
        if draft and entry.state == "committed":
            raise Refused(
                "This draft was approved already.",
                given=f"{release}; entry {entry.id} of the ledger is committed",
                next="review the release that was made of it",
            )
        refuse_unstruck(card, strikes, release)
        left, struck = strikes.left(tables)
        refuse_empty(left, strikes)
        facts = reviewed_facts(card, strikes, struck, by, reason)
        revision = revision_after(card)
        with whole(out) as folder:
            new = write_reviewed(folder / "public", card, left, facts)
            permit(folder / "public", *READABLE)
            _copy(release / "owner-only", folder / "owner-only")
            drawn = {
                f"revision {revision} {table}": output_of(folder / "public" / f"{table}.parquet") for table in left
            }
            if _booked(ledger, entry, revision) != drawn:  # else a killed call has booked the same, and placed nothing
                ledger.released(entry, drawn, lambda: _refuse_again(ledger, entry, revision))
        if draft:
            ledger.committed(entry)
        else:
            write_notice(public_folder(release), card, "superseded", reason, new)
    rows = {table: rows.num_rows for table, rows in left.items()}
    return Approved(out, rows, struck, strikes.tables, entry)


# ------------------------------------------------------------------ what a review of any release is made of


def named_reviewer(by: str) -> str:
    """Who looked at the rows."""
    by = " ".join(by.split())
    if not by:
        raise ParameterError("--by NAME is missing.", next="say who looked at the rows: the card will state it")
    return by


def refuse_unstruck(card: Card, strikes: Strikes, release: Path) -> None:
    """A release that stands is not approved a second time."""
    if not card.release.draft and not strikes.by_hand and not strikes.rules:
        raise ParameterError("Nothing is struck, and the release stands already.", given=release, next="--strike FILE")


def refuse_empty(left: Mapping[str, pa.Table], strikes: Strikes) -> None:
    """A release without a table is none."""
    if not left:
        raise ParameterError(
            "Nothing would be left of the release.",
            given=f"tables struck: {', '.join(strikes.tables)}",
            next="leave it a draft, or withdraw it: hubbub withdraw",
        )


def revision_after(card: Card) -> int:
    """The number of the release that a review makes of it."""
    earlier = card.release.review
    return 1 if card.release.draft else (1 if earlier is None else earlier.revision) + 1


def reviewed_facts(card: Card, strikes: Strikes, struck: list[dict[str, object]], by: str, reason: str) -> Facts:
    """What the new card is told: who approved it and what was struck, with what earlier reviews have struck."""
    earlier = card.release.review
    before = ([], []) if earlier is None else ([part.model_dump() for part in earlier.struck], earlier.tables)
    review = {
        "by": by,
        "on": datetime.now(UTC).date().isoformat(),
        "revision": revision_after(card),
        "of": card.integrity,
        "struck": [*before[0], *struck],
        "tables": [*before[1], *(table for table in strikes.tables if table in card.release.contains)],
    }
    named = {"id": card.release.id, "card": card.integrity, "reason": reason}
    facts = facts_of(card)
    supersedes = facts.supersedes if card.release.draft else named
    return replace(facts, draft=False, review=review, supersedes=supersedes, published=datetime.now(UTC).date())


def write_reviewed(public: Path, card: Card, tables: Mapping[str, pa.Table], facts: Facts) -> Card:
    """Tables, card and pages of the public folder."""
    public.mkdir()
    files = {}
    for table, rows in tables.items():
        path = public / f"{table}.parquet"
        pq.write_table(rows.replace_schema_metadata(None), path, compression="zstd")
        files[path.name] = Written(sha256_of(path), rows.num_rows)
    new = build_card(stated_mechanism(card), replace(facts, files=files))
    new = with_pages(new, {page.name: sha256_of(page) for page in write_pages(public, new)})
    (public / "card.json").write_text(new.text(), encoding="utf-8")
    return new


# ------------------------------------------------------------------ into a folder of its own


def _copy(owner_only: Path, into: Path) -> None:
    """What the owner needs to run it again; nothing that holds a text of the log, or of a struck row."""
    into.mkdir(PRIVATE[0])
    for name in KEPT:
        if (owner_only / name).is_file():
            shutil.copyfile(owner_only / name, into / name)
    permit(into, *PRIVATE)


@contextmanager
def alone(folder: Path, patience: float = 0.0) -> Iterator[None]:
    """One reviewer at a time; another one's hand is waited for as many seconds."""
    until = time.monotonic() + patience
    while True:
        try:
            held = lock(folder)
            break
        except BlockingIOError:
            if time.monotonic() >= until:
                what, then = "Somebody else is approving this release right now.", "let them finish, and look again"
                raise Refused(what, given=folder, next=then) from None
            time.sleep(0.05)
    try:
        yield
    finally:
        os.close(held)


def entry_of(ledger: Ledger, card: Card) -> Entry:
    """The entry that a release was drawn on: this ledger must know its tables by their hashes."""
    booked = card.accounting.ledger
    known = {output.sha256 for output in ledger.outputs().get(booked.entry, {}).values()}
    entry = next((e for e in ledger.entries() if e.id == booked.entry and e.population == booked.population), None)
    tables = {file.sha256 for file in card.release.files if file.rows is not None}
    if entry is None or not tables <= known:
        raise Refused(
            "This ledger does not know the release.",
            given=f"{card.release.id}, population {booked.population}; ledger {ledger.path}",
            next="give the ledger in which it was booked: --ledger FILE",
        )
    return entry


def _refuse_series(ledger: Ledger, entry: Entry, release: Path) -> None:
    """What a series has drawn stays in its place, and what is struck of it must not come back with the next period."""
    if any(name.startswith(f"{STATE} ") for name in ledger.outputs().get(entry.id, {})):
        raise Refused(
            "This is a period of a series, which is reviewed in the folder of its series.",
            given=f"{release}; entry {entry.id} of the ledger",
            next="give the folder of the period inside that of the series: hubbub review DIR/PERIOD",
        )


def _booked(ledger: Ledger, entry: Entry, revision: int) -> dict[str, Output]:
    """What the ledger knows of a revision."""
    kept = ledger.outputs().get(entry.id, {})
    return {name: output for name, output in kept.items() if name.startswith(f"revision {revision} ")}


def _refuse_again(ledger: Ledger, entry: Entry, revision: int) -> None:
    """Two approvals of one draft would be two releases of one name."""
    if _booked(ledger, entry, revision):
        raise Refused(
            "This release was approved already, meanwhile or by another way.",
            given=f"entry {entry.id} of the ledger has revision {revision}",
            next="review the release that was made then; or, if that run was ended, approve with the same strikes",
        )
