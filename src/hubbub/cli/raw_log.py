"""A raw log opened by a command: the way of every look at it, and of a release."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from hubbub.cli.config import Configuration, read_configuration
from hubbub.cli.options import LogOptions, ReadingOptions, ReleasedLogOptions
from hubbub.cli.terminal import Terminal
from hubbub.plurals import counted

if TYPE_CHECKING:
    from hubbub.log import Period, SearchLog
    from hubbub.release.resume import Run

Log = TypeVar("Log", bound=LogOptions)


@contextmanager
def looking(
    command: str, log: LogOptions, period: Period | None, terminal: Terminal, banner: str
) -> Iterator[SearchLog]:
    """A look at a raw log: recorded by the ledger before anything is shown, because it informs later releases."""
    from hubbub.privacy.fingerprint import look
    from hubbub.privacy.ledger import Ledger

    log.require()
    population, dataset = log.names()
    with (
        readable(log, terminal) as told,
        Ledger(log.book) as book,
        open_log(told, period, terminal) as raw,
    ):
        look(book, raw, population, dataset, command)
        terminal.say(banner)
        terminal.say(looked(population, dataset))
        yield raw


def looked(population: str, dataset: str) -> str:
    """What a look does to later releases."""
    return (
        f"The ledger records this look at {population}/{dataset}: cards of later releases of this data, under whatever "
        "name, will say that their parameters were informed by the raw log."
    )


def log_of_release(owner_only: Path, log: ReleasedLogOptions) -> tuple[Configuration, ReleasedLogOptions]:
    """The log of a release: what is not said here is taken from the release's own run.toml, or from --config."""
    own = owner_only / "run.toml"
    stated = read_configuration(str(own) if log.config is None and own.is_file() else log.config)
    full, made_from = stated.fill(log), stated.options.get("log")
    if log.log is not None and (made_from is None or Path(made_from).absolute() != Path(log.log).absolute()):
        own_reading = {name: getattr(log, name) for name in ReadingOptions.__dataclass_fields__}
        full = replace(full, **own_reading)  # another log may well be in another format
    return stated, full


def with_format(log: Log, terminal: Terminal) -> Log:
    """Where it was not stated how the log is read, recognise it, say so, and go on as if it had been."""
    from hubbub.ingest import AUTO, Stated, recognise, sniff

    if log.format in (None, AUTO):
        found = sniff(log.require(), log.roles())
        terminal.say(f"The log looks like {found.format}: {found.why}. Using --format {found.format}.")
        log = replace(log, format=found.format)
    given = Stated(log.separator, log.encoding, log.time_format, log.query_parameter, log.drop_agents)
    settled = recognise(log.require(), log.format or AUTO, log.roles(), given).options()
    seen = {name: value for name, value in settled.items() if getattr(log, name) is None}
    if seen:
        options = " ".join(f"--{name.replace('_', '-')} {shlex.quote(value)}" for name, value in seen.items())
        terminal.say(f"The head of the log says {options}.")
    return replace(log, **settled)  # type: ignore[arg-type]


@contextmanager
def on_disk(log: Log) -> Iterator[Log]:
    """The log where it can be read more than once; copies of what lies elsewhere are removed after use."""
    from hubbub.ingest.places import named
    from hubbub.ingest.standard_input import DASH, spooled

    source, work = log.require(), Path(log.work) if log.work else None
    with named(source, log.query, log.table, work, bool(log.own_query)) as (place, form):
        own = True if log.query else log.own_query
        here = replace(log, log=str(place), format=log.format or form, query=None, table=None, own_query=own)
        if source != DASH:
            yield here
            return
        with spooled(work) as file:
            yield replace(here, log=str(file))


@contextmanager
def readable(log: Log, terminal: Terminal) -> Iterator[Log]:
    """The log on the disk, and how it is read."""
    with on_disk(log) as here:
        yield with_format(here, terminal)


def open_log(log: LogOptions, period: Period | None, terminal: Terminal, run: Run | None = None) -> SearchLog:
    """Read and clean a log that is `readable`; close it after use."""
    from hubbub.ingest import AUTO
    from hubbub.log import read_log

    memory, threads = log.limits()
    raw = read_log(
        log.require(),
        format=log.format or AUTO,
        columns=log.roles(),
        period=period,
        separator=log.separator,
        encoding=log.encoding,
        time_format=log.time_format,
        query_parameter=log.query_parameter,
        drop_agents=log.drop_agents,
        max_searches_a_day=log.max_searches_a_day,
        own_query=bool(log.own_query),
        canonical_urls=bool(log.canonical_urls),
        screen=log.screen,
        deny=log.deny,
        allow=log.allow,
        engine=log.engine or "duckdb",
        master=log.master,
        memory=memory,
        threads=threads,
        work=Path(log.work) if log.work else None,
        run=run,
        progress=terminal.progress("reading"),
    )
    if raw.ingested.rejected:
        reasons = ", ".join(f"{reason}: {n:,}" for reason, n in raw.ingested.reasons.items())
        terminal.warn(f"{raw.ingested.rejected:,} of {counted(raw.ingested.read, 'line')} set aside ({reasons})")
    return raw
