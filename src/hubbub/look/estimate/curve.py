"""The chance that a key is released, by the number of users who hold it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hubbub.look.estimate.scale import factors
from hubbub.steps.counts import Integers

Floats = npt.NDArray[np.float64]
NEAR = 1.25
"""Keys of n/NEAR to n NEAR users tell about n …"""
ENOUGH = 100
"""… unless so many have exactly n; where there are fewer, keys up to FURTHER away are asked, and FEWEST anywhere."""
FURTHER, FEWEST = 2.0, 3
PER_DECADE = 20
NEVER = 1e-7
PARTS = 24
LARGE = 20
"""Keys of so many users have a share of their own."""


@dataclass(frozen=True)
class Curve:
    """At each number of users: P(released), and what is counted of such a key after bounding (None: not known)."""

    users: Integers
    chance: Floats
    counted: Floats | None

    def at(self, users: float) -> float:
        """P(released) between the points."""
        return float(np.interp(users, self.users, self.chance))

    def reaches(self, chance: float) -> int | None:
        """The fewest users with at least this chance; None if no key of the log's size has it."""
        above = np.flatnonzero(self.chance >= chance)
        if not above.size:
            return None
        i = int(above[0])
        if i == 0:
            return int(self.users[0])
        low, high = self.chance[i - 1], self.chance[i]
        part = (chance - low) / (high - low)
        return int(np.ceil(self.users[i - 1] + part * (self.users[i] - self.users[i - 1])))


def points(most: int) -> Integers:
    """Numbers of users from 1 to `most`: all of them first, then PER_DECADE for each factor of ten, and 1, 2, 5, …"""
    decades = np.log10(max(most, 1))
    spaced = np.rint(10 ** np.arange(0, decades, 1 / PER_DECADE)).astype(np.int64)
    return np.unique(np.concatenate([spaced, [n for n in series() if n <= most], [most]]).astype(np.int64))


def series(decades: int = 10) -> list[int]:
    """1, 2, 5, 10, 20, 50, …"""
    return [m * 10**k for k in range(decades) for m in (1, 2, 5)]


def by_law(
    at: Integers, users: Integers, counted: Integers, law: Callable[[Floats], Floats], scale: float = 1.0
) -> Curve:
    """Where the chance is a known function of the bounded count, from a log's users and bounded counts.

    At n it is averaged over the log's own keys of about n users, each with the share of its users that bounding leaves.
    In a sample that stands for `scale` times as many users, a key's own share is mostly luck: there the shares of keys
    of about n users have their common mean, the variation between the sample's larger keys, and binomial luck.
    """
    held, left, weight = _pairs(users, counted)
    order = np.log(held * factors(held, scale))
    variation = _variation(held, left, weight) if scale > 1 else 0.0
    chance, counts = np.zeros(at.size), np.zeros(at.size)
    for i, n in enumerate(at.tolist()):
        near = _near(order, weight, n)
        share, keys = left[near] / held[near], weight[near].astype(float)
        if scale > 1:
            share = _shares(n, float(np.average(share, weights=keys * held[near])), variation)
            keys = np.ones(share.size)
        chance[i] = np.average(law(np.rint(share * n)), weights=keys)
        counts[i] = np.average(share * n, weights=keys)
    return Curve(at, np.maximum.accumulate(chance), counts)


def _variation(held: Floats, left: Floats, weight: Integers) -> float:
    """How far shares differ between keys beyond binomial luck, relative to their mean: a squared coefficient."""
    large = held >= LARGE
    if weight[large].sum() < ENOUGH / 2:
        return 0.0
    m, share, keys = held[large], (left / held)[large], weight[large]
    mean = float(np.average(share, weights=keys))
    beyond = float(np.average((share - mean) ** 2 - share * (1 - share) / m, weights=keys))
    return max(0.0, beyond) / max(mean, 1e-9) ** 2


def _shares(n: int, mean: float, variation: float) -> Floats:
    """Shares of n users after bounding: a beta law over keys, a binomial within; quantiles of equal parts of both."""
    from scipy.stats import beta, binom

    parts = (np.arange(PARTS) + 0.5) / PARTS
    mean = min(mean, 1.0)
    variance = min(variation * mean**2, 0.9 * mean * (1 - mean))
    keys = np.full(PARTS, mean)
    if variance > 0:
        size = mean * (1 - mean) / variance - 1
        keys = beta.ppf(parts, mean * size, (1 - mean) * size)
    return np.asarray(binom.ppf(parts[None, :], n, keys[:, None]) / n).ravel()


def _near(order: Floats, weight: Integers, n: int) -> npt.NDArray[np.intp]:
    apart = np.abs(order - np.log(n))
    same: npt.NDArray[np.intp] = np.flatnonzero(apart < 1e-9)
    if weight[same].sum() >= ENOUGH:
        return same
    nearest: npt.NDArray[np.intp] = np.argsort(apart, kind="stable")
    enough = int(np.searchsorted(np.cumsum(weight[nearest]), ENOUGH)) + 1
    inside, further = np.searchsorted(apart[nearest], np.log([NEAR, FURTHER]), side="right").tolist()
    return nearest[: max(inside, min(enough, further), FEWEST)]


def _pairs(users: Integers, counted: Integers) -> tuple[Floats, Floats, Integers]:
    """Distinct pairs (users, counted) of keys that somebody holds, and how many keys have each."""
    somebody = users > 0
    held, which = np.unique(users[somebody], return_inverse=True)
    left, how = np.unique(counted[somebody], return_inverse=True)
    pairs, weight = np.unique(which * left.size + how, return_counts=True)
    return held[pairs // left.size].astype(float), left[pairs % left.size].astype(float), weight


def by_keys(at: Integers, users: Integers, chance: Floats) -> Curve:
    """Where the keys themselves tell: the mean chance (or share of runs) of keys of n users, made to rise with n."""
    somebody = users > 0
    held, where = np.unique(users[somebody], return_inverse=True)
    weight = np.bincount(where).astype(float)
    return rising(at, held, np.bincount(where, weights=chance[somebody]) / weight, weight)


def rising(at: Integers, held: Integers, mean: Floats, weight: Floats) -> Curve:
    """The mean chance of keys of each number of users, `weight` keys each, made to rise with it."""
    from scipy.special import ndtr, ndtri

    if not held.size:
        return Curve(at, np.zeros(at.size), None)
    steep = ndtri(np.clip(isotonic(mean, weight), NEVER, 1 - NEVER))  # straight between normal quantiles, not chances
    between = ndtr(np.interp(np.log(at), np.log(held), steep))
    return Curve(at, np.where(between <= 2 * NEVER, 0.0, np.where(between >= 1 - 2 * NEVER, 1.0, between)), None)


def isotonic(values: Floats, weights: Floats) -> Floats:
    """The rising values nearest to these by weighted squares: neighbours that fall are pooled until none does.

    `scipy.optimize` has it, too, but is slow to load, and a release would load it for this alone.
    """
    pools: list[tuple[float, float, int]] = []  # mean, weight, how many values
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        size = 1
        while pools and pools[-1][0] >= value:
            before, heavy, more = pools.pop()
            value = (before * heavy + value * weight) / (heavy + weight)
            weight, size = heavy + weight, size + more
        pools.append((value, weight, size))
    return np.repeat([pool[0] for pool in pools], [pool[2] for pool in pools])
