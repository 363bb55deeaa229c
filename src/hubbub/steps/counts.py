"""`Counts`: exact counts of one kind of key, as arrays of this process or in a table of the engine.

Both forms answer the same questions, so that a mechanism is written once. What is brought from the engine is what the
answer names.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hubbub.engines.base import of_key
from hubbub.errors import OurBug
from hubbub.noise import parts
from hubbub.steps.mode import RunMode, Where
from hubbub.steps.released import Released

if TYPE_CHECKING:
    from hubbub.engines import Engine
    from hubbub.noise import NoiseSource
    from hubbub.steps.keys import Keys

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


class Counts(Protocol):
    """What a mechanism may ask of exact counts, wherever they lie."""

    @property
    def keys(self) -> str:
        """The engine's table that holds the keys' text, by `kid`."""
        ...

    @property
    def size(self) -> int:
        """How many keys there are, those that nobody holds included."""
        ...

    def local(self) -> LocalCounts:
        """All numbers as arrays, for arithmetic that needs them in one place."""
        ...

    def held(self) -> Counts:
        """Those above zero, of a domain that is all of them."""
        ...

    def somebody(self) -> bool:
        """Whether anybody holds any of them."""
        ...

    def at_least(self, least: int) -> tuple[Integers, Integers]:
        """The keys that reach a count of at least one, and their counts."""
        ...

    def under(self, parents: Integers) -> tuple[Integers, Integers]:
        """Every key of these parents, and its count."""
        ...

    def holds(self, ids: Integers) -> Flags:
        """Which of these keys are among them."""
        ...

    def test(self, test: parts.KeyTest, noise: NoiseSource) -> Released:
        """The keys that show, by id, with their values: the test looks at each key by itself, where the counts lie."""
        ...

    def text(self, engine: Engine, kind: Keys, ids: Integers) -> pa.Table:
        """The text of keys, in the order of `ids`."""
        ...


@dataclass(frozen=True)
class LocalCounts:
    """Exact counts as arrays; the id of a key is its position, unless `ids` says otherwise."""

    n: Integers
    keys: str = ""
    parent: Integers | None = None
    """For a closed domain: the key of another table each key depends on (a click's query)."""
    ids: Integers | None = None
    domain: int | None = None
    """How many keys there are where only those that somebody holds are listed."""

    @property
    def size(self) -> int:
        """How many keys there are, those that nobody holds included."""
        return int(self.n.size) if self.domain is None else self.domain

    def local(self) -> LocalCounts:
        """They are here."""
        return self

    def held(self) -> LocalCounts:
        """Those above zero, of a domain that is all of them."""
        at = np.flatnonzero(self.n)
        return LocalCounts(self.n[at], self.keys, ids=self._named(at), domain=self.size)

    def somebody(self) -> bool:
        """Whether anybody holds any of them."""
        return bool(self.n.any())

    def at_least(self, least: int) -> tuple[Integers, Integers]:
        """The keys that reach a count of at least one, and their counts."""
        at = np.flatnonzero(self.n >= least)
        return self._named(at), self.n[at]

    def under(self, parents: Integers) -> tuple[Integers, Integers]:
        """Every key of these parents, and its count."""
        if self.parent is None:
            raise OurBug("these keys have no parents")
        at = np.flatnonzero(np.isin(self.parent, parents))
        return self._named(at), self.n[at]

    def holds(self, ids: Integers) -> Flags:
        """Which of these keys are among them."""
        return np.isin(ids, np.arange(self.n.size) if self.ids is None else self.ids)

    def test(self, test: parts.KeyTest, noise: NoiseSource) -> Released:
        """The keys that show, by id, with their values."""
        found = test(self.n, noise)
        return found if self.ids is None else replace(found, ids=self.ids[found.ids])

    def text(self, engine: Engine, kind: Keys, ids: Integers) -> pa.Table:
        """The text of keys, in the order of `ids`."""
        return texts(engine, self.keys, kind, ids)

    def _named(self, at: Integers) -> Integers:
        return at if self.ids is None else self.ids[at]


@dataclass(frozen=True)
class EngineCounts:
    """Exact counts that stay in the engine, in its table `keys` as `n`, by `kid`: asked where they lie."""

    keys: str
    engine: Engine = field(repr=False, compare=False)
    domain: int | None = None
    parented: bool = False
    """Whether the table has the key of another table that each key depends on, as `parent`."""

    @property
    def size(self) -> int:
        """How many keys there are, those that nobody holds included."""
        if self.domain is not None:
            return self.domain
        return size_of(self.engine, self.keys)

    def local(self) -> LocalCounts:
        """All numbers as arrays."""
        rows = self.engine.fetch(of_key(f"SELECT kid, {'parent, ' if self.parented else ''}n FROM {self.keys}"))
        return LocalCounts(by_id(rows, "n"), self.keys, by_id(rows, "parent") if self.parented else None)

    def held(self) -> EngineCounts:
        """Those above zero, of a domain that is all of them."""
        size, name = self.size, f"held_{self.keys}"
        self.engine.view(name, f"SELECT kid, n FROM {self.keys} WHERE n > 0")
        return EngineCounts(name, self.engine, size)

    def somebody(self) -> bool:
        """Whether anybody holds any of them."""
        return bool(self.engine.fetch(of_key(f"SELECT kid FROM {self.keys} WHERE n > 0 LIMIT 1")).num_rows)

    def at_least(self, least: int) -> tuple[Integers, Integers]:
        """The keys that reach a count of at least one, and their counts."""
        return self._brought(of_key(f"SELECT kid, n FROM {self.keys} WHERE n >= {least}"))

    def under(self, parents: Integers) -> tuple[Integers, Integers]:
        """Every key of these parents, and its count."""
        self.engine.register("chosen_parents", pa.table({"kid": parents}))
        return self._brought(
            f"SELECT k.kid AS kid, k.n AS n FROM {self.keys} AS k JOIN chosen_parents AS p ON p.kid = k.parent"
        )

    def holds(self, ids: Integers) -> Flags:
        """Which of these keys are among them."""
        self.engine.register("asked_keys", pa.table({"kid": ids}))
        held = f"SELECT k.kid AS kid FROM {self.keys} AS k JOIN asked_keys AS a ON a.kid = k.kid"
        return np.isin(ids, self.engine.fetch(of_key(held)).column("kid").to_numpy())

    def test(self, test: parts.KeyTest, noise: NoiseSource) -> Released:
        """The keys that show, by id, with their values."""
        name = f"noisy_{self.keys}"
        parts.run(self.engine, name, f"SELECT kid, n FROM {self.keys}", parts.KeyParts(test), parts.SHOWN, noise)
        shown = self.engine.fetch(of_key(f"SELECT kid, value, noise_sd FROM {name}")).sort_by("kid")
        values, sd = (shown.column(column) for column in ("value", "noise_sd"))
        return Released(
            shown.column("kid").to_numpy(),
            None if values.null_count else values.to_numpy(),
            None if sd.null_count else sd.to_numpy(),
        )

    def text(self, engine: Engine, kind: Keys, ids: Integers) -> pa.Table:
        """The text of keys, in the order of `ids`."""
        return texts(engine, self.keys, kind, ids)

    def _brought(self, sql: str) -> tuple[Integers, Integers]:
        rows = self.engine.fetch(sql).sort_by("kid")
        return rows.column("kid").to_numpy(), rows.column("n").to_numpy()


def placed(counts: EngineCounts, mode: RunMode) -> Counts:
    """Counts of a table of the engine, where the mode has them."""
    return counts if mode.where is Where.ENGINE else counts.local()


def texts(engine: Engine, table: str, kind: Keys, ids: Integers) -> pa.Table:
    """The text of keys of a table of the engine, in the order of `ids`."""
    engine.register("released_ids", pa.table({"kid": ids, "at": np.arange(ids.size)}))
    named = (
        f"SELECT released_ids.at AS at, {kind.list('k')} FROM {table} AS k "
        f"JOIN released_ids ON released_ids.kid = k.kid"
    )
    rows = engine.fetch(of_key(named))
    return rows.sort_by("at").drop_columns(["at"])


def size_of(engine: Engine, table: str) -> int:
    """How many keys a table of the engine has."""
    return int(sum(engine.fetch(of_key(f"SELECT count(*) AS n FROM {table}")).column("n").to_pylist()))


def by_id(rows: pa.Table, column: str) -> Integers:
    """A column in the order of `kid`, which counts from 0."""
    kid, found = rows.column("kid").to_numpy(), rows.column(column).to_numpy()
    if np.array_equal(kid, np.arange(kid.size)):
        return np.asarray(found, np.int64)
    values = np.empty(kid.size, np.int64)
    values[kid] = found
    return values
