"""Noise drawn in parts, wrong in the ways that clusters invite; planted in `noise/parts.py` and in the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from hubbub.audit.checks import parts, taint
from hubbub.audit.checks.parts import drawn_by
from hubbub.audit.mutants.fault import Change, Planted
from hubbub.noise import parts as drawing
from hubbub.noise.source import Integers


def _given(change: Callable[[int, pa.RecordBatch], Iterable[pa.RecordBatch]]) -> Change:
    """The function sees other batches than it was given, by their place in the task."""

    def planted(call: Any) -> Any:
        return lambda part, batches: call(part, (b for at, batch in enumerate(batches) for b in change(at, batch)))

    return planted


def _without(column: str, nothing: object) -> Change:
    """What the rounds before left in a column is forgotten."""

    def emptied(batch: pa.RecordBatch) -> pa.RecordBatch:
        place = batch.schema.get_field_index(column)
        return batch.set_column(place, column, pa.array([nothing] * batch.num_rows, batch.schema.field(place).type))

    return lambda call: lambda part, batches: call(part, map(emptied, batches) if part.test.r else batches)


def _numbered(_: int, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Ids are places in the batch."""
    yield batch.set_column(batch.schema.get_field_index("kid"), "kid", pa.array(np.arange(batch.num_rows)))


def _narrowed(call: Any) -> Any:
    """Half of the noise from the second batch on."""

    def broken(part: Any, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for at, batch in enumerate(batches):
            usual = vars(drawing)["SecureNoise"]
            with drawn_by(_narrow(usual) if at else usual):
                drawn = list(call(part, iter([batch])))
            yield from drawn

    return broken


def _narrow(kind: Any) -> Any:
    class Narrow(kind):  # type: ignore[misc]
        def laplace(self, step: str, scale: Fraction, size: int) -> Integers:
            drawn: Integers = super().laplace(step, scale / 2, size)
            return drawn

        def gaussian(self, step: str, variance: Fraction | int, size: int) -> Integers:
            drawn: Integers = super().gaussian(step, Fraction(variance) // 4, size)
            return drawn

    return Narrow


def _planned(map_batches: Any) -> Any:
    """The plan is kept beside its rows …"""

    def planned(engine: Any, name: str, *given: Any) -> None:
        vars(engine).setdefault("plans", {})[name] = lambda: map_batches(engine, name, *given)
        map_batches(engine, name, *given)

    return planned


def _run_again(fetch: Any) -> Any:
    """… and run whenever they are read: a lazy table, or a cache that was lost."""

    def fetched(engine: Any, sql: str) -> Any:
        for name, run in vars(engine).get("plans", {}).items():
            if name in sql.split():
                run()
        return fetch(engine, sql)

    return fetched


ENGINE = "hubbub.engines.duckdb:DuckDB"
ONE_STEP, ROUND = "hubbub.noise.parts:KeyParts.__call__", "hubbub.noise.parts:RoundParts.__call__"
IN_BOTH: dict[str, Change] = {
    "a batch is left out": _given(lambda at, batch: [] if at == 1 else [batch]),
    "a batch is drawn for twice": _given(lambda at, batch: [batch] * (2 if at == 1 else 1)),
    "ids counted from 0 in every batch": _given(_numbered),
    "half of the noise after the first batch": _narrowed,
}
PARTS_MUTANTS: tuple[Planted, ...] = (
    *(
        (f"{name}, {where}", parts.whole, {at: change})
        for name, change in IN_BOTH.items()
        for where, at in (("one step", ONE_STEP), ("a round", ROUND))
    ),
    ("half of the noise after the first batch, by its law", parts.drawn, {ONE_STEP: _narrowed}),
    ("accumulators forgotten between rounds", parts.whole, {ROUND: _without("accumulator", 0)}),
    ("listed keys forgotten between rounds", parts.whole, {ROUND: _without("mark", 0)}),
    (
        "one generator, copied into every part",
        parts.drawn,
        {"hubbub.noise.parts:SecureNoise": lambda _: lambda: taint.Seeded(1)},
    ),
    (
        "a plan with a draw in it is run again",
        parts.once,
        {f"{ENGINE}.map_batches": _planned, f"{ENGINE}.fetch": _run_again},
    ),
    (
        "noise that repeats itself in every part",
        parts.seeded,
        {"hubbub.noise.parts:_secure": lambda _: lambda noise: None},
    ),
)
