"""`hubbub inspect`: a profile of a raw log, for its owner's eyes only."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hubbub.cli.release import release
from hubbub.cli.shared import (
    CanonicalUrls,
    Columns,
    Config,
    Dataset,
    EngineName,
    Format,
    Json,
    LedgerFile,
    LogFile,
    Master,
    MaxRejects,
    Memory,
    Population,
    Quiet,
    Terminal,
    Threads,
    Verbose,
    Work,
    asked,
    command,
    open_log,
    parse_share,
    require,
)

if TYPE_CHECKING:
    from hubbub.look.inspected import Held, Profile, Spread

NOT_OPTIONS = ("set", "config", "json", "quiet", "verbose")
BANNER = "OWNER ONLY. Exact numbers of the raw log: not private, do not publish."


@command
def inspect(
    log: LogFile = None,
    format: Format = None,
    columns: Columns = None,
    canonical_urls: CanonicalUrls = None,
    max_rejects: MaxRejects = None,
    engine: EngineName = None,
    master: Master = None,
    memory: Memory = None,
    threads: Threads = None,
    work: Work = None,
    population: Population = None,
    dataset: Dataset = None,
    ledger: LedgerFile = None,
    config: Config = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Profile a raw log: users, searches, rejected lines, how many users hold a query. Not private; recorded.

    Example: hubbub inspect log.tsv.gz --format aol
    """
    given: dict[str, Any] = dict(locals())
    for name in NOT_OPTIONS:
        given.pop(name, None)
    from hubbub.look.inspected import profile
    from hubbub.privacy.fingerprint import look
    from hubbub.privacy.ledger import Ledger, named

    terminal = Terminal(as_json=json, quiet=quiet, verbose=verbose)
    what = asked(given, None, config, release_options())
    given = what.given
    require(given, ("log",), "inspect")
    share = parse_share("5%" if given["max_rejects"] is None else given["max_rejects"])
    who, which = named(given["population"] or "default"), named(given["dataset"] or "default")
    with (
        Ledger(Path(given["ledger"]) if given["ledger"] else None) as book,
        open_log(given, what.owner.period, terminal) as raw,
    ):
        look(book, raw, who, which, "inspect")
        found = profile(raw, share)
    for line in lines(found):
        terminal.say(line)
    for warning in found.warnings:
        terminal.warn(warning)
    terminal.say(looked(who, which))
    terminal.document({"owner_only": found.record()})


def release_options() -> list[str]:
    """What a configuration may hold: the same file serves a release and the looks before it."""
    return [name for name in signature(release).parameters if name not in NOT_OPTIONS]


def looked(population: str, dataset: str) -> str:
    """What a look does to later releases."""
    return (
        f"The ledger records this look at {population}/{dataset}: cards of later releases of this data, under whatever "
        "name, will say that their parameters were informed by the raw log."
    )


def lines(found: Profile) -> Iterator[str]:
    """The profile for a person."""
    yield BANNER
    yield f"lines      {found.lines:,} read, {found.rejected:,} rejected, {found.rows:,} rows"
    for reason, n in found.reasons.items():
        yield f"             {reason}: {n:,}"
    yield f"period     {found.first or 'no times'}" + (f" to {found.last}" if found.last else "")
    yield f"users      {found.users:,}"
    yield f"searches   {found.searches:,}, {found.clicked_searches:.1%} with a click"
    yield "distinct   " + ", ".join(f"{n:,} {name}" for name, n in found.distinct.items())
    yield from _spread("searches a user", found.searches_per_user)
    yield from _spread("distinct queries a user", found.queries_per_user)
    yield from _held("queries", "searches", found.users_per_query)
    yield from _held("clicks (query, url)", "clicks", found.users_per_click)
    yield "tables     " + "; ".join(f"{name}: {possible}" for name, possible in found.tables.items())


def _spread(what: str, spread: Spread) -> Iterator[str]:
    yield f"{what}: mean {spread.mean:,.1f}; " + ", ".join(
        f"{_quantile(q)} {value:,.0f}" for q, value in spread.quantiles.items()
    )


def _quantile(q: str) -> str:
    return {"0": "least", "0.5": "median", "1": "most"}.get(q, f"{float(q):.0%}")


def _held(what: str, events: str, rows: tuple[Held, ...]) -> Iterator[str]:
    if rows:
        yield f"{what}, by the users who hold them:"
    for row in rows:
        yield f"  {row.users:>9,} or more users  {row.keys:>12,}  {row.share:6.1%} of the {events}"
