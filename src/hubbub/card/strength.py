"""How strong an ε is: a scale in words, beside what others publish.

An ε says nothing without its unit, so each example names whom it protects and for how long. The numbers are those of
the sources named, and of their entries in the DP Deployments Registry. A release of hubbub protects a user for the
whole period, which most of these do not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hubbub.privacy.guarantee import number

if TYPE_CHECKING:
    from hubbub.privacy.guarantee import Guarantee

LARGE_EPSILON = 10
LARGE_DELTA = 1e-5
SCALE = ((1, "strong"), (3, "moderate"), (LARGE_EPSILON, "weak"), (math.inf, "very weak"))
"""Up to this ε, the word for it."""


@dataclass(frozen=True)
class Published:
    """Somebody's release: its ε (and δ), what that is for, and where it is written."""

    epsilon: float
    delta: float | None
    who: str
    what: str
    unit: str
    source: str


PUBLISHED = (
    Published(1, 1e-7, "Wikimedia", "page views by country, 2023", "one device, one day", "arXiv 2308.16298"),
    Published(1.45, 1e-5, "Meta", "actions on URLs, 2020", "one user, for 96.6 % of them", "doi 10.7910/DVN/TDOAPG"),
    Published(1.68, None, "Google", "searches for symptoms, 2020", "one user, one day", "arXiv 2009.01265"),
    Published(2.19, 1e-5, "Google", "searches about vaccination, 2021", "one user, one day", "arXiv 2107.01179"),
    Published(2.64, None, "Google", "mobility reports, 2020", "one user, one day", "arXiv 2004.04145"),
    Published(4, None, "Apple", "popular emoji (noise added on the device)", "one user, one day", "Apple's overview"),
    Published(16, None, "Apple", "new words (noise added on the device)", "one user, one day", "Apple's overview"),
    Published(17.14, 1e-10, "US Census Bureau", "redistricting data of 2020", "one person", "arXiv 2204.08986"),
    Published(34.9, 7e-9, "LinkedIn", "audience engagements, 2020", "one member, one month", "arXiv 2002.05839"),
)


def word(epsilon: float) -> str:
    """The scale's word for an ε."""
    return next(name for most, name in SCALE if epsilon <= most)


def scale() -> str:
    """The scale in one sentence."""
    limits = [f"{name} up to {most:g}" for most, name in SCALE[:-1]]
    return f"{', '.join(limits)}, {SCALE[-1][1]} above"


def beside(epsilon: float, delta: float | None) -> list[Published]:
    """What others publish, with this release in its place: the one without a source."""
    this = Published(epsilon, delta, "This release", "all its tables together", "one user, all she did", "")
    return sorted([this, *PUBLISHED], key=lambda one: (one.epsilon, one.source))


def remarks(guarantee: Guarantee, users: int | None) -> list[str]:
    """What an owner should hear before she spends it, and a reader when she relies on it."""
    epsilon, delta, said = guarantee.epsilon, guarantee.delta, []
    if not guarantee.private or epsilon is None:
        return []
    if epsilon > LARGE_EPSILON:
        factor = f"{math.exp(epsilon):,.0f}" if epsilon < 20 else f"more than {math.exp(20):,.0f}"
        said.append(
            f"ε = {number(epsilon)} is above {LARGE_EPSILON}: the odds about a user may move by a factor of {factor}, "
            "which protects hardly anybody by itself. Releases about searches that others published have 1.68 and 2.19."
        )
    if delta is not None and delta > LARGE_DELTA and users is None:
        said.append(
            f"δ = {number(delta)} is above {LARGE_DELTA:g}, and no number of users is declared: it would allow one "
            f"user in {1 / delta:,.0f} to be published outright. It should be far below one over the number of users."
        )
    return said
