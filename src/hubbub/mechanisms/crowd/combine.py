"""From released integers to the best counts: post-processing, in floats, of what is already public.

Two estimates of each key's users: the recount (good for heavy keys) and the weight it was selected by (good for
light ones, once the ratio of users to weight has been learned from the recounts). They are combined by inverse
variance. `noise_sd` is the deviation of the noise in the combination, the noise in the ratio and in the kept total
included; bounding and the model come on top (see docs/proofs/crowd.md).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from hubbub.mechanisms.crowd.recount import Recounted
from hubbub.mechanisms.rounds import Selected, Selection
from hubbub.switches import Beyond, switch

Floats = npt.NDArray[np.float64]
BIN = switch(__name__, "BIN", 60, low=1, beyond=Beyond.AMOUNT)
FEWEST = switch(__name__, "FEWEST", 20, low=2, beyond=Beyond.AMOUNT)
"""With fewer released keys the ratio cannot be learned: the recount stands alone."""
PRECISE = 0.06
"""Counts are scaled by the kept total where the noise in that is below this share of it."""
ROUNDING = 1 / 12
"""Variance of rounding to whole users."""


def enough(keys: int) -> bool:
    """Whether so many released keys tell something together."""
    return keys >= FEWEST


@dataclass(frozen=True)
class Counted:
    """Estimated users of each released key and the sd of the noise in the estimate."""

    users: npt.NDArray[np.int64]
    noise_sd: Floats


@dataclass(frozen=True)
class Ratio:
    """Users per weight at each key, its change with log weight, and the variance of the noise in it.

    `own` is the covariance of that noise with the noise of the key's own recount, from which it was learned, too.
    """

    value: Floats
    slope: Floats
    noise: Floats
    own: Floats


def combine(selected: Selected, plan: Selection, counted: Recounted) -> Counted:
    """Users of each released key: to the last bit a function of the released numbers, whatever the order of the ids."""
    alike = selected.rounds if selected.alike is None else selected.alike
    told = np.stack((counted.lam, counted.sums, selected.accumulators, selected.rounds, alike))
    order = np.lexsort(told)
    accumulators, rounds = selected.accumulators[order], selected.rounds[order]
    chosen = Selected(selected.ids[order], accumulators, rounds, alike=alike[order])
    users, noise2 = _estimates(chosen, plan, replace(counted, sums=counted.sums[order], lam=counted.lam[order]))
    back = np.argsort(order)
    whole = np.maximum(np.rint(users), 1).astype(np.int64)
    noise_sd: Floats = _alike(told[:, order], np.rint(1000 * np.sqrt(noise2 + ROUNDING)) / 1000)
    return Counted(whole[back], noise_sd[back])


def _alike(told: npt.NDArray[np.int64], noise_sd: Floats) -> Floats:
    """Keys with the same released numbers get one sd, their largest: two bins may part them by their ids."""
    if not noise_sd.size:
        return noise_sd
    first = np.flatnonzero(np.r_[True, (told[:, 1:] != told[:, :-1]).any(axis=0)])
    return np.repeat(np.maximum.reduceat(noise_sd, first), np.diff(np.r_[first, noise_sd.size]))


def alone(counted: Recounted) -> Counted:
    """Where nothing was selected there are no weights: the recount by itself."""
    lam = counted.lam.astype(float)
    recounts, variance = counted.sums / lam, counted.variance / lam**2
    factor, factor_noise = kept_factor(recounts, variance, counted)
    users = factor * recounts
    return Counted(
        np.maximum(np.rint(users), 1).astype(np.int64),
        np.rint(1000 * np.sqrt(factor**2 * variance + factor_noise * users**2 + ROUNDING)) / 1000,
    )


def _estimates(selected: Selected, plan: Selection, counted: Recounted) -> tuple[Floats, Floats]:
    lam = counted.lam.astype(float)
    recounts, variance = counted.sums / lam, counted.variance / lam**2
    factor, factor_noise = kept_factor(recounts, variance, counted)
    recounts, variance = factor * recounts, factor**2 * variance
    if not enough(selected.ids.size):
        return recounts, variance + factor_noise * recounts**2
    means = np.array(plan.means, float)[selected.rounds]
    weights = np.maximum(selected.accumulators / means, 1.0)
    weight_variance = np.array(plan.gathered, float)[selected.rounds] / means**2
    alike = selected.rounds if selected.alike is None else selected.alike
    ratio = _of_alike(alike, weights, weight_variance, recounts, variance)
    fit = ratio.value * weights
    ratio_noise = ratio.noise * weights**2
    fit_noise = ratio.value**2 * weight_variance + ratio_noise
    fit_variance = fit_noise + model_variance(fit, fit_noise, recounts, variance) * fit**2
    share = fit_variance / (variance + fit_variance)
    users = share * recounts + (1 - share) * fit
    moved = (ratio.value + ratio.slope) ** 2 * weight_variance
    both = share * (1 - share) * weights * ratio.own
    noise2 = share**2 * variance + 2 * both + (1 - share) ** 2 * (moved + ratio_noise)
    return users, noise2 + factor_noise * users**2


def _of_alike(
    alike: npt.NDArray[np.int64], weights: Floats, weight_variance: Floats, recounts: Floats, variance: Floats
) -> Ratio:
    """Keys that left in different rounds gathered their weight among different rivals: each round has its own ratio.

    So has each class of cells, which weighs in its own way.
    """
    parts = np.empty((4, alike.size))
    for one in np.unique(alike):
        g = np.flatnonzero(alike == one)
        learned = learn_ratio(weights[g], weight_variance[g], recounts[g], variance[g])
        parts[:, g] = learned.value, learned.slope, learned.noise, learned.own
    return Ratio(*parts)


def kept_factor(recounts: Floats, variance: Floats, counted: Recounted) -> tuple[float, float]:
    """How much of what users hold survived the scaling, and the relative variance of the noise in that.

    1 where the noise in the total is too large to tell.
    """
    if counted.kept_variance**0.5 > PRECISE * abs(counted.kept):
        return 1.0, 0.0
    whole = max(1.0, float(recounts.sum()))
    noise = counted.kept_variance / counted.kept**2 + float(variance.sum()) / whole**2
    return float(np.clip(counted.kept / whole, 1.0, 3.0)), noise


def learn_ratio(weights: Floats, weight_variance: Floats, recounts: Floats, variance: Floats) -> Ratio:
    """Bins of 60 keys, then a polynomial in log weight; with fewer than 5 bins, straight lines between them."""
    order = np.argsort(weights, kind="stable")
    bins = np.array_split(order, max(1, order.size // BIN))
    at = np.array([np.log(weights[b]).mean() for b in bins])
    below = np.array([np.sum(weights[b] / variance[b]) for b in bins])
    ratios = np.maximum(np.array([np.sum(recounts[b] / variance[b]) for b in bins]) / below, 0.5)
    own = np.array([np.sum(1 / variance[b]) for b in bins])
    own += ratios**2 * np.array([np.sum(weight_variance[b] / variance[b] ** 2) for b in bins])
    x = np.clip(np.log(weights), at[0], at[-1])
    if len(bins) < 5:  # a hat over each bin; too few to tell a slope from noise
        basis, solve = np.stack([np.interp(x, at, hat) for hat in np.eye(len(bins))], axis=1), np.eye(len(bins))
        slopes = np.zeros_like(basis)
    else:
        precision = np.array(
            [
                weights[b].sum() / np.sqrt(np.sum(variance[b] + r**2 * (weight_variance[b] + 0.04 * weights[b] ** 2)))
                for b, r in zip(bins, ratios, strict=True)
            ]
        )
        powers, middle = np.arange(3 if len(bins) >= 12 else 2), (at[0] + at[-1]) / 2
        basis = (x - middle)[:, None] ** powers
        slopes = powers * (x - middle)[:, None] ** np.maximum(powers - 1, 0)
        solve = np.linalg.pinv(precision[:, None] * (at - middle)[:, None] ** powers) * precision
    covariance = (solve * (own / below**2)) @ solve.T
    place = np.empty(order.size, np.int64)
    place[order] = np.repeat(np.arange(len(bins)), [b.size for b in bins])
    return Ratio(
        value=np.maximum(basis @ (solve @ ratios), 0.5),
        slope=slopes @ (solve @ ratios),
        noise=np.einsum("ij,jk,ik->i", basis, covariance, basis),
        own=np.maximum((basis @ solve)[np.arange(order.size), place] / below[place], 0.0),
    )


def model_variance(fit: Floats, fit_noise: Floats, recounts: Floats, variance: Floats) -> float:
    """Squared relative deviation of users around the fit, from residuals beyond the noise; between 5 % and 60 %.

    One number for all rounds: the keys of one round of a small table are too few to tell it from noise.
    """
    excess = (recounts - fit) ** 2 - variance - fit_noise
    trust = fit**2 / (variance + fit_noise + (0.2 * fit) ** 2) ** 2
    return float(np.clip(np.sum(trust * excess) / np.sum(trust * fit**2), 0.05**2, 0.6**2))
