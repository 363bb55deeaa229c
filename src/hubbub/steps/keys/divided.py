"""Keys divided by a group: (country, query), (hour, query, url). The group comes first, and belongs to the key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hubbub.steps.keys.base import Keys, MadeOf

if TYPE_CHECKING:
    from hubbub.public.groups import Grouping

BY = "_by_"


def divided_name(base: str, grouping: Grouping) -> str:
    """The name of the table: `queries_by_country`."""
    return by_name(base, grouping.name)


def by_name(base: str, grouping: str) -> str:
    """The same from the name of the grouping."""
    return f"{base}{BY}{grouping}"


def base_of(table: str) -> str:
    """The table that a table by group divides, or the table itself."""
    return table.partition(BY)[0]


def group_of(table: str) -> str:
    """The column of a table by group that holds declared values, which nobody typed; empty for any other table."""
    return table.partition(BY)[2]


def divided(base: Keys, grouping: Grouping, *, chosen: bool = False) -> Keys:
    """(group, key) for every key of the log, or only for those that the engine knows as released: `chosen_…`."""
    columns = ", ".join(f"l.{column} AS {column}" for column in base.columns)
    released = f" JOIN chosen_{base.name} AS c ON {base.same('l', 'c')}" if chosen else ""
    there = " AND ".join(f"l.{column} IS NOT NULL" for column in base.columns)
    return Keys(
        name=divided_name(base.name, grouping),
        columns=(grouping.name, *base.columns),
        events=f'SELECT l.uid AS uid, l."time" AS "time", coalesce(g.value, \'other\') AS {grouping.name}, {columns} '
        f"FROM {{log}} AS l{released} LEFT JOIN {grouping.table} AS g ON {grouping.raw('l')} = g.raw WHERE {there}",
        order=('"time" NULLS LAST', grouping.name, *base.columns),
        repeats=True,
        made_of=MadeOf.ROW,
        prepare=grouping.ready,
    )
