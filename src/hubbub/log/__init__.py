"""SearchLog: the one table every stage reads, and the engine it lives in.

Columns: `user`, `time` (epoch seconds or NULL), `query` (cleaned), `rank` or NULL, `url` or NULL. A search is a
distinct (user, time, query); a search with n clicks is n rows. Each record is a function of its own
line and belongs to exactly one user.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from hubbub.errors import ParameterError
from hubbub.files import HeldFolder, hold_work
from hubbub.ingest.schema import GROUP, group_roles
from hubbub.log.left_out import LeftOut, busy_users

if TYPE_CHECKING:
    from hubbub.engines import Engine
    from hubbub.ingest import Ingested
    from hubbub.public.screening import Screen
    from hubbub.release.resume import Run

WORK = "hubbub-raw-"


@dataclass(frozen=True)
class Period:
    """The days a release is about, stated by the owner; rows outside are dropped."""

    first: date
    last: date

    def __post_init__(self) -> None:
        """Refuse a period that ends before it starts."""
        if self.last < self.first:
            raise ParameterError("The stated period ends before it starts.", given=f"{self.first} to {self.last}")

    @property
    def seconds(self) -> tuple[int, int]:
        """First second inside, first second after."""
        start = datetime(self.first.year, self.first.month, self.first.day, tzinfo=UTC)
        after = datetime(self.last.year, self.last.month, self.last.day, tzinfo=UTC) + timedelta(days=1)
        return int(start.timestamp()), int(after.timestamp())

    def __str__(self) -> str:
        return f"between {self.first} and {self.last}"


@dataclass
class SearchLog:
    """A cleaned log inside an engine, under the name `log` with the user column called `uid`."""

    engine: Engine
    ingested: Ingested
    work: Path
    period: Period | None = None
    run: Run | None = field(default=None, repr=False)
    """The folder of a release that can be interrupted and go on."""
    screen: Screen | None = None
    """By what its records were screened."""
    _held: HeldFolder | Run | None = field(default=None, repr=False)
    max_searches_a_day: int | None = None
    """Users with more searches on a day of the period are left out whole."""

    def __post_init__(self) -> None:
        """Show the engine the cleaned file, without rows outside the stated period and without busy users."""
        self.engine.scan("cleaned", self.ingested.log)
        inside = ""
        if self.period is not None:
            start, after = self.period.seconds
            inside = f' WHERE "time" >= {start} AND "time" < {after}'
        self.show(f'SELECT "user" AS uid, "time", query, "rank", url{self._groups()} FROM cleaned{inside}')

    def _groups(self, table: str = "") -> str:
        """The columns of groups, as SQL that follows other columns."""
        return "".join(f", {table}{role}" for role in group_roles(self.ingested.columns))

    def show(self, rows: str) -> None:
        """Have the engine take the rows of a query for the log; busy users are left out of them."""
        most = self.left_out.max_searches_a_day
        if most is None:
            self.engine.view("log", rows)
            return
        self.engine.view("log_of_all", rows)
        self.engine.save("busy_users", busy_users("log_of_all", most))
        self.engine.view(
            "log",
            f'SELECT a.uid, a."time", a.query, a."rank", a.url{self._groups("a.")} FROM log_of_all AS a '
            "LEFT JOIN busy_users AS b ON a.uid = b.uid WHERE b.uid IS NULL",
        )

    @property
    def left_out(self) -> LeftOut:
        """Whom and what the owner leaves out, by public rules."""
        return LeftOut(self.max_searches_a_day, self.ingested.stated.get("drop_agents"))

    @classmethod
    def over(
        cls, parquet: Path, engine: Engine, work: Path, period: Period | None = None, held: HeldFolder | None = None
    ) -> SearchLog:
        """A log that is clean already, in SearchLog's columns as Parquet: nothing is read again or set aside."""
        from hubbub.ingest import SCHEMA, Ingested

        rows = pq.read_metadata(parquet).num_rows
        columns = {name: name for name in (*SCHEMA.names, *group_roles(pq.read_schema(parquet).names))}
        return cls(engine, Ingested(parquet, None, rows, rows, 0, {}, "table", columns), work, period, _held=held)

    def rows(self) -> int:
        """How many rows lie in the period, those of busy users too, exactly: for the owner's eyes only."""
        if self.period is None:
            return self.ingested.kept
        return self._count("log" if self.max_searches_a_day is None else "log_of_all")

    def busy(self) -> tuple[int, int]:
        """How many users are left out, and how many rows of theirs, exactly: for the owner's eyes only."""
        if self.max_searches_a_day is None:
            return 0, 0
        return self._count("busy_users"), self._count("log_of_all") - self._count("log")

    def _count(self, table: str) -> int:
        return int(self.engine.fetch(f"SELECT count(*) AS n FROM {table}").column("n")[0].as_py())

    def users(self) -> int:
        """How many users there are, exactly: for the owner's eyes only."""
        return int(self.engine.fetch("SELECT count(DISTINCT uid) AS n FROM log").column("n")[0].as_py())

    def close(self) -> None:
        """Close the engine; remove the cleaned copy of the raw log."""
        try:
            self.engine.close()
        finally:
            if self._held is not None:
                self._held.remove()

    def __enter__(self) -> SearchLog:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def read_log(
    source: Any,
    *,
    format: str = "auto",
    columns: Mapping[str, str] | None = None,
    by: Mapping[str, str] | None = None,
    period: Period | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    time_format: str | None = None,
    query_parameter: str | None = None,
    drop_agents: str | None = None,
    max_searches_a_day: int | None = None,
    query: str | None = None,
    table: str | None = None,
    own_query: bool = False,
    canonical_urls: bool = False,
    screen: str | None = None,
    deny: str | Path | None = None,
    allow: str | Path | None = None,
    engine: str | Callable[[Path], Engine] = "duckdb",
    master: str | None = None,
    memory: str = "2GB",
    threads: int | None = None,
    work: Path | None = None,
    run: Run | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> SearchLog:
    """Read and clean a log: a file, folder or glob, objects of a store (`s3://…`), a database, or rows.

    It lives in the engine until it is closed.

    The format `auto` is recognised by names and first lines; `ingested.format` then says what it was taken for.
    `by` names the columns of a table that are groups, as in {"country": "Land"}.
    Of a table, `separator`, `encoding` and `time_format` say how its text is laid out, where its head does not;
    of a log of requests, `query_parameter` says which parameter is the query, and `drop_agents` which programs to drop.
    Users with more than `max_searches_a_day` are left out whole.
    Of a database (`postgresql://…`), `table` or `query` says what to read; `own_query` says of any other source that a
    query of yours made its rows, which the card repeats. Rows are a data frame of pandas or polars, an Arrow table, a
    relation of DuckDB, or an iterator of Arrow batches.
    `screen` names the screening rules (`default`: all of them), `deny` and `allow` are files of the owner's texts: a
    record that is hit counts for nothing.
    `engine` is `duckdb`, `spark` (on the `master` given, or on this machine), or a function of the work folder.
    With a `run`, what takes long is kept in its folder, and read from there if it was interrupted.
    """
    from hubbub.ingest import AUTO, Stated, ingest, sniff
    from hubbub.ingest.distributed import apart, ingest_apart
    from hubbub.ingest.places import named
    from hubbub.public.screening import chosen_screen

    screens = chosen_screen(screen, deny, allow)
    if by:
        columns = {**(columns or {}), **{f"{GROUP}{name}": column for name, column in by.items()}}
    LeftOut(max_searches_a_day)  # refused before anything is read
    held = hold_work(work, WORK) if run is None else run
    try:
        made = engine(held.path) if callable(engine) else _engine(engine, held.path, master, memory, threads)
        try:
            ingested = None if run is None else run.ingested
            if ingested is None:
                stated = Stated(separator, encoding, time_format, query_parameter, drop_agents)
                with named(source, query, table, work, own_query) as (here, form):
                    chosen = (form or sniff(here, columns).format) if format == AUTO else format
                    how: dict[str, Any] = {"format": chosen, "columns": columns, "stated": stated}
                    how |= {"canonical_urls": canonical_urls, "screen": screens}
                    if made.distributed and apart(chosen, here):
                        ingested = ingest_apart(made, here, held.path, **how)
                    else:
                        ingested = ingest(here, held.path, **how, threads=threads or 2, progress=progress)
                ingested = replace(ingested, own_query=own_query or query is not None)
                if screens is not None:
                    ingested = replace(ingested, screening=screens.record())
                if run is not None:
                    run.keep(ingested)
            return SearchLog(
                made,
                ingested,
                held.path,
                period,
                run=run,
                screen=screens,
                _held=held,
                max_searches_a_day=max_searches_a_day,
            )
        except BaseException:
            made.close()
            raise
    except BaseException:
        held.remove()
        raise


def _engine(name: str, work: Path, master: str | None, memory: str, threads: int | None) -> Engine:
    from hubbub.engines import ENGINES

    if name not in ENGINES:
        raise ParameterError("There is no such engine.", given=name, allowed=", ".join(ENGINES))
    module, _, opened = ENGINES[name].partition(":")
    made: Engine = getattr(import_module(module), opened)(work, master, memory, threads)
    return made
