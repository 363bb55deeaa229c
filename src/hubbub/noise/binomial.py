"""Binomial(n, p) for an irrational p known by enclosures: how many of n draws would have passed a threshold.

Few trials: compare all n uniforms with p at once, one binary digit a time. At each digit a Binomial(N, 1/2) count,
the popcount of N random bits, of the undecided uniforms differ from p's digit; about two random bits a trial.
Many trials: cut them into groups with at most `GROUP_MEAN` expected successes and invert the exact cumulative table
of a group's count; only as much work as there are successes, so pairs of released keys (10^10) are no trouble.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import numpy as np

from hubbub.noise.bits import Bits
from hubbub.noise.intervals import times_down, times_up
from hubbub.noise.tables import FIRST_PRECISION, NEXT_PRECISION, Bounds, Table
from hubbub.switches import Beyond, switch

Probability = Callable[[int], tuple[int, int]]
"""precision -> (lo, hi) with lo <= 2^precision p <= hi, for a p of at most 1/2."""

FEW_TRIALS = switch(__name__, "FEW_TRIALS", 1 << 20, low=16, beyond=Beyond.DRAWS)
GROUP_MEAN = 64
_POPCOUNT_BLOCK = switch(__name__, "_POPCOUNT_BLOCK", 1 << 26, low=24, beyond=Beyond.DRAWS)
_TABLE_BLOCK = switch(__name__, "_TABLE_BLOCK", 1 << 20, low=3, beyond=Beyond.DRAWS)
_GUARD = 3 * GROUP_MEAN


def binomial(bits: Bits, trials: int, p: Probability) -> int:
    """One exact Binomial(trials, p) draw."""
    return by_digits(bits, trials, p) if trials <= FEW_TRIALS else by_groups(bits, trials, p)


def by_digits(bits: Bits, trials: int, p: Probability) -> int:
    """Success is u < p: at the first binary digit where u and p differ, p has the 1."""
    precision = FIRST_PRECISION
    lo, hi = p(precision)
    successes = 0
    for place in count(1):
        if not trials:
            break
        while place > precision or lo >> (precision - place) != hi >> (precision - place):
            precision += NEXT_PRECISION
            lo, hi = p(precision)
        zeros = trials - fair(bits, trials)
        if lo >> (precision - place) & 1:
            successes += zeros
            trials -= zeros
        else:
            trials = zeros
    return successes


def by_groups(bits: Bits, trials: int, p: Probability) -> int:
    """The sum of independent group counts, each drawn from the table of its own size."""
    size = min(trials, (GROUP_MEAN << FIRST_PRECISION) // max(1, p(FIRST_PRECISION)[1]))
    groups, rest = divmod(trials, size)
    successes = int(Table(group_bounds(rest, p)).draw(bits, 1)[0]) if rest else 0
    table = Table(group_bounds(size, p))
    for start in range(0, groups, _TABLE_BLOCK):
        successes += int(table.draw(bits, min(_TABLE_BLOCK, groups - start)).sum())
    return successes


def fair(bits: Bits, trials: int) -> int:
    """Exact Binomial(trials, 1/2): the number of ones among `trials` random bits."""
    ones = 0
    for start in range(0, trials, _POPCOUNT_BLOCK):
        size = min(_POPCOUNT_BLOCK, trials - start)
        taken = np.frombuffer(bits.take(-(-size // 8)), np.uint8).copy()
        if size % 8:
            taken[-1] &= (1 << size % 8) - 1
        ones += int(np.bitwise_count(taken).sum())
    return ones


def group_bounds(trials: int, p: Probability) -> Bounds:
    """Cumulative Binomial(trials, p): P(0) = (1-p)^n, then P(k+1) = P(k) (n-k)/(k+1) p/(1-p)."""

    def bounds(precision: int) -> tuple[list[int], list[int]]:
        work = precision + _GUARD + trials.bit_length()
        one = 1 << work
        p_lo, p_hi = p(work)
        mass_lo, mass_hi = power_down(one - p_hi, trials, work), power_up(one - p_lo, trials, work)
        shift = work - precision
        sum_lo, sum_hi = mass_lo, mass_hi
        lo, hi = [sum_lo >> shift], [min(1 << precision, -(-sum_hi >> shift))]
        for k in range(trials - 1):
            if mass_hi >> shift == 0 and (k + 1) << work > 2 * trials * p_hi:
                return lo, hi
            mass_lo = mass_lo * (trials - k) * p_lo // ((k + 1) * (one - p_lo))
            mass_hi = -(-mass_hi * (trials - k) * p_hi // ((k + 1) * (one - p_hi)))
            sum_lo, sum_hi = sum_lo + mass_lo, sum_hi + mass_hi
            lo.append(sum_lo >> shift)
            hi.append(min(1 << precision, -(-sum_hi >> shift)))
        return [*lo, 1 << precision], [*hi, 1 << precision]

    return bounds


def power_down(base: int, exponent: int, work: int) -> int:
    """Lower bound of the fixed-point power base^exponent, 0 <= base <= 1."""
    return _power(base, exponent, work, times_down)


def power_up(base: int, exponent: int, work: int) -> int:
    """Upper bound of the fixed-point power base^exponent, 0 <= base <= 1."""
    return _power(base, exponent, work, times_up)


def _power(base: int, exponent: int, work: int, times: Callable[[int, int, int], int]) -> int:
    result = 1 << work
    for digit in bin(exponent)[2:]:
        result = times(result, result, work)
        if digit == "1":
            result = times(result, base, work)
    return result
