"""Broken versions of zealous: what breaks any thresholded count, then the filter, and the choice of items."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hubbub.audit.mutants import COUNTS, Make, Mutant, _like, _measured, _moved
from hubbub.audit.protocols import Subject
from hubbub.log import SearchLog
from hubbub.mechanisms.base import Mechanism
from hubbub.steps import bound
from hubbub.steps.count import count
from hubbub.steps.counts import LocalCounts
from hubbub.steps.keys import Keys
from hubbub.steps.mode import RunMode

Bounding = Callable[[SearchLog, Keys, int], str]


def _filter_after(mechanism: Mechanism) -> Subject:
    """The filter sees noisy counts: every item is drawn for."""
    loose = _like(mechanism, dict(mechanism.settings) | {"tau": 1})
    return replace(Subject.of(mechanism), perturb=loose.draw)


def _bounded_by(rule: Bounding) -> Make:
    """Users are limited by another rule."""

    def measure(mechanism: Mechanism, log: SearchLog, mode: RunMode) -> dict[str, LocalCounts]:
        counts = {}
        for table in mechanism.tables:
            keys = mechanism.offers[table]
            keys.ready(log)
            counts[table] = count(log, keys, rule(log, keys, int(mechanism.settings["m"])), mode).local()
        return counts

    return _measured(measure)


def _most_popular(log: SearchLog, keys: Keys, m: int) -> str:
    """Each user's m most popular items: what is kept of one user hangs on all others."""
    on = " AND ".join(f"h.{column} = p.{column}" for column in keys.columns)
    popular = f"SELECT {keys.list()}, count(*) AS users FROM ({keys.distinct()}) AS held GROUP BY {keys.list()}"
    return (
        f"SELECT uid, {keys.list()} FROM (SELECT h.uid AS uid, {_named(keys)}, row_number() OVER "
        f"(PARTITION BY h.uid ORDER BY p.users DESC, {keys.list('h')}) AS ordinal "
        f"FROM ({keys.distinct()}) AS h JOIN ({popular}) AS p ON {on}) AS ordered WHERE ordinal <= {m}"
    )


def _named(keys: Keys) -> str:
    return ", ".join(f"h.{column} AS {column}" for column in keys.columns)


GENERAL = ("bound not enforced", "repeats counted")
ZEALOUS = (
    *(mutant for mutant in COUNTS if mutant.name not in GENERAL),
    Mutant("filter one lower", _moved("frequent", -1)),
    Mutant("> for >= in the filter", _moved("frequent", +1)),
    Mutant("filter on noisy counts", _filter_after),
    Mutant("bound not enforced", _bounded_by(lambda log, keys, m: bound.first_keys(keys, 1000))),
    Mutant("repeats counted", _bounded_by(lambda log, keys, m: bound.first_events(keys, m))),
    Mutant("one item too many", _bounded_by(lambda log, keys, m: bound.first_keys(keys, m + 1))),
    Mutant("most popular items kept", _bounded_by(_most_popular)),
)
