"""Result pages and clicks: what becomes of a search, as rows of the log.

A page event without a click is one row; one with n clicks is n rows of the same time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hubbub.synth.curves import QuantileTable, choose, lognormal
from hubbub.synth.hashing import Floats, Ints, Keys, Mask, Purpose, child, draw
from hubbub.synth.people import Users, UserSessions
from hubbub.synth.searches import SyntheticSearches
from hubbub.synth.world import World

LONGEST_GAP = 1750  # seconds: a session has no gap of 30 minutes
LAST_PAGE = 49
DEEP_TAIL, DEEPEST = 0.8, 40


@dataclass(frozen=True)
class LogRows:
    """Rows of the log, ordered by user and time."""

    search: Ints
    time: Ints
    clicked: Mask
    rank: Ints  # 0 where nothing was clicked
    site: Ints  # of the clicked rows only


@dataclass(frozen=True)
class Events:
    """Page events, in order of their searches."""

    search: Ints
    keys: Keys
    time: Ints
    page: Ints  # 0 is the first


class Pages:
    """Draws page events and clicks of one world."""

    def __init__(self, world: World) -> None:
        self.world, self.law = world, world.preset.clicks
        self._gap: QuantileTable = lognormal(world.preset.sessions.gap_mu, world.preset.sessions.gap_sigma)
        self._pause: QuantileTable = lognormal(self.law.pause_mu, self.law.pause_sigma)

    def rows(self, people: Users, sessions: UserSessions, searches: SyntheticSearches) -> LogRows:
        """Every row of these searches."""
        events = self._events(sessions, searches)
        search = events.search
        navigational = searches.navigational[search]
        share = np.where(navigational, self.law.navigational, self.law.informational)
        clicked = draw(events.keys, Purpose.CLICK) < share * people.clicking[searches.user[search]]
        count = np.ones(len(search), np.int64)
        some = np.flatnonzero(clicked)
        count[some] = self._clicks(searches, search[some], events.keys[some])

        event = np.repeat(np.arange(len(search)), count)
        number = np.arange(len(event)) - np.repeat(np.cumsum(count) - count, count)
        has = clicked[event]
        rank = np.zeros(len(event), np.int64)
        rank[has] = self._ranks(searches, events, event[has], number[has])
        row = LogRows(
            search=search[event],
            time=events.time[event],
            clicked=has,
            rank=rank,
            site=self.world.results(searches.intent[search[event[has]]], rank[has]),
        )
        return _in_order(row, searches)

    def _events(self, sessions: UserSessions, searches: SyntheticSearches) -> Events:
        """One page event or more for each search; the user's next search starts after the last of them."""
        count = _geometric(draw(searches.keys, Purpose.EVENTS), self.law.another, self.law.most_events)
        search = np.repeat(np.arange(len(count)), count)
        start = np.cumsum(count) - count
        first = start[search]
        number = np.arange(len(search)) - first
        keys = child(searches.keys[search], number)

        later = np.flatnonzero(number > 0)
        pause, page = np.zeros(len(search), np.int64), np.zeros(len(search), np.int64)
        pause[later] = 1 + self._pause(draw(keys[later], Purpose.PAUSE)).astype(np.int64)
        deeper = later[draw(keys[later], Purpose.DEEPER) < self.law.deeper]
        page[deeper] = np.minimum(draw(keys[deeper], Purpose.PAGES) ** (-1 / DEEP_TAIL), DEEPEST).astype(np.int64)
        since, page = _running(pause, first), np.minimum(_running(page, first), LAST_PAGE)

        gap = np.zeros(len(count), np.int64)
        follows = np.flatnonzero(searches.first != np.arange(len(count)))
        gap[follows] = 1 + self._gap(draw(searches.keys[follows], Purpose.GAP)).astype(np.int64)
        gap[follows] += since[start[follows] - 1]
        gap = np.minimum(gap, LONGEST_GAP)
        time = sessions.start[searches.session] + _running(gap, searches.first)
        return Events(search, keys, time[search] + since, page)

    def _clicks(self, searches: SyntheticSearches, search: Ints, keys: Keys) -> Ints:
        """How many clicks each page event has; the more popular a need, the fewer."""
        settled = np.minimum(1.0, 0.3 + 0.07 * np.log(searches.popularity[search]))
        more = np.where(
            searches.navigational[search], self.law.more_navigational, self.law.more_informational * settled
        )
        return _geometric(draw(keys, Purpose.CLICKS), more, self.law.most)

    def _ranks(self, searches: SyntheticSearches, events: Events, event: Ints, number: Ints) -> Ints:
        """Where each click lands. Only the first click of a page follows the intent."""
        search, page = events.search[event], events.page[event]
        keys = child(events.keys[event], number)
        rank = choose(self.world.positions, draw(keys, Purpose.POSITION)) + 1
        lead = np.flatnonzero(number == 0)
        best = lead[draw(keys[lead], Purpose.FOLLOWS) < self.law.best]
        rank[best] = self.world.best(searches.intent[search[best]])
        own = lead[searches.navigational[search[lead]] & (page[lead] == 0)]
        own = own[draw(keys[own], Purpose.OWN_SITE) < self.law.own_site]
        rank[own] = 1
        return rank + 10 * page


def _geometric(uniform: Floats, more: Floats | float, most: int) -> Ints:
    """Geometric numbers: 1, and one more again and again, each time with probability `more`."""
    count: Ints = np.minimum(1 + np.floor(np.log(uniform) / np.log(more)), most).astype(np.int64)
    return count


def _running(values: Ints, first: Ints) -> Ints:
    """Running sums within each group; the first value of a group must be 0."""
    total = np.cumsum(values)
    return total - total[first]


def _in_order(rows: LogRows, searches: SyntheticSearches) -> LogRows:
    """Sort by user and time, where long sessions ran into each other."""
    place = (searches.user[rows.search] << 33) + rows.time
    if not (np.diff(place) < 0).any():
        return rows
    order = np.argsort(place, kind="stable")
    click = np.cumsum(rows.clicked) - 1
    clicked = rows.clicked[order]
    return LogRows(rows.search[order], rows.time[order], clicked, rows.rank[order], rows.site[click[order[clicked]]])
