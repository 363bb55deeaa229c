"""Broken versions of the mechanisms, each wrong in one way that real libraries have been wrong in.

An audit that catches none of them has shown nothing. A mutant keeps the promise of the mechanism
it is made of and breaks it in one of the three functions a `Subject` is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hubbub.audit.protocols import Subject
from hubbub.log import SearchLog
from hubbub.mechanisms.base import Mechanism, Released, Tables
from hubbub.mechanisms.crowd.recount import recount
from hubbub.mechanisms.rounds import Selected, Selection, select
from hubbub.noise import Exits, NoiseSource
from hubbub.noise.source import Integers
from hubbub.steps.count import Counts
from hubbub.steps.pools import ArrayPools

SHARED_BLOCK = 2


@dataclass(frozen=True)
class Mutant:
    """One way to be wrong."""

    name: str
    make: Callable[[Mechanism], Subject]
    needs: str = ""
    """The table it breaks, where only some subjects have it."""
    variant: str = ""
    """The variant it breaks, if only one."""

    def concerns(self, mechanism: Mechanism) -> bool:
        """Whether it changes anything of this subject."""
        return self.needs in ("", *mechanism.tables) and self.variant in ("", mechanism.variant)


class _Noise:
    """A noise source that passes everything on; a mutant changes one method."""

    def __init__(self, source: NoiseSource) -> None:
        self.source = source
        self.private = source.private

    def laplace(self, step: str, scale: Fraction, size: int) -> Integers:
        return self.source.laplace(step, scale, size)

    def gaussian(self, step: str, variance: Fraction | int, size: int) -> Integers:
        return self.source.gaussian(step, variance, size)

    def binomial_tail(self, step: str, scale: Fraction, at_least: int, trials: int) -> int:
        return self.source.binomial_tail(step, scale, at_least, trials)

    def choose(self, step: str, population: int, size: int) -> Integers:
        return self.source.choose(step, population, size)

    def absent(
        self,
        step: str,
        count: int,
        multiples: Sequence[int],
        variance: int,
        thresholds: Sequence[int],
        drops: Sequence[int],
    ) -> Exits:
        return self.source.absent(step, count, multiples, variance, thresholds, drops)

    def below(self, step: str, limits: Integers) -> Integers:
        return self.source.below(step, limits)

    def coins(self, step: str, chances: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
        return self.source.coins(step, chances)

    def secret(self, step: str) -> bytes:
        return self.source.secret(step)


def _with_noise(wrap: Callable[[NoiseSource], NoiseSource]) -> Callable[[Mechanism], Subject]:
    def make(mechanism: Mechanism) -> Subject:
        def perturb(counts: Mapping[str, Counts], noise: NoiseSource) -> Tables:
            return mechanism.perturb(counts, wrap(noise))

        return replace(Subject.of(mechanism), perturb=perturb)

    return make


class _Halved(_Noise):
    def laplace(self, step: str, scale: Fraction, size: int) -> Integers:
        return self.source.laplace(step, scale / 2, size)

    def gaussian(self, step: str, variance: Fraction | int, size: int) -> Integers:
        return self.source.gaussian(step, Fraction(variance) // 4 + 5, size)


class _Shared(_Noise):
    def laplace(self, step: str, scale: Fraction, size: int) -> Integers:
        return np.repeat(self.source.laplace(step, scale, min(size, 1)), size)

    def gaussian(self, step: str, variance: Fraction | int, size: int) -> Integers:
        """Copies of a log stand side by side in an audit: each block of keys shares one draw."""
        block = min(size, SHARED_BLOCK)
        drawn = self.source.gaussian(step, variance, -(-size // block) if block else 0)
        return np.repeat(drawn, block)[:size]


class _Float(_Noise):
    def laplace(self, step: str, scale: Fraction, size: int) -> Integers:
        drawn = np.random.default_rng().laplace(0, float(scale), size)
        return drawn  # type: ignore[return-value]


def _moved_threshold(by: int) -> Callable[[Mechanism], Subject]:
    """The rule is off by one: −1 releases too much, +1 is `>` where `>=` is promised."""

    def make(mechanism: Mechanism) -> Subject:
        passes = mechanism.passes  # type: ignore[attr-defined]

        class Moved(type(mechanism)):  # type: ignore[misc]
            @staticmethod
            def passes(noisy: Integers, threshold: int) -> Integers:
                moved: Integers = passes(noisy, threshold + by)
                return moved

        broken = object.__new__(Moved)
        broken.__dict__.update(mechanism.__dict__)
        return replace(Subject.of(mechanism), perturb=broken.perturb)

    return make


def _without_bound(mechanism: Mechanism) -> Subject:
    settings = dict(mechanism.settings) | {k: 1000 for k in ("d", "d_c") if k in mechanism.settings}
    return replace(Subject.of(mechanism), measure=_like(mechanism, settings).measure)


def _repeats(mechanism: Mechanism) -> Subject:
    """Events are counted where distinct users are promised."""
    loose = _like(mechanism, dict(mechanism.settings) | {k: 1000 for k in ("d", "d_c") if k in mechanism.settings})
    loose.variant = "published" if mechanism.variant == "strict" else mechanism.variant
    return replace(Subject.of(mechanism), measure=loose.measure)


def _first_seen(mechanism: Mechanism) -> Subject:
    """Keys are numbered as the log shows them, and rows come out in that order."""

    def measure(log: SearchLog, secret: bytes) -> dict[str, Counts]:
        counts = mechanism.measure(log, secret)
        seen = {}
        for table, counted in counts.items():
            columns = mechanism.offers[table].list()
            shown = f"seen_{table}"
            log.engine.save(
                shown,
                f"SELECT row_number() OVER (ORDER BY first) - 1 AS kid, {columns}, n FROM {counted.keys} "
                f'JOIN (SELECT {columns}, min("time") AS first FROM log GROUP BY {columns}) AS s USING ({columns})',
            )
            rows = log.engine.fetch(f"SELECT n FROM {shown} ORDER BY kid")
            seen[table] = Counts(rows.column("n").to_numpy().astype(np.int64), shown, counted.parent)
        return seen

    def arrange(rows: pa.Table) -> pa.Table:
        return rows

    return replace(Subject.of(mechanism), measure=measure, arrange=arrange)


def _true_order(mechanism: Mechanism) -> Subject:
    """Values are noisy, but the exact counts are published beside another name."""

    def perturb(counts: Mapping[str, Counts], noise: NoiseSource) -> Tables:
        tables = mechanism.perturb(counts, noise)
        return {t: Released(r.ids, counts[t].n[r.ids], r.noise_sd) for t, r in tables.items()}

    return replace(Subject.of(mechanism), perturb=perturb)


def _like(mechanism: Mechanism, settings: Mapping[str, object]) -> Mechanism:
    """The same mechanism with other raw parameters."""
    return type(mechanism)(
        variant=mechanism.variant,
        neighbours=mechanism.neighbours,
        tables=mechanism.tables,
        serp=mechanism.serp,
        pool=mechanism.pool,
        public_list=mechanism.public_list,
        previous=mechanism.previous,
        **settings,
    )


def _kinder_coins(mechanism: Mechanism) -> Subject:
    """Every key is thrown the coin of one user more."""

    def perturb(counts: Mapping[str, Any], noise: NoiseSource) -> Tables:
        kinder = {t: replace(c, n=c.n + 1) for t, c in counts.items()}
        return mechanism.perturb(kinder, noise)

    return replace(Subject.of(mechanism), perturb=perturb)


def _with_selection(change: Callable[[Selection], Selection]) -> Callable[[Mechanism], Subject]:
    """A crowd whose selection runs with other integers than it states."""

    def make(mechanism: Mechanism) -> Subject:
        broken: Any = copy(mechanism)
        if hasattr(broken, "stages"):
            first, *later = broken.stages
            broken.stages = [replace(first, selection=change(first.selection)), *later]
        else:
            broken.selection = change(broken.selection)
        return replace(Subject.of(mechanism), perturb=broken.perturb)

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


def _wide_pools(mechanism: Mechanism) -> Subject:
    bound = "D" if "D" in mechanism.settings else "d"
    wide = _like(mechanism, dict(mechanism.settings) | {bound: 1000})
    return replace(Subject.of(mechanism), measure=wide.measure)


class _Redrawn:
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

    def measure(log: SearchLog, secret: bytes) -> dict[str, Any]:
        pools = wide.measure(log, secret)["queries"]
        limit = mechanism.selection.limit  # type: ignore[attr-defined]
        return {"queries": _Redrawn(pools.arrays(), pools.keys, limit)}

    return replace(Subject.of(mechanism), measure=measure)


def _presence_from_weights(mechanism: Mechanism) -> Subject:
    """Only keys with a positive weight in this round are tested."""

    def perturb(pools: Mapping[str, Any], noise: NoiseSource) -> Tables:
        held = pools["queries"]
        touched = np.flatnonzero(held.weights(np.arange(held.size)) > 0)
        return mechanism.perturb({"queries": Restricted(held, touched)}, noise)

    return replace(Subject.of(mechanism), perturb=perturb)


class Restricted:
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


def _unreleased_recount(mechanism: Mechanism) -> Subject:
    """The recount's scale is taken from every key of the pools."""

    def perturb(pools: Mapping[str, Any], noise: NoiseSource) -> Tables:
        held, stage = pools["queries"], mechanism.stage  # type: ignore[attr-defined]
        chosen = select(held, stage.selection, noise, "queries")
        every = Selected(np.arange(held.size), np.arange(held.size) << 22, np.zeros(held.size, np.int64))
        recount(held, every, stage.selection, stage.recount, noise, "queries")
        return {"queries": Released(chosen.ids, None, None)}

    return replace(Subject.of(mechanism), perturb=perturb)


