"""Faults in tables by group: groups learned from the log, a user who is somebody else in each, cells without noise."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hubbub.audit.checks import groups
from hubbub.audit.mutants.fault import Change, Planted

DIVIDED, CELLS = "hubbub.mechanisms.crowd.groups:divided", "hubbub.mechanisms.crowd.groups:cells"


def _saying(old: str, new: str) -> Change:
    """Cells are looked up by another text."""

    def planted(divided: Any) -> Any:
        def broken(base: Any, grouping: Any, *, chosen: bool = False) -> Any:
            keys = divided(base, grouping, chosen=chosen)
            return replace(keys, events=keys.events.replace(old, new.format(raw=grouping.raw("l"))))

        return broken

    return planted


def _first_group(cells: Any) -> Any:
    """The domain is the groups in which somebody is."""
    return lambda keys, grouping: replace(cells(keys, grouping), size=keys.num_rows)


GROUP_MUTANTS: tuple[Planted, ...] = (
    ("groups learned from the log", groups.tests, {CELLS: _first_group}),
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
