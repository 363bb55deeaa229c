"""What a release would keep, at once: closed forms and one small simulation over the sketch of a log.

Every threshold is the mechanism's own calibration. Laplace and unit Gaussian noise have exact laws; the rounds of a
selection are followed for each key looked at, with the expected share of a user's other keys still in the running.
How far this is from `hubbub estimate` is checked by the tests, and said beside every number: `TOLERANCE`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from scipy.special import ndtri

from hubbub.look.estimate.curve import Floats, by_keys, points
from hubbub.look.estimate.result import Error, TableEstimate, error_of, volume_of
from hubbub.mechanisms import Mechanism
from hubbub.mechanisms.crowd.calibrate import closed
from hubbub.mechanisms.crowd.combine import FEWEST, combine
from hubbub.mechanisms.crowd.recount import Recounted, length2, scales
from hubbub.mechanisms.rounds import Selected, Selection
from hubbub.mechanisms.survival import LaplaceTest, RoundsTest
from hubbub.studio.sketch import Ints, Sketch, Small

TOLERANCE = 0.15
"""Expected rows are within this share of `hubbub estimate`, or within TOLERANCE_ROWS, on the logs of the tests."""
TOLERANCE_ROWS = 5
PATHS, FOLLOWED = (4, 32), 60_000
"""How often each key is followed through the rounds: oftener where there are few."""
IRRATIONAL = (math.sqrt(2), math.sqrt(3), math.sqrt(5), math.sqrt(7), math.sqrt(11))
NORMAL_95 = 1.96
ENOUGH = 500
"""From so many rows on, one path tells their error."""
RECOUNT = 40
"""Numbers the draws of the recount, after those of every round."""


def estimate(mechanism: Mechanism, sketches: Mapping[str, Sketch]) -> dict[str, TableEstimate]:
    """The tables whose law of survival the mechanism declares, queries before what hangs on them."""
    tables: dict[str, TableEstimate] = {}
    for name, law in mechanism.survival().items():
        if (sketch := sketches.get(name)) is not None:
            if isinstance(law, LaplaceTest):
                tables[name] = _laplace(law, sketch)
            else:
                tables[name] = _unit(law, sketch) if law.unit else _rounds(law, sketch, tables.get("queries"))
    return {name: tables[name] for name in mechanism.tables if name in tables}


# ------------------------------------------------------------------ one noise, one threshold


def _laplace(law: LaplaceTest, sketch: Sketch) -> TableEstimate:
    """Exact but for which of a user's keys a random bound keeps."""
    counted = kept(sketch, law.limit, first=law.first)[0]
    moments = law.moments(np.rint(counted))
    return _tested(sketch, counted, moments, law.limit, law.variance, law.half_width)


def _unit(law: RoundsTest, sketch: Sketch) -> TableEstimate:
    """Unit weights and Gaussian noise; the luck of the bound adds its own variance."""
    counted, luck = kept(sketch, law.plan.limit, first=False)
    sd = math.sqrt(law.plan.variances[0]) / law.plan.unit
    return _tested(sketch, counted, law.normal(counted, luck), law.plan.limit, sd**2, NORMAL_95 * sd)


def _tested(
    sketch: Sketch, counted: Floats, moments: tuple[Floats, Floats, Floats], limit: int, variance: float, width: float
) -> TableEstimate:
    chance, first, second = (moment * sketch.stands for moment in moments)
    error = error_of(sketch.users.astype(float), counted, chance, first, second, variance)
    return _table(sketch, counted, moments[0], sketch.cut(limit), error, width)


def kept(sketch: Sketch, limit: int, *, first: bool) -> tuple[Floats, Floats]:
    """How many users of each key still count if each keeps so many keys: the mean, and the luck of it (a variance)."""
    if first:
        return sketch.sums((sketch.place <= limit).astype(float)), np.zeros(sketch.users.size)
    share = np.minimum(1.0, limit / np.maximum(sketch.degree, 1))[sketch.holder]
    return sketch.sums(share), sketch.sums(share * (1 - share))


# ------------------------------------------------------------------ selection in rounds


@dataclass(frozen=True)
class Followed:
    """Of each key looked at: the chance to be released; and on every path when it was, and with what it had by then."""

    chance: Floats
    rounds: Ints
    """Paths by keys; −1: not released."""
    gathered: Ints