def _second_read(mechanism: Mechanism) -> Subject:
    """The rounds are evaluated twice: keys from one evaluation, counts from another."""

    def perturb(pools: Mapping[str, Any], noise: NoiseSource) -> Tables:
        select(pools["queries"], mechanism.selection, noise, "queries")  # type: ignore[attr-defined]
        return mechanism.perturb(pools, noise)

    return replace(Subject.of(mechanism), perturb=perturb)


COUNTS: tuple[Mutant, ...] = (
    Mutant("noise halved", _with_noise(_Halved)),
    Mutant("threshold one lower", _moved_threshold(-1)),
    Mutant("> for >=", _moved_threshold(+1)),
    Mutant("bound not enforced", _without_bound),
    Mutant("repeats counted", _repeats),
    Mutant("noise shared between keys", _with_noise(_Shared)),
    Mutant("first-seen row order", _first_seen),
    Mutant("float noise", _with_noise(_Float)),
    Mutant("exact value published", _true_order),
)
POOLS = (
    Mutant("noise halved", _with_noise(_Halved)),
    Mutant("shares sum to more than 1", _with_selection(_weaker)),
    Mutant("thresholds not rounded up", _with_selection(_lower(-1))),
    Mutant("> for >=", _with_selection(_lower(+1))),
    Mutant("pool cap not enforced", _wide_pools),
    Mutant("pools drawn anew in every round", _redrawn_pools),
    Mutant("presence from weights instead of pools", _presence_from_weights),
    Mutant("recount on unreleased keys", _unreleased_recount),
    Mutant("noise drawn anew on a second read", _second_read),
    Mutant("noise shared between keys", _with_noise(_Shared)),
    Mutant("thresholds rounded to whole users", _with_selection(_whole_users)),
    Mutant("one variance for every round", _with_selection(_one_variance)),
    Mutant("one noise for selection and recount", _with_noise(_Again)),
)
OF_THE_RECOUNT = ("recount on unreleased keys", "one noise for selection and recount")
SELECTION = tuple(m for m in POOLS if m.name not in (*OF_THE_RECOUNT, "one variance for every round"))
COINS = (
    Mutant("coins for one user more", _kinder_coins),
    Mutant("bound not enforced", _without_bound),
)
GAUSSIAN = (
    Mutant("noise halved", _with_noise(_Halved)),
    Mutant("> for >=", _with_selection(_lower(+1))),
    Mutant("threshold one lower", _with_selection(_lower(-1))),
    Mutant("bound not enforced", _without_bound),
)
from hubbub.audit.mutants_anonymity import ANONYMITY  # noqa: E402
from hubbub.audit.mutants_chain import CHAIN  # noqa: E402
from hubbub.audit.mutants_log import LOG  # noqa: E402
from hubbub.audit.mutants_optimal import OPTIMAL  # noqa: E402
from hubbub.audit.mutants_safelog import SAFELOG  # noqa: E402
from hubbub.audit.mutants_sessions import SESSIONS  # noqa: E402
from hubbub.audit.mutants_zealous import ZEALOUS  # noqa: E402  (made of the mutants above)

MUTANTS = {
    "adaptive": SELECTION,
    "crowd": (*POOLS, *CHAIN, *LOG),
    "gaussian": GAUSSIAN,
    "geometric": COINS,
    "korolova": COUNTS,
    "optimal": OPTIMAL,
    "safelog": SAFELOG,
    "sessions": SESSIONS,
    "sips": SELECTION,
    "zealous": ZEALOUS,
    **ANONYMITY,
}
