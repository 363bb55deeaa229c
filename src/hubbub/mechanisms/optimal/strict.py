"""Synthetic users from two noisy histograms: the paper's three goals, with what is released in place of the log.

Privacy is paid for by then, so no user's constraint is left to keep. What limits the log is what was released: h_j, the
noisy number of users of pair j, H in all, and C, the clicks that the noisy activity allows. Each goal is solved
exactly: no log within these limits is larger, more diverse or more faithful.

    size       |O| = min(H, C) rows: h_j of each pair, or in proportion if C is less than H
    frequent   |O| = O rows, at most min(H, C), in proportion: largest remainders minimise Σ |x_j/|O| − h_j/H|
    diverse    one row of each pair (of the most frequent C, if there are more)
"""

from __future__ import annotations

import numpy as np

from hubbub.mechanisms.base import Released
from hubbub.mechanisms.optimal.histograms import starts
from hubbub.mechanisms.optimal.published.certificate import Certificate
from hubbub.mechanisms.optimal.published.problem import Integers
from hubbub.mechanisms.optimal.sample import shuffled
from hubbub.noise import NoiseSource
from hubbub.switches import Beyond, switch

BELIEVED = 2.0
"""A bin that is not above its noise by this many standard deviations counts as empty."""
MOST_ROWS = switch(__name__, "MOST_ROWS", 20_000_000, low=50, beyond=Beyond.AMOUNT)
"""If noise makes more than this, there are fewer rows: no outcome may fill the memory."""


def synthetic_users(busy: Released, bins: int, noise: NoiseSource) -> Integers:
    """The clicks of each synthetic user: as many per bin as its noisy count says, evenly inside the bin."""
    least = np.array(starts(bins))
    widths = np.append(np.diff(least), 1)
    noisy = np.zeros(bins, np.int64) if busy.values is None else busy.values
    users = np.where(noisy > BELIEVED * np.asarray(busy.noise_sd, np.float64), noisy, 0)
    most = int(users @ (least + widths))
    users = users if most <= MOST_ROWS else users * MOST_ROWS // most
    bin_of = np.repeat(np.arange(bins), users)
    return least[bin_of] + noise.below("clicks of users", widths[bin_of])


def apportion(weights: Integers, total: int) -> Integers:
    """`total` rows in proportion to the weights, by largest remainders; ties in the given order."""
    shares = [int(w) * total for w in weights.tolist()]
    whole = int(weights.sum())
    x = np.array([share // whole for share in shares], np.int64)
    rest = np.array([-(share % whole) for share in shares], dtype=object)
    x[np.argsort(rest, kind="stable")[: total - int(x.sum())]] += 1
    return x


def solve_released(goal: str, weights: Integers, clicks: int, size: int | None) -> tuple[Integers, Certificate]:
    """x for the released pairs, in the order they are given in, and what it is worth."""
    if not weights.size or not clicks:
        return np.zeros(weights.size, np.int64), Certificate(goal, 0, 0, 0, 0, 0, "nothing reached the threshold")
    if goal == "diverse":
        x = np.zeros(weights.size, np.int64)
        x[np.argsort(-weights, kind="stable")[:clicks]] = 1
        return x, Certificate(goal, int(x.sum()), min(weights.size, clicks), int(x.sum()), int(x.sum()), 0)
    most = min(int(weights.sum()), clicks)
    rows = most if size is None else min(size, most)
    x = apportion(weights, rows)
    pairs = int((x > 0).sum())
    if goal == "size":
        return x, Certificate(goal, rows, most, rows, pairs, 0)
    worth = 1 - float(np.abs(x / rows - weights / weights.sum()).sum()) / 2
    note = "" if size is None or rows == size else f"the noisy histograms allow {rows} of the {size} rows asked for"
    return x, Certificate(goal, worth, worth, rows, pairs, 0, note)


def deal(x: Integers, activity: Integers, noise: NoiseSource) -> tuple[Integers, Integers]:
    """Give the rows to the synthetic users' clicks at random: (place of the pair, number of the user)."""
    pairs = np.repeat(np.arange(x.size), x)
    slots = np.repeat(np.arange(1, activity.size + 1), activity)
    return pairs, slots[shuffled(slots.size, "rows of users", noise)[: pairs.size]]
