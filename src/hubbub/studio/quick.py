"""What a release would keep, at once: closed forms and one small simulation over the sketch of a log.

Every threshold is the mechanism's own calibration. Laplace and unit Gaussian noise have exact laws; the rounds of a
selection are followed for each key looked at, with the expected share of a user's other keys still in the running.
How far this is from `hubbub estimate` is checked by the tests, and said beside every number: `TOLERANCE`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np
from scipy.special import ndtr, ndtri

from hubbub.look.estimate.curve import Floats, by_keys, points
from hubbub.look.estimate.laplace import Law, Passing, _error
from hubbub.look.estimate.result import Error, TableEstimate, volume_of
from hubbub.mechanisms import Crowd, Korolova, Mechanism, Zealous
from hubbub.mechanisms.baselines.gaussian import GaussianThreshold
from hubbub.mechanisms.baselines.selectors import PooledBaseline
from hubbub.mechanisms.crowd.calibrate import Stage, closed
from hubbub.mechanisms.crowd.combine import FEWEST, combine
from hubbub.mechanisms.crowd.recount import Recounted, length2, scales
from hubbub.mechanisms.rounds import Selected, Selection
from hubbub.privacy.account import Step, half_width
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
QUICK: tuple[type[Mechanism], ...] = (Crowd, GaussianThreshold, PooledBaseline, Korolova, Zealous)


def estimate(mechanism: Mechanism, sketches: Mapping[str, Sketch]) -> dict[str, TableEstimate]:
    """The tables for which there is a quick answer."""
    if isinstance(mechanism, Crowd):
        return _crowd(mechanism, sketches)
    if isinstance(mechanism, GaussianThreshold) and mechanism.unit:
        return {"queries": _unit(mechanism, sketches["queries"])}
    if isinstance(mechanism, GaussianThreshold | PooledBaseline):
        return {"queries": _selected(sketches["queries"], follow(sketches["queries"], mechanism.selection))}
    if isinstance(mechanism, Korolova | Zealous) and mechanism.variant == "strict" and mechanism.serp is None:
        return {
            step.name: _laplace(step, sketches[step.name], first=mechanism.settings["keep"] == "first")
            for step in mechanism.steps()
            if isinstance(step, Step) and step.name in sketches
        }
    return {}


# ------------------------------------------------------------------ one noise, one threshold


def _laplace(step: Step, sketch: Sketch, *, first: bool) -> TableEstimate:
    """korolova, zealous: exact but for which of a user's keys a random bound keeps."""
    counted = kept(sketch, step.l0, first=first)[0]
    law = Law(step.scale)
    chance, mean, square = Passing(law, step.threshold or 1, step.floor)(np.rint(counted))
    by = sketch.stands
    error = _error(sketch.users.astype(float), counted, chance * by, mean * by, square * by, law.variance)
    return _table(sketch, counted, chance, sketch.cut(step.l0), error, float(half_width(float(step.scale))))


def _unit(mechanism: GaussianThreshold, sketch: Sketch) -> TableEstimate:
    """Unit weights and Gaussian noise; the luck of the bound adds its own variance."""
    plan = mechanism.selection
    counted, luck = kept(sketch, plan.limit, first=False)
    sd = math.sqrt(plan.variances[0]) / plan.unit
    spread = np.sqrt(sd**2 + luck)
    gap = (plan.users(0) - counted) / spread
    chance, density = ndtr(-gap), np.exp(-gap * gap / 2) / math.sqrt(2 * math.pi)
    by = sketch.stands
    error = _error(
        sketch.users.astype(float),
        counted,
        chance * by,
        spread * density * by,
        spread**2 * (chance + gap * density) * by,
        sd**2,
    )
    return _table(sketch, counted, chance, sketch.cut(plan.limit), error, NORMAL_95 * sd)


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
    own = mean[sketch.bin][sketch.key]
    n = np.maximum(others[sketch.holder] + 1 - pooled[sketch.holder] * own, np.float32(1))
    return np.asarray(n / (1 + np.float32(0.375) * luck[sketch.holder] / (n * n)) ** 2)  # E[1/√n], to second order


def _by_bin(sketch: Sketch, values: Floats) -> Small:
    """The mean over the keys of each bin."""
    bins = sketch.people.shape[1]
    keys = np.bincount(sketch.bin, minlength=bins)
    return (np.bincount(sketch.bin, weights=values, minlength=bins) / np.maximum(keys, 1)).astype(np.float32)


@lru_cache(maxsize=64)
def _normal(many: tuple[int, int], r: int) -> Floats:
    """Normal numbers that are spread evenly and are the same each time, so that a slider moves smoothly."""
    at = np.arange(1, many[0] * many[1] + 1, dtype=float).reshape(many[::-1]).T
    return np.asarray(ndtri(np.clip((at * IRRATIONAL[r % 5] * (1 + r // 5) + 0.5 * r) % 1, 1e-12, 1 - 1e-12)))


def _selected(sketch: Sketch, found: Followed, stage: Stage | None = None) -> TableEstimate:
    """Weights, not counts, are bounded: nothing of a released key is cut."""
    error, width = (None, None) if stage is None else _counted(sketch, found, stage)
    return _table(sketch, sketch.users.astype(float), found.chance, 0.0, error, width)


def _crowd(mechanism: Crowd, sketches: Mapping[str, Sketch]) -> dict[str, TableEstimate]:
    """Queries, then clicks and transitions of those that were released; later tables have no quick answer."""
    tables: dict[str, TableEstimate] = {}
    for stage in mechanism.stages:
        sketch, plan = sketches.get(stage.name), stage.selection
        if sketch is None or plan is None:
            continue
        start, queries = None, tables.get("queries")
        if sketch.parents and queries is not None:
            curve = queries.curve
            start = np.prod([np.interp(users, curve.users, curve.chance) for users in sketch.parents], axis=0)
        if not plan.thresholds and queries is not None:  # over all pairs of released queries
            pairs = round(max(2.0, queries.rows)) * round(max(1.0, queries.rows - 1))
            plan = closed(plan, pairs, Fraction(mechanism.settings["F"]))
        table = _selected(sketch, follow(sketch, plan, start), replace(stage, selection=plan))
        tables[stage.name] = replace(table, utility={"level": plan.users(-1)})
    return {name: tables[name] for name in mechanism.tables if name in tables}


def _counted(sketch: Sketch, found: Followed, stage: Stage) -> tuple[Error | None, float | None]:
    """Crowd's own recount and combination over the keys looked at: the mean error, and 95 % of a row's noise."""
    few = FEWEST if stage.name != "queries" else 1
    rows = float((found.chance * sketch.stands).sum())
    paths = 0 if stage.recount is None or rows < few else 8 if rows < ENOUGH else 1
    seen = [
        one
        for one in (_combined(sketch, found, stage, path) for path in range(min(paths, found.rounds.shape[0])))
        if one is not None
    ]
    if not seen:
        return None, None
    square, noise, bias, width = (float(np.mean(column)) for column in zip(*seen, strict=True))
    return Error(square - noise, noise, 0.0, bias, 0.0), NORMAL_95 * width


def _combined(sketch: Sketch, found: Followed, stage: Stage, path: int) -> tuple[float, float, float, float] | None:
    """One path: mean square error, mean square noise, bias, median noise."""
    ids, budget = np.flatnonzero(found.rounds[path] >= 0), stage.recount
    if budget is None or not ids.size:
        return None
    plan, truth = stage.rounds, sketch.users[ids]
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
