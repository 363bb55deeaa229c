"""The paper's own formulas, on real numbers as printed: equation (2), its turning points, its Table 3.

They are what the paper claims. What holds is in docs/proofs/safelog.md: the exact cost of the selection with an
independent secret pool is q_f/b + q_f ln(1/p_g), which has no turning point.
"""

from __future__ import annotations

import math

TABLE_3 = {10: 4.27, 50: 21.36, 100: 42.73, 150: 64.09, 200: 85.45}
"""q_f = c_f and the printed ε, for K = b = b_q = b_c = 10; the transitions' term is left out of it."""

FIGURE_5 = {
    1.0: {10: 6.88, 30: 14.43, 50: 20.74, 100: 34.57, 500: 121.41},
    0.95: {10: 7.98, 30: 18.13, 50: 27.46, 100: 49.93, 500: 224.62},
}
"""By p_g and K: the b at which equation (2) is smallest, to two digits."""


def log_alpha(b: float, K: float, p_g: float = 1.0) -> float:
    """ln α of equation (2): max{1/b + ln(1/p_g), −ln(1 − ½e^((1−K)/b))}.

    The paper writes the second as ln(1 + 1/(2e^((K−1)/b) − 1)), which is the same.
    """
    return max(1 / b - math.log(p_g), -math.log1p(-0.5 * math.exp((1 - K) / b)))


def epsilon(
    *,
    q_f: int,
    b: float,
    K: float,
    b_q: float,
    p_g: float = 1.0,
    c_f: int = 0,
    b_c: float = math.inf,
    b_t: float = math.inf,
) -> float:
    """Equation (2): q_f ln α + q_f/b_q + c_f/b_c + (q_f − 1)/b_t; what is not released has an infinite scale."""
    return q_f * log_alpha(b, K, p_g) + q_f / b_q + c_f / b_c + (q_f - 1) / b_t


def exact_selection(q_f: int, b: float, p_g: float = 1.0) -> float:
    """What the selection costs with an independent, secret pool and no filter before it: q_f/b + q_f ln(1/p_g)."""
    return q_f / b - q_f * math.log(p_g)


def table_3(limit: int) -> float:
    """The paper's Table 3 at q_f = c_f = limit."""
    return epsilon(q_f=limit, c_f=limit, b=10, K=10, b_q=10, b_c=10)


def turning_point(K: float, p_g: float = 1.0) -> float | None:
    """The b at which both entries of α agree, where equation (2) is smallest in b; None if the first always leads."""
    from scipy.optimize import brentq

    def lead(b: float) -> float:
        return 1 / b - math.log(p_g) + math.log1p(-0.5 * math.exp((1 - K) / b))

    low, high = 1e-3, 1e12
    return float(brentq(lead, low, high, xtol=1e-12)) if lead(high) < 0 else None
