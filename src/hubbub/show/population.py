"""An index of all releases of a population: newest first, each with its claim, its state and its errata.

Made from cards and notices, which are public, and from nothing else.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from hubbub.card.check import load, parsed
from hubbub.card.notice import Notice, read_notice
from hubbub.card.schema import NOT_STATED, Card
from hubbub.errors import InputError, ParameterError
from hubbub.files import READABLE, permit, whole
from hubbub.show.page import jinja

STANDS = "stands"


@dataclass(frozen=True)
class ListedRelease:
    """A release on the index: its card, what became of it, and where it is."""

    card: Card
    notice: Notice | None
    href: str

    @property
    def state(self) -> str:
        """In a word: stands, withdrawn or superseded."""
        return STANDS if self.notice is None else self.notice.state

    @property
    def struck(self) -> int:
        """Rows that reviews have struck."""
        review = self.card.release.review
        return 0 if review is None else sum(part.rows for part in review.struck)

    def record(self) -> dict[str, object]:
        """As `index.json` has it."""
        card = self.card
        return {
            "id": card.release.id,
            "title": card.release.title,
            "published": card.release.published,
            "population": card.accounting.ledger.population,
            "private": card.mechanism.private,
            "epsilon": card.claim.epsilon,
            "delta": card.claim.delta,
            "tables": list(card.release.contains),
            "state": self.state,
            "notice": None if self.notice is None else self.notice.model_dump(mode="json"),
            "supersedes": None if card.release.supersedes is None else card.release.supersedes.model_dump(),
            "card": card.integrity,
            "href": self.href,
        }


def write_population(folder: Path, out: Path, population: str | None = None) -> tuple[Path, list[ListedRelease]]:
    """Write the page and the same as JSON into a new folder; refused if releases of several populations are meant."""
    cards = sorted(folder.glob("*/public/card.json")) if folder.is_dir() else []
    found = [
        ListedRelease(
            parsed(load(path)), read_notice(path.parent), quote(os.path.relpath(path.parent, out) + "/index.html")
        )
        for path in cards
    ]
    names = sorted({one.card.accounting.ledger.population for one in found})
    if population is None and len(names) > 1:
        raise ParameterError(
            "There are releases of several populations.", given=", ".join(names), next="name one with --population"
        )
    chosen = [one for one in found if population in (None, one.card.accounting.ledger.population)]
    if not chosen:
        raise InputError(
            "There is no release to list.",
            given=folder if population is None else f"{folder}, population {population}",
            allowed=f"populations there: {', '.join(names) or 'none'}",
            next="name the folder in which the folders of the releases are",
        )
    chosen.sort(key=_order, reverse=True)
    with whole(out) as made:
        (made / "index.html").write_text(render_population(chosen), encoding="utf-8")
        text = json.dumps([one.record() for one in chosen], indent=2, ensure_ascii=False, allow_nan=False)
        (made / "index.json").write_text(text + "\n", encoding="utf-8")
        permit(made, *READABLE)
    return out / "index.html", chosen


def render_population(listed: list[ListedRelease]) -> str:
    """The page: a function of cards and notices."""
    last = listed[0].card.accounting.ledger
    errata = [one for one in listed if one.notice is not None or one.card.release.supersedes is not None]
    titles = [one.card.release.title for one in listed if one.card.release.title != NOT_STATED]
    return jinja().get_template("population.html").render(
        population=last.population,
        title=titles[0] if titles else f"Releases about {last.population}",
        listed=listed,
        errata=errata,
        stands=STANDS,
    )  # fmt: skip


def _order(one: ListedRelease) -> tuple[str, int, int]:
    review = one.card.release.review
    return one.card.release.published, one.card.accounting.ledger.entry, 0 if review is None else review.revision
