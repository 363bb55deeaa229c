"""Broken versions of a synthetic log: histograms that were not paid for, and what must not be copied from the log."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hubbub.audit.mutants import Make, Mutant, _altered, _measured, _perturbed
from hubbub.audit.protocols import Subject
from hubbub.ingest.schema import SCHEMA
from hubbub.log import SearchLog
from hubbub.mechanisms.base import Mechanism, Rows, Tables
from hubbub.mechanisms.crowd.histograms import Histogram
from hubbub.mechanisms.crowd.walks import Public
from hubbub.noise import NoiseSource
from hubbub.steps.counts import Integers
from hubbub.steps.mode import RunMode


class _Exact(Histogram):
    def draw(self, sums: Integers, noise: NoiseSource) -> Integers:
        return sums if self.name == "activity" else super().draw(sums, noise)


class _SomeBins(Histogram):
    def draw(self, sums: Integers, noise: NoiseSource) -> Integers:
        some, noisy = sums > 0, sums.copy()
        noisy[some] += noise.gaussian(self.name, self.variance, int(some.sum()))
        return noisy


def _drawn_by(kind: type[Histogram]) -> Make:
    def make(mechanism: Mechanism) -> Subject:
        drawing = tuple(kind(h.name, h.mu2, h.bits) for h in mechanism.histograms)  # type: ignore[attr-defined]
        return replace(Subject.of(mechanism), perturb=_altered(mechanism, histograms=drawing).draw)

    return make


def _unshrunk(mechanism: Mechanism, log: SearchLog, mode: RunMode) -> dict[str, Any]:
    """Users' counts are added up as they are."""
    counts: dict[str, Any] = mechanism.measure(log, mode)
    hours = log.engine.fetch(
        'SELECT CAST(floor(((("time" + 259200) % 604800 + 604800) % 604800) / 3600) AS BIGINT) AS bin, '
        'count(*) AS n FROM (SELECT DISTINCT uid, "time", query FROM log WHERE "time" IS NOT NULL) AS s '
        "GROUP BY bin"
    )
    sums = np.zeros(168, np.int64)
    sums[hours.column("bin").to_numpy()] = hours.column("n").to_numpy() << 10
    return counts | {"log": counts["log"] | {"hour of week": sums}}


def _rewritten(change: Callable[[pa.Table, SearchLog], pa.Table]) -> Make:
    """The rows are touched up by somebody who has the log at hand."""

    def perturb(mechanism: Mechanism, pools: Mapping[str, Any], noise: NoiseSource) -> Tables:
        tables = mechanism.draw(pools, noise)
        made = tables["log"]
        if not isinstance(made, Rows):
            raise TypeError("the table log is not rows")
        return tables | {"log": Rows.of(change(made.rows, pools["queries"].log))}

    return _perturbed(perturb)


def _exact_users(rows: pa.Table, log: SearchLog) -> pa.Table:
    return rows.filter(pc.less_equal(rows.column("user").cast(pa.int64()), log.users()))


def _real_times(rows: pa.Table, log: SearchLog) -> pa.Table:
    """Synthetic times run from the first to the last second of the log."""
    seen = log.engine.fetch('SELECT min("time") AS first, max("time") AS last FROM log')
    first, last = (seen.column(c)[0].as_py() for c in ("first", "last"))
    times = rows.column("time").to_numpy()
    even = first + (times - times.min()) * (last - first) // max(1, int(np.ptp(times)))
    return rows.set_column(1, SCHEMA.field("time"), pa.array(even))


def _real_ids(rows: pa.Table, log: SearchLog) -> pa.Table:
    real = log.engine.fetch("SELECT DISTINCT uid FROM log ORDER BY uid").column("uid").combine_chunks()
    at = (rows.column("user").cast(pa.int64()).to_numpy() - 1) % len(real)
    return rows.set_column(0, SCHEMA.field("user"), real.take(pa.array(at)))


def _file_order(rows: pa.Table, log: SearchLog) -> pa.Table:
    """Queries stand in the order in which the log's file shows them first."""
    shown = log.engine.fetch("SELECT query FROM log").column("query").unique()
    place = pc.index_in(rows.column("query"), value_set=shown)
    return rows.append_column("at", place).sort_by("at").drop_columns(["at"])


def _unreleased(mechanism: Mechanism, pools: Mapping[str, Any], noise: NoiseSource) -> Tables:
    """Walks start at every query of the pools."""
    engine = pools["queries"].log.engine

    def all_queries(*given: Any) -> Public:
        seen = engine.fetch("SELECT query, count(DISTINCT uid) AS users FROM log GROUP BY query")
        made: Public = mechanism._public(*given)  # type: ignore[attr-defined]
        return replace(made, queries=seen)

    return _altered(mechanism, _public=all_queries).draw(pools, noise)


LOG = tuple(
    Mutant(name, make, "log")
    for name, make in (
        ("histogram of activity without budget", _drawn_by(_Exact)),
        ("empty bins not noised", _drawn_by(_SomeBins)),
        ("a user's share of a histogram not bounded", _measured(_unshrunk)),
        ("exact number of users", _rewritten(_exact_users)),
        ("first and last time of the log", _rewritten(_real_times)),
        ("ids of the log", _rewritten(_real_ids)),
        ("row order of the log", _rewritten(_file_order)),
        ("walks over unreleased queries", _perturbed(_unreleased)),
    )
)
