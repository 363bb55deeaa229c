"""The synthetic log: users that never were, in the columns of a log, from released tables and noisy histograms alone.

    how many users, how busy        the histogram of activity
    sessions                        their lengths from a histogram; the queries are walks, see `walks.py`
    again and again                 a user's later sessions repeat her own, as often as released counts leave room
    times                           hours of the week from a histogram, days of the stated period alike; gaps by a law
                                    that is a constant of this file

Post-processing: it costs nothing, and it needs no secrecy. So numpy's generator may draw here, seeded once, where for
noise only the operating system's may; the seed comes from the noise source so that a seeded run repeats itself. What
the log can and cannot support is said in docs/mechanisms/crowd.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from statistics import NormalDist

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hubbub.ingest.schema import SCHEMA
from hubbub.log import Period
from hubbub.mechanisms.crowd.walks import NO_CLICK, Clicks, Floats, Integers, Public, WalkTree
from hubbub.steps.profile import BUSIEST, HOUR, MONDAY, WEEK
from hubbub.steps.sessions import GAP
from hubbub.switches import Beyond, switch

NO_PERIOD = Period(date(1970, 1, 5), date(1971, 1, 3))
"""Where the owner states no period: 52 weeks from a Monday on which nobody searched the web."""
SHORTEST = 10
"""Seconds between two searches of a session: log-uniform from this to the gap that ends a session."""
LONGEST = 40
"""Searches of the longest session; from 20 on they are log-uniform up to this."""
BELIEVED = 2.0
"""A bin that is not above its noise by this many standard deviations counts as empty."""
ORDINARY = 16
"""Searches of a user who is not busy. Bins of busier ones must be surer, see `_surer`."""
MOST_SEARCHES = switch(__name__, "MOST_SEARCHES", 50_000_000, low=50, beyond=Beyond.AMOUNT)
"""If noise makes more than this, there are fewer users: no outcome may fill the memory."""
BLOCK = switch(__name__, "BLOCK", 1 << 20, low=4, beyond=Beyond.DRAWS)
"""Searches made at a time."""


def synthesise(public: Public, seed: bytes) -> pa.Table:
    """The whole log, by user and time; a function of its arguments."""
    rng = np.random.Generator(np.random.PCG64(int.from_bytes(seed, "big")))
    if not public.queries.num_rows:
        return SCHEMA.empty_table()
    return pa.Table.from_batches(_blocks(public, rng), SCHEMA)


def _blocks(public: Public, rng: np.random.Generator) -> Iterator[pa.RecordBatch]:
    sizes = activity(public, rng)
    lengths = shares(public, "session length")
    mean = float(lengths @ np.array([*range(1, 20), (20 + LONGEST) / 2]))
    tree = WalkTree(public, mean)
    clicks = Clicks(public, tree, shares(public, "clicks per search"))
    sessions = sizes.sum() / mean + sizes.size * (1 - 1 / mean)
    new = (tree.users.sum() / tree.visits - sizes.size) / max(1.0, sessions - sizes.size)
    clock = Clock(public)
    start = 0
    while start < sizes.size:
        stop = start + max(1, int(np.searchsorted(np.cumsum(sizes[start:]), BLOCK, side="right")))
        user, length, owner = sessions_of(rng, sizes[start:stop], lengths)
        query, clicked = _searched(rng, tree, clicks, length, owner, float(np.clip(new, 0, 1)))
        time = clock.draw(rng, length, owner)
        yield _rows(1 + start + user, time, query, clicked, tree, clicks)
        start = stop


# ------------------------------------------------------------------ users and sessions


def shares(public: Public, name: str, deviations: float | Floats = BELIEVED) -> Floats:
    """The bins of a histogram as shares. What may be noise alone counts as nothing; if all may be, the first is all."""
    noisy = public.histograms[name].astype(np.float64)
    believed = np.where(noisy > deviations * public.noise_sd[name], noisy, 0.0)
    if not believed.any():
        believed[0] = 1.0
    whole: Floats = believed / believed.sum()
    return whole


def activity(public: Public, rng: np.random.Generator) -> Integers:
    """Searches of each user: as many users as the positive parts of the noisy histogram add up to."""
    users = int(np.maximum(public.histograms["activity"], 0).sum())
    low = np.array([1, *(1 + (1 << b) for b in range(BUSIEST)), 1 << BUSIEST])
    bins = rng.choice(BUSIEST + 2, users, p=shares(public, "activity", _surer(low)))
    high = np.array([*(1 << b for b in range(BUSIEST)), (1 << BUSIEST) - 1, (2 << BUSIEST) - 1])
    sizes = _log_uniform(rng, low[bins], high[bins])
    return sizes[np.cumsum(sizes) <= MOST_SEARCHES]


def _surer(searches: Integers) -> Floats:
    """Standard deviations by which a bin must be above its noise, the more the busier its users: the chance that noise
    alone passes falls as their searches grow. Else an empty last bin would now and then outweigh all the others.
    """
    law = NormalDist()
    chances = law.cdf(-BELIEVED) * np.minimum(1.0, ORDINARY / searches)
    return np.array([-law.inv_cdf(chance) for chance in chances])


def sessions_of(rng: np.random.Generator, sizes: Integers, lengths: Floats) -> tuple[Integers, Integers, Integers]:
    """The user of each search; the length and the user of each session. The end of a user ends her session."""
    searches = int(sizes.sum())
    starts = np.zeros(searches, bool)
    at = 0
    while at < searches:
        drawn = 1 + rng.choice(lengths.size, 1 + (searches - at) // 2, p=lengths)
        long = drawn == lengths.size
        drawn[long] = _log_uniform(rng, drawn[long], np.full(int(long.sum()), LONGEST))
        places = at + np.concatenate([[0], np.cumsum(drawn)])
        starts[places[places < searches]] = True
        at = int(places[-1])
    user = np.repeat(np.arange(sizes.size), sizes)
    starts[np.cumsum(sizes) - sizes] = True
    begins = np.flatnonzero(starts)
    return user, np.diff(np.append(begins, searches)), user[begins]


def _searched(
    rng: np.random.Generator, tree: WalkTree, clicks: Clicks, length: Integers, owner: Integers, new: float
) -> tuple[Integers, Integers]:
    """Queries and clicks of all searches. A user's first session is new, a later one with this chance; else it repeats
    one of her new ones, query by query, and where that was shorter its last query. Clicks are drawn once for each query
    of a new session.
    """
    fresh = np.append(True, owner[1:] != owner[:-1]) | (rng.random(length.size) < new)
    walked = length[fresh]
    query = tree.walk(rng, walked)
    begins = np.cumsum(walked) - walked
    moved = np.append(True, query[1:] != query[:-1])
    moved[begins] = True
    clicked = clicks.draw(rng, query[moved])[np.cumsum(moved) - 1]
    own = np.bincount(owner[fresh], minlength=int(owner[-1]) + 1)
    first = np.cumsum(own) - own
    source = first[owner] + (rng.random(length.size) * own[owner]).astype(np.int64)
    source[fresh] = np.arange(walked.size)
    session = np.repeat(np.arange(length.size), length)
    place = np.arange(session.size) - np.repeat(np.cumsum(length) - length, length)
    at = begins[source[session]] + np.minimum(place, walked[source[session]] - 1)
    clicked = clicked[at]
    clicked[~(fresh[session] & moved[at]) & (rng.random(at.size) >= clicks.again)] = NO_CLICK
    return query[at], clicked


def _log_uniform(rng: np.random.Generator, low: Integers, high: Integers) -> Integers:
    """Whole numbers from low to high, both included, the small ones more likely."""
    drawn = np.floor(low * ((high + 1) / low) ** rng.random(low.size)).astype(np.int64)
    return np.clip(drawn, low, high)


# ------------------------------------------------------------------ times and rows


class Clock:
    """Times inside the stated period, or inside 52 weeks of 1970 where none was stated."""

    def __init__(self, public: Public) -> None:
        self.start, self.after = (public.period or NO_PERIOD).seconds
        hours = np.arange(self.start, self.after, HOUR)
        of_week = (hours + MONDAY) % WEEK // HOUR
        noisy = np.maximum(public.histograms["hour of week"], 0)
        weight = (noisy / np.maximum(1, np.bincount(of_week, minlength=noisy.size)))[of_week]
        self.hours, self.up = hours, np.cumsum(weight if weight.any() else np.ones(hours.size))

    def draw(self, rng: np.random.Generator, length: Integers, owner: Integers) -> Integers:
        """The time of each search: sessions of a user in order of time, searches of a session by gaps."""
        x = rng.random(length.size) * self.up[-1]
        hour = np.minimum(np.searchsorted(self.up, x, side="right"), self.hours.size - 1)
        start = self.hours[hour] + rng.integers(0, HOUR, length.size)
        start = start[np.lexsort((start, owner))]
        begins = np.cumsum(length) - length
        searches = int(length.sum())
        gaps = _log_uniform(rng, np.full(searches, SHORTEST), np.full(searches, GAP))
        gaps[begins] = 0
        passed = np.cumsum(gaps)
        passed -= np.repeat(passed[begins], length)
        time: Integers = np.repeat(self._apart(start, passed[begins + length - 1], owner), length) + passed
        return time

    def _apart(self, start: Integers, lasts: Integers, owner: Integers) -> Integers:
        """Sessions of one user moved until none falls into another, inside the period as far as they fit."""
        after = np.cumsum(lasts + GAP + 1)  # with all of a user's sessions back to back, when each is over
        before = after - (lasts + GAP + 1)
        users = np.append(np.flatnonzero(owner[1:] != owner[:-1]), owner.size - 1)  # her last session
        wide = owner * int(after[-1] + self.after - self.start + 1)  # no user reaches the next one's times
        earliest = np.maximum.accumulate(start - before + wide) - wide + before
        latest = self.after + GAP - np.repeat(after[users], np.diff(np.append(-1, users))) + before
        moved: Integers = np.maximum(np.minimum(earliest, latest), self.start)
        return moved


def _rows(
    user: Integers, time: Integers, query: Integers, clicked: Integers, tree: WalkTree, clicks: Clicks
) -> pa.RecordBatch:
    """One row per click, or one for a search without; by user, time, and rank."""
    order = np.lexsort((query, time, user))
    user, time, query, clicked = user[order], time[order], query[order], clicked[order]
    many = np.maximum(1, (clicked != NO_CLICK).sum(axis=1))
    search = np.repeat(np.arange(many.size), many)
    click = clicked[search, np.arange(search.size) - np.repeat(np.cumsum(many) - many, many)]
    none = click == NO_CLICK
    at = pa.array(np.where(none, 0, click), mask=none)
    names = pc.cast(pa.array(user), pa.string()).take(pa.array(search))
    columns = [
        names,
        pa.array(time[search]),
        tree.names.take(pa.array(query[search])),
        pa.array(clicks.rank, pa.int32()).take(at),
        clicks.urls.take(at),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)
