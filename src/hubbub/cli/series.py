"""`hubbub series`: period after period under one guarantee."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hubbub.cli.config import read_configuration
from hubbub.cli.options import LedgerFile, Listed, NewLogOptions, NewPopulation, Without, whole_number
from hubbub.cli.raw_log import open_log, readable
from hubbub.cli.terminal import Terminal, command

if TYPE_CHECKING:
    from hubbub.series import SeriesPeriod, SeriesPlan
    from hubbub.series.periods import PeriodsPlan

series = typer.Typer(
    help="Periods under one guarantee: plan, add, show, end, index, erase.", no_args_is_help=True, rich_markup_mode=None
)
USER_PERIOD = "user-period"
UNITS = ("user", USER_PERIOD)
NOT_ASKED = ["population", "dataset", "config", "max_rejects", "ledger", "screen", "deny", "allow"]
"""What the plan has fixed."""
SeriesFolder = Annotated[str, typer.Argument(help="The folder of the series.", metavar="DIR")]


@dataclass(frozen=True, kw_only=True)
class SeriesOptions:
    """What is fixed before the first look."""

    epsilon: Annotated[str | None, typer.Option(help="Privacy loss ε of the whole series.", metavar="E")] = None
    delta: Annotated[str | None, typer.Option(help="δ of the whole series.", metavar="D")] = None
    first: Annotated[str | None, typer.Option(help="First day of the first period: 2026-01-01.", metavar="DAY")] = None
    periods: Annotated[int, typer.Option(help="How many periods are planned.", metavar="N")] = 12
    longest: Annotated[int | None, typer.Option(help="How many there may be at most (as planned).", metavar="N")] = None
    length: Annotated[str, typer.Option(help="day, week, month, quarter, year, or for example '10 days'.")] = "month"
    schedule: Annotated[
        str, typer.Option(help="even, front (more early, less at the end), or a whole weight per period: 1,1,3.")
    ] = "even"
    counts: Annotated[str, typer.Option(help="Share of the noise budget for numbers beside the keys.")] = "0.3"
    pool: Annotated[int, typer.Option(help="New queries of a user that count in a period.", metavar="N")] = 40
    tables: Annotated[
        str, typer.Option(help="queries, with clicks, transitions, keywords as wanted.", metavar="T,…")
    ] = "queries"
    unit: Annotated[str, typer.Option(help="user (over all periods) or user-period (plain crowd each).")] = "user"
    public_list: Annotated[
        str | None, typer.Option(help="Queries that anybody may know: they come out sooner.", metavar="FILE")
    ] = None
    lag: Annotated[int, typer.Option(help="Days after its end before a period is run.", metavar="DAYS")] = 0
    users_public: Annotated[int | None, typer.Option(help="Declared number of users; δ below 1/N.", metavar="N")] = None
    population: Annotated[str, typer.Option(help="Who the logs are about; budgets add up.")] = "default"
    dataset: Annotated[str, typer.Option(help="Your name for this series.")] = "series"
    max_rejects: Annotated[str | None, typer.Option(help="Stop if more lines than this are unreadable (5%).")] = None
    screen: Annotated[
        str | None, typer.Option(help="Screening rules of every period: none, default, or rules.", metavar="RULES")
    ] = None
    deny: Annotated[str | None, typer.Option(help="Texts to take out, one a line; kept as it is.", metavar="F")] = None
    allow: Annotated[str | None, typer.Option(help="Texts that no rule takes out.", metavar="F")] = None
    config: Annotated[str | None, typer.Option(help="TOML with a [card] table.", metavar="FILE")] = None
    seed: Annotated[int | None, typer.Option(help="Repeatable noise, for tests: NOT PRIVATE.", metavar="S")] = None
    not_private: Annotated[bool, typer.Option("--not-private", help="Accept a series that is not private.")] = False

    def plan(self) -> SeriesPlan:
        """The plan that these options describe."""
        from hubbub.mechanisms.series import Series
        from hubbub.public.lists import read_list
        from hubbub.series import SeriesPlan

        mechanism = Series(
            tables=[table.strip() for table in self.tables.split(",")],
            public_list=None if self.public_list is None else read_list(self.public_list),
            epsilon=self.epsilon,
            delta=self.delta,
            periods=self.periods,
            longest=self.longest,
            D=self.pool,
            schedule=self.schedule,
            counts=self.counts,
            first=self.first,
            length=self.length,
        )
        return SeriesPlan(mechanism, **self.common())

    def periods_plan(self) -> PeriodsPlan:
        """The plan of releases of their own, one for each period."""
        from hubbub.errors import ParameterError
        from hubbub.mechanisms.crowd.each import CrowdPerPeriod
        from hubbub.mechanisms.series import calendar_of
        from hubbub.series.periods import PeriodsPlan

        for option, given, usual in (
            ("--longest", self.longest, None),
            ("--schedule", self.schedule, "even"),
            ("--counts", self.counts, "0.3"),
            ("--pool", self.pool, 40),
            ("--public-list", self.public_list, None),
        ):
            if given != usual:
                raise ParameterError(f"{option} belongs to the unit user.", given=given, next="leave it out")
        tables = [table.strip() for table in self.tables.split(",")]
        settings = {"epsilon": self.epsilon, "delta": self.delta, "periods": self.periods}
        mechanism = CrowdPerPeriod(tables=tables, **settings)
        if self.first is None:
            raise ParameterError("--first DAY is missing.", next="name the first day of the first period")
        return PeriodsPlan(mechanism, calendar_of(self.first, self.length), **self.common())

    def common(self) -> dict[str, Any]:
        """What both units are told alike."""
        from hubbub.errors import ParameterError
        from hubbub.series.screened import fixed_screen

        if self.unit not in UNITS:
            raise ParameterError("There is no such unit.", given=self.unit, allowed=", ".join(UNITS))
        owner = read_configuration(self.config).owner
        if owner.period is not None:
            raise ParameterError("The periods of a series are its own.", given="period in [card]", next="leave it out")
        return {
            "population": self.population,
            "dataset": self.dataset,
            "owner": owner,
            "lag": self.lag,
            "users_public": whole_number(self.users_public, "users-public"),
            "max_rejects": NewLogOptions(max_rejects=self.max_rejects).share(),
            "seed": whole_number(self.seed, "seed", least=0),
            "not_private": self.not_private,
            "screening": fixed_screen(self.screen, self.deny, self.allow),
        }


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
    from hubbub.series.screened import planned_options

    how: dict[str, Any] = {"period": period, "other_ids": other_ids, "other_people": other_people, "say": terminal.note}
    with Ledger(None if ledger is None else Path(ledger)) as book:
        if log.log is None:
            made = add_period(folder, None, book, **how)
        else:
            screening = plain_plan(Path(folder) / OWNER_ONLY / PLAN).get("screening")
            log = replace(log, engine=log.engine or "duckdb", **planned_options(screening))  # type: ignore[arg-type]
            with readable(log, terminal) as told, open_log(told, None, terminal) as raw:
                made = add_period(folder, raw, book, **how)
    _say(made, terminal)


def _say(made: SeriesPeriod, terminal: Terminal) -> None:
    from hubbub.release.opened import Release

    release = Release(made.folder)
    rows = {table: len(getattr(release, table)) for table in release.tables}
    if made.repeated:
        terminal.say(f"{made.label} stands already: the same bytes, and nothing more was spent.")
    for table, number in rows.items():
        terminal.say(f"  {table}: {number} rows")
    if not release.private:
        terminal.say("NOT PRIVATE: stamped so; do not publish.")
    terminal.say(f"Open {made.folder}/public/index.html; check with: hubbub card {made.folder} --check")
    terminal.say(f"All periods so far: {made.folder.parent}/public/index.html")
    terminal.document({"period": made.label, "out": str(made.folder), "repeated": made.repeated, "tables": rows})


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
    from hubbub.show.series.index import write_index

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
