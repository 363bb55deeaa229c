"""The parameters of the two logs: `aol` (three months, 657,426 users) and `gotz` (one month, 500,000 users).

They were fitted by hand to published aggregates of real logs, never to rows; docs/synthetic-log.md has the figures.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date
from math import log

from hubbub.errors import ParameterError

Numbers = tuple[float, ...]
PERIODS = {"month": "M", "week": "W", "day": "D"}
LONGEST_LOG = 3660  # days


@dataclass(frozen=True)
class UserHabits:
    """How much users search, and how often they come back to the same needs."""

    mu: float = 1.605  # of ln(sessions over the whole period)
    sigma: float = 1.50
    sessions_a_day: int = 30  # at most
    head_at: float = 5.05  # sessions at which a user's share of head queries is the curve's
    head_gamma: float = 0.35  # it falls with (sessions / head_at) ** -head_gamma
    head_noise: float = 0.5
    habits: float = 0.70  # a user's own list is about searches ** habits long
    interests: int = 4
    clicking: float = 1.6  # click propensity is 2 Beta(clicking, clicking)


@dataclass(frozen=True)
class SessionHabits:
    """When people search, for how long, and how one search follows another."""

    tail: float = 3.2  # P(length > n) = (1 + n / scale) ** -tail
    scale: float = 3.3
    longest: int = 60
    reformulate: float = 0.50  # each step after the first: the same need in other words
    back: float = 0.10  # or the session's first query again
    gap_mu: float = 4.75  # of ln(seconds between searches)
    gap_sigma: float = 1.4
    hours: Numbers = (36, 24, 16, 9, 9, 11, 14, 20, 30, 44, 47, 51, 52, 52, 54, 56, 58, 60, 60, 62, 64, 65, 60, 50)
    weekdays: Numbers = (155, 142, 151, 141, 140, 136, 137)  # Monday first


@dataclass(frozen=True)
class Needs:
    """What is looked for: the popularity of intents."""

    knots: Numbers = (0, 2, 5, 8, 11, 14, 18, 24, 30)  # ln(rank)
    density: Numbers = (0.042, 0.034, 0.034, 0.042, 0.045, 0.043, 0.035, 0.027, 0.021)
    head: float = 9.0  # ln(rank) below which an intent counts as head
    habit: float = 0.72  # a session's first need comes from the user's own list
    later_habit: float = 0.3  # times `habit`: a later need does
    interest: float = 0.5  # a need is bent to an interest of the user
    navigational: tuple[float, float] = (1.0, 0.33)  # share at rank 1 and from rank e^15 on
    completion: float = 1.5e-3  # a need is "fear of …"


@dataclass(frozen=True)
class QueryHabits:
    """How users put a need into words."""

    spellings: Numbers = (0.37, 0.26, 0.23, 0.02, 0.02, 0.01)  # name, name.com, www.name.com, …; else a rarer one
    varied: float = 0.34  # an informational need is not asked in its canonical form
    variants: float = 300.0  # … but in one of about so many
    reformulations: float = 2000.0
    respelled: float = 0.20  # a navigational need is reformulated to another plain spelling
    words: Numbers = (0.20, 0.20, 0.28, 0.17, 0.08, 0.07)  # one to six
    knots: Numbers = (0, 2, 4, 6.5, 8.8, 11, 13.5, 15.5)  # ln(word rank)
    density: Numbers = (0.025, 0.042, 0.075, 0.12, 0.135, 0.075, 0.014, 0.003)


@dataclass(frozen=True)
class ClickHabits:
    """How users click on a result page."""

    another: float = 0.27  # another page event follows
    most_events: int = 12
    deeper: float = 0.32  # … on a later page
    pause_mu: float = 4.0
    pause_sigma: float = 1.0
    navigational: float = 0.52  # probability of a click
    informational: float = 0.33
    more_navigational: float = 0.09  # further clicks, geometric
    more_informational: float = 0.57
    most: int = 15
    own_site: float = 0.94  # navigational: the first click goes to the own site, which comes first
    best: float = 0.85  # any other first click goes to the intent's one best position
    positions: Numbers = (0.20, 0.18, 0.13, 0.105, 0.085, 0.07, 0.065, 0.055, 0.055, 0.055)
    knots: Numbers = (0, 3, 6, 9, 12, 14)  # ln(site rank)
    density: Numbers = (0.035, 0.04, 0.07, 0.10, 0.13, 0.10)


@dataclass(frozen=True)
class Changes:
    """What is not the same all the time: needs that come and go, users who arrive and leave. By default nothing."""

    every: str = "month"  # the length of a period: month, week or day
    rising: int = 0  # how many needs
    falling: int = 0
    bursting: int = 0
    seasonal: int = 0
    quiet: float = 0.1  # of those who have a changing need, so many ask it when it is asked least
    cycle: int = 4  # periods after which a season comes back
    ranks: tuple[int, int] = (20, 2000)  # how popular a changing need is when everybody who has it asks it
    arriving: float = 0.0  # of the users come during the log
    leaving: float = 0.0  # of the users go during the log

    def __post_init__(self) -> None:
        """Refuse what cannot be made."""
        if self.every not in PERIODS:
            raise ParameterError("There is no such period.", given=self.every, allowed=", ".join(PERIODS))
        for name in ("quiet", "arriving", "leaving"):
            if not 0 <= getattr(self, name) <= 1:
                raise ParameterError(f"`{name}` is a share.", given=getattr(self, name), allowed="0 to 1")
        most = (self.ranks[1] - self.ranks[0]) // 10
        if min(self.kinds.values()) < 0 or sum(self.kinds.values()) > most:
            given = ", ".join(f"{count} {kind}" for kind, count in self.kinds.items())
            raise ParameterError("So many needs cannot change.", given=given, allowed=f"0 to {most} in all")

    @property
    def kinds(self) -> dict[str, int]:
        """How many needs change in each way."""
        return {
            "rising": self.rising,
            "falling": self.falling,
            "bursting": self.bursting,
            "seasonal": self.seasonal,
        }


@dataclass(frozen=True)
class Preset:
    """Everything about a log but its size and its seed."""

    name: str = "aol"
    start: str = "2006-03-01"
    days: int = 92
    people: UserHabits = field(default_factory=UserHabits)
    sessions: SessionHabits = field(default_factory=SessionHabits)
    needs: Needs = field(default_factory=Needs)
    queries: QueryHabits = field(default_factory=QueryHabits)
    clicks: ClickHabits = field(default_factory=ClickHabits)
    changes: Changes = field(default_factory=Changes)


AOL = Preset()
GOTZ = Preset(
    name="gotz",
    start="2008-04-01",
    days=30,
    people=replace(AOL.people, mu=1.63, sigma=1.40, head_gamma=0.55),
    sessions=replace(AOL.sessions, scale=1.8, reformulate=0.64, back=0.06),
    needs=replace(
        AOL.needs,
        knots=(0, 2, 5, 8, 11, 13, 15, 17, 19),
        density=(0.026, 0.031, 0.040, 0.053, 0.080, 0.080, 0.044, 0.013, 0.003),
        habit=0.66,
        navigational=(1.0, 0.14),
    ),
    queries=QueryHabits(
        spellings=(0.54, 0.19, 0.15, 0.02, 0.02, 0.01),
        varied=0.22,
        variants=60.0,
        reformulations=260.0,
        respelled=0.23,
        words=(0.03, 0.16, 0.30, 0.25, 0.15, 0.11),
        knots=(0, 2, 4, 6.5, 8.8, 11, 13, 15),
        density=(0.02, 0.036, 0.072, 0.12, 0.128, 0.075, 0.014, 0.002),
    ),
    clicks=replace(
        AOL.clicks, navigational=0.56, informational=0.22, more_informational=0.53, own_site=0.96, best=0.93
    ),
)
PRESETS = {preset.name: preset for preset in (AOL, GOTZ)}


def preset(name: str | Preset) -> Preset:
    """The preset of this name; a preset that is given as such is returned."""
    if isinstance(name, Preset):
        return name
    if name not in PRESETS:
        raise ParameterError("There is no such preset.", given=name, allowed=", ".join(PRESETS))
    return PRESETS[name]


def lasting(shape: Preset, start: str | None, days: int | None) -> Preset:
    """The same log over other days: users search as much a day as before, and each of them as before."""
    days = shape.days if days is None else days
    if not 1 <= days <= LONGEST_LOG:
        raise ParameterError("A log lasts some days.", given=days, allowed=f"1 to {LONGEST_LOG:,}")
    try:
        first = date.fromisoformat(shape.start if start is None else start)
    except ValueError:
        raise ParameterError("A log starts on a day.", given=start, allowed="a date such as 2025-01-01") from None
    longer = days / shape.days
    people = replace(shape.people, mu=shape.people.mu + log(longer), head_at=shape.people.head_at * longer)
    return replace(shape, start=first.isoformat(), days=days, people=shape.people if longer == 1 else people)
