"""Broken versions of safelog: the paper's own flaws in the strict variant, and ways to get keys of nobody wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from hubbub.audit.mutants import (
    Make,
    Mutant,
    _altered,
    _Float,
    _Halved,
    _loosened,
    _measured,
    _Noise,
    _perturbed,
    _Shared,
    _with_noise,
)
from hubbub.audit.protocols import Subject
from hubbub.log import SearchLog
from hubbub.mechanisms.base import Mechanism, Tables
from hubbub.mechanisms.safelog.absent import EXCESS
from hubbub.mechanisms.safelog.measure import published
from hubbub.noise import NoiseSource
from hubbub.noise.source import Integers
from hubbub.steps.counts import Flags, LocalCounts
from hubbub.steps.mode import RunMode
from hubbub.steps.pairs import LocalPairs


def _of_strict(make: Make) -> Make:
    """The published variant stays as it is."""
    return lambda mechanism: (Subject.of if mechanism.variant == "published" else make)(mechanism)


def _prefilter(mechanism: Mechanism, log: SearchLog, mode: RunMode) -> dict[str, Any]:
    """Queries asked fewer than five times in all are removed before anybody is limited."""
    often = 'SELECT query FROM (SELECT DISTINCT uid, "time", query FROM log) AS s GROUP BY query HAVING count(*) >= 5'
    log.engine.save("often", f"SELECT l.* FROM log AS l JOIN ({often}) AS f ON f.query = l.query")
    log.engine.view("log", "SELECT * FROM often")
    try:
        return mechanism.measure(log, mode)
    finally:
        log.engine.view("log", 'SELECT "user" AS uid, "time", query, "rank", url FROM cleaned')


def _outside(mechanism: Mechanism, log: SearchLog, mode: RunMode) -> dict[str, Any]:
    """Queries of the log that the pool does not hold are counted as well."""
    assert mechanism.pool is not None
    counts = mechanism.measure(log, mode)
    return counts | {
        "queries": published(log, mode, mechanism.pool, 1, int(mechanism.settings["q_f"]), 0, False)["queries"]
    }


def _repeats(mechanism: Mechanism, log: SearchLog, mode: RunMode) -> dict[str, Any]:
    """Searches are counted where distinct users are promised."""
    assert mechanism.pool is not None
    counts = mechanism.measure(log, mode)
    return counts | {"queries": published(log, mode, mechanism.pool, 1, 1000, 0, False)["queries"]}


class _Nobody(_Noise):
    """Only steps whose name contains `of` are changed."""

    def __init__(self, source: NoiseSource, of: str) -> None:
        super().__init__(source)
        self.of = of


class _Skipped(_Nobody):
    def binomial_tail(self, step: str, scale: Fraction, at_least: int, trials: int) -> int:
        return 0 if self.of in step else self.source.binomial_tail(step, scale, at_least, trials)


class _Beyond(_Nobody):
    """`>` for keys of nobody, `>=` for the others."""

    def binomial_tail(self, step: str, scale: Fraction, at_least: int, trials: int) -> int:
        return self.source.binomial_tail(step, scale, at_least + 1, trials)


class _First(_Nobody):
    def choose(self, step: str, population: int, size: int) -> Integers:
        return np.arange(size)


class _Folded(_Nobody):
    """The excess is |Z|: twice too rarely zero. Sources that hand out excesses as such hand out one more."""

    def laplace(self, step: str, scale: Fraction, size: int) -> Integers:
        drawn = self.source.laplace(step, scale, size)
        return np.abs(drawn) if step.endswith(EXCESS) else drawn


def _nobody(kind: type[_Nobody], of: str = "") -> Make:
    return _with_noise(lambda source: kind(source, of))


def _twice(mechanism: Mechanism, counts: Mapping[str, Any], noise: NoiseSource) -> Tables:
    """A query of the log is in the pool as well, and has a second draw there: it shows if either passes."""
    tables = mechanism.draw(counts, noise)
    held = np.flatnonzero(counts["queries"].n)
    again = mechanism.draw({"queries": LocalCounts(np.zeros(held.size, np.int64))}, noise)["queries"]
    shown, ids = tables["queries"], held[again.ids]
    more = ~np.isin(ids, shown.ids)
    both = np.concatenate([shown.ids, ids[more]])
    values = np.concatenate([shown.values, again.values[more]])  # type: ignore[index]
    return {**tables, "queries": replace(shown, ids=both, values=values)}


class _Unseen(LocalCounts):
    def holds(self, ids: Integers) -> Flags:
        return np.zeros(ids.size, np.bool_)


class _Queries(LocalCounts):
    def held(self) -> LocalCounts:
        return _Unseen(**vars(super().held()))


class _Transitions(LocalPairs):
    def among(self, keys: Integers) -> LocalCounts:
        return _Unseen(**vars(super().among(keys)))


def _unseen(table: str, kind: type[_Queries] | type[_Transitions]) -> Make:
    """What noise alone lets pass is released, somebody's keys not discarded: a held key may show twice."""

    def change(mechanism: Mechanism, counts: Mapping[str, Any], noise: NoiseSource) -> Tables:
        return mechanism.draw({**counts, table: kind(**vars(counts[table]))}, noise)

    return _of_strict(_perturbed(change))


