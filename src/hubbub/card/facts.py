"""What a card is told: everything on it that does not follow from the mechanism.

`facts_of` reads them back from a written card, so that a check can make the rest of the card again and compare.
Nothing here has seen the log. No hash, count, time or order of the input may enter.
"""

from __future__ import annotations

import math
import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from importlib.metadata import version
from typing import Any

import hubbub
from hubbub.card import audited
from hubbub.card.owner import Owner
from hubbub.card.schema import Card
from hubbub.log import Period
from hubbub.log.left_out import NOTHING_LEFT_OUT, LeftOut

LIBRARIES = ("duckdb", "numpy", "pyarrow")
ACCOUNTANT = "dp-accounting"
LOOK = "release"
"""A release shows its owner exact facts of the log, as a look does; the ledger notes it under this name."""


ON_THE_WAY = "on the way"
BASES = {
    ON_THE_WAY: "epsilon_after at delta_after holds whenever the releases stop, however each was chosen after seeing "
    "earlier ones; nothing is promised of releases to come (docs/proofs/composition.md, theorem 2)",
    **dict.fromkeys(
        ("first release", "stated"),
        "all releases, made or to come, stay within promised_epsilon and promised_delta, however each is chosen after "
        "seeing earlier ones: what they may use of each kind of noise was fixed before the output that it bounds "
        "(docs/proofs/composition.md, theorems 1 and 3)",
    ),
    "plan": "a plan that was declared: all releases within it, made or to come, stay within promised_epsilon and "
    "promised_delta, however each is chosen after seeing earlier ones (docs/proofs/composition.md, theorems 1 and 3)",
    "adopted": "promised_epsilon and promised_delta hold for outputs on which all releases fit what the first of them "
    "would have fixed: the ledger had no such rule when it was begun (docs/proofs/composition.md, old ledgers)",
}
"""What the totals of a population stand on, by what fixed its last envelope."""
ELSEWHERE = ", under another name"
"""Of a look that was noted under other names, and is known by the data."""
REFUSED = "a release that was refused"
"""A run that ended after it had read the log has told its owner why, often in exact numbers."""


@dataclass(frozen=True)
class Booked:
    """Where a release stands in the ledger, before and after."""

    population: str
    dataset: str
    entry: int
    epsilon_before: float
    epsilon_after: float
    cap: tuple[float, float] | None
    earlier: tuple[str, ...]
    looks: tuple[str, ...]
    delta_after: float = 0.0
    in_advance: tuple[float, float] = (0.0, 0.0)
    """(ε, δ) if all releases so far were decided before the first output."""
    promised: tuple[float, float] | None = None
    """(ε, δ) of all releases, those to come within envelopes included."""
    basis: str = ON_THE_WAY
    """What the totals stand on: a key of `BASES`."""


@dataclass(frozen=True)
class Written:
    """A file of `public/` as it was written; rows if it is a table."""

    sha256: str
    rows: int | None = None


def installed() -> dict[str, str]:
    """The versions of what runs."""
    names = (ACCOUNTANT, *LIBRARIES)
    return {"hubbub": hubbub.__version__, "python": platform.python_version()} | {n: version(n) for n in names}


