"""The shape of `card.json`. Unknown or missing fields are errors: a card that cannot be read is no card."""

from __future__ import annotations

import hashlib
import json
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

VERSION = "1.0"
"""A check makes every word of a card and its pages again: whoever changes one of them raises this."""
NOT_STATED = "not stated"
STAMP = "NOT PRIVATE"
ONLY_IF_ASKED = ("screening", "left_out", "draft", "review", "supersedes")
"""Facts of a release that stand on its card only where there is something to say."""


class Part(BaseModel):
    """Base of every part of a card: closed and frozen."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class FilePart(Part):
    """One file of `public/`, with its hash."""

    path: str
    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    rows: int | None = None
    columns: list[str] | None = None


class PeriodPart(Part):
    """The owner's statement of the days covered."""

    first: str = Field(alias="from")
    to: str
    per: str = "whole-period"


class ScreeningPart(Part):
    """By which public rules records were taken out before counting: by name and version, the owner's lists by hash."""

    version: str
    rules: list[str]
    libraries: list[str]
    deny_sha256: str | None
    allow_sha256: str | None


class LeftOutPart(Part):
    """The public rules by which an owner leaves out users, or lines; never how many."""

    max_searches_a_day: int | None
    drop_agents: str | None
    version: int


class StruckPart(Part):
    """Drawn rows that a review took out, and why."""

    table: str
    rows: int
    by: str
    reason: str


class ReviewPart(Part):
    """Who looked at the drawn rows and approved them, and what was struck; no noise was drawn again."""

    by: str
    on: str
    revision: int
    of: str
    """The hash of the card that was reviewed."""
    struck: list[StruckPart]
    tables: list[str]
    """Tables that were struck whole."""


class SupersedesPart(Part):
    """The earlier release in whose place this one is, and why."""

    id: str
    card: str
    reason: str


class ReleasePart(Part):
    """What was released, in the owner's words, and the share of unreadable lines that would have stopped it."""

    id: str
    title: str
    curator: list[str]
    intended_use: str
    region: str
    published: str
    contains: list[str]
    files: list[FilePart]
    licence: str
    contact: str
    period_stated_by_owner: PeriodPart | None
    users_stated_by_owner: int | None
    max_rejects: float
    allow_empty: bool
    drop_outside: bool
    other_people: bool
    own_query: bool
    screening: ScreeningPart | None = None
    left_out: LeftOutPart | None = None
    draft: Literal[True] | None = None
    """Nobody has approved it yet."""
    review: ReviewPart | None = None
    supersedes: SupersedesPart | None = None

    @model_serializer(mode="wrap")
    def _asked_for(self, write: SerializerFunctionWrapHandler) -> dict[str, object]:
        """What was not asked for is left out, as on cards made before it could be."""
        told: dict[str, object] = write(self)
        return {name: value for name, value in told.items() if value is not None or name not in ONLY_IF_ASKED}


class Claimed(Part):
    """What the paper says."""

    by: str
    epsilon: float | None
    delta: float | None
    holds: bool
    why: str = ""


class MechanismPart(Part):
    """Which mechanism ran, with the raw parameters that rebuild it."""

    name: str
    variant: str
    tables: list[str]
    parameters: dict[str, str]
    chosen: list[str] = []
    """Which parameters follow from what the owner stated, and why; older cards have nothing here."""
    public_lists: list[dict[str, str]]
    private: bool
    stamp: Literal["NOT PRIVATE"] | None
    claimed: Claimed
    scope: str


class AlsoHolds(Part):
    """Another definition the release satisfies."""

    definition: str
    epsilon: float | None = None
    delta: float | None = None
    neighbouring: str | None = None
    how: str


class DeltaVsUsers(Part):
    """δ beside the number of users the owner declared."""

    users_public_or_noisy: int
    source: str
    delta_times_users: float


class ClaimPart(Part):
    """The headline: what is proven."""

    sentence: str
    definition: str
    epsilon: float | None
    delta: float | None
    delta_means: str = ""
    """What δ is for this kind of noise; cards made before it was said have nothing here."""
    rho: float | None = None
    also_holds_as: list[AlsoHolds]
    delta_vs_users: DeltaVsUsers | None
    model: str = "central"
    interactive: bool = False
    strength: str | None
    remarks: list[str]
    conditions: list[str]


