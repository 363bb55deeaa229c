"""Checks of clicks, transitions and a list of known queries of a series, as they run in an engine."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from datetime import UTC, date, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hubbub.audit.books import scratch
from hubbub.audit.protocols import AuditRow, Kind, Subject, faults
from hubbub.engines.duckdb import DuckDB
from hubbub.ingest import SCHEMA
from hubbub.log import SearchLog
from hubbub.mechanisms.series import Series
from hubbub.mechanisms.series.tables import TABLES
from hubbub.noise import SeededNoise
from hubbub.privacy.ledger import Ledger
from hubbub.public.lists import QueryPool
from hubbub.series import SeriesPlan, add, erase, fix
from hubbub.series.arrays import Purses, read_purses
from hubbub.steps.counts import Integers

FIRST, LIMIT, USERS = date(2020, 1, 1), 2, 40
FURTHER = ("clicks", "transitions")
Visit = tuple[str, str, str, int, int]
"""User, query, page, period, minute."""


def small_series() -> Series:
    """Two days of all tables, at which what all users hold comes out at once."""
    few: dict[str, Any] = {"D": 4, "D_c": LIMIT, "D_t": LIMIT}
    return Series(epsilon=30, delta="0.1", periods=2, first=FIRST.isoformat(), length="day", tables=[*TABLES], **few)


def everybody(period: int) -> list[Visit]:
    """Others: each clicks on more pages than a pool takes."""
    found = []
    for u in range(USERS):
        found += [(f"u{u}", "one", f"page {(u + k) % 6 + 6 * period}", period, 0) for k in range(4)]
        found += [(f"u{u}", "two", "page", period, 1), (f"u{u}", "one", "page 0", period, 2)]
    return found


def hers(period: int) -> list[Visit]:
    """One user with pages of her own beside theirs."""
    return [("v", "one", f"own {k}", period, 0) for k in range(4)] + [("v", "two", "page", period, 1)]


def tests() -> Iterator[AuditRow]:
    """With her and without; then she is erased."""
    series = small_series()
    subject = Subject(series, series.measure, series.draw)
    with scratch() as place:
        found = []
        for name, more in (("without", False), ("with", True)):
            with Ledger(place / f"{name}.sqlite") as book:
                folder = place / name
                fix(SeriesPlan(series, seed=3, not_private=True), folder, book, new_population=True)
                for period in range(2):
                    visits = everybody(period) + (hers(period) if more else [])
                    with _log(place, visits) as raw:
                        add(folder, raw, book, other_people=True)
            found.append({table: _filled(_state(folder), table) for table in FURTHER})
        for table in FURTHER:
            yield from _pools(subject, table, found[0][table], found[1][table])
        with Ledger(place / "with.sqlite") as book:
            yield from _erased(subject, series, place / "with", book)


def _pools(
    subject: Subject, table: str, without: set[tuple[str, ...]], with_her: set[tuple[str, ...]]
) -> Iterator[AuditRow]:
    entered: dict[tuple[str, str], int] = {}
    for user, run, *_ in with_her:
        entered[user, run] = entered.get((user, run), 0) + 1
    over = sum(n > LIMIT for n in entered.values()) + (not entered)
    yield faults(subject, f"{table}: at most so many new keys of a user a run", over, kind=Kind.EXACT)
    others = {row for row in with_her if row[0] != "v"}
    yield faults(subject, f"{table}: pools of others do not depend on her", len(others ^ without), kind=Kind.BYTES)


def _erased(subject: Subject, series: Series, folder: Path, book: Ledger) -> Iterator[AuditRow]:
    state = _state(folder)
    for table in FURTHER:
        unspent = int((_purses(state, table).selection == series.table_constants[table].budget).sum())
        yield faults(subject, f"{table}: who counted has spent", unspent, kind=Kind.EXACT)
    before = {table: _rows(state, f"{table}.keys") for table in FURTHER}
    erase(folder, book, "v")
    for table in FURTHER:
        lost = [row for row in before[table] if row not in _rows(state, f"{table}.keys")]
        yield faults(subject, f"{table}: keys that were seen stay, with their ids", len(lost))
        left = int(_purses(state, table).selection.min() != 0)
        left += len({row["person"] for row in _rows(state, f"{table}.pool")}) != USERS
        yield faults(subject, f"{table}: an erased user has nothing left", left)


class LiftedNoise(SeededNoise):
    """Above every threshold in every round."""

    def __init__(self) -> None:
        super().__init__(0)

    def gaussian(self, step: str, variance: Fraction | int, size: int) -> Integers:
        """As much as no key gathers by itself."""
        return np.full(size, 1 << 40 if "round" in step else 0, np.int64)


def of_list() -> Iterator[AuditRow]:
    """Whether a listed query comes out hangs on its noisy sum, and not on whether somebody holds it."""
    towns = QueryPool("towns", pa.table({"query": ["one", "three"]}), "0" * 64, 2, "made up", "list")
    series = Series(epsilon=2, delta="0.01", periods=2, first=FIRST.isoformat(), length="day", public_list=towns)
    subject = Subject(series, series.measure, series.draw)
    found = []
    with scratch() as place:
        for name, more in (("without", []), ("with", [("v", "three", "own", 0, 0)])):
            with Ledger(place / f"{name}.sqlite") as book, _log(place, everybody(0) + more) as raw:
                fix(SeriesPlan(series, seed=3, not_private=True), place / name, book, new_population=True)
                made = add(place / name, raw, book, other_people=True, noise=LiftedNoise())
                queries = pq.read_table(made.folder / "public" / "queries.parquet").column("query")
            found.append(set(queries.to_pylist()) & {"one", "three"})
    wrong = len(found[0] ^ found[1]) + len({"one", "three"} - found[1])
    yield faults(subject, "a listed query comes out by its noisy sum, whoever holds it", wrong, kind=Kind.BYTES)


def _state(folder: Path) -> Path:
    return folder / "owner-only" / "state"


def _rows(state: Path, kind: str) -> list[dict[str, object]]:
    return [row for path in sorted(state.glob(f"{kind}-*.parquet")) for row in pq.read_table(path).to_pylist()]


def _purses(state: Path, table: str) -> Purses:
    (path,) = state.glob(f"{table}.purses-*.parquet")
    return read_purses(path)


def _filled(state: Path, table: str) -> set[tuple[str, ...]]:
    """Every pool, by the text of its users and keys."""
    who = {row["person"]: str(row["uid"]) for row in _rows(state, "users")}
    columns = TABLES[table].keys.columns
    what = {row["kid"]: tuple(str(row[column]) for column in columns) for row in _rows(state, f"{table}.keys")}
    return {(who[r["person"]], str(r["run"]), *what[r["kid"]]) for r in _rows(state, f"{table}.pool")}


def _log(place: Path, visits: list[Visit]) -> SearchLog:
    start = int(datetime(FIRST.year, FIRST.month, FIRST.day, 1, tzinfo=UTC).timestamp())
    users, queries, pages = ([visit[i] for visit in visits] for i in range(3))
    times = [start + 86_400 * period + 60 * minute for *_, period, minute in visits]
    folder = Path(tempfile.mkdtemp(dir=place))
    columns = zip([users, times, queries, [1] * len(visits), pages], SCHEMA, strict=True)
    table = pa.Table.from_arrays([pa.array(column, field.type) for column, field in columns], schema=SCHEMA)
    pq.write_table(table, folder / "log.parquet")
    return SearchLog.over(folder / "log.parquet", DuckDB(folder, threads=1), folder)
