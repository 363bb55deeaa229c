"""Rules that take users one after the other: policy Gaussian, policy Laplace, greedy.

Gopi et al. 2020 (DPSU): users come in a random order that does not depend on the data; each sees the weights so far
and brings keys closer to Γ = threshold + α σ. *Policy Gaussian* moves straight at Γ, at most a length of 1. *Policy
Laplace* shares an L1 budget of 1 equally among the keys that have not reached Γ (as we remember its ℓ1 descent).
*Greedy* (Carvalho, Wang, Gondara and Miao, AAAI 2022): the L1 budget fills the keys that the user has most often,
one after the other. Its printed threshold forgets users with several keys of their own; it gets policy Laplace's,
which does not.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from field.gauss import rounds
from field.sets import Floats, Generator, Ints, Sets

Policy = Callable[[Floats, Ints], Floats]


def towards(gaps: Floats, _: Ints) -> Floats:
    """Straight at Γ, at most a length of 1."""
    length = math.sqrt(float(gaps @ gaps))
    return gaps if length <= 1 else gaps / length


def evenly(gaps: Floats, _: Ints) -> Floats:
    """A budget of 1 in equal parts over keys whose gap is open: min(gap, x), with x such that they sum to 1."""
    if gaps.sum() <= 1:
        return gaps
    order = np.sort(gaps)
    below = np.concatenate([[0.0], np.cumsum(order)[:-1]])
    open_ = np.arange(gaps.size, 0, -1)
    full = below + open_ * order >= 1
    at = int(np.argmax(full))
    share: Floats = np.minimum(gaps, (1 - below[at]) / open_[at])
    return share


def most_frequent(gaps: Floats, times: Ints) -> Floats:
    """A budget of 1 for the user's most frequent keys first."""
    order = np.argsort(-times, kind="stable")
    spent = np.concatenate([[0.0], np.cumsum(gaps[order])[:-1]])
    out = np.empty_like(gaps)
    out[order] = np.clip(1 - spent, 0, gaps[order])
    return out


def gathered(sets: Sets, gamma: float, policy: Policy, rng: Generator) -> Floats:
    """What every key has gathered after the last user."""
    weights = np.zeros(sets.size)
    starts = np.flatnonzero(np.r_[True, sets.users[1:] != sets.users[:-1]])
    ends = np.r_[starts[1:], sets.users.size]
    for user in rng.permutation(starts.size):
        row = slice(starts[user], ends[user])
        keys = sets.keys[row]
        weights[keys] += policy(np.maximum(0.0, gamma - weights[keys]), sets.times[row])
    return weights


def laplace_threshold(scale: float, delta: float, most: int) -> float:
    """max over t of 1/t + b ln(1/(2 (1 − (1 − δ)^(1/t))))."""
    t = np.arange(1, most + 1)
    return float(np.max(1 / t - scale * np.log(-2 * np.expm1(np.log1p(-delta) / t))))


def policy_gaussian(sets: Sets, epsilon: float, delta: float, rng: Generator, *, d: int, alpha: float) -> Ints:
    """L2: σ and threshold of the weighted Gaussian."""
    sigma, level = rounds(epsilon, delta, (1,), d)[0]
    weights = gathered(sets.bounded(d, rng), level + alpha * sigma, towards, rng)
    return _noisy(weights, level, rng.normal(0, sigma, weights.size))


def policy_laplace(sets: Sets, epsilon: float, delta: float, rng: Generator, *, d: int, alpha: float) -> Ints:
    """L1: noise of scale 1/ε."""
    return _laplace(sets, epsilon, delta, rng, d, alpha, evenly)


def greedy(sets: Sets, epsilon: float, delta: float, rng: Generator, *, d: int, alpha: float) -> Ints:
    """L1, the user's most frequent keys first; ties at random."""
    return _laplace(sets, epsilon, delta, rng, d, alpha, most_frequent)


def _laplace(sets: Sets, epsilon: float, delta: float, rng: Generator, d: int, alpha: float, policy: Policy) -> Ints:
    level = laplace_threshold(1 / epsilon, delta, d)
    weights = gathered(sets.bounded(d, rng), level + alpha / epsilon, policy, rng)
    return _noisy(weights, level, rng.laplace(0, 1 / epsilon, weights.size))


def _noisy(weights: Floats, level: float, noise: Floats) -> Ints:
    return np.flatnonzero((weights > 0) & (weights + noise >= level))
