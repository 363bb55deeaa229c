"""Broken versions of the mechanisms, each wrong in one way that real libraries have been wrong in.

An audit that catches none of them has shown nothing. A mutant keeps the promise of the mechanism
it is made of and breaks it in one of the three functions a `Subject` is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from hubbub.audit.protocols import Subject
from hubbub.log import SearchLog
from hubbub.mechanisms.base import Mechanism, Released, Tables
from hubbub.noise import Exits, NoiseSource
from hubbub.noise.absent import Rounds
from hubbub.noise.source import Integers
from hubbub.steps.counts import LocalCounts
from hubbub.steps.mode import RunMode

Make = Callable[[Mechanism], Subject]
"""Makes a broken version of a mechanism."""
SHARED_BLOCK = 2


@dataclass(frozen=True)
class Mutant:
    """One way in which the code could be wrong."""

    name: str
    make: Make
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

    def absent(self, step: str, count: int, rounds: Rounds) -> Exits:
        return self.source.absent(step, count, rounds)

    def below(self, step: str, limits: Integers) -> Integers:
        return self.source.below(step, limits)

    def coins(self, step: str, chances: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
        return self.source.coins(step, chances)

    def secret(self, step: str) -> bytes:
        return self.source.secret(step)


def _measured(change: Callable[[Mechanism, SearchLog, RunMode], dict[str, Any]]) -> Make:
    """The mechanism measures like this."""
    return lambda mechanism: replace(Subject.of(mechanism), measure=partial(change, mechanism))


def _perturbed(change: Callable[[Mechanism, Mapping[str, Any], NoiseSource], Tables]) -> Make:
    """The mechanism perturbs like this."""
    return lambda mechanism: replace(Subject.of(mechanism), perturb=partial(change, mechanism))


def _with_noise(wrap: Callable[[NoiseSource], NoiseSource]) -> Make:
    """The mechanism is given other noise."""
    return _perturbed(lambda mechanism, counts, noise: mechanism.draw(counts, wrap(noise)))


def _loosened(**limits: int) -> Make:
    """Limits on one user are others than the mechanism states."""
    return lambda mechanism: replace(Subject.of(mechanism), measure=_limited(mechanism, limits).measure)


def _limited(mechanism: Mechanism, limits: Mapping[str, int]) -> Mechanism:
    return _like(mechanism, {name: limits.get(name, value) for name, value in mechanism.settings.items()})


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


def _moved(rule: str, by: int) -> Make:
    """A rule (values, level) is off by one: −1 lets too much pass, +1 is `>` where `>=` is promised."""

    def make(mechanism: Mechanism) -> Subject:
        right = getattr(mechanism, rule)

        def moved(values: Integers, *level: int, **named: int) -> Integers:
            passed: Integers = right(values, *(x + by for x in level), **{name: x + by for name, x in named.items()})
            return passed

        return replace(Subject.of(mechanism), perturb=_altered(mechanism, **{rule: moved}).draw)

    return make


LOOSE = dict.fromkeys(("d", "d_c", "d_t"), 1000)
_without_bound = _loosened(**LOOSE)


def _repeats(mechanism: Mechanism) -> Subject:
    """Events are counted where distinct users are promised."""
    loose = _altered(_limited(mechanism, LOOSE), variant="published")
    return replace(Subject.of(mechanism), measure=loose.measure)


def _as_seen(mechanism: Mechanism, log: SearchLog, mode: RunMode) -> dict[str, LocalCounts]:
    """Keys are numbered as the log shows them."""
    seen = {}
    for table, counted in mechanism.measure(log, mode).items():
        keys, shown = mechanism.offers[table], f"seen_{table}"
        keys.ready(log)
        log.engine.save(
            shown,
            f"SELECT row_number() OVER (ORDER BY first) - 1 AS kid, {keys.list('s')}, n FROM {counted.keys} JOIN "
            f'(SELECT {keys.list()}, min("time") AS first FROM ({keys.occurrences()}) AS e GROUP BY {keys.list()}) '
            f"AS s USING ({keys.list()})",
        )
        rows = log.engine.fetch(f"SELECT n FROM {shown} ORDER BY kid")
        seen[table] = LocalCounts(rows.column("n").to_numpy().astype(np.int64), shown, counted.parent)
    return seen


def _first_seen(mechanism: Mechanism) -> Subject:
    """Rows come out in the order in which the log shows their keys."""
    return replace(Subject.of(mechanism), measure=partial(_as_seen, mechanism), arrange=lambda rows: rows)


def _true_order(mechanism: Mechanism, counts: Mapping[str, LocalCounts], noise: NoiseSource) -> Tables:
    """Values are noisy, but the exact counts are published beside another name."""
    tables = mechanism.draw(counts, noise)
    return {t: Released(r.ids, counts[t].n[r.ids], r.noise_sd) for t, r in tables.items()}


def _altered(mechanism: Mechanism, **other: object) -> Mechanism:
    """A copy that runs with other values than the mechanism states."""
    broken = copy(mechanism)
    vars(broken).update(other, _stated={})
    return broken


def _like(mechanism: Mechanism, settings: Mapping[str, object]) -> Mechanism:
    """The same mechanism with other raw parameters."""
    return type(mechanism)(
        variant=mechanism.variant,
        neighbours=mechanism.neighbours,
        tables=mechanism.tables,
        serp=mechanism.serp,
        pool=mechanism.pool,
        public_list=mechanism.public_lists,
        previous=mechanism.previous,
        own_prior=mechanism.own_prior,
        vocabulary=mechanism.vocabulary,
        by=mechanism.by,
        **settings,
    )


def _kinder_coins(mechanism: Mechanism, counts: Mapping[str, Any], noise: NoiseSource) -> Tables:
    """Every key is thrown the coin of one user more."""
    kinder = {t: replace(c, n=c.n + 1) for t, c in counts.items()}
    return mechanism.draw(kinder, noise)


HALVED = Mutant("noise halved", _with_noise(_Halved))
"""Needs to know nothing of a mechanism but that it draws noise."""
COUNTS: tuple[Mutant, ...] = (
    HALVED,
    Mutant("threshold one lower", _moved("passes", -1)),
    Mutant("> for >=", _moved("passes", +1)),
    Mutant("bound not enforced", _without_bound),
    Mutant("repeats counted", _repeats),
    Mutant("noise shared between keys", _with_noise(_Shared)),
    Mutant("first-seen row order", _first_seen),
    Mutant("float noise", _with_noise(_Float)),
    Mutant("exact value published", _perturbed(_true_order)),
)
COINS = (
    Mutant("coins for one user more", _perturbed(_kinder_coins)),
    Mutant("bound not enforced", _without_bound),
)
