"""The exact weights of one round of a selection, as arrays or in the engine, and what the round says of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from hubbub.engines.base import of_key
from hubbub.noise import parts
from hubbub.steps.counts import Integers

if TYPE_CHECKING:
    from hubbub.engines import Engine
    from hubbub.noise import NoiseSource


UNMARKED, KNOWN, LISTED = range(3)
"""The mark of a key: learned from the log, known to the prior, on the first list of the owner's; others follow."""


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
    """Keys in the running: their ids, what each has gathered, and its mark."""

    ids: Integers
    gathered: Integers
    marks: Integers

    @staticmethod
    def all(size: int, marks: Integers | None = None) -> Running:
        """Every key, before the first round."""
        marks = np.full(size, UNMARKED) if marks is None else marks
        return Running(np.arange(size), np.zeros(size, np.int64), marks)

    def knowing(self, known: Integers) -> Running:
        """The same, with a mark for those of these ids that have none yet."""
        new = (self.marks == UNMARKED) & np.isin(self.ids, known)
        return replace(self, marks=np.where(new, KNOWN, self.marks))


@dataclass(frozen=True)
class LocalWeights:
    """Weights as an array, beside the keys they belong to."""

    running: Running
    sums: Integers

    def test(self, test: parts.RoundTest, noise: NoiseSource) -> Tested:
        """The round on arrays."""
        ids, marks = self.running.ids, self.running.marks
        now, passes, stays = test(self.sums, self.running.gathered, marks, noise)
        return Tested(ids[passes], now[passes], Running(ids[stays], now[stays], marks[stays]))


@dataclass(frozen=True)
class EngineWeights:
    """Weights that stay in the engine: `sql` gives (kid, w, accumulator, mark)."""

    engine: Engine = field(repr=False, compare=False)
    sql: str
    tested: str
    """The table that the round writes."""
    running: str
    """The view of what stays in the running."""

    def test(self, test: parts.RoundTest, noise: NoiseSource) -> Tested:
        """The round where the rows are; only what passes is brought."""
        parts.run(self.engine, self.tested, self.sql, parts.RoundParts(test), parts.TESTED, noise)
        passed = self.engine.fetch(of_key(f"SELECT kid, accumulator FROM {self.tested} WHERE passed"))
        self.engine.view(self.running, f"SELECT kid, accumulator, mark FROM {self.tested} WHERE NOT passed")
        ids, accumulators = (passed.column(name).to_numpy() for name in passed.column_names)
        return Tested(ids, accumulators, self.running)
