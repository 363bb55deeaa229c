"""What a task may look at: a log, or a release, as the same tables.

    queries      query, n                      transitions  query, next_query, n
    clicks       query, url, n                 sessions     queries LIST<VARCHAR>, n
    keywords     keyword, n

`n` counts distinct users or occurrences, whichever the release counts: the original is counted the same way. Rows are
sorted by `n`, largest first, then by key. A noisy value below zero counts as zero. Where a release publishes keys
without numbers every key has n = 1, and `keys_only` says so; among numbers, a key without one has n = 0. A release
that holds a `log.parquet` is counted like a log for every table that it does not publish.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from hubbub.errors import InputError
from hubbub.ingest.schema import no_rows
from hubbub.steps.keys import CLICKS, KEYWORDS, QUERIES, TRANSITIONS, Keys
from hubbub.steps.keys.divided import BY
from hubbub.steps.sessions import GAP, SEPARATOR, sessions

if TYPE_CHECKING:
    from hubbub.log import SearchLog
    from hubbub.public.groups import Grouping
    from hubbub.release.opened import Release

TABLES: dict[str, tuple[str, ...]] = {
    "queries": ("query",),
    "clicks": ("query", "url"),
    "transitions": ("query", "next_query"),
    "sessions": ("queries",),
    "keywords": ("keyword",),
}
"""The tables and the columns of their keys."""
TYPES = {"queries": pa.list_(pa.string())}
EMPTY: dict[str, pa.Table] = {
    name: pa.Table.from_batches(
        [no_rows(pa.schema([*((c, TYPES.get(c, pa.string())) for c in columns), ("n", pa.int64())]))]
    )
    for name, columns in TABLES.items()
}
"""The tables without a row."""
COUNTED: dict[str, Keys] = {keys.name: keys for keys in (QUERIES, CLICKS, TRANSITIONS, KEYWORDS)}
VALUES = ("users", "count")
Integers = npt.NDArray[np.int64]


class Evidence:
    """A log, or the tables of a release, as the same tables; close it after use."""

    def __init__(
        self,
        counts: str,
        tables: Mapping[str, pa.Table],
        log: SearchLog | None = None,
        *,
        same_users: bool = False,
        groupings: Iterable[Grouping] = (),
    ) -> None:
        self.counts = counts
        """What `n` counts: "users" (distinct users) or "count" (occurrences)."""
        self.log = log
        """The raw log, or a release's `log.parquet` as a log; None where there are tables only."""
        self.same_users = same_users
        """Whether that log's users are the original's, under their own ids. Equal ids alone say nothing: 1, 2, 3 …"""
        self._bare = {name for name, table in tables.items() if _value(table) is None}
        self.others = {name: table for name, table in tables.items() if name not in TABLES}
        """Tables by group, and tables that no task knows, as they were published."""
        self.groupings = {grouping.name: grouping for grouping in groupings}
        """What a release by group declared, by name: groups of which nothing came out are among the values."""
        self._tables: dict[str, pa.Table | None] = {
            name: _plain(name, table) for name, table in tables.items() if name in TABLES
        }
        self._opened = ExitStack()

    @classmethod
    def of_log(cls, log: SearchLog, counts: str = "users", *, same_users: bool = False) -> Evidence:
        """A raw log, counted exactly. The caller keeps it open, and closes it."""
        return cls(counts, {}, log, same_users=same_users)

    @classmethod
    def of_tables(
        cls, tables: Mapping[str, pa.Table], counts: str = "users", groupings: Iterable[Grouping] = ()
    ) -> Evidence:
        """Tables with the columns of a release, or with `n` as their number."""
        return cls(counts, tables, groupings=groupings)

    @classmethod
    def of_release(cls, release: str | Path | Release, *, memory: str = "2GB", threads: int | None = None) -> Evidence:
        """The public folder of a release; `owner-only/users.parquet` says whose rows its log holds, if anybody's."""
        from hubbub.card.check import parsed
        from hubbub.public.groups import Grouping
        from hubbub.release.folder import WHOSE
        from hubbub.release.opened import Release

        opened = release if isinstance(release, Release) else Release(release)
        public = opened.public
        owners = public.parent / "owner-only" / WHOSE
        files = {name: public / f"{name}.parquet" for name in (*TABLES, "log")}
        try:
            files |= {path.stem: path for path in sorted(public.glob(f"queries{BY}*.parquet"))}
            tables = {name: pq.read_table(path) for name, path in files.items() if name != "log" and path.is_file()}
            counted = (value for value in VALUES for table in tables.values() if value in table.column_names)
            declared = (p for p in parsed(opened.card).mechanism.public_lists if p.get("use") == "groups")
            found = cls(next(counted, "count"), tables, groupings=map(Grouping.read, declared))
            if files["log"].is_file():
                found.same_users = public.name == "public" and owners.is_file()
                whose = pq.read_table(owners) if found.same_users else None
                found.log = found._opened.enter_context(_open(files["log"], memory, threads, whose))
        except (pa.ArrowInvalid, OSError) as error:
            raise InputError(
                "A table of this release cannot be read.", given=error, next=f"see hubbub card {public.parent} --check"
            ) from error
        return found

    def table(self, name: str) -> pa.Table | None:
        """One table, most frequent first, then by key; None where the release, or the log, does not have it."""
        if name not in self._tables:
            self._tables[name] = None if self.log is None else _counted(self.log, name, self.counts)
        return self._tables[name]

    def keys_only(self, name: str) -> bool:
        """Whether the table was published without numbers."""
        return name in self._bare

    def close(self) -> None:
        """Let go of what was opened here, and of the tables."""
        self._tables.clear()
        self._opened.close()

    def __enter__(self) -> Evidence:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def find(rows: pa.Table, among: pa.Table) -> Integers:
    """Where each row's key stands in another table of the same kind; -1 where it does not."""
    at = pc.index_in(keys(rows), value_set=keys(among).combine_chunks())
    found: Integers = pc.fill_null(at, -1).to_numpy().astype(np.int64)
    return found


