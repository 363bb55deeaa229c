"""Checks of a series as it runs in an engine, with its state: pools, what is kept, what is refused, what is erased."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from datetime import UTC, date, datetime
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from hubbub.audit.books import scratch
from hubbub.audit.protocols import AuditRow, Kind, Subject, faults
from hubbub.engines.duckdb import DuckDB
from hubbub.errors import Refused
from hubbub.ingest import SCHEMA
from hubbub.log import SearchLog
from hubbub.mechanisms.series import Series
from hubbub.privacy.ledger import Ledger
from hubbub.series import SeriesPlan, add, erase, fix
from hubbub.series.arrays import Purses, read_arrays, read_purses
from hubbub.series.plan import OWNER_ONLY, STATE, opened
from hubbub.series.state import StateFolder
from hubbub.steps.counts import Integers

FIRST = date(2020, 1, 1)
LIMIT = 2
NOTHING = {"epsilon": Fraction(1, 2), "delta": Fraction(1, 10**9)}
"""A budget at which nothing comes out of so small a log: what is out is left out of pools, with her or without."""
Asked = tuple[str, str, int]
"""User, query, period."""


def tests() -> Iterator[AuditRow]:
    """Checks of what enters pools, then of what is kept."""
    yield from of_pools()
    yield from of_state()


def of_pools() -> Iterator[AuditRow]:
    """What enters pools."""
    with scratch() as place:
        yield from pools(_subject(), place)


def of_state() -> Iterator[AuditRow]:
    """What is kept between runs."""
    with scratch() as place:
        yield from kept(_subject(), place)


def _subject() -> Subject:
    series = small_series()
    return Subject(series, series.measure, series.draw)


def small_series() -> Series:
    """Three days, and keys that come out with few users."""
    return Series(epsilon=8, delta="0.01", periods=3, first=FIRST.isoformat(), length="day", D=LIMIT)


def log(place: Path, rows: list[Asked]) -> SearchLog:
    """A log in which each row lies in its period, a day."""
    start = int(datetime(FIRST.year, FIRST.month, FIRST.day, 1, tzinfo=UTC).timestamp())
    nothing: list[None] = [None] * len(rows)
    times = [start + 86_400 * n for *_, n in rows]
    columns = [[u for u, _, _ in rows], times, [q for _, q, _ in rows], nothing, nothing]
    folder = Path(tempfile.mkdtemp(dir=place))
    arrays = [pa.array(column, field.type) for column, field in zip(columns, SCHEMA, strict=True)]
    pq.write_table(pa.Table.from_arrays(arrays, schema=SCHEMA), folder / "log.parquet")
    return SearchLog.over(folder / "log.parquet", DuckDB(folder, threads=1), folder)


def everybody(period: int) -> list[Asked]:
    """Others: some with more keys than a pool takes."""
    return [(f"u{u}", f"q{(u * k) % 7 + 7 * period * (k > 2)}", period) for u in range(6) for k in range(1, 6)]


HERS: list[Asked] = [("v", f"q{k}", 0) for k in (1, 2)] + [("v", "a own", 0), ("v", "q3", 1), ("v", "z own", 1)]


def begun(series: Series, folder: Path, book: Ledger) -> None:
    """A seeded series: nothing of it is private, and nothing leaves this folder."""
    fix(SeriesPlan(series, seed=3, not_private=True), folder, book, new_population=True)


def run(folder: Path, book: Ledger, rows: list[Asked]) -> None:
    """The next period."""
    with log(folder.parent, rows) as raw:
        add(folder, raw, book, other_people=True)


def table(state: Path, name: str) -> pa.Table:
    """All rows of one table of the records."""
    return pa.concat_tables(pq.read_table(path) for path in sorted(state.glob(f"{name}-*.parquet")))


def filled(state: Path) -> set[tuple[str, str, int]]:
    """Every pool, by the text of its users and keys."""
    users, keys = table(state, "users").to_pylist(), table(state, "keys").to_pylist()
    who, what = {r["person"]: r["uid"] for r in users}, {r["kid"]: r["query"] for r in keys}
    return {(who[r["person"]], what[r["kid"]], r["run"]) for r in table(state, "pool").to_pylist()}


def pools(subject: Subject, place: Path) -> Iterator[AuditRow]:
    """At most D new keys a run, and those of others are the same with her and without."""
    found = []
    for name, hers in (("without", []), ("with", HERS)):
        with Ledger(place / f"{name}.sqlite") as book:
            folder = place / name
            begun(series_of(subject).remade(dict(series_of(subject).settings) | NOTHING), folder, book)
            for period in range(2):
                run(folder, book, [r for r in everybody(period) + hers if r[2] == period])
        found.append(filled(folder / "owner-only" / "state"))
    others = {row for row in found[1] if row[0] != "v"}
    entered: dict[tuple[str, int], int] = {}
    for user, _, t in found[1]:
        entered[user, t] = entered.get((user, t), 0) + 1
    over = sum(n > LIMIT for n in entered.values())
    yield faults(subject, "at most D new keys of a user a run", over, kind=Kind.EXACT)
    yield faults(subject, "pools of others do not depend on her", len(others ^ found[0]), kind=Kind.BYTES)


def series_of(subject: Subject) -> Series:
    """The series that a subject is."""
    if not isinstance(subject.mechanism, Series):
        raise TypeError("these are checks of a series")
    return subject.mechanism


def kept(subject: Subject, place: Path) -> Iterator[AuditRow]:
    """What is spent stays spent, what was gathered stays gathered, what was seen stays seen; old states are refused."""
    folder, series = place / "kept", series_of(subject)
    state = folder / "owner-only" / "state"
    with Ledger(place / "kept.sqlite") as book:
        begun(series, folder, book)
        run(folder, book, [*everybody(0), ("v", "hers alone", 0)])
        purses, sums = _purses(state), _gathered(state)
        unspent = int((purses.selection == series.constants.budget).sum())
        yield faults(subject, "who counted has spent", unspent, kind=Kind.EXACT)
        shutil.copytree(state, place / "backup")
        seen = _seen(state)
        erase(folder, book, "v")
        yield faults(subject, "a key that was seen stays seen when a user is erased", len(seen - _seen(state)))
        silent = seen - set(table(state, "keys").column("kid").to_pylist())
        yield faults(subject, "a key that was seen keeps its text when a user is erased", len(silent))
        yield faults(subject, "an erased user has nothing left", int(_purses(state).selection.min() != 0))
        run(folder, book, everybody(1))
        after = read_arrays(next(iter(sorted(state.glob("past-*")))))["before"][: sums.size]
        yield faults(subject, "what a key has gathered is kept", int((after != sums).sum()), kind=Kind.BYTES)
        later = _purses(state).selection[: purses.selection.size]
        yield faults(subject, "nobody gets anything back", int((later > purses.selection).sum()), kind=Kind.EXACT)
        shutil.move(state, place / "newest")
        shutil.copytree(place / "backup", state)
        try:
            run(folder, book, everybody(1))  # the period that was drawn already
            accepted = 1
        except Refused:
            accepted = 0
        yield faults(subject, "a state older than the ledger knows is refused", accepted)
        shutil.rmtree(state)
        shutil.move(place / "newest", state)
        yield faults(subject, "of two copies that go on at once, one is refused", _both(folder, place / "copy", book))


def _both(folder: Path, copy: Path, book: Ledger) -> int:
    """Open a series and a copy of it, and let both commit: whether both may."""
    shutil.copytree(folder, copy)
    plan, entry = opened(folder, book)
    one, other = (StateFolder(each / OWNER_ONLY / STATE, book, entry, plan.id) for each in (folder, copy))
    one.commit(one.state)
    try:
        other.commit(other.state)
    except Refused:
        return 0
    return 1


def _purses(state: Path) -> Purses:
    return read_purses(next(iter(sorted(state.glob("purses-*"), reverse=True))))


def _gathered(state: Path) -> Integers:
    now = read_arrays(next(iter(sorted(state.glob("sums-*")))))["now"]
    return now + read_arrays(next(iter(sorted(state.glob("past-*")))))["before"]


def _seen(state: Path) -> set[int]:
    return {kid for path in state.glob("seen-*") for kid in read_arrays(path)["kid"].tolist()}
