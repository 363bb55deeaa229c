"""Faults in tables by group: groups learned from the log, a user who is somebody else in each, cells without noise."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from hubbub.audit.checks import groups
from hubbub.audit.mutants.fault import Change, Planted

DIVIDED, CELLS = "hubbub.mechanisms.crowd.groups:divided", "hubbub.mechanisms.crowd.cells:ExpectedCells"
SIZES, POOLS = "hubbub.mechanisms.crowd.cells:GroupSizes", "hubbub.steps.pools:EnginePools"


def _saying(old: str, new: str) -> Change:
    """Cells are looked up by another text."""

    def planted(divided: Any) -> Any:
        def broken(base: Any, grouping: Any, *, chosen: bool = False) -> Any:
            keys = divided(base, grouping, chosen=chosen)
            return replace(keys, events=keys.events.replace(old, new.format(raw=grouping.raw("l"))))

        return broken

    return planted


def _where_somebody_is(domains: Any) -> Any:
    """The domain is the groups in which somebody is."""

    def broken(cells: Any, false: Any) -> Any:
        (lowest, part), *others = domains(cells, false)
        nobody = cells.users.size * int(np.count_nonzero(cells.sizes == 0))
        return [(replace(lowest, size=lowest.size - nobody), part), *others]

    return broken


def _all_of_f(domains: Any) -> Any:
    """Every class of cells spends what all of them have."""
    return lambda cells, false: [(domain, false) for domain, _ in domains(cells, false)]


def _not_shared(weighed: Any) -> Any:
    """Each of a user's cells has all of her weight."""
    return lambda pools, prior: weighed(pools, prior).replace("CAST(d.total AS BIGINT)", "p.g")


GROUP_MUTANTS: tuple[Planted, ...] = (
    ("groups learned from the log", groups.tests, {f"{CELLS}.domains": _where_somebody_is}),
    ("every class of cells spends all of F", groups.tests, {f"{CELLS}.domains": _all_of_f}),
    ("group sizes without noise", groups.tests, {f"{SIZES}.perturb": lambda _: lambda sizes, sums, noise: sums}),
    ("a user's weighed cells are not shared", groups.tests, {f"{POOLS}._weighed_at_once": _not_shared}),
    (
        "a value that is not declared is a group of its own",
        groups.tests,
        {DIVIDED: _saying("coalesce(g.value, 'other')", "coalesce(g.value, concat('day ', {raw}))")},
    ),
    (
        "a user is another one in each group",
        groups.tests,
        {DIVIDED: _saying("l.uid AS uid", "concat(l.uid, coalesce(g.value, 'other')) AS uid")},
    ),
    (
        "cells of keys that were not released",
        groups.tests,
        {DIVIDED: lambda divided: lambda base, grouping, chosen: divided(base, grouping)},
    ),
)
