"""safelog: every probability is known, keys that nobody holds included, so nothing is drawn.

A query of the domain with bounded count c is released with probability r(c), a query of the pool that nobody asked
with p_g r(0). A transition needs both of its queries, which are released independently. A made-up log shares no
queries with a pool: there the pool is taken to hold all of them, and as many more as it has.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from hubbub.look.estimate.curve import Curve, Floats, by_keys, by_law, points
from hubbub.look.estimate.result import TableEstimate, error_of, volume_of
from hubbub.look.estimate.scale import factors, grown, scaled
from hubbub.look.estimate.shape import LogShape, held, shape_of
from hubbub.mechanisms.safelog.words import advice, recommended
from hubbub.mechanisms.survival import LaplaceTest
from hubbub.noise import SeededNoise
from hubbub.privacy.account import Step
from hubbub.steps.counts import LocalCounts
from hubbub.steps.mode import RunMode
from hubbub.steps.pairs import LocalPairs

if TYPE_CHECKING:
    from hubbub.look.estimate.source import Source
    from hubbub.mechanisms import Mechanism


def estimate(mechanism: Mechanism, source: Source, runs: int) -> dict[str, TableEstimate]:
    """Every table; there are no runs to make."""
    log, pool = source.log, mechanism.pool
    assert pool is not None
    if source.sample is not None:
        pool = replace(pool, rows=log.engine.fetch("SELECT DISTINCT query FROM log ORDER BY query"))
        mechanism = mechanism.over(pool)
    measured = mechanism.measure(log, RunMode(SeededNoise(0).secret("bounding")))
    steps = {step.name: step for step in mechanism.steps() if isinstance(step, Step)}
    domain, keys = measured["queries"], mechanism.offers["queries"]
    sample = shape_of(log, keys, domain.keys, held(log, keys))
    counts = scaled(domain, sample.by_id(sample.users), source.scale)
    select = LaplaceTest.of(steps["queries"])
    p_g = float(Fraction(mechanism.settings.get("p_g", 1)))
    shown, first, second = select.moments(counts.n.astype(float))
    secret = np.where(counts.n > 0, 1.0, p_g)  # the chance to be in the domain at all: what nobody asks is the pool's
    value = steps.get("query counts", steps["queries"])
    if value.name != "queries":
        first, second = np.zeros_like(shown), shown * LaplaceTest.of(value).variance
    chances = secret * shown
    unasked = int((domain.n == 0).sum()) + pool.size - pool.rows.num_rows
    nobody = max(0, unasked) * p_g * float(select.chance(np.zeros(1))[0])
    somebody = float(chances[domain.n > 0].sum())
    tables = {
        "queries": _table(
            mechanism,
            source,
            sample,
            (domain, counts, chances, secret * first, secret * second),
            rows=somebody + nobody,
            variance=float((chances * (1 - chances))[domain.n > 0].sum()) + nobody,
            noise=LaplaceTest.of(value),
            law=select,
            notes=(*_coverage(source, sample, nobody), *advice(mechanism)),
            utility={"rows_of_nobody": nobody} | recommended(mechanism),
        )
    }
    if "clicks" in measured:
        tables["clicks"] = _clicks(mechanism, source, measured["clicks"], chances, steps["clicks"])
    if "transitions" in measured:
        step = steps["transitions"]
        tables["transitions"] = _transitions(
            mechanism, source, measured["transitions"], chances, somebody + nobody, step
        )
    return {table: tables[table] for table in mechanism.tables}


def _coverage(source: Source, sample: LogShape, nobody: float) -> tuple[str, ...]:
    """What the pool makes of the log; bounding takes what it does not hold."""
    rows = f"{nobody:,.1f} rows of the release are expected to stand for nobody"
    if source.sample is not None:
        return (
            rows,
            "a made-up log is in no pool: all its queries are taken to be in this one, which is the best case",
        )
    inside = float(sample.events[sample.id >= 0].sum()) / max(float(sample.events.sum()), 1.0)
    return (rows, f"{inside:.1%} of the searches asked a query of the domain; the rest counts as cut by bounding")


def _clicks(mechanism: Mechanism, source: Source, measured: LocalCounts, queries: Floats, step: Step) -> TableEstimate:
    """A listed page is shown when its query is."""
    keys = mechanism.offers["clicks"]
    sample = shape_of(source.log, keys, measured.keys, held(source.log, keys))
    counts = scaled(measured, sample.by_id(sample.users), source.scale)
    parent = np.asarray(measured.parent)
    chances, together = queries[parent], np.bincount(parent, minlength=queries.size)
    return _table(
        mechanism,
        source,
        sample,
        (measured, counts, chances, np.zeros_like(chances), chances * LaplaceTest.of(step).variance),
        rows=float(chances.sum()),
        variance=float((together**2 * queries * (1 - queries)).sum()),
        noise=LaplaceTest.of(step),
        table="clicks",
    )


def _transitions(
    mechanism: Mechanism, source: Source, measured: LocalPairs, queries: Floats, released: float, step: Step
) -> TableEstimate:
    """Held pairs need both queries and the threshold; of all others as many pass as there are pairs, times r(0)."""
    keys = mechanism.offers["transitions"]
    every = held(source.log, keys)
    ids = LocalPairs.ids(measured.first, measured.second)
    table = measured.text(source.log.engine, keys, ids).append_column("kid", pa.array(np.arange(ids.size)))
    source.log.engine.register("safelog_held_pairs", table)
    sample = shape_of(source.log, keys, "safelog_held_pairs", every)
    law = LaplaceTest.of(step)
    both = queries[measured.first] * queries[measured.second]
    n = np.rint(measured.n * factors(measured.n, source.scale)).astype(np.int64)
    passed, first, second = law.moments(n.astype(float))
    chances = both * passed
    squares = released**2 - float((queries**2).sum())  # E[M(M − 1)] for independent releases
    others = max(0.0, squares - float(both.sum())) * float(law.chance(np.zeros(1))[0])
    kept = LocalCounts(measured.n)
    return _table(
        mechanism,
        source,
        sample,
        (kept, LocalCounts(n), chances, both * first, both * second),
        rows=float(chances.sum()) + others,
        variance=float((chances * (1 - chances)).sum()) + others,
        noise=LaplaceTest.of(step),
        table="transitions",
        notes=(f"{others:,.1f} rows of the release are expected to stand for nobody",),
        utility={"rows_of_nobody": others},
    )


def _table(
    mechanism: Mechanism,
    source: Source,
    sample: LogShape,
    laws: tuple[LocalCounts, LocalCounts, Floats, Floats, Floats],
    *,
    rows: float,
    variance: float,
    noise: LaplaceTest,
    law: LaplaceTest | None = None,
    table: str = "queries",
    notes: tuple[str, ...] = (),
    utility: Mapping[str, float] | None = None,
) -> TableEstimate:
    """Put a table together from what is known by key id: counts, counts at N users, chance, and the noise's moments."""
    measured, counts, chances, first, second = laws
    shape = grown(sample, source.scale)
    counted, chance = shape.by_key(counts.n), shape.by_key(chances)
    held_by = np.where(shape.id >= 0, shape.users, 0)
    at = points(max(1, int(held_by.max(initial=0))))
    if not held_by.any():
        curve = Curve(at, np.zeros(at.size), None)
    elif law is not None:
        inside = sample.id >= 0
        bounded = sample.by_key(measured.n).astype(np.int64)
        curve = by_law(at, sample.users[inside], bounded[inside], law.chance, source.scale)
    else:
        curve = by_keys(at, held_by, chance)
    truth = shape.value(mechanism.value_column)
    whole = float(sample.value(mechanism.value_column).sum())
    cut = 1 - float(measured.n.sum()) / max(whole, 1.0)
    real = counted > 0
    mean, square = shape.by_key(first), shape.by_key(second)
    return TableEstimate(
        method="exact",
        runs=None,
        value=mechanism.value_column,
        keys=int((sample.users > 0).sum()) if source.scale == 1 else None,
        rows=rows,
        rows_sd=math.sqrt(variance),
        volume=volume_of(
            whole * source.scale, cut, counted, float(sample.events.sum()) * source.scale, shape.events, chance
        ),
        error=error_of(truth[real], counted[real], chance[real], mean[real], square[real], noise.variance),
        half_width=noise.half_width,
        curve=curve,
        notes=notes,
        utility=utility or {},
    )