def keys(rows: pa.Table) -> pa.ChunkedArray:
    """A key as one text; nothing else may stand between its parts."""
    columns = [rows.column(name) for name in rows.column_names if name != "n"]
    if pa.types.is_list(columns[0].type):
        return pc.binary_join(columns[0], SEPARATOR)
    return columns[0] if len(columns) == 1 else pc.binary_join_element_wise(*columns, SEPARATOR)


def numbers(rows: pa.Table) -> Integers:
    """The column n as an array."""
    n: Integers = rows.column("n").to_numpy()
    return n


# ------------------------------------------------------------------ tables of a release


def _value(table: pa.Table) -> str | None:
    """The column of numbers; None where there are keys only."""
    name = next((name for name in ("n", *VALUES) if name in table.column_names), None)
    empty = name is None or (table.num_rows and table.column(name).null_count == table.num_rows)
    return None if empty else name


def _plain(name: str, table: pa.Table) -> pa.Table:
    """The key's columns and n >= 0, in the order of a table."""
    columns = TABLES[name]
    missing = [column for column in columns if column not in table.column_names]
    if missing:
        raise InputError(
            f"The table {name} of this release lacks a column.",
            given=", ".join(table.column_names),
            allowed=", ".join(columns) + " and users or count",
        )
    value = _value(table)
    if value is None:
        n = pa.array(np.ones(table.num_rows, np.int64))
    else:
        n = pc.max_element_wise(pc.fill_null(table.column(value).cast(pa.int64()), 0), 0)
    found = table.select(list(columns)).append_column("n", n).cast(EMPTY[name].schema)
    if name != "sessions":
        return found.sort_by([("n", "descending"), *((key, "ascending") for key in columns)]).combine_chunks()
    by = pa.table({"n": found.column("n"), "key": keys(found)})
    order = pc.sort_indices(by, [("n", "descending"), ("key", "ascending")])
    return found.take(order).combine_chunks()


