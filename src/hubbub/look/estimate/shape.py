"""The shape of a log: for every key how many users hold it and how often, beside the id that `measure` gave it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from hubbub.steps.counts import Integers

if TYPE_CHECKING:
    from hubbub.log import SearchLog
    from hubbub.steps.keys import Keys

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class LogShape:
    """All keys of one kind. `id` is −1 where bounding left nobody; `users` is 0 for a listed key nobody holds."""

    id: Integers
    users: Integers
    events: Integers

    def by_id(self, column: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """A column in the order of the ids."""
        present = self.id >= 0
        ordered = np.zeros(int(present.sum()), column.dtype)
        ordered[self.id[present]] = column[present]
        return ordered

    def by_key(self, by_id: npt.NDArray[Any]) -> Floats:
        """A column by id, as a column of the shape: zero where there is no id."""
        column = np.zeros(self.id.size)
        present = self.id >= 0
        column[present] = by_id[self.id[present]]
        return column

    def value(self, column: str) -> Floats:
        """What the published number estimates: distinct users, or events."""
        return (self.users if column == "users" else self.events).astype(float)


@runtime_checkable
class Keyed(Protocol):
    """Something measured whose keys stand in a table of the engine."""

    keys: str


def key_table(measured: object) -> str:
    """The engine's table of the keys of what was measured; none where a mechanism keeps them elsewhere."""
    return measured.keys if isinstance(measured, Keyed) and isinstance(measured.keys, str) else ""


def held(log: SearchLog, keys: Keys) -> str:
    """The engine's table of every key with its users and events, unbounded."""
    name, columns = f"shape_{keys.name}", keys.list()
    keys.ready(log)
    each = f"SELECT uid, {columns}, count(*) AS n FROM ({keys.occurrences()}) AS events GROUP BY uid, {columns}"
    log.engine.save(
        name,
        f"SELECT {columns}, count(*) AS users, CAST(sum(n) AS BIGINT) AS events FROM ({each}) AS each_user "
        f"GROUP BY {columns}",
    )
    return name


def shape_of(log: SearchLog, keys: Keys, table: str, held: str) -> LogShape:
    """Every key of the log and of the mechanism's own table of keys (`kid` and the key's columns)."""
    on = " AND ".join(f"t.{column} = k.{column}" for column in keys.columns)
    rows = log.engine.fetch(
        "SELECT coalesce(k.kid, -1) AS kid, coalesce(t.users, 0) AS users, coalesce(t.events, 0) AS events "
        f"FROM {held} AS t FULL OUTER JOIN {table} AS k ON {on}"
    )
    return LogShape(*(rows.column(name).to_numpy().astype(np.int64) for name in ("kid", "users", "events")))