def follow(sketch: Sketch, plan: Selection, start: Floats | None = None) -> Followed:
    """The rounds of `mechanisms.rounds.select`. `start`: the chance that a key is in the running at all."""
    size = sketch.users.size
    present = np.ones(size) if start is None else start
    degree = np.maximum(sketch.of_people(_by_bin(sketch, present)), np.float32(1))  # her keys in the running
    pooled = np.minimum(np.float32(1), np.float32(plan.limit) / degree)
    share = pooled[sketch.holder]
    many = (min(max(FOLLOWED // max(size, 1), PATHS[0]), PATHS[1]), size)
    gathered, alive = np.zeros(many), np.ones(many, bool)
    when, at_exit = np.full(many, -1), np.zeros(many)
    for r, multiple in enumerate(plan.multiples):
        live = present * alive.mean(axis=0)
        weight = sketch.sums(share / np.sqrt(_rivals(sketch, live, pooled)))
        now = multiple * plan.unit * weight + math.sqrt(plan.variances[r]) * _normal(many, r)
        if plan.recycled:
            now += gathered
        passes = alive & (now >= plan.thresholds[r])
        when[passes], at_exit[passes] = r, now[passes]
        if r < len(plan.multiples) - 1:
            alive = alive & ~passes & (now >= plan.drops[r])
            gathered = now
    there = _normal(many, len(plan.multiples)) < ndtri(present)
    return Followed(present * (when >= 0).mean(axis=0), np.where(there, when, -1), at_exit.astype(np.int64))


def _rivals(sketch: Sketch, live: Floats, pooled: Small) -> Small:
    """Of each holding: how many keys of the user's pool are in the running, given that this one is."""
    mean = _by_bin(sketch, live)
    others, luck = (pooled * sketch.of_people(each) for each in (mean, mean * (1 - mean)))
    own, share = mean[sketch.bin][sketch.key], pooled[sketch.holder]
    n = np.maximum(others[sketch.holder] + 1 - share * own, np.float32(1))
    variance = np.maximum(luck[sketch.holder] - share * own * (1 - own), np.float32(0))  # of the others alone
    return np.asarray(n / (1 + np.float32(0.375) * variance / (n * n)) ** 2)  # E[1/√n], to second order


def _by_bin(sketch: Sketch, values: Floats) -> Small:
    """The mean over the keys of each bin."""
    bins = sketch.people.shape[1]
    keys = np.bincount(sketch.bin, minlength=bins)
    return (np.bincount(sketch.bin, weights=values, minlength=bins) / np.maximum(keys, 1)).astype(np.float32)


@lru_cache(maxsize=64)
def _normal(many: tuple[int, int], r: int) -> Floats:
    """Normal numbers whose quantiles are evenly distributed, the same each time, so that a slider moves smoothly."""
    at = np.arange(1, many[0] * many[1] + 1, dtype=float).reshape(many[::-1]).T
    return np.asarray(ndtri(np.clip((at * IRRATIONAL[r % 5] * (1 + r // 5) + 0.5 * r) % 1, 1e-12, 1 - 1e-12)))


def _rounds(law: RoundsTest, sketch: Sketch, queries: TableEstimate | None) -> TableEstimate:
    """Weights, not counts, are bounded: nothing of a released key is cut. Clicks and transitions need their queries."""
    start, plan = None, law.plan
    if sketch.parents and queries is not None:
        curve = queries.curve
        start = np.prod([np.interp(users, curve.users, curve.chance) for users in sketch.parents], axis=0)
    if not plan.thresholds and queries is not None:  # over all pairs of released queries
        pairs = round(max(2.0, queries.rows)) * round(max(1.0, queries.rows - 1))
        plan = closed(plan, pairs, law.false)
    found = follow(sketch, plan, start)
    error, width = _counted(sketch, found, replace(law, plan=plan))
    table = _table(sketch, sketch.users.astype(float), found.chance, 0.0, error, width)
    return replace(table, utility={"level": plan.users(-1)})


def _counted(sketch: Sketch, found: Followed, law: RoundsTest) -> tuple[Error | None, float | None]:
    """Crowd's own recount and combination over the keys looked at: the mean error, and 95 % of a row's noise."""
    few = FEWEST if sketch.parents else 1
    rows = float((found.chance * sketch.stands).sum())
    paths = 0 if law.recount is None or rows < few else 8 if rows < ENOUGH else 1
    seen = [
        one
        for one in (_combined(sketch, found, law, path) for path in range(min(paths, found.rounds.shape[0])))
        if one is not None
    ]
    if not seen:
        return None, None
    square, noise, bias, width = (float(np.mean(column)) for column in zip(*seen, strict=True))
    return Error(square - noise, noise, 0.0, bias, 0.0), NORMAL_95 * width


def _combined(sketch: Sketch, found: Followed, law: RoundsTest, path: int) -> tuple[float, float, float, float] | None:
    """One path: mean square error, mean square noise, bias, median noise."""
    ids, budget = np.flatnonzero(found.rounds[path] >= 0), law.recount
    if budget is None or not ids.size:
        return None
    plan, truth = law.plan, sketch.users[ids]
    chosen = Selected(ids, found.gathered[path][ids], found.rounds[path][ids])
    lam, x = scales(chosen, plan, budget.bits)
    variance = budget.variance(length2(lam, x, budget.keys))
    noise = math.sqrt(variance) * _normal((found.rounds.shape[0], sketch.users.size), RECOUNT)[path][ids]
    sums = np.rint(lam * truth + noise).astype(np.int64)
    part = float(truth.sum()) / max(float((truth * sketch.stands[ids]).sum()), 1.0)  # of all released keys' users
    kept = round(float((sums / lam).sum()))
    counted = combine(chosen, plan, Recounted(sums, lam, variance, kept, math.ceil(budget.kept_variance * part**2)))
    by = sketch.stands[ids] / sketch.stands[ids].sum()
    wrong = counted.users - truth
    square, noisy, bias = (float((by * values).sum()) for values in (wrong**2, counted.noise_sd**2, wrong))
    return square, noisy, bias, float(np.median(counted.noise_sd))


def _table(
    sketch: Sketch, counted: Floats, chance: Floats, cut: float, error: Error | None, width: float | None
) -> TableEstimate:
    by = sketch.stands
    volume = volume_of(float(sketch.whole), cut, counted * by, float(sketch.asked), sketch.events, chance)
    asked = float((sketch.events * by * chance).sum()) / max(sketch.asked, 1)
    return TableEstimate(
        method="quick",
        runs=None,
        value="users",
        keys=sketch.keys,
        rows=float((chance * by).sum()),
        rows_sd=math.sqrt(float((chance * (1 - chance) * by).sum())),
        volume=replace(volume, searches=min(1.0, asked)),
        error=error,
        half_width=width,
        curve=by_keys(points(int(sketch.users.max(initial=1))), sketch.users, chance),
    )
