"""Exact facts of every group of a table by group, for the owner's eyes only: how much of it is covered, and how exact.

The smallest groups come first: they are the ones of which least can be told.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.parquet as pq

from hubbub.steps.keys import divided

if TYPE_CHECKING:
    from hubbub.log import SearchLog
    from hubbub.mechanisms import Mechanism

SHOWN, HELD = "group_rows", "group_events"


@dataclass(frozen=True)
class GroupFacts:
    """One group of one table: its users, its events, those of them with a released key, and how far counts are off."""

    table: str
    group: str
    users: int
    events: int
    covered: int
    rows: int
    nobodys: int
    error: float | None
    """The median of |released − exact| over exact; None where no row has a number."""


def group_facts(log: SearchLog, mechanism: Mechanism, public: Path) -> list[GroupFacts]:
    """Of every table by group: each group, those of fewest users first."""
    found: list[GroupFacts] = []
    for table, (base, grouping) in mechanism.divided.items():
        if table in mechanism.tables:
            keys = divided(mechanism.offers[base], grouping)
            keys.ready(log)
            engine, group = log.engine, grouping.name
            rows = pq.read_table(public / f"{table}.parquet")
            engine.register(SHOWN, rows.rename_columns([*keys.columns, "value", "noise_sd"]))
            engine.save(HELD, keys.occurrences())
            sizes = engine.fetch(
                f"SELECT h.{group} AS grp, count(DISTINCT h.uid) AS users, count(*) AS events, "
                f"count(s.{group}) AS covered FROM {HELD} AS h LEFT JOIN {SHOWN} AS s ON {keys.same('h', 's')} "
                f"GROUP BY h.{group}"
            ).to_pylist()
            exact = engine.fetch(
                f"SELECT s.{group} AS grp, s.value AS value, count(DISTINCT h.uid) AS n FROM {SHOWN} AS s "
                f"LEFT JOIN {HELD} AS h ON {keys.same('s', 'h')} GROUP BY {keys.list('s')}, s.value"
            ).to_pylist()
            engine.drop(HELD)
            by_name = {row["grp"]: row for row in sizes}
            none = {"users": 0, "events": 0, "covered": 0}
            for name in grouping.groups:
                counted = [(row["value"], row["n"]) for row in exact if row["grp"] == name]
                off = [abs(value - n) / n for value, n in counted if value is not None and n]
                size = by_name.get(name, none)
                found.append(
                    GroupFacts(
                        table,
                        name,
                        int(size["users"]),
                        int(size["events"]),
                        int(size["covered"]),
                        len(counted),
                        sum(not n for _, n in counted),
                        float(np.median(off)) if off else None,
                    )
                )
    order = {table: at for at, table in enumerate(mechanism.tables)}
    return sorted(found, key=lambda one: (order[one.table], one.users, one.group))
