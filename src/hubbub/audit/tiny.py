"""Tiny logs in a real engine: an audit measures them with the very code a release runs."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import count
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from hubbub.audit.protocols import Event, Subject
from hubbub.engines.base import Engine
from hubbub.engines.duckdb import DuckDB
from hubbub.ingest import SCHEMA
from hubbub.log import SearchLog
from hubbub.mechanisms.base import Mechanism, Released
from hubbub.steps.mode import RunMode
from hubbub.steps.pairs import LocalPairs

SECRET = bytes(range(16))
MODE = RunMode(SECRET)
"""Arrays of this process, keys in the order of their text."""
Measure = Callable[[SearchLog, RunMode], dict[str, Any]]


class Tiny(DuckDB):
    """DuckDB with a database of its own in an instance that all tiny logs share: starting one costs more than a log."""

    numbers = count()

    def __init__(self, work: Path, *, memory: str = "2GB", threads: int | None = None) -> None:
        self.work, self.database = work, f"tiny_{next(self.numbers)}"
        self.connection = _instance(os.getpid()).cursor()
        self.connection.execute(f"ATTACH ':memory:' AS {self.database}")
        self.connection.execute(f"USE {self.database}")

    def close(self) -> None:
        """Detach this log's database; the DuckDB instance stays, for the next log."""
        self.connection.execute("USE memory")
        self.connection.execute(f"DETACH {self.database}")
        self.connection.close()


@cache
def _instance(process: int) -> duckdb.DuckDBPyConnection:
    """Not shared with processes that are forked: a copy of an instance does not work."""
    return DuckDB(Path(tempfile.gettempdir()), threads=1).connection


@contextmanager
def tiny_log(events: Iterable[Event], engine: Callable[..., Engine] = Tiny) -> Iterator[SearchLog]:
    """A SearchLog holding just these rows."""
    rows = [{"user": u, "time": t, "query": q, "rank": 1 if url else None, "url": url} for u, t, q, url in events]
    with tempfile.TemporaryDirectory(prefix="hubbub-audit-") as folder:
        path = Path(folder) / "log.parquet"
        pq.write_table(pa.Table.from_pylist(rows, schema=SCHEMA), path)
        with SearchLog.over(path, engine(Path(folder), threads=1), Path(folder)) as log:
            yield log


@dataclass(frozen=True, eq=False)
class MeasuredLog:
    """Exact counts of a tiny log, and the text of every key by its id; equal only to itself."""

    counts: Mapping[str, Any]
    keys: Mapping[str, list[tuple[str, ...]]]

    def by_key(self, table: str) -> dict[tuple[str, ...], int]:
        """Counts by the text of the key."""
        return dict(zip(self.keys[table], self.counts[table].n.tolist(), strict=True))

    def text(self, table: str, ids: Sequence[int]) -> list[tuple[str, ...]]:
        """The keys of these ids; a pair that nobody holds has an id, too."""
        if not isinstance(self.counts[table], LocalPairs):
            return [self.keys[table][i] for i in ids]
        single = self.keys["queries"]
        return [(*single[i >> 32], *single[i & 0xFFFFFFFF]) for i in ids]


def values_of(released: Released) -> list[float | None]:
    """The published values, None for keys released without a count."""
    if released.values is None:
        return [None] * released.ids.size
    return [float(v) for v in released.values]


def measured(subject: Subject, events: Iterable[Event]) -> MeasuredLog:
    """Measure a tiny log with the subject's own code; several tests look at the same log."""
    return _measured(subject.measure, subject.mechanism, tuple(events))


@lru_cache(maxsize=256)
def _measured(measure: Measure, mechanism: Mechanism, events: tuple[Event, ...]) -> MeasuredLog:
    with tiny_log(events) as log:
        counts = measure(log, MODE)
        keys = {}
        for table, counted in counts.items():
            kind = mechanism.offers[table]
            if isinstance(counted, LocalPairs):
                rows = counted.text(log.engine, kind, LocalPairs.ids(counted.first, counted.second))
            else:
                rows = log.engine.fetch(f"SELECT {kind.list()} FROM {counted.keys} ORDER BY kid")
            keys[table] = [tuple(r[c] for c in kind.columns) for r in rows.to_pylist()]
    return MeasuredLog(counts, keys)
