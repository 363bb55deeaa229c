"""On what a release exists at all: every way in which the log itself can keep one from being made.

That a release is there tells that its log passed these checks, and no proof of ours covers that. So every refusal that
depends on the log names its cause (`because`, see errors.py), and the card of a release states each cause that could
have stopped it. Refusals of what the owner asked for or stated, or of what the ledger says, tell nothing of the log.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hubbub.card.facts import Facts
    from hubbub.mechanisms.base import Mechanism


class Cause(Enum):
    """What a log must be like, or a run must come to, for a release to exist: the end of "only because …"."""

    READABLE = "the log's files could be read in their format, and hold at least one usable record"
    REJECTS = "at most {max_rejects:.3g} of the log's lines were unreadable"
    INSIDE = "at least one row of the log lies in {inside}"
    OUTSIDE = "no row of the log lies outside the stated period"
    TIMES = "the log holds times, without which there are no sessions and no transitions"
    UNKNOWN = "the ledger knows no release of largely the same records under another population"
    SOLVED = "the optimisation found an output for this log"
    PAIRS = "few enough queries came out for all their pairs to be listed"
    IDS = "enough users of the log are known from earlier periods of its series"
    ENDED = "the run came to its end: memory, disk and time sufficed, noise could be drawn, no check of its own failed"


ALWAYS = (Cause.READABLE, Cause.REJECTS)
"""Besides: that the run came to its end, which is said last."""
NOT_CLAIMED = (
    "Checks on the exact log decide whether a release exists, and comparisons of samples which earlier looks this card "
    "lists; what that tells is not part of the claim."
)
STATED = (
    "The owner states that these are other people than those of every other population in the ledger, even if their "
    "records are the same; nothing checks that."
)
OWN_QUERY = (
    "The log is the result of a query of the owner's, who states that each of its rows was made from the rows of that "
    "row's own user alone; nothing checks that."
)
SCREENED = (
    "Records were screened before counting, each by its own texts and public rules alone, and so were released rows; "
    "see release.screening."
)
REVIEWED = (
    "Somebody looked at the drawn rows and struck what should not be published; who decides so from drawn rows alone "
    "changes nothing of the claim. That nothing else of the log was looked at is stated; nothing checks that. See "
    "release.review."
)
DRAFT = "A DRAFT: nobody has approved it, and it must not be published."
OWN_LISTS = "The owner states that her lists of texts were not made from this log; nothing checks that."


def causes(mechanism: Mechanism, facts: Facts) -> tuple[Cause, ...]:
    """Everything that could have stopped this release, by what was asked for and stated."""
    stated = facts.owner.period is not None
    asked = {
        Cause.INSIDE: stated and not facts.allow_empty,
        Cause.OUTSIDE: stated and not facts.drop_outside,
        Cause.TIMES: mechanism.needs_times,
        Cause.UNKNOWN: not facts.other_people,
    }
    return (*ALWAYS, *(cause for cause, could in asked.items() if could), *mechanism.stops(), Cause.ENDED)


def conditions(mechanism: Mechanism, facts: Facts) -> list[str]:
    """The conditions in the words of the card."""
    terms = {"max_rejects": facts.max_rejects, "inside": mechanism.inside}
    said = (cause.value.format(**terms) for cause in causes(mechanism, facts))
    screening = facts.screening or {}
    lists = screening.get("deny_sha256") or screening.get("allow_sha256")
    told = {STATED: facts.other_people, OWN_QUERY: facts.own_query, SCREENED: bool(screening), OWN_LISTS: bool(lists)}
    told |= {REVIEWED: facts.review is not None, DRAFT: facts.draft}
    stated = [words for words, true in told.items() if true]
    return [NOT_CLAIMED, *(f"It exists only because {cause}." for cause in said), *stated, *facts.left_out.sentences()]
