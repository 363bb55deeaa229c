"""Ways in which `optimal` could be wrong: its two histograms, and the counts of the published variant."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from hubbub.audit.mutants import (
    Mutant,
    _altered,
    _Float,
    _Halved,
    _moved,
    _Shared,
    _true_order,
    _with_noise,
    _without_bound,
)
from hubbub.audit.protocols import Subject
from hubbub.log import SearchLog
from hubbub.mechanisms.base import Mechanism, Released, Tables
from hubbub.noise import NoiseSource
from hubbub.steps import bound
from hubbub.steps.count import count
from hubbub.steps.keys import CLICKS
from hubbub.steps.mode import RunMode

Make = Callable[[Mechanism], Subject]


# ------------------------------------------------------------------ strict


def _repeats(mechanism: Mechanism) -> Subject:
    """Clicks are counted where distinct users are promised."""

    def measure(log: SearchLog, mode: RunMode) -> dict[str, Any]:
        return mechanism.measure(log, mode) | {"clicks": count(log, CLICKS, bound.first_events(CLICKS, 1000), mode)}

    return replace(Subject.of(mechanism), measure=measure)


def _every_click(mechanism: Mechanism) -> Subject:
    """The activity counts clicks, not users: a busy user moves her bin by all of hers."""

    def measure(log: SearchLog, mode: RunMode) -> dict[str, Any]:
        counts = mechanism.measure(log, mode)
        rows = log.engine.fetch("SELECT count(*) AS n FROM log WHERE url IS NOT NULL")
        n = counts["activity"].n.copy()
        n[-1] = rows.column("n")[0].as_py()
        return counts | {"activity": replace(counts["activity"], n=n)}

    return replace(Subject.of(mechanism), measure=measure)


def _full_bins(mechanism: Mechanism) -> Subject:
    """Bins without a user get no noise and no row."""

    def perturb(counts: Mapping[str, Any], noise: NoiseSource) -> Tables:
        tables, held = mechanism.draw(counts, noise), counts["activity"].n > 0
        busy = tables["activity"]
        values = np.zeros(0, np.int64) if busy.values is None else busy.values[held]
        return tables | {"activity": Released(busy.ids[held], values, busy.noise_sd)}

    return replace(Subject.of(mechanism), perturb=perturb)


def _exact_activity(mechanism: Mechanism) -> Subject:
    """The number of synthetic users is the number of users."""

    def perturb(counts: Mapping[str, Any], noise: NoiseSource) -> Tables:
        tables, n = mechanism.draw(counts, noise), counts["activity"].n
        return tables | {"activity": Released(np.arange(n.size), n, 1.0)}

    return replace(Subject.of(mechanism), perturb=perturb)


# ------------------------------------------------------------------ published


def _with_x(change: Callable[[Any, Any], Any]) -> Make:
    def make(mechanism: Mechanism) -> Subject:
        def measure(log: SearchLog, mode: RunMode) -> dict[str, Any]:
            measured = mechanism.measure(log, mode)
            held = measured["log"]
            solved = replace(held.solved, x=change(held.problem, held.solved.x))
            return measured | {"log": replace(held, solved=solved)}

        return replace(Subject.of(mechanism), measure=measure)

    return make


def _one_more(problem: Any, x: Any) -> Any:
    return x + 1


def _wider(mechanism: Mechanism) -> Subject:
    """B is the larger of the two limits, not the smaller."""
    settings = dict(mechanism.settings) | {"epsilon": Fraction(3), "delta": Fraction(19, 20)}
    return replace(Subject.of(mechanism), measure=_altered(mechanism, settings=settings).measure)


def _unique(mechanism: Mechanism) -> Subject:
    """Pairs that one user alone holds come out, too (Condition 1 left out)."""
    from hubbub.mechanisms.optimal.published.problem import Problem

    def measure(log: SearchLog, mode: RunMode) -> dict[str, Any]:
        measured = mechanism.measure(log, mode)
        held = measured["log"]
        rows = log.engine.fetch("SELECT uid, query, count(*) AS n FROM log GROUP BY uid, query ORDER BY query, uid")
        users, pairs = (np.unique(rows.column(c).to_numpy(), return_inverse=True)[1] for c in ("uid", "query"))
        problem = Problem.of(users, pairs, rows.column("n").to_numpy().astype(np.int64))
        alone = (np.bincount(pairs) == 1).astype(np.int64)
        return measured | {"log": replace(held, problem=problem, solved=replace(held.solved, x=alone))}

    return replace(Subject.of(mechanism), measure=measure)


OPTIMAL = (
    Mutant("noise halved", _with_noise(_Halved), variant="strict"),
    Mutant("noise shared between keys", _with_noise(_Shared), variant="strict"),
    Mutant("float noise", _with_noise(_Float), variant="strict"),
    Mutant("threshold one lower", _moved("passes", -1), variant="strict"),
    Mutant("> for >=", _moved("passes", +1), variant="strict"),
    Mutant("bound not enforced", _without_bound, variant="strict"),
    Mutant("repeats counted", _repeats, variant="strict"),
    Mutant("exact value published", _true_order, variant="strict"),
    Mutant("activity of clicks, not of users", _every_click, variant="strict"),
    Mutant("empty bins not noised", _full_bins, variant="strict"),
    Mutant("exact number of synthetic users", _exact_activity, variant="strict"),
    Mutant("one row more than the constraint allows", _with_x(_one_more), variant="published"),
    Mutant("the larger of the two limits", _wider, variant="published"),
    Mutant("unique pairs come out", _unique, variant="published"),
)
