"""Keys of a closed domain that nobody holds: which of them pass the rounds of a selection, when, and with what.

Such a key gathers noise alone: in round r its accumulator grows by a discrete Gaussian of variance m_r V; at or above
thresholds[r] it leaves with what it has, else below drops[r] it is gone. Keys are independent and alike, so only those
that leave need to exist. Two forms of the same law:

    direct   runs the rounds for every key: about 1.5 draws per key
    thinned  draws how many keys are *candidates* to leave in each round, then each candidate's past, backwards from
             the round it leaves in; a candidate whose past is impossible or unlucky is none. Work grows with the keys
             that leave, not with the domain.

Why `thinned` is exact, as an identity: docs/proofs/noise.md, section 6. Rounds count from 0 here, from 1 there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from math import ceil, floor, isqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hubbub.errors import OurBug
from hubbub.noise import scalar
from hubbub.noise.binomial import Probability, binomial
from hubbub.noise.bits import Bits
from hubbub.noise.gaussian import discrete_gaussian
from hubbub.noise.intervals import exp_neg_bounds, pi_bounds
from hubbub.noise.subset import choose, shuffled
from hubbub.noise.tables import FIRST_PRECISION
from hubbub.switches import Beyond, switch

Integers = npt.NDArray[np.int64]

DIRECT_UP_TO = switch(__name__, "DIRECT_UP_TO", 1 << 22, low=0, beyond=Beyond.DRAWS)
"""Domains up to this size take well below a second in the direct form, which is the simpler one."""

RARE = Fraction(1, 1 << 10)
"""A candidate costs as much as 500 to 1000 keys of the direct form; above this many per key, direct is cheaper."""

CHUNK = switch(__name__, "CHUNK", 1 << 17, low=5000, beyond=Beyond.DRAWS)
_GUARD = 64


class Exits(NamedTuple):
    """The keys that leave, by rank: in which round (from 0), with which accumulator."""

    ranks: Integers
    rounds: Integers
    accumulators: Integers


_NOBODY = Exits(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64))


@dataclass(frozen=True)
class Rounds:
    """What a key goes through. Rounds beyond the last drop drop nothing."""

    multiples: tuple[int, ...]
    variance: int
    thresholds: tuple[int, ...]
    drops: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.multiples) != len(self.thresholds) or len(self.drops) > len(self.thresholds):
            raise OurBug(f"absent keys: a threshold per round and no more drops than rounds, not {self}")
        if self.variance < 1 or min((*self.multiples, *self.thresholds), default=1) < 1:
            raise OurBug(f"absent keys: variance, multiples and thresholds must be positive, not {self}")

    @property
    def totals(self) -> tuple[int, ...]:
        """C_r = m_0 + ... + m_r: the accumulator's noise has variance C_r V."""
        return tuple(accumulate(self.multiples))

    def bridge(self, r: int) -> Fraction:
        """v_r = V C_(r-1) m_r / C_r: the variance of the accumulator before round r, given the one after it."""
        return Fraction(self.variance * self.totals[r - 1] * self.multiples[r], self.totals[r])

    def goes_on(self, r: int, accumulator: int) -> bool:
        """After round r the key is neither out nor gone."""
        return accumulator < self.thresholds[r] and (r >= len(self.drops) or accumulator >= self.drops[r])


def exits(bits: Bits, absent: int, rounds: Rounds) -> Exits:
    """For `absent` keys that nobody holds: which leave (distinct ranks of range(absent), sorted), when, with what.

    The size of the domain and the parameters choose the form; the law is the same.
    """
    if absent < 0:
        raise OurBug(f"{absent} absent keys")
    if absent <= DIRECT_UP_TO or candidates_per_key(rounds) > RARE:
        return direct(bits, absent, rounds)
    return thinned(bits, absent, rounds)


