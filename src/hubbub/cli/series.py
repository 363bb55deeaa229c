"""`hubbub series`: period after period under one guarantee."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hubbub.cli.care import AsDraft
from hubbub.cli.listed import Listed
from hubbub.cli.options import LedgerFile, NewLogOptions, NewPopulation, Without
from hubbub.cli.raw_log import open_log, readable
from hubbub.cli.series_options import USER_PERIOD, SeriesOptions
from hubbub.cli.terminal import Terminal, command
from hubbub.plurals import counted

if TYPE_CHECKING:
    from hubbub.series import SeriesPeriod

series = typer.Typer(
    help="Periods under one guarantee: plan, add, show, end, index, erase, struck.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
NOT_ASKED = ["population", "dataset", "config", "max_rejects", "ledger", "screen", "deny", "allow"]
NOT_ASKED += ["max_searches_a_day", "drop_agents"]
"""What the plan has fixed."""
SeriesFolder = Annotated[str, typer.Argument(help="The folder of the series.", metavar="DIR")]


@series.command(cls=Listed)
@command
def plan(
    folder: SeriesFolder,
    options: SeriesOptions,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what it would be, and reserve nothing.")] = False,
    new_population: NewPopulation = None,
    ledger: LedgerFile = None,
    *,
    terminal: Terminal,
) -> None:
    """Fix a series, and reserve the budget of all its periods.

    Example: hubbub series plan year --epsilon 2 --delta 1e-6 --first 2026-01-01 --periods 12
    """
    from hubbub.card.strength import remarks
    from hubbub.look.cadence import estimate_cadence
    from hubbub.look.cadence.words import lines
    from hubbub.privacy.ledger import Ledger
    from hubbub.series import fix
    from hubbub.series.plan import refuse_plan

    if options.unit == USER_PERIOD:
        _plan_periods(folder, options, dry_run, bool(new_population), ledger, terminal)
        return
    planned = options.plan()
    mechanism, guarantee = planned.mechanism, planned.guarantee()
    span = mechanism.calendar.span(0, mechanism.constants.longest - 1)
    terminal.say(guarantee.sentence(f"{span}, in all periods together,"))
    for remark in remarks(guarantee, planned.users_public):
        terminal.warn(remark)
    entry = estimate = None
    with Ledger(None if ledger is None else Path(ledger)) as book:
        if dry_run:
            refuse_plan(planned, book, new_population=bool(new_population))
            if planned.users_public is not None:
                estimate = estimate_cadence(mechanism, planned.users_public)
                terminal.say_all(lines(estimate))
            else:
                terminal.say("With --users-public N: what would come out when, as a series, in a few lists, or once.")
            terminal.say("Nothing was reserved.")
        else:
            entry = fix(planned, Path(folder), book, new_population=bool(new_population)).id
            terminal.say(f"Reserved as entry {entry} of the ledger {book.path}.")
            terminal.say(
                f"{folder}/owner-only must be kept for as long as the series runs: hubbub series add {folder} LOG"
            )
    terminal.document(
        {
            "folder": None if dry_run else str(Path(folder).absolute()),
            "entry": entry,
            "epsilon": guarantee.epsilon,
            "delta": guarantee.delta,
            "periods": [mechanism.calendar.label(n) for n in range(mechanism.constants.periods)],
            "longest": mechanism.constants.longest,
            "schedule": str(mechanism.settings["schedule"]),
            "private": guarantee.private,
            "estimate": None if estimate is None else estimate.record(),
        }
    )


def _plan_periods(
    folder: str, options: SeriesOptions, dry_run: bool, new_population: bool, ledger: str | None, terminal: Terminal
) -> None:
    """Fix a series of releases, one for each user and period."""
    from hubbub.look.cadence import estimate_each_period
    from hubbub.look.cadence.words import each_period_lines
    from hubbub.privacy.ledger import Ledger
    from hubbub.series.periods import fix_periods

    planned = options.periods_plan()
    guarantee, estimate = planned.guarantee(), None
    terminal.say(guarantee.sentence("in one period"))
    if dry_run and planned.users_public is not None:
        estimate = estimate_each_period(planned.mechanism, planned.calendar, planned.periods, planned.users_public)
        terminal.say_all(each_period_lines(estimate))
    elif dry_run:
        terminal.say("With --users-public N: what would come out of single periods.")
    if not dry_run:
        with Ledger(None if ledger is None else Path(ledger)) as book:
            fix_periods(planned, Path(folder), book, new_population=new_population)
    terminal.say(
        "Nothing was written." if dry_run else f"Each period is a release of its own: hubbub series add {folder} LOG"
    )
    epsilon, delta = planned.mechanism.all_periods()
    terminal.document(
        {
            "folder": None if dry_run else str(Path(folder).absolute()),
            "unit": USER_PERIOD,
            "epsilon": guarantee.epsilon,
            "delta": guarantee.delta,
            "all_periods": {"epsilon": epsilon, "delta": delta},
            "periods": [planned.calendar.label(n) for n in range(planned.periods)],
            "private": guarantee.private,
            "estimate": None if estimate is None else estimate.record(),
        }
    )


@series.command(cls=Listed)
@command
def add(
    folder: SeriesFolder,
    log: Annotated[NewLogOptions, Without(NOT_ASKED)],
    period: Annotated[str | None, typer.Option(help="Which period; else the next one.", metavar="LABEL")] = None,
    other_ids: Annotated[
        bool, typer.Option("--other-ids", help="Go on though hardly any user is known from earlier periods.")
    ] = False,
    other_people: Annotated[
        bool, typer.Option("--other-people", help="These are other people than those of another population.")
    ] = False,
    review: AsDraft = None,
    ledger: LedgerFile = None,
    *,
    terminal: Terminal,
) -> None:
    """Run the next period from its log, or from one that contains it; a period that stands is written again as it was.

    Example: hubbub series add year march.tsv.gz --format aol --period 2026-03
    """
    from hubbub.privacy.ledger import Ledger
    from hubbub.series import add as add_period
    from hubbub.series.plan import OWNER_ONLY, PLAN, plain_plan
    from hubbub.series.screened import planned_left_out, planned_options

    how: dict[str, Any] = {"period": period, "other_ids": other_ids, "other_people": other_people}
    how |= {"review": bool(review), "say": terminal.note}
    with Ledger(None if ledger is None else Path(ledger)) as book:
        if log.log is None:
            made = add_period(folder, None, book, **how)
        else:
            plan = plain_plan(Path(folder) / OWNER_ONLY / PLAN)
            fixed = {**planned_options(plan.get("screening")), **planned_left_out(plan.get("left_out"))}
            log = replace(log, engine=log.engine or "duckdb", **fixed)
            with readable(log, terminal) as told, open_log(told, None, terminal) as raw:
                made = add_period(folder, raw, book, **how)
    _say(made, terminal)


def _say(made: SeriesPeriod, terminal: Terminal) -> None:
    from hubbub.card.check import DRAFT
    from hubbub.release.opened import Release

    release = Release(made.folder / DRAFT if made.draft else made.folder)
    rows = {table: len(getattr(release, table)) for table in release.tables}
    if made.repeated:
        terminal.say(f"{made.label} stands already: the same bytes, and nothing more was spent.")
    for table, number in rows.items():
        terminal.say(f"  {table}: {counted(number, 'row')}")
    if not release.private:
        terminal.say("NOT PRIVATE: stamped so; do not publish.")
    if made.draft:
        terminal.say(f"A DRAFT, which waits for somebody to look at it: hubbub review {made.folder}")
    else:
        terminal.say(f"Open {made.folder}/public/index.html; check with: hubbub card {made.folder} --check")
        terminal.say(f"All periods so far: {made.folder.parent}/public/index.html")
    about = {"period": made.label, "out": str(made.folder), "repeated": made.repeated, "draft": made.draft}
    terminal.document(about | {"tables": rows})


@series.command(cls=Listed)
@command
def show(folder: SeriesFolder, ledger: LedgerFile = None, *, terminal: Terminal) -> None:
    """Where a series stands: periods that are out, the next one, what has been used.

    Example: hubbub series show year
    """
    from hubbub.privacy.ledger import Ledger
    from hubbub.series import show as standing_of

    with Ledger(None if ledger is None else Path(ledger)) as book:
        standing = standing_of(folder, book)
    mechanism, guarantee = standing.plan.mechanism, standing.plan.guarantee()
    terminal.say(guarantee.sentence("in all periods together"))
    terminal.say(f"Entry {standing.entry} of the ledger, {standing.state}; population {standing.plan.population}.")
    longest = mechanism.constants.longest
    terminal.say(f"{standing.runs} of {mechanism.constants.periods} planned periods are out, {longest} are possible.")
    for label in standing.labels:
        terminal.say(f"  {label}")
    if standing.interrupted is not None:
        terminal.say(f"{standing.interrupted} was interrupted: hubbub series add {folder} goes on with it.")
    if standing.draft is not None:
        terminal.say(f"{standing.draft} is a draft: hubbub review {Path(folder) / standing.draft}")
    if standing.next_period is not None:
        terminal.say(f"Next: {standing.next_period}, from {standing.closes} on.")
    terminal.say(f"At most {standing.spent:.0%} of what a user may add to the selection can be spent.")
    if standing.ended:
        terminal.say("The series has ended.")
    terminal.document(
        {
            "entry": standing.entry,
            "state": standing.state,
            "epsilon": guarantee.epsilon,
            "delta": guarantee.delta,
            "periods": list(standing.labels),
            "planned": mechanism.constants.periods,
            "longest": longest,
            "interrupted": standing.interrupted,
            "draft": standing.draft,
            "next": standing.next_period,
            "closes": standing.closes,
            "ended": standing.ended,
            "spent_at_most": standing.spent,
        }
    )


@series.command(cls=Listed)
@command
def end(folder: SeriesFolder, ledger: LedgerFile = None, *, terminal: Terminal) -> None:
    """End a series before its last period. What was reserved stays spent.

    Example: hubbub series end year
    """
    from hubbub.privacy.ledger import Ledger
    from hubbub.series import end as end_series

    with Ledger(None if ledger is None else Path(ledger)) as book:
        end_series(folder, book)
    terminal.say("The series has ended. Its owner-only/ may be deleted; the budget stays spent.")
    terminal.document({"folder": str(Path(folder).absolute()), "ended": True})


@series.command(cls=Listed)
@command
def index(
    folder: SeriesFolder,
    address: Annotated[
        str | None, typer.Option(help="Where the folder is on the web, for the feed; kept from then on.", metavar="URL")
    ] = None,
    *,
    terminal: Terminal,
) -> None:
    """Write DIR/public again, from what is published: page, long table, feed. Costs nothing.

    Example: hubbub series index year --address https://library.example/searches/
    """
    from hubbub.series.struck import index as write_index

    page = write_index(folder, address)
    terminal.say(f"Open {page}.")
    terminal.document({"index": str(page), "files": sorted(str(path) for path in page.parent.iterdir())})


@series.command(cls=Listed)
@command
def erase(
    folder: SeriesFolder,
    user: Annotated[str, typer.Option(help="Her id, as it stands in the logs.", metavar="ID")],
    ledger: LedgerFile = None,
    *,
    terminal: Terminal,
) -> None:
    """Erase a user from the state of a series: she contributes no more. What was published stays as it is.

    Example: hubbub series erase year --user 4711
    """
    from hubbub.privacy.ledger import Ledger
    from hubbub.series.erase import erase as erase_user

    with Ledger(None if ledger is None else Path(ledger)) as book:
        erase_user(folder, book, user)
    terminal.say("Erased. Her later records will be left out, too.")
    terminal.document({"folder": str(Path(folder).absolute()), "erased": True})


@series.command(cls=Listed)
@command
def struck(
    folder: SeriesFolder,
    allow: Annotated[
        str | None, typer.Option(help="Let this key, or table, come back from the next period on.", metavar="KEY")
    ] = None,
    ledger: LedgerFile = None,
    *,
    terminal: Terminal,
) -> None:
    """What reviews of a series have struck: it stays out of later periods and of the index. For the owner alone.

    Example: hubbub series struck year --allow "jane doe"
    """
    from hubbub.privacy.ledger import Ledger
    from hubbub.series.struck import allow as allow_again
    from hubbub.series.struck import earlier_strikes

    if allow is not None:
        with Ledger(None if ledger is None else Path(ledger)) as book:
            taken = allow_again(folder, book, allow)
        terminal.say(f"Allowed again: {counted(taken, 'strike')} taken back. Periods that stand are as they were.")
    strikes = earlier_strikes(Path(folder)).by_hand
    for one in strikes:
        terminal.say(f"  {one.table:12} {one.key or 'the table'}   [{one.by}: {one.reason}]")
    if not strikes:
        terminal.say("Nothing is struck.")
    rows = [{"table": s.table, "key": s.key, "second": s.second, "by": s.by, "reason": s.reason} for s in strikes]
    terminal.document({"struck": rows})
