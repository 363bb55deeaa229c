"""Broken anonymity baselines: each lacks the one property that it states."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from hubbub.audit.mutants import Mutant
from hubbub.audit.protocols import Subject
from hubbub.mechanisms.anonymity.base import as_log, at_least
from hubbub.mechanisms.anonymity.k_session import Sets
from hubbub.mechanisms.base import Mechanism, Rows, Tables
from hubbub.noise import NoiseSource
from hubbub.steps.count import count
from hubbub.steps.counts import LocalCounts
from hubbub.steps.mode import RunMode


def _lower(mechanism: Mechanism) -> Subject:
    """k one lower than stated."""
    looser = type(mechanism)(tables=mechanism.tables, k=int(mechanism.settings["k"]) - 1)
    return replace(Subject.of(mechanism), measure=looser.measure, perturb=looser.perturb)


def _occurrences(mechanism: Mechanism) -> Subject:
    """Searches counted instead of users."""
    table = next(iter(mechanism.thresholds()))

    def measure(log: Any, mode: RunMode) -> dict[str, Any]:
        kind = mechanism.offers[table]
        return dict(mechanism.measure(log, mode)) | {table: count(log, kind, kind.occurrences(), mode)}

    return replace(Subject.of(mechanism), measure=measure)


def _left_over(mechanism: Mechanism) -> Subject:
    """The last sessions, fewer than k, are published as they are."""

    def perturb(counts: Mapping[str, Any], noise: NoiseSource) -> Tables:
        sets: Sets = counts["log"]
        out = mechanism.draw(counts, noise)["log"]
        last = sets.text.take(pa.array(sets.keywords[sets.starts[-2] :])).to_pylist()
        rows = [*out.rows.column("query").to_pylist(), " ".join(sorted(last))] if isinstance(out, Rows) else []
        return {"log": as_log(np.arange(len(rows)), {"query": pa.array(rows, pa.string())})}

    return replace(Subject.of(mechanism), perturb=perturb)


def _too_high(mechanism: Mechanism) -> Subject:
    """One count too high."""

    def perturb(counts: Mapping[str, Any], noise: NoiseSource) -> Tables:
        held: LocalCounts = counts["keywords"]
        higher = replace(held, n=held.n + (np.arange(held.n.size) == 0))
        return {"keywords": at_least(higher, int(mechanism.settings["k"]))}

    return replace(Subject.of(mechanism), perturb=perturb)


def _as_they_were(column: str) -> Callable[[Mechanism], Subject]:
    def make(mechanism: Mechanism) -> Subject:
        def perturb(counts: Mapping[str, Any], noise: NoiseSource) -> Tables:
            """Users or queries as they are in the log."""
            rows: pa.Table = counts["log"].rename_columns({"uid": "user"})
            out = mechanism.draw(counts, noise)["log"]
            if column == "query":
                return {"log": as_log(np.arange(rows.num_rows), {"time": rows["time"], "query": rows["query"]})}
            return {"log": replace(out, rows=rows.sort_by("user"))}  # type: ignore[call-arg]

        return replace(Subject.of(mechanism), perturb=perturb)

    return make


def _shares_of_searches(mechanism: Mechanism) -> Subject:
    """A share of each search, where each user may leave one."""

    def measure(log: Any, mode: RunMode) -> dict[str, Any]:
        rows: pa.Table = mechanism.measure(log, mode)["log"]
        again = pa.array([f"{uid} {i}" for i, uid in enumerate(rows.column("uid").to_pylist())], pa.string())
        return {"log": rows.set_column(0, "uid", again)}

    return replace(Subject.of(mechanism), measure=measure)


def _not_peeled(mechanism: Mechanism) -> Subject:
    """Every query is in the core."""

    def measure(log: Any, mode: RunMode) -> dict[str, Any]:
        counts = count(log, mechanism.offers["queries"], mechanism.offers["queries"].distinct(), mode)
        return {"queries": counts.local()}

    return replace(Subject.of(mechanism), measure=measure)


def _nothing_suppressed(mechanism: Mechanism) -> Subject:
    """Every user keeps all her queries beside those of her group."""
    looser = type(mechanism)(tables=mechanism.tables, k=int(mechanism.settings["k"]), similar="1/1000")
    return replace(Subject.of(mechanism), perturb=looser.perturb)


LOWER = Mutant("k one lower", _lower)
REPEATS = Mutant("searches counted for users", _occurrences)
LEFT_OVER = Mutant("a session left over", _left_over)
TOO_HIGH = Mutant("one prefix counted too high", _too_high)
SAME_USERS = Mutant("users keep their ids", _as_they_were("user"))
PER_SEARCH = Mutant("a share for every search", _shares_of_searches)
NOT_PEELED = Mutant("queries outside the core", _not_peeled)
NOT_SIMILAR = Mutant("nothing of a user suppressed", _nothing_suppressed)
SAME_WORDS = Mutant("words left as they are", _as_they_were("query"))
