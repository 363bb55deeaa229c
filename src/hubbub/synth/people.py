"""Users and their sessions: who searches how much, when, and for how long."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hubbub.synth.changes import stays
from hubbub.synth.curves import beta, choose, cumulative
from hubbub.synth.hashing import Floats, Ints, Keys, Purpose, below, child, draw, normal, salted
from hubbub.synth.presets import Preset
from hubbub.synth.vocabulary import RESIDUES
from hubbub.synth.world import World

DAY = 86_400


@dataclass(frozen=True)
class Users:
    """Some consecutive users, column by column."""

    index: Ints  # 0, 1, … over the whole log
    keys: Keys
    sessions: Ints
    come: Floats  # the part of the log, from 0 to 1, at which they begin to search
    go: Floats  # … and stop
    head: Floats  # share of head intents
    clicking: Floats
    habits: Keys
    interests: Ints  # users × interests, residues

    @property
    def names(self) -> Ints:
        """The user ids of the log."""
        return 100 + 37 * self.index


@dataclass(frozen=True)
class UserSessions:
    """The sessions of some users, in order of time within a user."""

    user: Ints  # place in People
    keys: Keys
    start: Ints  # epoch seconds
    length: Ints  # searches


class Inhabitants:
    """Everybody who searches in one world: draws users and their sessions."""

    def __init__(self, world: World, key: Keys) -> None:
        self.world, self.key = world, key
        self._clicking = beta(world.preset.people.clicking)
        self._slots, self._epoch = _calendar(world.preset)

    def people(self, first: int, last: int) -> Users:
        """Users first, …, last - 1."""
        people, days = self.world.preset.people, self.world.preset.days
        index = np.arange(first, last)
        keys = child(self.key, index)
        size = np.exp(people.mu + people.sigma * normal(keys, Purpose.SESSIONS, Purpose.SESSIONS_TOO))
        come, go = stays(self.world.preset, keys)
        sessions = np.clip(np.rint(size * (go - come)), 1, people.sessions_a_day * days).astype(np.int64)
        noise = np.exp(people.head_noise * normal(keys, Purpose.HEAD, Purpose.HEAD_TOO))
        head = self.world.popularity.head * (sessions / people.head_at) ** -people.head_gamma * noise
        interest = child(salted(keys, Purpose.INTERESTS)[:, None], np.arange(people.interests))
        return Users(
            index=index,
            keys=keys,
            sessions=sessions,
            come=come,
            go=go,
            head=np.clip(head, 0.01, 0.95),
            clicking=2 * self._clicking(draw(keys, Purpose.CLICKING)),
            habits=salted(keys, Purpose.HABITS),
            interests=below(interest, Purpose.WHICH_INTEREST, RESIDUES),
        )

    def sessions(self, people: Users) -> UserSessions:
        """All sessions of these users."""
        law = self.world.preset.sessions
        user = np.repeat(np.arange(len(people.index)), people.sessions)
        number = np.arange(len(user)) - np.repeat(np.cumsum(people.sessions) - people.sessions, people.sessions)
        keys = child(people.keys[user], number)
        come, go = people.come[user], people.go[user]
        when = come + (go - come) * draw(keys, Purpose.DAY)
        start = choose(self._slots, when) * 3600 + below(keys, Purpose.SECOND, 3600)
        start = np.sort(start + (user << 32)) & 0xFFFFFFFF
        tail = draw(keys, Purpose.LENGTH) ** (-1 / law.tail) - 1
        length = np.minimum(1 + np.floor(law.scale * tail), law.longest).astype(np.int64)
        return UserSessions(user, keys, self._epoch + start, length)

    def hours(self, parts: Floats) -> Ints:
        """The hours, in epoch seconds, in which these parts of the log from 0 to 1 end."""
        return self._epoch + 3600 * np.minimum(choose(self._slots, parts), len(self._slots) - 1)


def _calendar(preset: Preset) -> tuple[Floats, int]:
    """How likely a session starts in each hour of the period, cumulated, and the period's first second."""
    day = int(np.datetime64(preset.start, "D").astype(np.int64))
    weekday = (day + 3 + np.arange(preset.days)) % 7
    weights = np.outer(np.asarray(preset.sessions.weekdays)[weekday], np.asarray(preset.sessions.hours))
    return cumulative(weights.ravel().tolist()), day * DAY
