"""Rules that look at all users at once: weighted Gaussian, DP-SIPS, and MAD in one round and in two.

*Weighted Gaussian* (Gopi et al. 2020; Dick, Joseph and Raman, ICLR 2026, show it near-optimal in missing mass): a
user puts 1/√k on each of her k keys. *DP-SIPS* (Swanberg, Desfontaines, Haney 2023): the same several times, found
keys leave, the budget grows; the ratio 1 : 3 : 9 is from memory. *MAD* (Chen, Cohen-Addad, Epasto, Zadimoghaddam
2025, arXiv 2502.08878): a user of k <= d_max keys puts 1/k on each, weight above τ = ρ + βσ goes back to those who
brought it, who share it out again, 1/d_max of it to each key, and 1/√k − 1/k is added. We know the paper's abstract
and remember the rest. As remembered, its sensitivity exceeds 1 (1.06 for two keys,
`tests/unit/mechanisms/test_field.py`), so what is shared out again is multiplied by 1 − 1/(2√d_max), which is enough
(proof below). *MAD2R* runs it twice: found keys leave, and so do keys whose noisy weight plus `margin` deviations
stays below the second threshold. The paper also biases weights in round 2 by their bounds from round 1; we could
not check how, and left it out.

Why the discount is enough: a new user of k keys raises the excess by b_i <= 1/k on her keys, B in all. Her own part
has length √Σ(1/√k − b_i)² <= 1 − (B/√k)(1 − 1/(2√k)). What is shared out again grows by B in all, and each user
spreads hers over at most d_max keys, so by at most B/√d_max in length; and (1 − 1/(2√d))/√d <= (1 − 1/(2√k))/√k for
k <= d.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from field.gauss import rounds
from field.sets import Floats, Generator, Ints, Sets


def weighted(sets: Sets) -> Floats:
    """1/√k on each of a user's k keys."""
    return sets.weighed(1 / np.sqrt(sets.held()))


def mad(sets: Sets, tau: float, d_max: int, discount: float | None = None) -> Floats:
    """The weights of MAD; `discount` None is the one that keeps the sensitivity at 1."""
    if discount is None:
        discount = 1 - 1 / (2 * math.sqrt(d_max))
    k = sets.held()
    adaptive = k <= d_max
    first = sets.weighed(np.where(adaptive, 1 / k, 0))
    rest = sets.weighed(1 / np.sqrt(k) - np.where(adaptive, 1 / k, 0))
    excess = np.maximum(0, 1 - tau / np.maximum(first, tau))
    back = np.bincount(sets.users, weights=np.where(adaptive, excess[sets.keys] / k, 0))
    again = sets.weighed(np.where(adaptive, back[sets.users], 0) * discount / d_max)
    return np.minimum(first, tau) + again + rest


def present(sets: Sets) -> Ints:
    """The keys that somebody holds."""
    return np.flatnonzero(sets.counts())


def test(weights: Floats, keys: Ints, sigma: float, rng: Generator) -> Floats:
    """Noisy weights of these keys."""
    return weights[keys] + rng.normal(0, sigma, keys.size)


def weighted_gaussian(sets: Sets, epsilon: float, delta: float, rng: Generator, *, d: int) -> Ints:
    """One round of 1/√k."""
    return sips(sets, epsilon, delta, rng, d=d, shares=(1,))


def sips(sets: Sets, epsilon: float, delta: float, rng: Generator, *, d: int, shares: Sequence[float]) -> Ints:
    """Rounds of the weighted Gaussian with growing shares; what was found leaves."""
    left, found = sets.bounded(d, rng), list[Ints]()
    for sigma, level in rounds(epsilon, delta, tuple(shares), d):
        keys = present(left)
        found.append(keys[test(weighted(left), keys, sigma, rng) >= level])
        left = left.only(~left.among(found[-1]))
    return np.concatenate(found)


def mad2r(
    sets: Sets,
    epsilon: float,
    delta: float,
    rng: Generator,
    *,
    d: int,
    d_max: int,
    first: float,
    margin: float,
    beta: float = 2,
) -> Ints:
    """MAD with a share `first` of the budget, then with the rest on what could still pass; `first` 0 is MAD alone."""
    left = sets.bounded(d, rng)
    plan = rounds(epsilon, delta, (first, 1 - first) if first else (1,), d)
    found = list[Ints]()
    for r, (sigma, level) in enumerate(plan):
        keys = present(left)
        noisy = test(mad(left, level + beta * sigma, d_max), keys, sigma, rng)
        found.append(keys[noisy >= level])
        if r + 1 < len(plan):
            stays = (noisy < level) & (noisy + margin * sigma >= plan[-1][1])
            left = left.only(left.among(keys[stays]))
    return np.concatenate(found)
