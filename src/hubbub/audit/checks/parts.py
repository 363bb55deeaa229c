"""Noise drawn in parts (noise/parts.py), by an engine that deals out rows as a cluster does.

Every task has a copy of the function and gets its rows in small batches. What must hold: each row is drawn for once,
with the noise of its own scale and nobody else's; what is read later is what was drawn.
"""

from __future__ import annotations

import copy
import math
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any, cast

import numpy as np
import pyarrow as pa

from hubbub.audit.checks.statistical import LEVEL
from hubbub.audit.protocols import AuditRow, Event, Kind, shared_faults, shared_row
from hubbub.audit.tiny import MODE, tiny_log
from hubbub.engines.base import Batches
from hubbub.engines.duckdb import DuckDB
from hubbub.errors import OurBug
from hubbub.log import SearchLog
from hubbub.mechanisms import Mechanism, build
from hubbub.noise import Exits, SecureNoise, SeededNoise, parts
from hubbub.noise.absent import Rounds
from hubbub.noise.source import Integers
from hubbub.public.lists import QueryPool
from hubbub.release.rows import named_rows
from hubbub.steps.counts import EngineCounts
from hubbub.steps.mode import RunMode, Where

APART = replace(MODE, where=Where.ENGINE)
LISTED = pa.table({"query": ["key 3", "key 7", "key 12", "key 20", "nobody's"]})
EVENTS: tuple[Event, ...] = tuple((f"user{u}", i, f"key {i}", None) for i in range(1, 41) for u in range(i))
"""Key i is held by i users: some pass at once, some in later rounds, some never."""
KEYS, SCALE, HELD = 6000, 1000, 10**8


