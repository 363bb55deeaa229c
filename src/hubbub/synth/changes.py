"""What changes during a log: needs that rise, fall, burst or come back, and users who arrive or leave.

A changing need is one of the popular ones, chosen by the seed. In each period a share of those who have it ask it, from
`quiet` to everybody; who that is, is drawn once for each user and need, so that the number of users in a period follows
the share. Whoever would have asked and does not asks something else, so that the log is as long as before. Everything
else is asked as steadily as in a log without changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hubbub.synth.hashing import Floats, Ints, Keys, Mask, Purpose, below, child, draw, salted
from hubbub.synth.presets import PERIODS, Preset

if TYPE_CHECKING:
    from hubbub.synth.world import World


class Periods:
    """The periods of a log: calendar months, weeks from Monday, or days. The first and the last may be cut short."""

    def __init__(self, preset: Preset) -> None:
        unit = PERIODS[preset.changes.every]
        first = np.datetime64(preset.start, "D")
        days = first + np.arange(preset.days)
        monday = days - (days.astype(np.int64) + 3) % 7
        number = monday if unit == "W" else days.astype(f"datetime64[{unit}]")
        starts, where = np.unique(number, return_index=True)
        self.starts: Ints = days[where].astype("datetime64[s]").astype(np.int64)
        self.names = [_name(start, unit) for start in starts]

    def __len__(self) -> int:
        return len(self.names)

    def of(self, time: Ints) -> Ints:
        """The number of the period of each time; what comes after the last day belongs to the last period."""
        return np.maximum(np.searchsorted(self.starts, time, side="right") - 1, 0)


def _name(start: np.datetime64, unit: str) -> str:
    """A period as ISO 8601 writes it: 2025-03, 2025-W10 or 2025-03-01."""
    if unit != "W":
        return str(start)
    year, week, _ = start.astype("datetime64[D]").item().isocalendar()
    return f"{year}-W{week:02}"


@dataclass(frozen=True)
class ChangingNeeds:
    """Needs that change: which they are, how, and which share of those who have one ask it in each period."""

    intent: Ints  # in ascending order
    kind: list[str]
    share: Floats  # needs × periods

    def asked(self, intent: Ints, user: Keys, period: Ints) -> Mask:
        """Whether these users ask these needs in these periods; a need that does not change is always asked."""
        asked = np.ones(len(intent), np.bool_)
        place = np.minimum(np.searchsorted(self.intent, intent), len(self.intent) - 1)
        some = np.flatnonzero(self.intent[place] == intent)
        keen = draw(child(user[some], intent[some]), Purpose.ASKS_NOW)
        asked[some] = keen < self.share[place[some], period[some]]
        return asked


def changing(world: World, periods: Periods) -> ChangingNeeds | None:
    """The needs that change in this world, or nothing where none does."""
    law = world.preset.changes
    kinds = [kind for kind, count in law.kinds.items() for _ in range(count)]
    if not kinds:
        return None
    low, high = law.ranks
    found: dict[int, None] = {}
    key, attempt = salted(world.key, Purpose.CHANGES), 0
    while len(found) < len(kinds):
        place = draw(child(key, np.array([attempt])), Purpose.CHANGING_RANK)
        rank = (low * (high / low) ** place).astype(np.int64)
        found.setdefault(int(world.meant(rank)[0]))
        attempt += 1
    intent = np.array(list(found))
    when = below(child(key, intent), Purpose.CHANGING_WHEN, len(periods))
    share = np.array([_shares(kind, at, len(periods), law.cycle) for kind, at in zip(kinds, when, strict=True)])
    order = np.argsort(intent)
    return ChangingNeeds(intent[order], [kinds[i] for i in order], law.quiet + (1 - law.quiet) * share[order])


def _shares(kind: str, at: int, periods: int, cycle: int) -> Floats:
    """From 0, asked least, to 1, asked by everybody who has the need: one number for each period."""
    time = np.arange(periods)
    if kind == "bursting":
        return np.asarray((time == at).astype(float))
    if kind == "seasonal":
        return np.asarray((1 + np.cos(2 * np.pi * (time - at) / cycle)) / 2)
    line = time / max(periods - 1, 1)
    return np.asarray(line if kind == "rising" else 1 - line)


def stays(preset: Preset, users: Keys) -> tuple[Floats, Floats]:
    """When these users come and go: the parts of the log, from 0 to 1, between which each of them searches."""
    law = preset.changes
    late = draw(users, Purpose.ARRIVES) < law.arriving
    come = np.where(late, draw(users, Purpose.ARRIVES_WHEN), 0.0)
    early = draw(users, Purpose.LEAVES) < law.leaving
    return come, np.where(early, come + (1 - come) * draw(users, Purpose.LEAVES_WHEN), 1.0)
