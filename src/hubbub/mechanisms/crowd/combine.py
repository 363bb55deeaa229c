"""From released integers to the best counts: post-processing, in floats, of what is already public.

Two estimates of each key's users: the recount (good for heavy keys) and the weight it was selected by (good for
light ones, once the ratio of users to weight has been learned from the recounts). They are combined by inverse
variance. `noise_sd` is the spread of the noise in the combination; bounding and the model come on top.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hubbub.mechanisms.crowd.recount import Recounted
from hubbub.mechanisms.rounds import Selected, Selection

Floats = npt.NDArray[np.float64]
BIN = 60
FEWEST = 20
"""With fewer released keys the ratio cannot be learned: the recount stands alone."""


@dataclass(frozen=True)
class Counted:
    """Estimated users of each released key and the sd of the noise in the estimate."""

    users: npt.NDArray[np.int64]
    noise_sd: Floats


def combine(selected: Selected, plan: Selection, counted: Recounted) -> Counted:
    """Users of each released key."""
    lam = counted.lam.astype(float)
    recounts, variance = counted.sums / lam, counted.variance / lam**2
    factor = kept_factor(recounts, counted)
    recounts, variance = factor * recounts, factor**2 * variance
    if selected.ids.size < FEWEST:
        return Counted(_whole(recounts), np.sqrt(variance))
    means = np.array([float(test.mean) for test in plan.tests])[selected.rounds]
    weights = np.maximum(selected.accumulators / means, 1.0)
    weight_variance = np.array([float(test.variance) for test in plan.tests])[selected.rounds] / means**2
    users, noise2 = np.empty_like(recounts), np.empty_like(recounts)
    for r in np.unique(selected.rounds):
        g = np.flatnonzero(selected.rounds == r)
        ratio = learn_ratio(weights[g], weight_variance[g], recounts[g], variance[g])
        fit, fit_noise = ratio * weights[g], ratio**2 * weight_variance[g]
        spread = model_spread(fit, fit_noise, recounts[g], variance[g])
        fit_variance = fit_noise + spread * fit**2
        share = fit_variance / (variance[g] + fit_variance)
        users[g] = share * recounts[g] + (1 - share) * fit
        noise2[g] = share**2 * variance[g] + (1 - share) ** 2 * fit_noise
    return Counted(_whole(users), np.sqrt(noise2))


def kept_factor(recounts: Floats, counted: Recounted) -> float:
    """How much of what users hold survived the scaling; 1 where the noise in the total is too large to tell."""
    if counted.kept_variance**0.5 > 0.03 * abs(counted.kept):
        return 1.0
    return float(np.clip(counted.kept / max(1.0, float(recounts.sum())), 1.0, 3.0))


def learn_ratio(weights: Floats, weight_variance: Floats, recounts: Floats, variance: Floats) -> Floats:
    """Users per weight as a smooth function of the weight: bins of 60 keys, then a polynomial in log weight."""
    order = np.argsort(weights, kind="stable")
    bins = np.array_split(order, max(1, order.size // BIN))
    at = np.array([np.log(weights[b]).mean() for b in bins])
    ratios = np.array(
        [max(0.5, float(np.sum(recounts[b] / variance[b]) / np.sum(weights[b] / variance[b]))) for b in bins]
    )
    if len(bins) < 5:
        between: Floats = np.maximum(np.interp(np.log(weights), at, ratios), 0.5)
        return between
    precision = np.array(
        [
            weights[b].sum() / np.sqrt((variance[b] + r**2 * weight_variance[b] + (0.2 * r * weights[b]) ** 2).sum())
            for b, r in zip(bins, ratios, strict=True)
        ]
    )
    fit = np.polynomial.Polynomial.fit(at, ratios, 2 if len(bins) >= 12 else 1, w=precision)
    smooth: Floats = np.maximum(fit(np.clip(np.log(weights), at[0], at[-1])), 0.5)
    return smooth


def model_spread(fit: Floats, fit_noise: Floats, recounts: Floats, variance: Floats) -> float:
    """Squared relative spread of users around the fit, from residuals beyond the noise; between 5 % and 60 %."""
    excess = (recounts - fit) ** 2 - variance - fit_noise
    trust = fit**2 / (variance + fit_noise + (0.2 * fit) ** 2) ** 2
    return float(np.clip(np.sum(trust * excess) / np.sum(trust * fit**2), 0.05**2, 0.6**2))


def _whole(users: Floats) -> npt.NDArray[np.int64]:
    return np.maximum(np.rint(users), 1).astype(np.int64)
