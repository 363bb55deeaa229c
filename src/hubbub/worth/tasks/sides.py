"""What stands beside the original and the release in a task's scores: a floor, a ceiling, an interval.

    floor      what somebody reaches who has no log at all, by what anybody knows
    ceiling    what nobody can exceed on these questions; of `spelling`, what the words that were meant would reach
    low, high  a 95 % interval of the release's score: other people would have asked other questions

An interval covers the luck of who was asked, or of which texts, pairs or groups where nobody is asked; not that of the
noise: for that, release again or see `hubbub compare`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from hubbub.worth.tasks.graph import Floats, Ints

Z = 1.959963984540054
"""Between −z and z lie 95 % of a standard normal law."""
SPEARMAN = 1.06
"""The variance of Fisher's z of a rank correlation is 1.06 / (n − 3) (Fieller, Hartley and Pearson 1957)."""
HEAD, TORSO = 1_000, 10_000
"""The head are the 1,000 most frequent queries of the original, the torso those up to 10,000, the tail all others."""
BANDS = ("head", "torso", "tail")


def band(places: Ints) -> Ints:
    """Which of the bands a query is in, by its place in the original, from 0; -1 is none at all."""
    return np.where((places >= 0) & (places < HEAD), 0, np.where((places >= 0) & (places < TORSO), 1, 2))


def judged(values: Mapping[str, Floats], weight: Floats | None = None, whose: Ints | None = None) -> dict[str, float]:
    """The mean of each side over questions, each scored from 0 to 1, and the interval of the release's.

    The interval is Wilson's with as many observations as there are people asked (`whose`), fewer where some weigh more:
    no score between 0 and 1 varies more than one that is 0 or 1, so it is rather too wide.
    """
    size = next(iter(values.values())).size
    weight = np.ones(size) if weight is None else weight
    total = float(weight.sum())
    if not total:
        return {}
    found = {side: float((scored * weight).sum() / total) for side, scored in values.items()}
    each = np.bincount(np.unique(whose, return_inverse=True)[1], weight) if whose is not None else weight
    low, high = wilson(found["release"], total**2 / float((each**2).sum()))
    return found | {"low": low, "high": high}


def wilson(share: float, size: float) -> tuple[float, float]:
    """Wilson's 95 % interval of a share among so many observations."""
    middle, room = share + Z**2 / (2 * size), Z * math.sqrt(max(share * (1 - share), 0) / size + Z**2 / (4 * size**2))
    below, above = ((middle + side * room) / (1 + Z**2 / size) for side in (-1, 1))
    return max(0.0, min(below, share)), min(1.0, max(above, share))


def fisher(correlation: float, size: int) -> tuple[float, float]:
    """A 95 % interval of a rank correlation of so many items."""
    if size <= 3:
        return -1.0, 1.0
    at, room = math.atanh(max(-1 + 1e-12, min(1 - 1e-12, correlation))), Z * math.sqrt(SPEARMAN / (size - 3))
    return min(math.tanh(at - room), correlation), max(math.tanh(at + room), correlation)
