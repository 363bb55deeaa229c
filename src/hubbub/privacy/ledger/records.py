"""What a ledger tells its reader: a release, a total, a look."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hubbub.privacy.account import Loss

STATES = ("reserved", "drawing", "committed")
DRAFT = "draft"
"""Between drawing and committed, where somebody has yet to approve what was drawn: spent like any other."""


@dataclass(frozen=True)
class Entry:
    """One release, spent from the moment of its reservation. The token is random: fit for a public card."""

    id: int
    time: str
    token: str
    population: str
    dataset: str
    mechanism: str
    variant: str
    loss: Loss
    private: bool
    parameters: Mapping[str, object]
    software: str
    fingerprint: str | None
    state: str


@dataclass(frozen=True)
class Spent:
    """What the releases of a population cost together: infinite once one of them is NOT PRIVATE."""

    epsilon: float
    """ε and δ so far, true at whatever moment one stops, however the releases were chosen."""
    delta: float
    basic_epsilon: float
    """The sums of ε and of δ."""
    basic_delta: float
    releases: int
    not_private: int
    advance_epsilon: float
    """ε at this δ if all releases were decided before the first output."""
    advance_delta: float


@dataclass(frozen=True)
class Look:
    """A command that showed the owner something of the raw log."""

    time: str
    command: str
    elsewhere: bool = False
    """Whether it was noted under other names, and is known by its data alone."""
