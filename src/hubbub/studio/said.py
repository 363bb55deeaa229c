"""What the page says of one release beside its parameters: what the card states, how many users, whether a draft."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hubbub.card.owner import Owner, card_of, read_owner, texts_of
from hubbub.card.schema import NOT_STATED
from hubbub.errors import ParameterError

if TYPE_CHECKING:
    from hubbub.cli.options import OwnerOptions

CONFIRM = ("allow_empty", "drop_outside")
"""Options by which the owner confirms on the page what she might not have meant."""
STATED = {
    "title": "Title",
    "curator": "Who publishes it",
    "licence": "Licence",
    "contact": "Contact for questions",
}
"""What the page asks for at once; several names of who publishes it have semicolons between them."""
FURTHER = {
    "region": "Region",
    "intended_use": "What it is meant for",
    "planned_releases": "Releases that are planned",
    "raw_data_access": "Who has access to the raw log",
    "raw_data_kept_until": "How long the raw log is kept",
}
OWN = ("period", "title", "licence")
"""What has an option of its own; the rest is said by --card."""
LONGEST = 1000


@dataclass(frozen=True)
class Said:
    """What was said of a release, on the command line and on the page; the page wins."""

    owner: Owner
    options: OwnerOptions
    review: bool = False

    @staticmethod
    def read(given: Mapping[str, object], owner: Owner, options: OwnerOptions) -> Said:
        """From what the page sent, over what the command line said; the period is not the page's to send here."""
        ticked, card = given.get("confirmed"), given.get("card")
        agreed = [flag for flag in CONFIRM if isinstance(ticked, list) and flag in ticked]
        if isinstance(card, Mapping):
            texts = {name: _text(card[name], label) for name, label in (STATED | FURTHER).items() if name in card}
            kept = {name: text for name, text in texts_of(owner).items() if name not in texts}
            owner = read_owner(card_of(kept | {name: text for name, text in texts.items() if text}))
        if "users_public" in given:
            options = replace(options, users_public=_users(given["users_public"]))
        if "allow_empty" in agreed:
            options = replace(options, allow_empty=True)
        if "drop_outside" in agreed:
            options = replace(options, drop_outside=True)
        return Said(owner, options, given.get("review") is True)

    def words(self) -> dict[str, object]:
        """The same as options of `hubbub release`."""
        texts = texts_of(self.owner)
        own: dict[str, object] = {name: texts.pop(name) for name in OWN if name in texts}
        facts = [f"{name}={text}" for name, text in texts.items()]
        return vars(self.options) | own | {"card": facts or None, "review": self.review}


def stated(owner: Owner) -> dict[str, str]:
    """What the fields of the page show at first."""
    known = texts_of(owner)
    return {name: known.get(name, "") for name in STATED | FURTHER}


def _text(given: object, label: str) -> str:
    text = " ".join(str(given).split())
    if len(text) > LONGEST or not text.isprintable() or text == NOT_STATED:
        allowed = f"at most {LONGEST} printable characters; nothing, if it is {NOT_STATED}"
        raise ParameterError(f"{label} cannot stand on a card.", given=ascii(text[:80]), allowed=allowed)
    return text


def _users(given: object) -> int | None:
    text = str(given or "").replace(",", "").strip()
    if text and (not text.isdecimal() or int(text) < 1):
        what = "The declared number of users is a whole number."
        raise ParameterError(what, given=given, allowed="1 or more, or nothing")
    return int(text) if text else None