class Tasks(DuckDB):
    """DuckDB, except that a function runs as tasks of a few rows; remembers which tables were made so."""

    distributed = True
    rows, batch = 12, 5
    mapped: tuple[str, ...] = ()

    def map_batches(self, name: str, sql: str, function: Batches, schema: pa.Schema) -> None:
        """Run each task with its own copy, as if it had come through a network."""

        def tasks(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            together = list(batches)
            rows = pa.Table.from_batches(together).combine_chunks() if together else pa.table({})
            for start in range(0, rows.num_rows, self.rows):
                part = rows.slice(start, self.rows).to_batches(self.batch)
                yield from copy.deepcopy(function)(iter(part))

        self.mapped = *self.mapped, name
        super().map_batches(name, sql, tasks, schema)


class LargeTasks(Tasks):
    """Tasks of as many rows as it takes to see a law."""

    rows, batch = KEYS // 4, KEYS // 8


class Level(SecureNoise):
    """Noise that depends on its scale alone: drawn in parts or in one place, it is the same."""

    def laplace(self, step: str, scale: Fraction, size: int) -> Integers:
        """The scale."""
        return np.full(size, int(scale), np.int64)

    def gaussian(self, step: str, variance: Fraction | int, size: int) -> Integers:
        """The standard deviation."""
        return np.full(size, math.isqrt(int(variance)), np.int64)

    def absent(self, step: str, count: int, rounds: Rounds) -> Exits:
        """None."""
        return Exits(*(np.zeros(0, np.int64) for _ in range(3)))


@contextmanager
def drawn_by(kind: Any) -> Iterator[None]:
    """What the parts make their noise with."""
    module: Any = parts
    before, module.SecureNoise = module.SecureNoise, kind
    try:
        yield
    finally:
        module.SecureNoise = before


def _mechanisms() -> list[Mechanism]:
    """Every way to draw in parts: one step of either noise, rounds that stand alone, rounds that add up with a list."""
    halves = [LISTED.slice(0, 2), LISTED.slice(2)]
    listed = [QueryPool("listed", half, str(i) * 64, half.num_rows, "audit", "list") for i, half in enumerate(halves)]
    return [
        build("korolova", {"d": 40, "b": 7, "K": 20}),
        build("gaussian", {"epsilon": 8, "delta": "0.01", "d": 40}),
        build("adaptive", {"epsilon": 16, "delta": "0.01", "d": 40, "rounds": 4}),
        build(
            "crowd",
            {"epsilon": 20, "delta": "0.01", "D": 40, "F_known": 1, "language": "none"},
            tables=["queries"],
            public_list=listed,
        ),
    ]


def whole() -> Iterator[AuditRow]:
    """Each key is drawn for once and with its own noise: exactly what arrays in one place give."""
    for mechanism in _mechanisms():
        with tiny_log(EVENTS, Tasks) as log, drawn_by(Level):
            one, apart = (_released(log, mechanism, mode) for mode in (MODE, APART))
        differing = sum(((one - apart) + (apart - one)).values())
        check = f"exact release of noise in parts, as of noise in one place: {mechanism.name}"
        yield shared_faults(check, differing, f"{one.total()} keys show", Kind.EXACT)


def _released(log: SearchLog, mechanism: Mechanism, mode: RunMode) -> Counter[tuple[object, ...]]:
    counts = mechanism.measure(log, mode)
    rows = named_rows(log, mechanism, "queries", counts, mechanism.draw(counts, Level()))
    return Counter(tuple(row.values()) for row in rows.to_pylist())


def drawn() -> Iterator[AuditRow]:
    """One step over many keys with noise that nobody can repeat: its law, batch by batch, and no part like another."""
    runs = [_draws() for _ in range(2)]
    places = np.arange(KEYS)
    first = places % LargeTasks.rows < LargeTasks.batch
    for name, mask in (("first batches", first), ("later batches", ~first)):
        values = np.concatenate([run[mask] for run in runs])
        allowed = math.sqrt(math.log(2 / LEVEL) / (2 * values.size))  # Dvoretzky, Kiefer, Wolfowitz, Massart
        check = f"sampled law of noise drawn in parts: {name}"
        yield shared_row(check, allowed, _distance(values), allowed, f"{values.size} draws", Kind.STATISTICAL)
    tasks = [run[start : start + LargeTasks.rows] for run in runs for start in range(0, KEYS, LargeTasks.rows)]
    alike = max(float(np.mean(one == other)) for one, other in combinations(tasks, 2))
    detail = f"by chance {1 / (4 * SCALE):.5f}; more than the bound with probability below 1e-6"
    yield shared_row("sampled: no two parts, nor two runs, draw alike", 0.02, alike, 0.02, detail, Kind.STATISTICAL)


def _draws() -> Integers:
    """What is added to counts far above the threshold, by key."""
    mechanism = build("korolova", {"d": 1, "b": SCALE, "K": 3})
    with tiny_log(EVENTS[:1], LargeTasks) as log:
        released = mechanism.draw({"queries": _many(log)}, SecureNoise())["queries"]
    if released.values is None or released.ids.tolist() != list(range(KEYS)):
        raise OurBug("keys that hold enough must all show")
    return np.asarray(released.values, np.int64) - HELD


def _many(log: SearchLog) -> EngineCounts:
    log.engine.register("many", pa.table({"kid": np.arange(KEYS), "n": np.full(KEYS, HELD)}))
    return EngineCounts("many", log.engine)


def _distance(values: Integers) -> float:
    """The largest distance of a sample's distribution function from the discrete Laplace's."""
    at, counts = np.unique(values, return_counts=True)
    q = math.exp(-1 / SCALE)
    law = np.where(at < 0, q ** -at.astype(float), 1 + q - q ** (at + 1.0)) / (1 + q)
    return float(np.abs(np.cumsum(counts) / values.size - law).max())


def once() -> Iterator[AuditRow]:
    """Whatever is read again is what was read before: no plan with a draw in it is run a second time."""
    for mechanism in _wide():
        with tiny_log(EVENTS, Tasks) as log:
            mechanism.draw(mechanism.measure(log, APART), SecureNoise())
            tables = cast(Tasks, log.engine).mapped
            one, two = ([log.engine.fetch(f"SELECT * FROM {t} ORDER BY kid") for t in tables] for _ in range(2))
        changed = sum(not before.equals(after) for before, after in zip(one, two, strict=True))
        yield shared_faults(f"what was drawn is kept: {mechanism.name}", changed, f"{len(tables)} tables")


def _wide() -> tuple[Mechanism, ...]:
    """One step, and two rounds, with noise that is never the same twice."""
    budget = {"epsilon": 16, "delta": "0.01", "d": 40}
    return build("korolova", {"d": 40, "b": SCALE, "K": 3}), build("adaptive", budget)


def seeded() -> Iterator[AuditRow]:
    """Noise that repeats itself would be the same in every part: it is drawn in one place."""
    for mechanism in _wide():
        with tiny_log(EVENTS, Tasks) as log:
            try:
                mechanism.draw(mechanism.measure(log, APART), SeededNoise(1))
                refused = False
            except OurBug:
                refused = True
        yield shared_faults(f"seeded noise is not drawn in parts: {mechanism.name}", not refused)


def tests() -> Iterator[AuditRow]:
    """Every check of noise drawn in parts."""
    for test in (whole, drawn, once, seeded):
        yield from test()
