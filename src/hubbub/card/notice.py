"""A notice beside a card: the release was withdrawn, or another one stands in its place, and why.

A card is never edited. What is known later stands in `public/notice.json`, which names the card by its hash and has a
hash of its own; the card of the successor names the earlier one, so that each points to the other.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from hubbub.card.schema import Card, Part, integrity
from hubbub.errors import InputError, ParameterError, Refused
from hubbub.files import disk_errors, write_whole

NOTICE = "notice.json"
LONGEST = 500


class Successor(Part):
    """The release that stands in the place of another."""

    id: str
    card: str


class Notice(Part):
    """What became of a release after it was published."""

    notice_version: Literal["1"] = "1"
    release: str
    card: str
    state: Literal["withdrawn", "superseded"]
    reason: str
    on: str
    successor: Successor | None = None
    integrity: str = ""

    def words(self) -> str:
        """The notice in a sentence."""
        instead = "" if self.successor is None else f"; in its place: {self.successor.id}"
        return f"{self.state} on {self.on}: {self.reason}{instead}"


def read_notice(public: Path) -> Notice | None:
    """The notice in a public folder; None if there is none, refused if it cannot be one."""
    path = public / NOTICE
    if not path.is_file():
        return None
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        notice = Notice.model_validate(document)
    except (OSError, ValueError, ValidationError) as error:
        raise InputError("The notice cannot be read.", given=f"{path}: {str(error).splitlines()[0]}") from None
    if integrity(document) != notice.integrity:
        raise InputError("The notice was changed after it was written.", given=path)
    return notice


def stated_reason(reason: str) -> str:
    """A reason as it is published."""
    reason = " ".join(reason.split())
    if not reason or len(reason) > LONGEST:
        raise ParameterError(
            "A reason is missing, or it is too long: everybody will read it.",
            given=f"{len(reason)} characters",
            allowed=f"1 to {LONGEST}",
            next="say it in a sentence, without what should not be public",
        )
    return reason


def write_notice(
    public: Path, card: Card, state: Literal["withdrawn", "superseded"], reason: str, successor: Card | None = None
) -> Notice:
    """Write the notice of a release; what was withdrawn stays withdrawn, and a successor may follow a withdrawal."""
    before = read_notice(public)
    if before is not None and (before.state == state or before.state == "withdrawn") and successor is None:
        raise Refused(f"The release has a notice: {before.words()}.", given=public / NOTICE, next="leave it as it is")
    follows = None if successor is None else Successor(id=successor.release.id, card=successor.integrity)
    if before is not None and before.successor is not None and follows not in (None, before.successor):
        raise Refused("Another release stands in its place already.", given=before.words())
    if before is not None and before.state == "withdrawn":
        state, reason = "withdrawn", before.reason
    notice = Notice(
        release=card.release.id,
        card=card.integrity,
        state=state,
        reason=stated_reason(reason),
        on=datetime.now(UTC).date().isoformat(),
        successor=follows or (None if before is None else before.successor),
    )
    document = notice.model_dump(mode="json")
    sealed = document | {"integrity": integrity(document)}
    with disk_errors(public):
        write_whole(public / NOTICE, json.dumps(sealed, indent=2, ensure_ascii=False) + "\n")
        (public / NOTICE).chmod(0o644)
    return Notice.model_validate(sealed)
