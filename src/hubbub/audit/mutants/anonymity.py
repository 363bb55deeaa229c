"""Broken anonymity baselines: each lacks the one property that it states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from hubbub.audit.mutants import Make, Mutant, _measured, _perturbed
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


def _occurrences(mechanism: Mechanism, log: Any, mode: RunMode) -> dict[str, Any]:
    """Searches counted instead of users."""
    table = next(iter(mechanism.thresholds()))
    kind = mechanism.offers[table]
    return dict(mechanism.measure(log, mode)) | {table: count(log, kind, kind.occurrences(), mode)}


def _left_over(mechanism: Mechanism, counts: Mapping[str, Any], noise: NoiseSource) -> Tables:
    """The last sessions, fewer than k, are published as they are."""
    sets: Sets = counts["log"]
    out = mechanism.draw(counts, noise)["log"]
    last = sets.text.take(pa.array(sets.keywords[sets.starts[-2] :])).to_pylist()
    rows = [*out.rows.column("query").to_pylist(), " ".join(sorted(last))] if isinstance(out, Rows) else []
    return {"log": as_log(np.arange(len(rows)), {"query": pa.array(rows, pa.string())})}


def _too_high(mechanism: Mechanism, counts: Mapping[str, Any], noise: NoiseSource) -> Tables:
    """One count too high."""
    held: LocalCounts = counts["keywords"]
    higher = replace(held, n=held.n + (np.arange(held.n.size) == 0))
    return {"keywords": at_least(higher, int(mechanism.settings["k"]))}


def _as_they_were(column: str) -> Make:
    """Users or queries as they are in the log."""

    def perturb(mechanism: Mechanism, counts: Mapping[str, Any], noise: NoiseSource) -> Tables:
        rows: pa.Table = counts["log"].rename_columns({"uid": "user"})
        out = mechanism.draw(counts, noise)["log"]
        if column == "query":
            return {"log": as_log(np.arange(rows.num_rows), {"time": rows["time"], "query": rows["query"]})}
        return {"log": replace(out, rows=rows.sort_by("user"))}  # type: ignore[call-arg]

    return _perturbed(perturb)


def _shares_of_searches(mechanism: Mechanism, log: Any, mode: RunMode) -> dict[str, Any]:
    """A share of each search, where each user may leave one."""
    rows: pa.Table = mechanism.measure(log, mode)["log"]
    again = pa.array([f"{uid} {i}" for i, uid in enumerate(rows.column("uid").to_pylist())], pa.string())
    return {"log": rows.set_column(0, "uid", again)}


def _not_peeled(mechanism: Mechanism, log: Any, mode: RunMode) -> dict[str, Any]:
    """Every query is in the core."""
    counts = count(log, mechanism.offers["queries"], mechanism.offers["queries"].distinct(), mode)
    return {"queries": counts.local()}


def _nothing_suppressed(mechanism: Mechanism) -> Subject:
    """Every user keeps all her queries beside those of her group."""
    looser = type(mechanism)(tables=mechanism.tables, k=int(mechanism.settings["k"]), similar="1/1000")
    return replace(Subject.of(mechanism), perturb=looser.perturb)


LOWER = Mutant("k one lower", _lower)
REPEATS = Mutant("searches counted for users", _measured(_occurrences))
LEFT_OVER = Mutant("a session left over", _perturbed(_left_over))
TOO_HIGH = Mutant("one prefix counted too high", _perturbed(_too_high))
SAME_USERS = Mutant("users keep their ids", _as_they_were("user"))
PER_SEARCH = Mutant("a share for every search", _measured(_shares_of_searches))
NOT_PEELED = Mutant("queries outside the core", _measured(_not_peeled))
NOT_SIMILAR = Mutant("nothing of a user suppressed", _nothing_suppressed)
SAME_WORDS = Mutant("words left as they are", _as_they_were("query"))
