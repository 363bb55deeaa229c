"""Noise where the rows are: tests of keys over batches of rows inside an engine.

A test looks at each key by itself, so its table may be cut anywhere: testing the parts is testing the whole, draw by
draw of the same law. Each part makes a secure generator of its own. What a test says is written once and read back
(`Engine.map_batches`); only what passed comes to this process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hubbub.engines.base import of_key
from hubbub.errors import OurBug
from hubbub.noise.source import Integers, NoiseSource, SecureNoise

if TYPE_CHECKING:
    from hubbub.engines.base import Batches, Engine
    from hubbub.steps.released import Released

Flags = npt.NDArray[np.bool_]
KeyTest = Callable[[Integers, NoiseSource], "Released"]
"""The counts of some keys, each looked at by itself -> the places of those that show, with their values."""


class RoundTest(Protocol):
    """One round of a selection, each key looked at by itself."""

    def __call__(
        self, weights: Integers, before: Integers, marks: Integers, noise: NoiseSource
    ) -> tuple[Integers, Flags, Flags]:
        """What each key has gathered, whether it passes, whether it stays in the running."""
        ...


SHOWN = pa.schema([("kid", pa.int64()), ("value", pa.int64()), ("noise_sd", pa.float64())])
TESTED = pa.schema([("kid", pa.int64()), ("accumulator", pa.int64()), ("passed", pa.bool_()), ("mark", pa.int64())])


@dataclass(frozen=True)
class KeyParts:
    """A test over batches of (kid, n): the keys that show."""

    test: KeyTest

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
        noise = SecureNoise()
        for batch in batches:
            kid, n = (batch.column(name).to_numpy(zero_copy_only=False) for name in ("kid", "n"))
            found = self.test(n, noise)
            size, values, sd = found.ids.size, found.values, found.noise_sd
            value = pa.nulls(size, pa.int64()) if values is None else pa.array(values, pa.int64())
            sds = pa.nulls(size, pa.float64()) if sd is None else pa.array(np.broadcast_to(sd, size))
            yield pa.record_batch([pa.array(kid[found.ids]), value, sds], schema=SHOWN)


@dataclass(frozen=True)
class RoundParts:
    """A round over batches of (kid, w, accumulator, mark): the keys that pass, and those that go on."""

    test: RoundTest

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
        noise = SecureNoise()
        for batch in batches:
            kid, w, before, marks = (
                batch.column(name).to_numpy(zero_copy_only=False) for name in ("kid", "w", "accumulator", "mark")
            )
            now, passes, stays = self.test(w, before, marks, noise)
            keep = passes | stays
            columns = [pa.array(values[keep]) for values in (kid, now, passes, marks)]
            yield pa.record_batch(columns, schema=TESTED)


def run(engine: Engine, name: str, sql: str, parts: Batches, schema: pa.Schema, noise: NoiseSource) -> None:
    """Test the rows of a query, one for each key, where they are, and keep what is said of them under a name."""
    _secure(noise)
    engine.map_batches(name, of_key(sql), parts, schema)


def _secure(noise: NoiseSource) -> None:
    if not noise.private:
        raise OurBug("noise that repeats itself must be drawn in one place, in the order of the keys")
