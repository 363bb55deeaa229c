"""`hubbub inspect`: a profile of a raw log, for its owner's eyes only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hubbub.cli.config import read_configuration
from hubbub.cli.options import NewLogOptions
from hubbub.cli.raw_log import looking
from hubbub.cli.terminal import Terminal, command

if TYPE_CHECKING:
    from hubbub.look.inspected import HeldBy, Profile, Quantiles

BANNER = "OWNER ONLY. Exact numbers of the raw log: not private, do not publish."


@command
def inspect(log: NewLogOptions, terminal: Terminal) -> None:
    """Profile a raw log: users, searches, rejected lines, how many users hold a query. Not private; recorded.

    Example: hubbub inspect log.tsv.gz --format aol
    """
    from hubbub.look.inspected import profile

    stated = read_configuration(log.config)
    log = stated.fill(log)
    share = log.share()
    with looking("inspect", log, stated.owner.period, terminal, BANNER) as raw:
        found = profile(raw, share)
    terminal.say_all(lines(found))
    for warning in found.warnings:
        terminal.warn(warning)
    terminal.document({"owner_only": found.record()})


def lines(found: Profile) -> Iterator[str]:
    """The profile for a person."""
    yield f"lines      {found.lines:,} read, {found.dropped:,} dropped, {found.rejected:,} rejected, {found.rows:,} rows"
    for reason, n in found.reasons.items():
        yield f"             {reason}: {n:,}"
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
