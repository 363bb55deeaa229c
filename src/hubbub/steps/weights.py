"""The exact weights of one round of a selection, as arrays or in the engine, and what the round says of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from hubbub.noise import parts
from hubbub.steps.counts import Flags, Integers

if TYPE_CHECKING:
    from hubbub.engines import Engine
    from hubbub.noise import NoiseSource


@dataclass(frozen=True)
class Tested:
    """What a round says: the keys that pass with what they have gathered, and which others stay in the running."""

    ids: Integers
    accumulators: Integers
    running: Any
    """What the pools are asked with for the next round: arrays, or the name of a table that the round wrote."""


class Weights(Protocol):
    """The sum of every key that is in the running, wherever they lie."""

    def test(self, test: parts.RoundTest, noise: NoiseSource) -> Tested:
        """The round, each key looked at by itself, where the weights lie."""
        ...


@dataclass(frozen=True)
class Running:
    """Keys in the running: their ids, what each has gathered, and whether it stands in a public list."""

    ids: Integers
    gathered: Integers
    listed: Flags

    @staticmethod
    def all(size: int, listed: Flags | None = None) -> Running:
        """Every key, before the first round."""
        return Running(
            np.arange(size), np.zeros(size, np.int64), np.zeros(size, np.bool_) if listed is None else listed
        )


@dataclass(frozen=True)
class LocalWeights:
    """Weights as an array, beside the keys they belong to."""

    running: Running
    sums: Integers

    def test(self, test: parts.RoundTest, noise: NoiseSource) -> Tested:
        """The round on arrays."""
        ids, listed = self.running.ids, self.running.listed
        now, passes, stays = test(self.sums, self.running.gathered, listed, noise)
        return Tested(ids[passes], now[passes], Running(ids[stays], now[stays], listed[stays]))


@dataclass(frozen=True)
class EngineWeights:
    """Weights that stay in the engine: `sql` gives (kid, w, accumulator, listed)."""

    engine: Engine = field(repr=False, compare=False)
    sql: str
    tested: str
    """The table that the round writes."""
    running: str
    """The view of what stays in the running."""

    def test(self, test: parts.RoundTest, noise: NoiseSource) -> Tested:
        """The round where the rows are; only what passes is brought."""
        parts.run(self.engine, self.tested, self.sql, parts.RoundParts(test), parts.TESTED, noise)
        passed = self.engine.fetch(f"SELECT kid, accumulator FROM {self.tested} WHERE passed")
        self.engine.view(self.running, f"SELECT kid, accumulator, listed FROM {self.tested} WHERE NOT passed")
        ids, accumulators = (passed.column(name).to_numpy() for name in passed.column_names)
        return Tested(ids, accumulators, self.running)
