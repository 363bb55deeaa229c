"""What is fixed about a release before the log is opened, and every refusal that needs no look at it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from hubbub.card.build import build_card, columns
from hubbub.card.check import DRAFT
from hubbub.card.facts import Booked, Facts
from hubbub.card.owner import Owner
from hubbub.card.strength import remarks
from hubbub.errors import Refused
from hubbub.files import require_free
from hubbub.mechanisms.base import Mechanism
from hubbub.privacy.guarantee import ANYTHING, Guarantee, typeset
from hubbub.privacy.ledger import named
from hubbub.show.page import Shown, render


@dataclass(frozen=True)
class Plan:
    """Everything about a release that is fixed before the log is opened."""

    mechanism: Mechanism
    out: Path
    owner: Owner = field(default_factory=Owner)
    population: str = "default"
    dataset: str = "default"
    users_public: int | None = None
    max_rejects: float = 0.05
    seed: int | None = None
    not_private: bool = False
    new_population: bool = False
    """Whether the owner states that no population of the ledger is about these people …"""
    other_people: bool = False
    """… even where the records are those of an earlier release under another name."""
    allow_empty: bool = False
    """Make the release though no row of the log lies in the stated period."""
    drop_outside: bool = False
    """Make it though rows lie outside, which do not count."""
    review: bool = False
    """Make a draft, which stands beside `owner-only/` until somebody approves it."""
    supersedes: Mapping[str, str] | None = None
    """The earlier release in whose place it is, and why, as on the card."""
    run: dict[str, object] = field(default_factory=dict)
    """The command's own options, kept in `owner-only/run.toml` so that it can be run again."""

    @property
    def place(self) -> str:
        """The folder in `out` for what is drawn."""
        return DRAFT if self.review else "public"

    def guarantee(self) -> Guarantee:
        """What this plan proves; a seeded run proves nothing."""
        return self.mechanism.proven().of_run(seeded=self.seed is not None)

    def drafted(self) -> Draft:
        """Make the card once before anything is spent, after every refusal that needs neither ledger nor log."""
        require_free(self.out)
        named(self.population)
        named(self.dataset)
        self._refuse_unproven()
        self._refuse_large_delta()
        self._refuse_undrawable()
        self._draft()
        return Draft(self)

    def facts(self, booked: Booked, user_column: str) -> Facts:
        """What the card of this plan is told."""
        return Facts(
            self.owner,
            booked,
            user_column,
            self.seed is not None,
            self.max_rejects,
            self.users_public,
            allow_empty=self.allow_empty,
            drop_outside=self.drop_outside,
            other_people=self.other_people,
            draft=self.review,
            supersedes=self.supersedes,
        )

    def remarks(self) -> list[str]:
        """What the owner should hear of her ε and δ before they are spent; the card says it, too."""
        return remarks(self.guarantee(), self.users_public)

    def _draft(self) -> None:
        """The card and its pages without a release: what cannot be stated must not cost anything."""
        booked = Booked(self.population, self.dataset, 1, 0.0, math.inf, None, (), ())
        card = build_card(self.mechanism, self.facts(booked, "user"))
        tables = []
        for table in self.mechanism.tables:
            names = columns(self.mechanism, table)
            rows: list[dict[str, object]] = [dict.fromkeys(names), dict.fromkeys(names, 1)]  # a key alone, and numbers
            tables.append(Shown(table, names, len(rows), rows))
        for text in (card.text(), *render(card, tables).values()):
            text.encode("utf-8")

    def _refuse_unproven(self) -> None:
        """What is not private needs a word from the owner."""
        guarantee = self.guarantee()
        if guarantee.private or self.not_private:
            return
        given = f"{self.mechanism.name} {self.mechanism.variant}"
        instead = "choose another mechanism or variant"
        if self.seed is not None:
            given, instead = f"--seed {self.seed}", "leave the seed out"
        elif guarantee.scope == ANYTHING:
            given += ", " + ", ".join(f"{name} = {value}" for name, value in self.mechanism.settings.items())
            instead = "raise the thresholds, or lower the bounds on a user"
        raise Refused(
            f"This release would not be private: {guarantee.scope}.",
            given=given,
            next=f"{instead}, or say --not-private: everything written is then stamped, and the ledger records an "
            "infinite loss",
        )

    def _refuse_large_delta(self) -> None:
        """δ against what the owner declared; the exact number of users must not decide whether a release exists."""
        asked = Fraction(self.mechanism.given.get("delta", 0))
        delta = max(asked, Fraction(self.mechanism.loss().delta))
        if self.users_public is not None and delta * self.users_public >= 1 and not self.not_private:
            raise Refused(
                "δ is too large for this many users: it would allow publishing somebody's data outright.",
                given=f"δ = {typeset(float(delta))} with {self.users_public} declared users",
                allowed=f"δ below 1/N = {typeset(1 / self.users_public)}",
                next="lower --delta",
            )

    def _refuse_undrawable(self) -> None:
        """Build every sampler before the budget is spent."""
        for law in self.mechanism.laws():
            law.sampler()


@dataclass(frozen=True)
class Draft:
    """A plan whose card could be made, and that nothing forbids but the ledger or the log."""

    plan: Plan
