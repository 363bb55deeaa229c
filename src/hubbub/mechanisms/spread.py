"""Noise where the rows are: the same `perturb`, and the same rounds, over batches of keys inside the engine.

Where a log needs a cluster, the counts of its keys do not fit one process either. A mechanism is *keywise* if the noise
and the tests of a key look at that key alone. Then its table may be cut anywhere: perturbing the parts is perturbing
the whole, draw by draw of the same law. Each part makes a secure generator of its own. What passes, and what goes
on to the next round, is written once and read back (`Engine.map_batches`); only what passed comes to the driver.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from hubbub.errors import OurBug
from hubbub.mechanisms.base import Mechanism, Released, Tables
from hubbub.noise import NoiseSource, SecureNoise
from hubbub.steps.count import Counts, Held, Integers, Spread
from hubbub.steps.holdings import checked

if TYPE_CHECKING:
    from hubbub.log import SearchLog
    from hubbub.mechanisms.rounds import Known, Selection
    from hubbub.steps.pools import EnginePools

PASSED = pa.schema([("kid", pa.int64()), ("value", pa.int64()), ("noise_sd", pa.float64())])
TESTED = pa.schema([("kid", pa.int64()), ("accumulator", pa.int64()), ("passed", pa.bool_()), ("listed", pa.bool_())])


def _secure(noise: NoiseSource) -> None:
    if not noise.private:
        raise OurBug("noise that repeats itself must be drawn in one place, in the order of the keys")


# ------------------------------------------------------------------ one step of noise


Test = Callable[[Integers, NoiseSource], Released]
"""The counts of some keys, each looked at by itself -> the places of those that show, with their values."""


@dataclass(frozen=True)
class Parts:
    """A test over batches of (kid, n): the keys that show."""

    test: Test

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
        noise = SecureNoise()
        for batch in batches:
            kid, n = (batch.column(name).to_numpy(zero_copy_only=False) for name in ("kid", "n"))
            found = self.test(n, noise)
            size, values, spread = found.ids.size, found.values, found.noise_sd
            value = pa.nulls(size, pa.int64()) if values is None else pa.array(values, pa.int64())
            sd = pa.nulls(size, pa.float64()) if spread is None else pa.array(np.broadcast_to(spread, size))
            yield pa.record_batch([pa.array(kid[found.ids]), value, sd], schema=PASSED)


def tested(counts: Counts | Held | Spread, test: Test, noise: NoiseSource) -> Released:
    """The keys that show, by id, with their values: the test runs where the counts are."""
    if not isinstance(counts, Spread):
        found = test(counts.n, noise)
        return replace(found, ids=counts.ids[found.ids]) if isinstance(counts, Held) else found
    _secure(noise)
    engine, name = counts.log.engine, f"noisy_{counts.keys}"
    engine.map_batches(name, f"SELECT kid, n FROM {counts.keys}", Parts(test), PASSED)
    passed = engine.fetch(f"SELECT kid, value, noise_sd FROM {name}").sort_by("kid")
    values, sd = (passed.column(name) for name in ("value", "noise_sd"))
    return Released(
        passed.column("kid").to_numpy(),
        None if values.null_count else values.to_numpy(),
        None if sd.null_count else sd.to_numpy(),
    )


class Perturb:
    """`mechanism.perturb`, of one table, as a test."""

    def __init__(self, mechanism: Mechanism, table: str) -> None:
        self.mechanism, self.table = copy.copy(mechanism), table
        vars(self.mechanism).pop("say", None)  # the terminal stays here

    def __call__(self, n: Integers, noise: NoiseSource) -> Released:
        others = {table: Counts(np.zeros(0, np.int64)) for table in self.mechanism.tables}
        return self.mechanism.perturb(others | {self.table: Counts(n)}, noise)[self.table]


def perturb(log: SearchLog, mechanism: Mechanism, counts: Mapping[str, Any], noise: NoiseSource) -> Tables:
    """The mechanism's tables; those whose counts stayed in the engine are perturbed there."""
    if mechanism.asks or not any(isinstance(table, Spread) for table in counts.values()):
        return mechanism.perturb(counts, noise)
    return {table: tested(counts[table], Perturb(mechanism, table), noise) for table in mechanism.tables}


# ------------------------------------------------------------------ selection in rounds


@dataclass(frozen=True)
class Round:
    """Round r over batches of (kid, w, accumulator, listed): the keys that pass, and those that go on."""

    plan: Selection
    of_listed: Selection | None
    r: int
    step: str

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
        from hubbub.mechanisms.rounds import one_round

        noise = SecureNoise()
        for batch in batches:
            kid, w, before, listed = (
                batch.column(name).to_numpy(zero_copy_only=False) for name in ("kid", "w", "accumulator", "listed")
            )
            theirs = None if self.of_listed is None else (self.of_listed, listed)
            now, passes, stays = one_round(self.plan, self.r, checked(w), before, theirs, noise, self.step)
            keep = passes | stays
            columns = [pa.array(values[keep]) for values in (kid, now, passes, listed)]
            yield pa.record_batch(columns, schema=TESTED)


def rounds(
    pools: EnginePools, plan: Selection, listed: Known | None, noise: NoiseSource, step: str
) -> tuple[Integers, Integers, Integers]:
    """The keys of pools that are released: (ids, accumulators, rounds), by id."""
    _secure(noise)
    engine, kind, name = pools.log.engine, pools.kind, pools.kind.name
    member, join = "false", ""
    if listed is not None:
        member, join = f"l.{kind.columns[0]} IS NOT NULL", f" LEFT JOIN {listed.table} AS l ON {kind.same('k', 'l')}"
    rows = f"SELECT k.kid AS kid, k.w AS w, CAST(0 AS BIGINT) AS accumulator, {member} AS listed FROM ({{}}) AS k{join}"
    found = []
    for r in range(len(plan.multiples)):
        table, alive = f"tested_{name}_{r}", f"alive_{name}_{r}"
        tested = Round(plan, None if listed is None else listed.plan, r, step)
        weights = pools.summed(None if r == 0 else f"alive_{name}_{r - 1}")
        engine.map_batches(table, rows.format(weights), tested, TESTED)
        passed = engine.fetch(f"SELECT kid, accumulator FROM {table} WHERE passed")
        found.append((*(passed.column(c).to_numpy() for c in passed.column_names), np.full(passed.num_rows, r)))
        engine.view(alive, f"SELECT kid, accumulator, listed FROM {table} WHERE NOT passed")
        rows = (
            "SELECT a.kid AS kid, coalesce(s.w, 0) AS w, a.accumulator AS accumulator, a.listed AS listed "
            f"FROM {alive} AS a LEFT JOIN ({{}}) AS s ON a.kid = s.kid"
        )
    return by_id(found)


def by_id(passed: Sequence[tuple[Integers, Integers, Integers]]) -> tuple[Integers, Integers, Integers]:
    """What passed in each round (ids, accumulators, rounds) as one, in the order of the ids."""
    ids, accumulators, rounds = (np.concatenate(column) for column in zip(*passed, strict=True))
    order = np.argsort(ids)
    return ids[order], accumulators[order], rounds[order]
