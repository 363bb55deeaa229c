"""Add up bounded keys: exact integers, with ids that number the present keys.

They are numbered in the order of their text where a run must repeat itself. Ids never leave the process: a release is
sorted by its noisy values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hubbub.steps.counts import Counts, EngineCounts, placed
from hubbub.steps.keys.base import EVENTS, FIRST, MadeOf

if TYPE_CHECKING:
    from hubbub.log import SearchLog
    from hubbub.steps.keys import Keys
    from hubbub.steps.mode import RunMode


def count(log: SearchLog, keys: Keys, bounded: str, mode: RunMode) -> Counts:
    """How many bounded rows each key has: users for distinct keys, events for occurrences."""
    keys.ready(log)
    table, engine = f"counted_{keys.name}", log.engine
    if engine.distributed and keys.made_of is MadeOf.ROW and keys.distinct() in bounded:  # added up first, less moves
        keys.hold(engine, f"distinct_{keys.name}", FIRST)
        bounded = bounded.replace(keys.distinct(), f"SELECT * FROM distinct_{keys.name}")
    engine.total(table, keys.along(bounded), keys.columns, EVENTS, mode.order(keys.columns), "kid")
    return placed(EngineCounts(table, log.engine), mode)


def count_under(log: SearchLog, keys: Keys, bounded: str, mode: RunMode, parents: str, listed: str = "") -> Counts:
    """Counts of keys whose first column is a key of another table, which is their parent; those of no parent are left.

    `listed` names a public table with the key's columns: then every listed key counts, zero where nobody holds it.
    """
    keys.ready(log)
    table, parent, counted = f"counted_{keys.name}", keys.columns[0], _counted(keys, bounded)
    if listed:
        on = " AND ".join(f"list.{column} = held.{column}" for column in keys.columns)
        counted = (
            f"SELECT {keys.list('list')}, coalesce(held.n, 0) AS n FROM {listed} AS list LEFT JOIN ({counted}) AS held "
            f"ON {on}"
        )
    log.engine.number(
        table,
        f"SELECT {keys.list('k')}, p.kid AS parent, k.n AS n FROM ({counted}) AS k "
        f"JOIN {parents} AS p ON p.{parent} = k.{parent}",
        mode.order(keys.columns),
        "kid",
    )
    return placed(EngineCounts(table, log.engine, parented=True), mode)


def _counted(keys: Keys, bounded: str) -> str:
    return EVENTS.first(bounded, keys.list())
