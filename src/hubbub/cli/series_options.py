"""What `hubbub series plan` is told, and the plan that it makes of it, for either unit."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hubbub.cli.config import read_configuration
from hubbub.cli.options import NewLogOptions, whole_number

if TYPE_CHECKING:
    from hubbub.series import SeriesPlan
    from hubbub.series.periods import PeriodsPlan

USER_PERIOD = "user-period"
UNITS = ("user", USER_PERIOD)


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
    language: Annotated[
        str, typer.Option(help="Words that anybody knows, as a public list: en, others of wordfreq, none.", metavar="L")
    ] = "none"
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
    max_searches_a_day: Annotated[
        int | None, typer.Option(help="Leave out users with more searches than this on one day.", metavar="N")
    ] = None
    drop_agents: Annotated[
        str | None, typer.Option(help="For `weblog`: leave out programs, by a list of User-Agents.", metavar="LIST")
    ] = None
    config: Annotated[str | None, typer.Option(help="TOML with a [card] table.", metavar="FILE")] = None
    seed: Annotated[int | None, typer.Option(help="Repeatable noise, for tests: NOT PRIVATE.", metavar="S")] = None
    not_private: Annotated[bool, typer.Option("--not-private", help="Accept a series that is not private.")] = False

    def plan(self) -> SeriesPlan:
        """The plan that these options describe."""
        from hubbub.errors import ParameterError
        from hubbub.mechanisms.series import Series
        from hubbub.public.lists import read_list
        from hubbub.public.words import LANGUAGES, NONE, known_list
        from hubbub.series import SeriesPlan

        if self.language not in LANGUAGES:
            raise ParameterError("There is no such language.", given=self.language, allowed=", ".join(LANGUAGES))
        listed = None if self.public_list is None else read_list(self.public_list)
        if self.language != NONE:
            listed = known_list(self.language, listed)
        mechanism = Series(
            tables=[table.strip() for table in self.tables.split(",")],
            public_list=listed,
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
            ("--language", self.language, "none"),
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
        from hubbub.ingest import agents
        from hubbub.log.left_out import LeftOut
        from hubbub.series.screened import fixed_screen

        if self.unit not in UNITS:
            raise ParameterError("There is no such unit.", given=self.unit, allowed=", ".join(UNITS))
        left_out = LeftOut(whole_number(self.max_searches_a_day, "max-searches-a-day"), self.drop_agents)
        if self.drop_agents is not None:
            agents.known(self.drop_agents)
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
            "left_out": asdict(left_out) if left_out else None,
        }
