"""Bounds that rest on nobody's word: any prices prove one, and it is computed without an error in the wrong direction.

Every row reads Σ r_j x_j <= 1, and every r_j is a multiple of 2^-26, rounded down: all x that satisfy the true row
satisfy this one. Prices are rounded to multiples of 2^-24. Products are then multiples of 2^-50, and double precision
adds these up exactly below 8; a sum that is larger stays above 8, because rounding never reverses an order, and is then
taken for a little less. So s_j = Σ_r y_r r_j is exact or too small, and for all x between low and top, whole or not,

    Σ w_j x_j <= Σ y + Σ_j max{ (w_j − s_j) x_j : low_j <= x_j <= top_j },

whatever solver the prices y >= 0 came from. What is left to add up is rounded up.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import sparse

from hubbub.mechanisms.optimal.published.problem import Floats, Integers

GRAIN, PRICE = 2.0**-26, 2.0**-24
EXACT = 4.0
SURE = 1e-11
"""More than logarithms and quotients in double precision are off by, relatively: 1e-15 or so."""
SUMS = 2.0**-30
"""More than a sum of four million terms >= 0 is off by, relatively."""
DEAREST = 2.0**28


def down(values: Floats) -> Floats:
    """The next multiple of the grain below."""
    return np.floor(values / GRAIN) * GRAIN


def shares(matrix: sparse.csc_array, bound: float) -> sparse.csc_array:
    """Every user's constraint over B, Σ (a_j/B) x_j <= 1, rounded down."""
    rows = matrix.copy()
    rows.data = down(matrix.data * (1 - SURE) / bound)
    return rows


def grained(prices: Floats) -> Floats:
    """Prices as near to these as the arithmetic allows, never below 0."""
    known = np.nan_to_num(prices, nan=0.0, posinf=0.0, neginf=0.0)
    return np.ceil(np.clip(known, 0.0, DEAREST) / PRICE) * PRICE


def left_over(rows: sparse.csc_array, prices: Floats, worth: Floats | float = 1.0) -> Floats:
    """w_j − s_j of every column: exact where s_j is below 4, else rounded up; |w| at most 4, multiples of 2^-50."""
    sums = rows.T @ prices
    left: Floats = np.where(sums < EXACT, worth - sums, np.nextafter(worth - sums * (1 - SUMS), math.inf))
    return left


def proven(prices: Floats, left: Floats, top: Floats, low: Floats | float = 0.0, fixed: float = 0.0) -> float:
    """The bound that these prices prove, and `fixed` more."""
    most = np.nextafter(np.where(left > 0, left * top, left * low), math.inf)
    return math.nextafter(math.fsum([fixed, math.fsum(prices), math.fsum(most)]), math.inf)


def by_part(part: Integers, values: Floats, parts: int) -> Floats:
    """Sums of values >= 0, never too small."""
    sums: Floats = np.bincount(part, values, parts).astype(np.float64) * (1 + SUMS)
    return sums