def _moved(by: int) -> Make:
    """Thresholds are off by one for keys that somebody holds."""

    def change(mechanism: Mechanism, counts: Mapping[str, Any], noise: NoiseSource) -> Tables:
        moved = {table: replace(c, n=np.where(c.n > 0, c.n - by, c.n)) for table, c in counts.items()}
        tables = mechanism.draw(moved, noise)
        return {t: replace(r, values=r.values + _back(moved[t], r.ids, by)) for t, r in tables.items()}  # type: ignore[operator]

    return _of_strict(_perturbed(change))


def _back(counts: Any, ids: Integers, by: int) -> Integers:
    """What was taken off the held keys."""
    if isinstance(counts, LocalPairs):
        return np.where(np.isin(ids, LocalPairs.ids(counts.first, counts.second)), by, 0)
    return np.where(counts.n[ids] != 0, by, 0)


def _exact_value(mechanism: Mechanism, counts: Mapping[str, Any], noise: NoiseSource) -> Tables:
    tables = mechanism.draw(counts, noise)
    shown, n = tables["queries"], counts["queries"].n
    held = n[shown.ids]
    return {**tables, "queries": replace(shown, values=np.where(held > 0, held, np.asarray(shown.values)))}


def _half_scale(mechanism: Mechanism) -> Subject:
    """b/2 everywhere, keys of nobody included."""
    halved = {k: Fraction(v) / 2 if k in ("b", "b_c", "b_t") else v for k, v in mechanism.settings.items()}
    return replace(Subject.of(mechanism), perturb=_altered(mechanism, settings=halved).draw)


SAFELOG = (
    Mutant("filter on rare queries put back", _of_strict(_measured(_prefilter))),
    Mutant("queries outside the pool counted", _of_strict(_measured(_outside))),
    Mutant("q_f not enforced", _loosened(q_f=1000)),
    Mutant("c_f not enforced", _loosened(c_f=1000), "clicks"),
    Mutant("transitions not capped", _loosened(c_t=1000), "transitions"),
    Mutant("repeats counted", _of_strict(_measured(_repeats))),
    Mutant("queries of nobody skipped", _nobody(_Skipped, "queries")),
    Mutant("only transitions that somebody made", _nobody(_Skipped, "transitions"), "transitions"),
    Mutant("keys of nobody pass with another chance", _nobody(_Beyond)),
    Mutant("keys of nobody are always the first", _nobody(_First)),
    Mutant("values of nobody folded, not geometric", _nobody(_Folded)),
    Mutant("two draws for a query in log and pool", _of_strict(_perturbed(_twice))),
    Mutant("held queries not discarded from those of nobody", _unseen("queries", _Queries)),
    Mutant("held transitions not discarded from those of nobody", _unseen("transitions", _Transitions), "transitions"),
    Mutant("noise halved", _with_noise(_Halved)),
    Mutant("scales halved", _half_scale),
    Mutant("noise shared between keys", _with_noise(_Shared)),
    Mutant("float noise", _with_noise(_Float)),
    Mutant("threshold one lower", _moved(-1)),
    Mutant("> for >=", _moved(+1)),
    Mutant("exact value published", _of_strict(_perturbed(_exact_value))),
)