def direct(bits: Bits, absent: int, rounds: Rounds) -> Exits:
    """The definition: every key, round by round, in chunks."""

    def draw(variance: int, size: int) -> Integers:
        return discrete_gaussian(variance).draw(bits, size)

    chunks = (np.arange(start, min(start + CHUNK, absent)) for start in range(0, absent, CHUNK))
    parts = [_NOBODY, *(walk(ranks, rounds, draw) for ranks in chunks)]
    return Exits(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def walk(ranks: Integers, rounds: Rounds, draw: Callable[[int, int], Integers]) -> Exits:
    """These keys through the rounds, with noise from draw(variance, size)."""
    passed_in = np.full(ranks.size, -1, np.int64)
    accumulators = np.zeros(ranks.size, np.int64)
    live = np.arange(ranks.size)
    for r, multiple in enumerate(rounds.multiples):
        now = accumulators[live] + draw(multiple * rounds.variance, live.size)
        accumulators[live] = now
        passes = now >= rounds.thresholds[r]
        passed_in[live[passes]] = r
        live = live[~passes & (now >= rounds.drops[r])] if r < len(rounds.drops) else live[~passes]
    out = np.flatnonzero(passed_in >= 0)
    return Exits(ranks[out], passed_in[out], accumulators[out])


def thinned(bits: Bits, absent: int, rounds: Rounds) -> Exits:
    """The same law from candidates: how many for each round, which of them hold, and only then which keys they are."""
    if candidates_per_key(rounds) > Fraction(1, 2):
        raise OurBug(f"absent keys pass too often to be thinned: {rounds}")
    left, leaving = absent, []
    for r in range(len(rounds.multiples)):
        candidates = binomial(bits, left, candidate_of_the_rest(rounds, r))  # the multinomial, one count at a time
        left -= candidates
        pasts = (candidate(bits, rounds, r) for _ in range(candidates))
        leaving += [(r, accumulator) for accumulator in pasts if accumulator is not None]
    values = np.array(leaving, np.int64).reshape(-1, 2)[shuffled(bits, len(leaving))]
    return Exits(choose(bits, absent, len(leaving)), values[:, 0], values[:, 1])


def candidate(bits: Bits, rounds: Rounds, r: int) -> int | None:
    """The accumulator with which a candidate leaves in round r, or None: it is refused, or was out or gone before."""
    threshold, variance = rounds.thresholds[r], rounds.totals[r] * rounds.variance
    excess = scalar.geometric(bits, Fraction(threshold, variance))
    if not scalar.exp_neg(bits, Fraction(excess * excess, 2 * variance)):
        return None
    accumulator = threshold + excess
    for j in range(r, 0, -1):
        centre = Fraction(accumulator * rounds.totals[j - 1], rounds.totals[j])
        before = scalar.attempt(bits, centre, rounds.bridge(j))
        if before is None or not rounds.goes_on(j - 1, before):
            return None
        accumulator = before
    return threshold + excess


@lru_cache(maxsize=64)
def candidate_bounds(rounds: Rounds, precision: int) -> tuple[tuple[int, int], ...]:
    """lo <= 2^precision q_r <= hi, the chance that a key is a candidate of round r:

    q_r = exp(-Θ_r²/(2S)) / ((1 - exp(-Θ_r/S)) Π_(j<=r) Z(m_j V) Π_(0<j<=r) K(v_j)),  S = C_r V.
    """
    work = precision + _GUARD + 2 * (rounds.variance * sum(rounds.multiples)).bit_length()
    one = 1 << work
    scale_lo = scale_hi = Fraction(1)
    bounds = []
    for r, threshold in enumerate(rounds.thresholds):
        variance = rounds.totals[r] * rounds.variance
        z_lo, z_hi = normaliser_bounds(rounds.multiples[r] * rounds.variance, work)
        k_lo, k_hi = scalar.attempt_bounds(rounds.bridge(r), work) if r else (Fraction(1), Fraction(1))
        scale_lo, scale_hi = scale_lo * z_lo * k_lo, scale_hi * z_hi * k_hi
        peak_lo, peak_hi = exp_neg_bounds(Fraction(threshold**2, 2 * variance), work)
        step_lo, step_hi = exp_neg_bounds(Fraction(threshold, variance), work)
        q_lo, q_hi = peak_lo / ((one - step_lo) * scale_hi), peak_hi / ((one - step_hi) * scale_lo)
        bounds.append((floor(q_lo * (1 << precision)), ceil(q_hi * (1 << precision))))
    return tuple(bounds)


def candidates_per_key(rounds: Rounds) -> Fraction:
    """Σ q_r, rounded up."""
    return Fraction(sum(hi for _, hi in candidate_bounds(rounds, FIRST_PRECISION)), 1 << FIRST_PRECISION)


def candidate_of_the_rest(rounds: Rounds, r: int) -> Probability:
    """q_r / (1 - q_0 - ... - q_(r-1)): the chance of a key that is no candidate of an earlier round."""

    def chance(precision: int) -> tuple[int, int]:
        bounds = candidate_bounds(rounds, precision)
        one = 1 << precision
        rest_hi, rest_lo = one - sum(lo for lo, _ in bounds[:r]), one - sum(hi for _, hi in bounds[:r])
        return bounds[r][0] * one // rest_hi, -(-bounds[r][1] * one // rest_lo)

    return chance


def normaliser_bounds(variance: int, precision: int) -> tuple[Fraction, Fraction]:
    """lo <= Z <= hi for Z = Σ_x exp(-x²/(2S)) = sqrt(2πS) (1 + 2 Σ_(k>0) exp(-2π²S k²)), S >= 1 (Poisson).

    Each term is far less than half the one before it, so those after a term of one unit add up to less than a unit.
    """
    one = 1 << precision
    pi_lo, pi_hi = pi_bounds(precision)
    root_lo, root_hi = isqrt(2 * pi_lo * variance << precision), isqrt(2 * pi_hi * variance << precision) + 1
    sum_lo = sum_hi = one
    k, term_hi = 0, one
    while term_hi > 1:
        k += 1
        term_hi = exp_neg_bounds(2 * variance * (k * Fraction(pi_lo, one)) ** 2, precision)[1]
        sum_lo += 2 * exp_neg_bounds(2 * variance * (k * Fraction(pi_hi, one)) ** 2, precision)[0]
        sum_hi += 2 * term_hi
    return Fraction(root_lo * sum_lo, one * one), Fraction(root_hi * (sum_hi + 2), one * one)
