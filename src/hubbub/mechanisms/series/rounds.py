"""One round of a series on arrays: who counts, what each user spends, which keys pass (docs/proofs/series.md).

Keys and users are rows of arrays. Every function looks at one key, or at one user, by itself. What a key has gathered
is the whole record of the past that users see: when it was first seen decides whether it may be released, and nothing
else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isqrt
from typing import TYPE_CHECKING, Protocol

import numpy as np

from hubbub.errors import OurBug
from hubbub.mechanisms.series.constants import DROPS, FOREVER, LEVELS, OPENING, WINDOWS, SeriesConstants
from hubbub.steps.counts import Flags, Integers
from hubbub.steps.holdings import MOST
from hubbub.switches import switch

if TYPE_CHECKING:
    from hubbub.noise import NoiseSource

LONGEST_WINDOW = max(WINDOWS)
BLOCK = switch(__name__, "BLOCK", 1 << 15, low=3)
"""Keys whose windows are added up at once."""


@dataclass(frozen=True)
class SeriesSums:
    """What every known key has gathered, with its noise: in all earlier runs, in each of the last, in this one."""

    before: Integers
    recent: tuple[Integers, ...]
    """Of the last runs before this one, the latest first; as many as the longest window needs. They may be of narrower
    numbers than the others, and are only ever added to those."""
    now: Integers

    @staticmethod
    def nothing(size: int) -> SeriesSums:
        """Before the first round."""
        return SeriesSums(np.zeros(size, np.int64), (), np.zeros(size, np.int64))

    def window(self, window: int) -> Integers:
        """The sum over a window that ends with the present round."""
        if window == FOREVER:
            return self.before + self.now
        return sum(self.recent[: window - 1], self.now)

    def each(self, windows: tuple[int, ...]) -> Iterator[tuple[int, Integers]]:
        """The sums over these windows, each made of the one before it: windows of some runs in order, then of all."""
        found, runs = self.now, 1
        for window in windows:
            if window == FOREVER:
                yield window, self.before + self.now
                continue
            found = sum(self.recent[runs - 1 : window - 1], found)
            runs = window
            yield window, found

    def part(self, where: slice) -> SeriesSums:
        """The same of some keys."""
        return SeriesSums(self.before[where], tuple(each[where] for each in self.recent), self.now[where])

    def plus(self, y: Integers) -> SeriesSums:
        """One more round."""
        return SeriesSums(self.before, self.recent, self.now + y)

    def next_run(self) -> SeriesSums:
        """The same at the start of the next run."""
        recent = (self.now, *self.recent)[: LONGEST_WINDOW - 1]
        return SeriesSums(self.before + self.now, recent, np.zeros_like(self.now))

    def joined(self, late: SeriesSums) -> SeriesSums:
        """With keys that were not known before, after the others."""
        recent = tuple(np.concatenate(each) for each in zip(self.recent, late.recent, strict=True))
        return SeriesSums(np.concatenate([self.before, late.before]), recent, np.concatenate([self.now, late.now]))


def late(plan: SeriesConstants, t: int, size: int, noise: NoiseSource) -> SeriesSums:
    """What keys have gathered that nobody held before run t: the noise of every round so far, by its own law."""
    found = SeriesSums.nothing(size)
    for i in range(t):
        for j, m in enumerate(plan.multiples(i)):
            found = found.plus(noise.gaussian(f"{plan.of}run {t} late {i} {j}", m * plan.variance, size))
        found = found.next_run()
    return found


@dataclass(frozen=True)
class WindowTests:
    """What sums over windows are compared with: for levels, for the release, and where it is sure that a key passes."""

    windows: tuple[int, ...]
    levels: tuple[int | None, ...]
    """Θ after the rounds so far; None before the first of them."""
    ends: tuple[int, ...]
    """Θ after the last round of the run."""
    sure: tuple[int, ...]
    """A deviation above that."""

    @staticmethod
    def of(plan: SeriesConstants, t: int, j: int, *, listed: bool) -> WindowTests:
        """After j rounds of run t; thresholds are lower for listed keys."""
        threshold, windows = plan.listed_threshold if listed else plan.threshold, plan.windows(t)
        so_far = [plan.window_mass(t, window, j) for window in windows]
        whole = [plan.window_mass(t, window, len(plan.multiples(t))) for window in windows]
        ends = tuple(threshold(t, mass) for mass in whole)
        return WindowTests(
            windows,
            tuple(threshold(t, mass) if mass else None for mass in so_far),
            ends,
            tuple(end + isqrt(mass * plan.variance) for end, mass in zip(ends, whole, strict=True)),
        )

    def level(self, gathered: SeriesSums) -> tuple[Integers, Flags]:
        """How many 20ths of its threshold the best window of a key has reached, −1 below 0; and who is sure to pass."""
        best, sure = np.full(gathered.now.size, -1, np.int64), np.zeros(gathered.now.size, np.bool_)
        for (_, found), level, most in zip(gathered.each(self.windows), self.levels, self.sure, strict=True):
            sure |= found >= most
            if level is not None:
                np.maximum(best, LEVELS * found // level, out=best)
        return np.minimum(best, LEVELS), sure

    def passing(self, gathered: SeriesSums) -> Flags:
        """Which keys reach the threshold of some window; `>=`."""
        found = np.zeros(gathered.now.size, np.bool_)
        for (_, sums), end in zip(gathered.each(self.windows), self.ends, strict=True):
            found |= sums >= end
        return found


def by_block(
    plan: SeriesConstants, t: int, j: int, gathered: SeriesSums
) -> Iterator[tuple[slice, WindowTests, SeriesSums]]:
    """Keys a block at a time, as a processor's cache holds them: the first ids, of a public list, apart."""
    size = gathered.now.size
    listed = min(plan.listed, size)
    for first, last, is_listed in ((0, listed, True), (listed, size, False)):
        if last > first:
            tests = WindowTests.of(plan, t, j, listed=is_listed)
            for start in range(first, last, BLOCK):
                where = slice(start, min(start + BLOCK, last))
                yield where, tests, gathered.part(where)


