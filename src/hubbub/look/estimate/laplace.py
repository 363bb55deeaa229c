"""korolova and zealous: every probability is known, so nothing is drawn.

A key of bounded count c is released with probability r(c) = P(c + Z >= T), Z discrete Laplace. Strict publishes c + Z
itself, so the noise of a published row is Z given Z >= T − c; published draws afresh; on a result list a click
is published when its query is.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from hubbub.look.estimate.curve import by_keys, by_law, points
from hubbub.look.estimate.result import TableEstimate, error_of, volume_of
from hubbub.look.estimate.scale import grown, scaled
from hubbub.look.estimate.shape import held, shape_of
from hubbub.mechanisms.survival import LaplaceTest
from hubbub.noise import SeededNoise
from hubbub.privacy.account import Step
from hubbub.steps.mode import RunMode

if TYPE_CHECKING:
    from hubbub.look.estimate.source import Source
    from hubbub.mechanisms import Mechanism


def estimate(mechanism: Mechanism, source: Source, runs: int) -> dict[str, TableEstimate]:
    """Every table; there are no runs to make."""
    steps = {step.name: step for step in mechanism.steps() if isinstance(step, Step)}
    measured = mechanism.measure(source.log, RunMode(SeededNoise(0).secret("bounding")))
    tables: dict[str, TableEstimate] = {}
    queries = np.zeros(0)
    for table in mechanism.tables:
        keys = mechanism.offers[table]
        sample = shape_of(source.log, keys, measured[table].keys, held(source.log, keys))
        shape = grown(sample, source.scale)
        counts = scaled(measured[table], sample.by_id(sample.users), source.scale)
        counted, at = shape.by_key(counts.n), points(int(shape.users.max()))
        select = steps[table]
        if select.threshold is not None:
            passing = LaplaceTest.of(select)
            chance, first, second = passing.moments(counted)
            bounded = sample.by_key(measured[table].n).astype(np.int64)
            curve = by_law(at, sample.users, bounded, passing.chance, source.scale)
            variance = float((chance * (1 - chance)).sum())
        else:  # listed: published with its query, or not at all
            chance = shape.by_key(queries[counts.parent])
            curve = by_keys(at, shape.users, chance)
            variance = float((np.bincount(counts.parent, minlength=queries.size) ** 2 * queries * (1 - queries)).sum())
        value = steps.get("query counts", select) if table == "queries" else select
        noise = LaplaceTest.of(value)
        if value is not select or select.threshold is None:  # drawn afresh
            first, second = np.zeros_like(chance), chance * noise.variance
        if table == "queries":
            queries = shape.by_id(chance)
        whole = float(sample.value(mechanism.value_column).sum())
        cut = 1 - float(measured[table].n.sum()) / max(whole, 1.0)
        asked = float(sample.events.sum()) * source.scale
        tables[table] = TableEstimate(
            method="exact",
            runs=None,
            value=mechanism.value_column,
            keys=int((shape.users > 0).sum()) if source.scale == 1 else None,
            rows=float(chance.sum()),
            rows_sd=math.sqrt(variance),
            volume=volume_of(whole * source.scale, cut, counted, asked, shape.events, chance),
            error=error_of(shape.value(mechanism.value_column), counted, chance, first, second, noise.variance),
            half_width=noise.half_width,
            curve=curve,
            counted=counted,
        )
    return tables