def _open(path: Path, memory: str, threads: int | None, whose: pa.Table | None) -> SearchLog:
    """A release's log, as it is (it was cleaned before it was released), or under the ids of its users."""
    from hubbub.engines.duckdb import DuckDB
    from hubbub.files import hold, sweep
    from hubbub.ingest import SCHEMA
    from hubbub.log import WORK, SearchLog

    names = pq.read_schema(path).names
    if set(SCHEMA.names) - set(names):
        raise InputError("The log of this release lacks a column.", given=", ".join(names), allowed=str(SCHEMA.names))
    parent = Path(tempfile.gettempdir())
    sweep(parent, WORK)
    held = hold(parent, WORK)
    if whose is not None:
        named, path = _named(pq.read_table(path), whose), held.path / "named.parquet"
        pq.write_table(named, path)
    return SearchLog.over(path, DuckDB(held.path, memory=memory, threads=threads), held.path, held=held)


def _named(log: pa.Table, whose: pa.Table) -> pa.Table:
    """The rows under their users' own ids."""
    at = pc.index_in(log.column("user"), value_set=whose.column("user").combine_chunks())
    if at.null_count:
        raise InputError(
            "owner-only/users.parquet does not name every user of this release's log.",
            given=f"{at.null_count:,} rows of others",
            next="move that file away, or give the release it belongs to",
        )
    return log.set_column(log.column_names.index("user"), "user", whose.column("uid").take(at))


# ------------------------------------------------------------------ tables of a log


def _counted(log: SearchLog, name: str, counts: str) -> pa.Table | None:
    """Exact counts of a log, in the order of a table; None where the log has no such events."""
    if name == "sessions":
        return _sessions(log, counts)
    kind = COUNTED[name]
    try:
        kind.ready(log)
    except InputError:  # without times there are no transitions
        return None
    rows = kind.distinct() if counts == "users" else kind.occurrences()
    counted = f"SELECT {kind.list()}, count(*) AS n FROM ({rows}) AS held GROUP BY {kind.list()}"
    found = log.engine.fetch(f"{counted} ORDER BY n DESC, {kind.list()}")
    return None if name in ("clicks", "transitions") and not found.num_rows else found


def _sessions(log: SearchLog, counts: str) -> pa.Table | None:
    """Every session as the list of its queries, in the user's order; a query asked again at once stands once."""
    rows = log.engine.fetch(
        f"SELECT query, CASE WHEN session = 1 AND before IS NULL THEN 1 ELSE 0 END AS fresh_user, "
        f"CASE WHEN before IS NULL THEN 1 ELSE 0 END AS fresh FROM ("
        f'SELECT uid, "time", query, session, lag(query) OVER (PARTITION BY uid, session ORDER BY "time", query) '
        f"AS before FROM ({sessions(GAP)}) AS cut) AS ordered WHERE before IS NULL OR before <> query "
        f'ORDER BY uid, "time", query'
    )
    if not rows.num_rows:
        return None
    coded = rows.column("query").combine_chunks().dictionary_encode()
    ids = coded.indices.to_numpy().astype(np.int32)
    starts = np.flatnonzero(rows.column("fresh").to_numpy())
    users = np.cumsum(rows.column("fresh_user").to_numpy())[starts]
    offsets = np.append(starts, ids.size)
    # The ids of a session, side by side as bytes, are its key: whole sessions compare exactly, and at once.
    packed = pa.LargeBinaryArray.from_buffers(
        pa.large_binary(), starts.size, [None, pa.py_buffer(offsets.astype(np.int64) * 4), pa.py_buffer(ids)]
    )
    coded_sessions = packed.dictionary_encode()
    kind = coded_sessions.indices.to_numpy().astype(np.int64)
    first = np.full(len(coded_sessions.dictionary), starts.size, np.int64)
    np.minimum.at(first, kind, np.arange(starts.size))
    if counts == "users":
        kind = np.unique(kind * (int(users[-1]) + 1) + users) // (int(users[-1]) + 1)
    n = np.bincount(kind, minlength=first.size)
    lengths = np.diff(offsets)[first]
    bounds = np.concatenate([[0], np.cumsum(lengths)])
    at = np.repeat(starts[first] - bounds[:-1], lengths) + np.arange(bounds[-1])
    queries = pa.ListArray.from_arrays(pa.array(bounds, pa.int32()), coded.dictionary.take(pa.array(ids[at])))
    return _plain("sessions", pa.table({"queries": queries, "n": n}))