def levels(plan: SeriesConstants, t: int, j: int, gathered: SeriesSums) -> Integers:
    """How many 20ths of its threshold the best window of a key has reached after j rounds of run t; −1 below 0."""
    found = np.empty(gathered.now.size, np.int64)
    for where, tests, part in by_block(plan, t, j, gathered):
        found[where], _ = tests.level(part)
    return found


def scores(plan: SeriesConstants, t: int, j: int, gathered: SeriesSums, out: Flags) -> tuple[Integers, Integers]:
    """The score of a key in round j, for a pair that was in a pool before and for a new one; 0: does not count."""
    old = np.zeros(gathered.now.size, np.int64)
    new = np.zeros_like(old) if j == 0 else old
    for where, tests, part in by_block(plan, t, j, gathered):
        level, sure = tests.level(part)
        if j == 0:
            new[where] = np.where(out[where], 0, np.maximum(OPENING, level))
            old[where] = np.where(level >= 0, new[where], 0)
        else:
            live = (level >= DROPS[j - 1]) & ~out[where] & ~sure  # sure to pass: needs no more
            new[where] = np.where(live, np.maximum(1, level * level // LEVELS), 0)
    return old, new


def spend(plan: SeriesConstants, t: int, j: int, left: Integers, n2: Integers) -> tuple[Integers, Integers]:
    """What each user adds per unit of score, and what she has left: n2 is the sum of her squared scores."""
    m, rest = plan.multiples(t)[j], plan.rest(t, j)
    g, by = plan.greed.numerator, plan.greed.denominator
    may = np.minimum(left, left * (g * m) // (by * rest))
    counting = n2 > 0
    unit = np.zeros_like(left)
    unit[counting] = roots(may[counting] * m // (plan.common * n2[counting]))
    after = left - unit * unit * n2 * (plan.common // m)
    if after.size and int(after.min()) < 0:
        raise OurBug("a user of a series has spent more than she had")
    return unit, after


def roots(x: Integers) -> Integers:
    """⌊√x⌋: doubles only guess, the corrections are exact integers."""
    guess = np.sqrt(x.astype(np.float64)).astype(np.int64)
    guess -= guess * guess > x
    found: Integers = guess + ((guess + 1) * (guess + 1) <= x)
    return found


def passing(plan: SeriesConstants, t: int, gathered: SeriesSums) -> Flags:
    """Which keys reach the threshold of some window after the last round of run t; `>=`."""
    found = np.zeros(gathered.now.size, np.bool_)
    for where, tests, part in by_block(plan, t, len(plan.multiples(t)), gathered):
        found[where] = tests.passing(part)
    return found


class SeriesPools(Protocol):
    """The pools of a series, wherever they lie. Users and keys are rows of arrays."""

    def squares(self, old: Integers, new: Integers) -> Integers:
        """For each user, the sum of the squared scores of her pairs."""
        ...

    def sums(self, units: Integers) -> Integers:
        """For each key, the sum over its pairs of score times the user's unit; scores as they were asked with last."""
        ...


@dataclass(frozen=True)
class SeriesRound:
    """What stands after a round: what keys have gathered and what users have left, to be kept together."""

    gathered: SeriesSums
    left: Integers


def play(
    plan: SeriesConstants, t: int, j: int, pools: SeriesPools, before: SeriesRound, out: Flags, noise: NoiseSource
) -> SeriesRound:
    """Round j of run t: every known key gets noise, whether or not anybody counts for it."""
    n2 = pools.squares(*scores(plan, t, j, before.gathered, out))
    units, left = spend(plan, t, j, before.left, n2)
    if units.size and int(units.max()) * LEVELS * units.size >= MOST:
        raise OurBug("the sums of a series would overflow")
    y = pools.sums(units)
    y += noise.gaussian(f"{plan.of}run {t} round {j}", plan.multiples(t)[j] * plan.variance, y.size)
    return SeriesRound(before.gathered.plus(y), left)


@dataclass
class ArraySeriesPools:
    """Pools as arrays: rows are (user, key), `new` says which entered in this run."""

    user: Integers
    key: Integers
    new: Flags
    users: int
    keys: int
    _counting: tuple[Integers, Integers, Integers] | None = None
    """Of the rows that count: user, key, score."""

    def squares(self, old: Integers, new: Integers) -> Integers:
        """By counting."""
        found = new.astype(np.int8)[self.key]  # at most LEVELS: quick to look up
        if old is not new:
            found = np.where(self.new, found, old.astype(np.int8)[self.key])
        rows = np.flatnonzero(found)
        user, score = self.user[rows], found[rows].astype(np.int64)
        self._counting = user, self.key[rows], score
        return _sum(user, score * score, self.users)

    def sums(self, units: Integers) -> Integers:
        """By counting."""
        assert self._counting is not None
        user, key, score = self._counting
        return _sum(key, score * units[user], self.keys)


def _sum(at: Integers, values: Integers, size: int) -> Integers:
    sums = np.zeros(size, np.int64)
    np.add.at(sums, at, values)
    return sums


def run_rounds(
    plan: SeriesConstants, t: int, pools: SeriesPools, start: SeriesRound, out: Flags, noise: NoiseSource
) -> Iterator[SeriesRound]:
    """All rounds of a run, one after the other."""
    for j in range(len(plan.multiples(t))):
        start = play(plan, t, j, pools, start, out, noise)
        yield start
