"""`hubbub inspect`: a profile of a raw log, for its owner's eyes only."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hubbub.cli.card_options import CardOptions
from hubbub.cli.config import read_configuration
from hubbub.cli.options import NewLogOptions, Without
from hubbub.cli.raw_log import looking, on_disk
from hubbub.cli.terminal import Terminal, command
from hubbub.errors import InputError
from hubbub.plurals import counted

if TYPE_CHECKING:
    from hubbub.look.inspected import HeldBy, Profile, Quantiles

PROPOSED = ("table", "jsonl")  # formats that leave open who the user is, and can be proposed
BANNER = "OWNER ONLY. Exact numbers of the raw log: not private, do not publish."


@dataclass(frozen=True, kw_only=True)
class InspectOptions(NewLogOptions):
    """A raw log that is looked at."""

    rejects: Annotated[
        str | None, typer.Option(help="Keep the rejected lines with their reasons in this file.", metavar="FILE")
    ] = None


@command
def inspect(
    log: InspectOptions, card: Annotated[CardOptions, Without(["title", "licence", "facts"])], terminal: Terminal
) -> None:
    """Profile a raw log: users, searches, rejected lines, how many users hold a query. Not private; recorded.

    Of a file in no known format it shows what it looks like, values masked, and a command to paste.

    Example: hubbub inspect log.tsv.gz --format aol
    """
    from hubbub.ingest.output import write_rejects
    from hubbub.look.inspected import profile

    stated = card.added_to(read_configuration(log.config))
    log = stated.fill(log)
    share = log.share()
    with on_disk(log) as here:
        if (why := unknown(here)) is not None:
            _propose(here.require(), log, why, terminal)
            return
        with looking("inspect", here, stated.owner.period, terminal, BANNER) as raw:
            found = profile(raw, share)
            if log.rejects and raw.ingested.rejects is not None:
                write_rejects(raw.ingested.rejects, Path(log.rejects))
                terminal.say(f"{counted(found.rejected, 'rejected line')}, in {log.rejects}, which only you can read.")
    terminal.say_all(lines(found))
    for warning in found.warnings:
        terminal.warn(warning)
    terminal.document({"owner_only": found.record()})


def unknown(log: NewLogOptions) -> str | None:
    """Why nothing says how the log is to be read; None if something does."""
    from hubbub.ingest import AUTO, sniff

    if log.columns or log.format not in (None, AUTO, *PROPOSED):
        return None
    try:
        sniff(log.require())
    except InputError as error:
        return error.what
    return None


def _propose(file: str, log: InspectOptions, why: str, terminal: Terminal) -> None:
    """Show what an unknown file, or the rows of a database, look like."""
    from hubbub.ingest.proposal import lines, propose

    found = propose(file, log.require())
    for name in ("query", "table"):
        if said := getattr(log, name):
            found = replace(found, command=f"{found.command} --{name} {shlex.quote(said)}")
    terminal.say(why)
    terminal.say_all(lines(found))
    terminal.document({"owner_only": {"proposal": found.record()}})


def lines(found: Profile) -> Iterator[str]:
    """The profile for a person."""
    lost = f"{found.dropped:,} dropped, {found.rejected:,} rejected"
    lost += f", {found.screened:,} screened" if found.screened else ""
    yield f"lines      {found.lines:,} read, {lost}, {counted(found.rows, 'row')}"
    for reason, n in found.reasons.items():
        yield f"             {reason}: {n:,}"
    if found.users_left_out:
        users, rows = counted(found.users_left_out, "user"), counted(found.rows_left_out, "row")
        yield f"left out   {users} with {rows}, by --max-searches-a-day"
    yield f"period     {found.first or 'no times'}" + (f" to {found.last}" if found.last else "")
    yield f"users      {found.users:,}"
    yield f"searches   {found.searches:,}, {found.clicked_searches:.1%} with a click"
    yield "distinct   " + ", ".join(f"{n:,} {name}" for name, n in found.distinct.items())
    yield from _quantiles("searches per user", found.searches_per_user)
    yield from _quantiles("distinct queries per user", found.queries_per_user)
    yield from _held("queries", "searches", found.users_per_query)
    yield from _held("clicks (query, url)", "clicks", found.users_per_click)
    yield "tables     " + "; ".join(f"{name}: {possible}" for name, possible in found.tables.items())


def _quantiles(what: str, found: Quantiles) -> Iterator[str]:
    yield f"{what}: mean {found.mean:,.1f}; " + ", ".join(
        f"{_quantile(q)} {value:,.0f}" for q, value in found.quantiles.items()
    )


def _quantile(q: str) -> str:
    return {"0": "least", "0.5": "median", "1": "most"}.get(q, f"{float(q):.0%}")


def _held(what: str, events: str, rows: tuple[HeldBy, ...]) -> Iterator[str]:
    if rows:
        yield f"{what}, by the users who hold them:"
    for row in rows:
        yield f"  {row.users:>9,} or more users  {row.keys:>12,}  {row.share:6.1%} of the {events}"
