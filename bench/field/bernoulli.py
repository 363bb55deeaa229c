"""A chance for each weight instead of noise: after Harrison and Manurangsi (arXiv 2603.09167), one round.

A key of weight w is released with probability π(w), by itself. We have read the abstract alone; what follows is
derived from it. Users bring at most d keys, each with weight 1/√k, k <= d. Take one order α. If for every w, every
such weight x and in both directions

    D_α(Bern(π(w + x)), Bern(π(w))) <= c x²,     and     π(x) <= δ₂ x² for keys that nobody else holds,

then a user whose weights have length at most 1 moves the whole output by at most c Σ x² <= c in D_α, up to δ₂ Σ x²
<= δ₂: the set is δ₂-approximately (α, c)-Rényi private, and (ε, δ₁ + δ₂)-private with c = ε − ln((α − 1)/α) + ln(α
δ₁)/(α − 1) (Canonne, Kamath and Steinke 2020). π is the largest such function on a grid of weights; users' weights
are rounded down to the grid. It publishes no counts: nothing but the coin of each key is drawn.

At (1, 1e-6) an even chance needs a weight of 15.7 where users bring one key each, and the Gaussian threshold is
22.4: under a Zipf law of exponent 1 that is 42 % more keys. Where they bring five or more it needs 24 and gains
next to nothing: many small steps are as dear as noise. Whether the paper's own extension to several keys does
better we cannot tell.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from field.sets import Floats, Generator, Ints, Sets

STEPS = 8
"""Steps of the grid to a weight of 1."""
TINY = 1e-15
HALVINGS = 30


def renyi(log_q: Floats, log_p: Floats, alpha: float) -> Floats:
    """D_α of two coins, given by the logarithms of their chances."""
    other_q, other_p = np.log1p(-np.exp(log_q)), np.log1p(-np.exp(log_p))
    terms = np.logaddexp(alpha * log_q + (1 - alpha) * log_p, alpha * other_q + (1 - alpha) * other_p)
    return terms / (alpha - 1)


def highest(log_p: Floats, room: Floats, alpha: float) -> Floats:
    """ln of the largest q >= p with both divergences within the room, by halving."""
    low, high = log_p.copy(), np.full_like(log_p, math.log1p(-TINY))
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        fits = np.maximum(renyi(middle, log_p, alpha), renyi(log_p, middle, alpha)) <= room
        low, high = np.where(fits, middle, low), np.where(fits, high, middle)
    return low


def room_of(epsilon: float, delta: float, alpha: float) -> float:
    """c: what the coins may cost at order α, half of δ going to the conversion."""
    return epsilon - math.log((alpha - 1) / alpha) + math.log(alpha * delta / 2) / (alpha - 1)


@dataclass(frozen=True)
class Chances:
    """π on the grid, up to the weight at which it is all but certain."""

    alpha: float
    room: float
    each: Floats

    @property
    def even(self) -> float:
        """The weight of an even chance."""
        return float(np.argmax(self.each >= 0.5)) / STEPS


@lru_cache(maxsize=64)
def chances(epsilon: float, delta: float, alpha: float, d: int) -> Chances:
    """The largest π for one order: from each weight that a user may add, the first from keys of one user alone."""
    room = room_of(epsilon, delta, alpha)
    if room <= 0:
        raise ValueError(f"order {alpha:g} leaves nothing at ε = {epsilon:g}")
    lags = np.unique([int(STEPS / math.sqrt(k)) for k in range(1, min(d, STEPS**2) + 1)])
    logs = [-math.inf]
    while logs[-1] < math.log(0.999) and len(logs) < 400 * STEPS:
        j = len(logs)
        lag = lags[lags < j]
        bounds = highest(np.array(logs)[j - lag], room * (lag / STEPS) ** 2, alpha) if lag.size else np.array([])
        own = [math.log(delta / 2 * (j / STEPS) ** 2)] if j <= STEPS else []
        logs.append(min([*bounds.tolist(), *own, math.log1p(-TINY)]))
    return Chances(alpha, room, np.exp(np.array(logs)))


@lru_cache(maxsize=16)
def best(epsilon: float, delta: float, d: int) -> Chances:
    """The order with the lowest weight of an even chance; nothing of it depends on data."""
    orders = 1 + 2 * math.log(1 / delta) / epsilon * np.array([0.7, 0.85, 4.0])
    usable = [float(a) for a in orders if room_of(epsilon, delta, float(a)) > 0]
    return min((chances(epsilon, delta, a, d) for a in usable), key=lambda found: found.even)


def non_additive(sets: Sets, epsilon: float, delta: float, rng: Generator, *, d: int) -> Ints:
    """Weights 1/√k rounded down to the grid, then one coin for each key."""
    table = best(epsilon, delta, d).each
    held = sets.bounded(d, rng)
    scaled = np.bincount(held.keys, weights=np.floor(STEPS / np.sqrt(held.held())), minlength=held.size)
    at = np.minimum(scaled.astype(np.int64), table.size - 1)
    return np.flatnonzero(rng.random(held.size) < table[at])
