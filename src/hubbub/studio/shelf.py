"""The releases that the studio shows: those that were named, and those that lie in its folder, drafts included.

What is said of one comes from its card, from the notice beside it and from the ledger's word on a draft: no log is
read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hubbub.card.check import DRAFT, load, parsed, public_folder
from hubbub.card.notice import Notice, read_notice
from hubbub.card.schema import NOT_STATED, Card
from hubbub.errors import HubbubError
from hubbub.privacy.guarantee import number
from hubbub.privacy.ledger import Ledger
from hubbub.release.review.anew import entry_of

STANDS, APPROVED = "stands", "approved"


def is_release(path: Path) -> bool:
    """Whether a folder is a release, a draft or a public folder of one; an export carries a card, and has no page."""
    if (path / "card.json").is_file():
        return (path / "index.html").is_file()
    return any((path / place / "card.json").is_file() for place in ("public", DRAFT))


def releases_in(folder: Path) -> list[Path]:
    """The releases directly in a folder, by name; what is being written has a hidden name."""
    return sorted(p for p in folder.iterdir() if not p.name.startswith(".") and p.is_dir() and is_release(p))


@dataclass(frozen=True)
class Shelved:
    """One release as the list shows it; without a card, why it cannot be read."""

    name: str
    path: Path
    card: Card | None = None
    notice: Notice | None = None
    state: str = ""
    """draft, approved (a draft of which a release was made), stands, withdrawn or superseded"""
    successor: str = ""
    """The release here that was made of it in a review, or stands in its place."""
    problem: str = ""

    @property
    def title(self) -> str:
        """The title on its card, if one is stated."""
        return "" if self.card is None or self.card.release.title == NOT_STATED else self.card.release.title

    @property
    def epsilon(self) -> str:
        """ε of its claim, or that there is none."""
        if self.card is None:
            return ""
        claimed = self.card.claim.epsilon
        return number(claimed) if self.card.mechanism.private and claimed is not None else "NOT PRIVATE"

    @property
    def owned(self) -> bool:
        """Whether its owner's part lies beside it, which tells how it was run."""
        return (self.path / "owner-only" / "run.toml").is_file()


def shelved(releases: Mapping[str, Path], ledger: Path | None) -> list[Shelved]:
    """Every release by name, newest first; what cannot be read comes last, with the reason."""
    read: dict[str, tuple[Card, Notice | None]] = {}
    broken = []
    for name, path in releases.items():
        try:
            read[name] = parsed(load(path, draft=True)), read_notice(public_folder(path))
        except (HubbubError, OSError) as error:
            broken.append(Shelved(name, path, problem=str(error)))
    after: dict[str, str] = {}
    for name, (card, _) in read.items():
        if card.release.review is not None:
            after[card.release.review.of] = name
        if card.release.supersedes is not None:
            after.setdefault(card.release.supersedes.card, name)
    with Ledger(ledger) as book:
        states = {name: _state(card, notice, after, book) for name, (card, notice) in read.items()}
    found = [
        Shelved(name, releases[name], card, notice, states[name], after.get(card.integrity, ""))
        for name, (card, notice) in read.items()
    ]
    return sorted(found, key=_order, reverse=True) + broken


def _state(card: Card, notice: Notice | None, after: Mapping[str, str], book: Ledger) -> str:
    if not card.release.draft:
        return STANDS if notice is None else notice.state
    if card.integrity in after:
        return APPROVED
    try:
        return APPROVED if entry_of(book, card).state == "committed" else DRAFT
    except HubbubError:  # booked in another ledger, which may know more
        return DRAFT


def _order(one: Shelved) -> tuple[str, int, int]:
    assert one.card is not None
    review = one.card.release.review
    return one.card.release.published, one.card.accounting.ledger.entry, 0 if review is None else review.revision
