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

if TYPE_CHECKING:
    from hubbub.noise import NoiseSource

LONGEST_WINDOW = max(WINDOWS)


@dataclass(frozen=True)
class SeriesSums:
    """What every known key has gathered, with its noise: in all earlier runs, in each of the last, in this one."""

    before: Integers
    recent: tuple[Integers, ...]
    """Of the last runs before this one, the latest first; as many as the longest window needs."""
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


def thresholds(plan: SeriesConstants, t: int, mass: int, size: int) -> int | Integers:
    """Θ of every key after run t: lower for the first ids where a public list is known."""
    if not plan.listed:
        return plan.threshold(t, mass)
    found = np.full(size, plan.threshold(t, mass), np.int64)
    found[: plan.listed] = plan.listed_threshold(t, mass)
    return found


def levels(plan: SeriesConstants, t: int, j: int, gathered: SeriesSums) -> Integers:
    """How many 20ths of its threshold the best window of a key has reached after j rounds of run t; −1 below 0."""
    best = np.full(gathered.now.size, -1, np.int64)
    for window in plan.windows(t):
        mass = plan.window_mass(t, window, j)
        if mass:
            np.maximum(best, LEVELS * gathered.window(window) // thresholds(plan, t, mass, best.size), out=best)
    return np.minimum(best, LEVELS)


def scores(plan: SeriesConstants, t: int, j: int, gathered: SeriesSums, out: Flags) -> tuple[Integers, Integers]:
    """The score of a key in round j, for a pair that was in a pool before and for a new one; 0: does not count."""
    level = levels(plan, t, j, gathered)
    if j == 0:
        new = np.where(out, 0, np.maximum(OPENING, level))
        return np.where(level >= 0, new, 0), new
    live = (level >= DROPS[j - 1]) & ~out
    for window in plan.windows(t):  # sure to pass: needs no more
        end = plan.window_mass(t, window, len(plan.multiples(t)))
        live &= gathered.window(window) < thresholds(plan, t, end, level.size) + isqrt(end * plan.variance)
    score = np.where(live, np.maximum(1, level * level // LEVELS), 0)
    return score, score


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
    for window in plan.windows(t):
        mass = plan.window_mass(t, window, len(plan.multiples(t)))
        found |= gathered.window(window) >= thresholds(plan, t, mass, found.size)
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
        small_old, small_new = old.astype(np.int8), new.astype(np.int8)  # at most LEVELS: quick to look up
        found = np.where(self.new, small_new[self.key], small_old[self.key])
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
