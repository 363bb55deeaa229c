"""Broken versions of selections in rounds: their integers, their pools, their noise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from hubbub.audit.mutants import (
    Make,
    Mutant,
    _altered,
    _Halved,
    _loosened,
    _Noise,
    _perturbed,
    _Shared,
    _with_noise,
    _without_bound,
)
from hubbub.audit.protocols import Subject
from hubbub.log import SearchLog
from hubbub.mechanisms.base import Mechanism, Released, Tables
from hubbub.mechanisms.crowd import Crowd
from hubbub.mechanisms.crowd.recount import recount
from hubbub.mechanisms.pairs import drawn
from hubbub.mechanisms.rounds import Selected, Selection, select
from hubbub.noise import NoiseSource
from hubbub.noise.source import Integers
from hubbub.steps.array_pools import ArrayPools, LocalPools
from hubbub.steps.mode import RunMode


def _with_selection(change: Callable[[Selection], Selection]) -> Make:
    """A crowd whose selection runs with other integers than it states."""

    def make(mechanism: Mechanism) -> Subject:
        if isinstance(mechanism, Crowd):
            first, *later = mechanism.stages
            broken = _altered(mechanism, stages=(replace(first, selection=change(first.rounds)), *later))
        else:
            broken = _altered(mechanism, selection=change(mechanism.selection))  # type: ignore[attr-defined]
        return replace(Subject.of(mechanism), perturb=broken.draw)

    return make


def _lower(by: int) -> Callable[[Selection], Selection]:
    return lambda plan: replace(plan, thresholds=tuple(t + by for t in plan.thresholds))


def _weaker(plan: Selection) -> Selection:
    return replace(plan, variances=tuple(v * 9 // 10 for v in plan.variances))


def _whole_users(plan: Selection) -> Selection:
    """Thresholds as whole numbers of users."""
    return replace(plan, thresholds=tuple(t // plan.unit * plan.unit for t in plan.thresholds))


def _one_variance(plan: Selection) -> Selection:
    """The variance of the first round in all of them, whatever their share."""
    return replace(plan, variances=plan.variances[:1] * len(plan.variances))


class _Again(_Noise):
    """The recount is given the noise of the last round."""

    drawn: Integers

    def gaussian(self, step: str, variance: Fraction | int, size: int) -> Integers:
        if "recount" in step:
            return np.resize(self.drawn, size)
        self.drawn = self.source.gaussian(step, variance, size)
        return self.drawn


_wide_pools = _loosened(D=1000, d=1000)


class _Redrawn(LocalPools):
    """Pools drawn anew in every round."""

    def __init__(self, pools: ArrayPools, keys: str, limit: int) -> None:
        self.pools, self.keys, self.size, self.limit = pools, keys, pools.size, limit

    def arrays(self) -> ArrayPools:
        held = np.random.default_rng().permutation(self.pools.held)
        order = np.argsort(held[:, 0], kind="stable")
        starts = np.searchsorted(held[order, 0], held[order, 0])
        pool = held[order[np.arange(order.size) - starts < self.limit]]
        return ArrayPools(pool, self.pools.held, self.size, self.pools.bits)

    def weights(self, live: Integers) -> Integers:
        return self.arrays().weights(live)

    def recount(self, ids: Integers, lam: Integers, cap2: int) -> Integers:
        return self.pools.recount(ids, lam, cap2)

    def kept(self, ids: Integers, most: int) -> int:
        return self.pools.kept(ids, most)


def _redrawn_pools(mechanism: Mechanism) -> Subject:
    wide = _wide_pools(mechanism)

    def measure(log: SearchLog, mode: RunMode) -> dict[str, Any]:
        pools = wide.measure(log, mode)["queries"]
        return {"queries": _Redrawn(pools.arrays(), pools.keys, mechanism.selections["queries"].limit)}

    return replace(Subject.of(mechanism), measure=measure)


def _presence_from_weights(mechanism: Mechanism, pools: Mapping[str, Any], noise: NoiseSource) -> Tables:
    """Only keys with a positive weight in this round are tested."""
    held = pools["queries"]
    touched = np.flatnonzero(held.weights(np.arange(held.size)) > 0)
    return mechanism.draw({"queries": Restricted(held, touched)}, noise)


class Restricted(LocalPools):
    """Pools that show only some of their keys."""

    def __init__(self, pools: Any, shown: Integers) -> None:
        self.pools, self.shown, self.keys, self.size = pools, shown, pools.keys, int(shown.size)

    def weights(self, live: Integers) -> Integers:
        sums: Integers = self.pools.weights(self.shown[live])
        return sums

    def recount(self, ids: Integers, lam: Integers, cap2: int) -> Integers:
        sums: Integers = self.pools.recount(self.shown[ids], lam, cap2)
        return sums

    def kept(self, ids: Integers, most: int) -> int:
        return int(self.pools.kept(self.shown[ids], most))


def _unreleased_recount(mechanism: Mechanism, pools: Mapping[str, Any], noise: NoiseSource) -> Tables:
    """The recount's scale is taken from every key of the pools."""
    held, stage = pools["queries"], mechanism.stage  # type: ignore[attr-defined]
    chosen = drawn(select(held, stage.selection, "queries"), noise)
    every = Selected(np.arange(held.size), np.arange(held.size) << 22, np.zeros(held.size, np.int64))
    drawn(recount(held, every, stage.selection, stage.recount, "queries"), noise)
    return {"queries": Released(chosen.ids, None, None)}


def _second_read(mechanism: Mechanism, pools: Mapping[str, Any], noise: NoiseSource) -> Tables:
    """The rounds are evaluated twice: keys from one evaluation, counts from another."""
    drawn(select(pools["queries"], mechanism.selections["queries"], "queries"), noise)
    return mechanism.draw(pools, noise)


POOLS = (
    Mutant("noise halved", _with_noise(_Halved)),
    Mutant("shares sum to more than 1", _with_selection(_weaker)),
    Mutant("thresholds not rounded up", _with_selection(_lower(-1))),
    Mutant("> for >=", _with_selection(_lower(+1))),
    Mutant("pool cap not enforced", _wide_pools),
    Mutant("pools drawn anew in every round", _redrawn_pools),
    Mutant("presence from weights instead of pools", _perturbed(_presence_from_weights)),
    Mutant("recount on unreleased keys", _perturbed(_unreleased_recount)),
    Mutant("noise drawn anew on a second read", _perturbed(_second_read)),
    Mutant("noise shared between keys", _with_noise(_Shared)),
    Mutant("thresholds rounded to whole users", _with_selection(_whole_users)),
    Mutant("one variance for every round", _with_selection(_one_variance)),
    Mutant("one noise for selection and recount", _with_noise(_Again)),
)
OF_THE_RECOUNT = ("recount on unreleased keys", "one noise for selection and recount")
SELECTION = tuple(m for m in POOLS if m.name not in (*OF_THE_RECOUNT, "one variance for every round"))
GAUSSIAN = (
    Mutant("noise halved", _with_noise(_Halved)),
    Mutant("> for >=", _with_selection(_lower(+1))),
    Mutant("threshold one lower", _with_selection(_lower(-1))),
    Mutant("bound not enforced", _without_bound),
)
