"""A tiny series for tests: a plan whose keys come out with few users, and logs that fit it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from hubbub.engines import Engine
from hubbub.engines.duckdb import DuckDB
from hubbub.ingest import SCHEMA
from hubbub.log import Period, SearchLog
from hubbub.mechanisms.series import Series
from hubbub.mechanisms.series.calendar import SeriesCalendar
from hubbub.series import SeriesPlan

FIRST = "2020-01-01"
SETTINGS: dict[str, Any] = {"epsilon": 8, "delta": "0.01", "periods": 3, "first": FIRST, "D": 4}


def series(**other: Any) -> Series:
    """A series whose thresholds a dozen users reach."""
    return Series(**SETTINGS | other)


def seeded(seed: int = 7, **other: Any) -> SeriesPlan:
    """Its plan, with noise that repeats."""
    return SeriesPlan(series(**other), seed=seed, not_private=True)


Row = tuple[str, str, int]
"""User, query, period."""


def asked(users: range, query: str, period: int) -> list[Row]:
    """These users, each with this query in this period."""
    return [(f"user {u}", query, period) for u in users]


Make = Callable[[Path], Engine]


def one_thread(work: Path) -> Engine:
    """DuckDB, for logs of a few rows."""
    return DuckDB(work, threads=1)


def log_of(work: Path, rows: Iterable[Row], length: str = "month") -> SearchLog:
    """A log in which each row lies in its period."""
    calendar = SeriesCalendar(series().calendar.first, length)
    listed = list(rows)
    times = [Period(calendar.begins(n), calendar.begins(n)).seconds[0] + 3600 for _, _, n in listed]
    nothing: list[None] = [None] * len(listed)
    return _log(work, [[u for u, _, _ in listed], times, [q for _, q, _ in listed], nothing, nothing])


def _log(work: Path, columns: list[list[Any]], engine: Make = one_thread) -> SearchLog:
    folder = work / f"log-{len(list(work.glob('log-*')))}"
    folder.mkdir(parents=True)
    table = pa.Table.from_arrays([pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)], schema=SCHEMA)
    pq.write_table(table, folder / "log.parquet")
    return SearchLog.over(folder / "log.parquet", engine(folder), folder)


Visit = tuple[str, str, str | None, int, int]
"""User, query, page, period, and the minute after its first hour."""


def visits_of(work: Path, rows: Iterable[Visit], engine: Make = one_thread) -> SearchLog:
    """A log with pages and with times that make sessions."""
    calendar, listed = series().calendar, list(rows)
    start = [Period(calendar.begins(n), calendar.begins(n)).seconds[0] + 3600 for *_, n, _ in listed]
    times = [first + 60 * minute for first, (*_, minute) in zip(start, listed, strict=True)]
    users, queries, pages = ([row[i] for row in listed] for i in range(3))
    ranks = [None if page is None else 1 for page in pages]
    return _log(work, [users, times, queries, ranks, pages], engine)


PERIODS = 3


def year() -> list[Row]:
    """One query that all ask always, one that some ask, one that begins late, and rare ones."""
    rows = []
    for p in range(PERIODS):
        rows += asked(range(60), "weather", p) + asked(range(5, 35), "news", p)
        rows += asked(range(10 * p), "late", p) + [(f"user {u}", f"rare {u} {p}", p) for u in range(60)]
    return rows


ALL = ("queries", "clicks", "transitions", "keywords")


def visited() -> list[Visit]:
    """Everybody asks for the weather and clicks; most go on to the news, later to a page of their own, too."""
    rows: list[Visit] = []
    for p in range(PERIODS):
        for u in range(80):
            rows.append((f"user {u}", "weather today", "sky.example", p, 0))
            if u < 60:
                rows.append((f"user {u}", "news", "paper.example" if u < 50 else None, p, 1))
            rows.append((f"user {u}", f"rare {u} {p}", f"own-{u}.example", p, 2))
            if p:
                rows.append((f"user {u}", "weather today", f"own-{u}-{p}.example", p, 0))
    return rows