class UnitPart(Part):
    """Who is protected, and who is not."""

    name: str
    column: str
    means: str
    neighbouring: str
    not_protected: list[str]


class BoundPart(Part):
    """One limit on a user's contribution."""

    stage: str
    norm: str
    limit: int
    how: str
    enforced_by: str = "hubbub"


class StepPart(Part):
    """One round of noise; ε and δ follow from the rest."""

    name: str
    mechanism: str
    noise: str
    scale: str | None
    threshold: int | None
    keeps: str
    sensitivity: dict[str, int]
    epsilon: float | None
    delta: float
    domain: str
    proof: str
    composes: str
    law: dict[str, object] | None


class LedgerPart(Part):
    """Where the release stands in the owner's budget book, and which looks at the raw log it had noted before."""

    population: str
    dataset: str
    entry: int
    epsilon_before: float | None
    epsilon_after: float | None
    delta_after: float
    in_advance_epsilon: float | None
    in_advance_delta: float
    promised_epsilon: float | None
    promised_delta: float | None
    stands_on: str
    cap_epsilon: float | None
    cap_delta: float | None
    looks: list[str]


class Accounting(Part):
    """How the steps add up, and what came before."""

    method: str
    library: str
    total_epsilon: float | None
    total_delta: float | None
    ledger: LedgerPart
    earlier_releases: list[str]
    planned_releases: str


class ChoicePart(Part):
    """A choice that may have depended on the data."""

    choice: str
    informed_by: Literal["public", "noisy", "raw"]
    note: str


class Unprotected(Part):
    """A fact outside the guarantee."""

    what: str
    why: str


class Randomness(Part):
    """Where the noise comes from."""

    source: str
    sampler: str
    seeded: bool


class Implementation(Part):
    """What ran."""

    software: str
    python: str
    libraries: dict[str, str]
    randomness: Randomness
    floating_point: str
    side_channels: str
    raw_data: dict[str, str]


class AuditPart(Part):
    """What an audit of the code that ran has found, on made-up logs; "not refuted" is the best it can say."""

    of: str
    verdict: Literal["not run", "not refuted", "refuted"]
    on: str | None = None
    quick: bool | None = None
    checks: int | None = None
    refuted: int | None = None
    proven_epsilon: float | None = None
    empirical_epsilon: float | None = None


class Checks(Part):
    """How to check the claim; results of audits on made-up logs only."""

    audit: list[AuditPart]
    how: list[str]
    reviewed_by: list[str]


class Accuracy(Part):
    """What the noise does to the numbers, from its law and from measurements on made-up logs."""

    published_from: str
    per_row: dict[str, str]
    values: str = ""
    """What a value counts; cards made before it was said have nothing here."""
    expect_missing: str
    spurious_rows: str
    nobodys: dict[str, float] = {}
    """Rows of nobody to expect at most, by table, where the mechanism states it; older cards have nothing here."""
    how_to_use: str


class Hazard(Part):
    """A known way to get this wrong, and our answer."""

    id: str
    answer: str


class Card(Part):
    """The whole card; `integrity` is the hash of everything else in it."""

    card_version: str
    release: ReleasePart
    mechanism: MechanismPart
    claim: ClaimPart
    unit: UnitPart
    bounding: list[BoundPart]
    steps: list[StepPart]
    accounting: Accounting
    data_dependent_choices: list[ChoicePart]
    unprotected: list[Unprotected]
    post_processing: list[str]
    implementation: Implementation
    checks: Checks
    accuracy: Accuracy
    hazards: list[Hazard]
    integrity: str

    def document(self) -> dict[str, object]:
        """The card as plain data, in its written order."""
        return self.model_dump(mode="json", by_alias=True)

    def text(self) -> str:
        """`card.json` as it is written."""
        return json.dumps(self.document(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def integrity(document: dict[str, object]) -> str:
    """Hash of a card's content: any edit after the release shows."""
    content = {k: v for k, v in document.items() if k != "integrity"}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def sha256_of(path: object) -> str:
    """Hash of a file."""
    with open(str(path), "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