@dataclass(frozen=True)
class Facts:
    """What the owner states, what the ledger booked, how the run was set up, and what it wrote."""

    owner: Owner
    booked: Booked
    user_column: str
    seeded: bool
    max_rejects: float
    users: int | None
    """The number of users the owner declares."""
    allow_empty: bool = False
    """Whether the owner takes a release of no rows at all …"""
    drop_outside: bool = False
    """… and lets rows outside her period go."""
    other_people: bool = False
    """Whether she states that these are other people, whatever the ledger knows of these records."""
    own_query: bool = False
    """Whether a query of hers made the log's rows, each of one user's own, which nothing checks."""
    screening: Mapping[str, object] | None = None
    """By which rules records were screened before counting; None: they were not."""
    left_out: LeftOut = NOTHING_LEFT_OUT
    """Whom and what she leaves out, by public rules."""
    draft: bool = False
    """Whether somebody has yet to approve it."""
    review: Mapping[str, Any] | None = None
    """Who approved it, and what was struck, as on the card."""
    supersedes: Mapping[str, str] | None = None
    """The release in whose place it is, as on the card."""
    files: Mapping[str, Written] = field(default_factory=dict)
    published: date = field(default_factory=lambda: datetime.now(UTC).date())
    versions: Mapping[str, str] = field(default_factory=installed)
    audit: Mapping[str, audited.Found] = field(default_factory=audited.known)
    """What audits of the installed code found, on made-up logs."""

    def __post_init__(self) -> None:
        """Versions are versions: no room for other words."""
        for name, given in self.versions.items():
            if not re.fullmatch(r"[\w.+!-]{1,40}", given, re.ASCII):
                raise ValueError(f"{name} has no such version: {given!r}")


def facts_of(card: Card) -> Facts:
    """The facts a card was made from; ValueError or ParameterError if they cannot be."""
    release, ledger, made = card.release, card.accounting.ledger, card.implementation
    period = release.period_stated_by_owner
    owner = Owner(
        title=release.title,
        curator=tuple(release.curator),
        licence=release.licence,
        contact=release.contact,
        region=release.region,
        intended_use=release.intended_use,
        planned_releases=card.accounting.planned_releases,
        raw_data_access=made.raw_data["access"],
        raw_data_kept_until=made.raw_data["kept_until"],
        period=None if period is None else Period(date.fromisoformat(period.first), date.fromisoformat(period.to)),
    )
    booked = Booked(
        ledger.population,
        ledger.dataset,
        ledger.entry,
        math.inf if ledger.epsilon_before is None else ledger.epsilon_before,
        math.inf if ledger.epsilon_after is None else ledger.epsilon_after,
        _pair(ledger.cap_epsilon, ledger.cap_delta),
        tuple(card.accounting.earlier_releases),
        tuple(ledger.looks),
        delta_after=ledger.delta_after,
        in_advance=(
            math.inf if ledger.in_advance_epsilon is None else ledger.in_advance_epsilon,
            ledger.in_advance_delta,
        ),
        promised=_pair(ledger.promised_epsilon, ledger.promised_delta),
        basis=_basis(ledger.stands_on),
    )
    versions = {"hubbub": made.software.removeprefix("hubbub "), "python": made.python}
    versions[ACCOUNTANT] = card.accounting.library.removeprefix(f"{ACCOUNTANT} ")
    return Facts(
        owner,
        booked,
        user_column=card.unit.column,
        seeded=made.randomness.seeded,
        max_rejects=release.max_rejects,
        users=release.users_stated_by_owner,
        allow_empty=release.allow_empty,
        drop_outside=release.drop_outside,
        other_people=release.other_people,
        own_query=release.own_query,
        screening=None if release.screening is None else release.screening.model_dump(),
        left_out=NOTHING_LEFT_OUT if release.left_out is None else LeftOut(**release.left_out.model_dump()),
        draft=bool(release.draft),
        review=None if release.review is None else release.review.model_dump(),
        supersedes=None if release.supersedes is None else release.supersedes.model_dump(),
        files={f.path: Written(f.sha256, f.rows) for f in release.files},
        published=date.fromisoformat(release.published),
        versions=versions | {name: made.libraries[name] for name in LIBRARIES},
        audit={q.of: found for q in card.checks.audit if (found := audited.Found.read(q.model_dump())) is not None},
    )


def _pair(epsilon: float | None, delta: float | None) -> tuple[float, float] | None:
    return None if epsilon is None or delta is None else (epsilon, delta)


def _basis(words: str) -> str:
    for name, meant in BASES.items():
        if meant == words:
            return name
    raise ValueError(f"totals that stand on nothing we know: {words!r}")
