"""Gaussian noise for weights of length 1, and the threshold that keys of one user alone must not pass.

The calibration of Gopi et al. 2020: σ for (ε, δ/2), and a threshold at which a user with t keys of her own, each of
weight at most 1/√t, shows one of them with probability at most δ/2. Adaptive rounds share μ² = 1/σ² and the
threshold's δ.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri


def hockey(epsilon: float, mu: float) -> float:
    """δ of a Gaussian shift by μ standard deviations (Balle and Wang 2018)."""
    return float(ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu))


def mu_for(epsilon: float, delta: float) -> float:
    """The largest μ with that δ."""
    return float(brentq(lambda mu: hockey(epsilon, mu) - delta, 1e-4, 50, xtol=1e-12))


def threshold(sigma: float, delta: float, most: int) -> float:
    """max over t = 1, …, most of 1/√t + σ Φ⁻¹((1 − δ)^(1/t))."""
    t = np.arange(1, most + 1)
    return float(np.max(1 / np.sqrt(t) - sigma * ndtri(-np.expm1(np.log1p(-delta) / t))))


def rounds(epsilon: float, delta: float, shares: tuple[float, ...], most: int) -> list[tuple[float, float]]:
    """σ and threshold of each round, μ² and the threshold's δ split by the shares."""
    mu, whole = mu_for(epsilon, delta / 2), sum(shares)
    sigmas = [1 / (mu * math.sqrt(s / whole)) for s in shares]
    return [(sigma, threshold(sigma, delta / 2 * s / whole, most)) for sigma, s in zip(sigmas, shares, strict=True)]
