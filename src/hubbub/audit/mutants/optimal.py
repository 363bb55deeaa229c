"""Ways in which `optimal` could be wrong: its two histograms, and the counts of the published variant."""

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
    _Float,
    _Halved,
    _measured,
    _moved,
    _perturbed,
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

# ------------------------------------------------------------------ strict


def _repeats(mechanism: Mechanism, log: SearchLog, mode: RunMode) -> dict[str, Any]:
    """Clicks are counted where distinct users are promised."""
    return mechanism.measure(log, mode) | {"clicks": count(log, CLICKS, bound.first_events(CLICKS, 1000), mode)}


def _every_click(mechanism: Mechanism, log: SearchLog, mode: RunMode) -> dict[str, Any]:
    """The activity counts clicks, not users: a busy user moves her bin by all of hers."""
    counts = mechanism.measure(log, mode)
    rows = log.engine.fetch("SELECT count(*) AS n FROM log WHERE url IS NOT NULL")
    n = counts["activity"].n.copy()
    n[-1] = rows.column("n")[0].as_py()
    return counts | {"activity": replace(counts["activity"], n=n)}


def _full_bins(mechanism: Mechanism, counts: Mapping[str, Any], noise: NoiseSource) -> Tables:
    """Bins without a user get no noise and no row."""
    tables, held = mechanism.draw(counts, noise), counts["activity"].n > 0
    busy = tables["activity"]
    values = np.zeros(0, np.int64) if busy.values is None else busy.values[held]
    return tables | {"activity": Released(busy.ids[held], values, busy.noise_sd)}


def _exact_activity(mechanism: Mechanism, counts: Mapping[str, Any], noise: NoiseSource) -> Tables:
    """The number of synthetic users is the number of users."""
    tables, n = mechanism.draw(counts, noise), counts["activity"].n
    return tables | {"activity": Released(np.arange(n.size), n, 1.0)}


# ------------------------------------------------------------------ published


def _with_x(change: Callable[[Any, Any], Any]) -> Make:
    def measure(mechanism: Mechanism, log: SearchLog, mode: RunMode) -> dict[str, Any]:
        measured = mechanism.measure(log, mode)
        held = measured["log"]
        solved = replace(held.solved, x=change(held.problem, held.solved.x))
        return measured | {"log": replace(held, solved=solved)}

    return _measured(measure)


def _one_more(problem: Any, x: Any) -> Any:
    return x + 1


def _wider(mechanism: Mechanism) -> Subject:
    """B is the larger of the two limits, not the smaller."""
    settings = dict(mechanism.settings) | {"epsilon": Fraction(3), "delta": Fraction(19, 20)}
    return replace(Subject.of(mechanism), measure=_altered(mechanism, settings=settings).measure)


def _unique(mechanism: Mechanism, log: SearchLog, mode: RunMode) -> dict[str, Any]:
    """Pairs that one user alone holds come out, too (Condition 1 left out)."""
    from hubbub.mechanisms.optimal.published.problem import Problem

    measured = mechanism.measure(log, mode)
    held = measured["log"]
    rows = log.engine.fetch("SELECT uid, query, count(*) AS n FROM log GROUP BY uid, query ORDER BY query, uid")
    users, pairs = (np.unique(rows.column(c).to_numpy(), return_inverse=True)[1] for c in ("uid", "query"))
    problem = Problem.of(users, pairs, rows.column("n").to_numpy().astype(np.int64))
    alone = (np.bincount(pairs) == 1).astype(np.int64)
    return measured | {"log": replace(held, problem=problem, solved=replace(held.solved, x=alone))}


OPTIMAL = (
    Mutant("noise halved", _with_noise(_Halved), variant="strict"),
    Mutant("noise shared between keys", _with_noise(_Shared), variant="strict"),
    Mutant("float noise", _with_noise(_Float), variant="strict"),
    Mutant("threshold one lower", _moved("passes", -1), variant="strict"),
    Mutant("> for >=", _moved("passes", +1), variant="strict"),
    Mutant("bound not enforced", _without_bound, variant="strict"),
    Mutant("repeats counted", _measured(_repeats), variant="strict"),
    Mutant("exact value published", _perturbed(_true_order), variant="strict"),
    Mutant("activity of clicks, not of users", _measured(_every_click), variant="strict"),
    Mutant("empty bins not noised", _perturbed(_full_bins), variant="strict"),
    Mutant("exact number of synthetic users", _perturbed(_exact_activity), variant="strict"),
    Mutant("one row more than the constraint allows", _with_x(_one_more), variant="published"),
    Mutant("the larger of the two limits", _wider, variant="published"),
    Mutant("unique pairs come out", _measured(_unique), variant="published"),
)
