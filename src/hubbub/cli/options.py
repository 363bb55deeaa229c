"""Every option that several commands take, declared once, in typed groups: a command takes a group as one argument.

What an option may also say in a configuration file follows from the same declarations (config.py).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import typer

from hubbub.cli.care import AllowFile, AsDraft, Because, DenyFile, ScreenRules, Supersedes
from hubbub.cli.listed import completing, installed
from hubbub.cli.stated import GroupBy, GroupValues, ItemKind, Preferred, groupings
from hubbub.errors import ParameterError, Refused

if TYPE_CHECKING:
    from hubbub.mechanisms import Mechanism


def spelled(name: str) -> str:
    """An option as one types it."""
    return "LOG" if name == "log" else f"--{name.replace('_', '-')}"


class Without(tuple[str, ...]):
    """Marks the options of a group that a command does not offer: `Annotated[Group, Without(["name"])]`."""


USUAL = "crowd"
"""The mechanism of a release that names none."""

LedgerFile = Annotated[
    str | None, typer.Option("--ledger", help="The budget book. Default: the user's data directory.", metavar="FILE")
]
NewPopulation = Annotated[
    bool | None,
    typer.Option("--new-population", help="These are people that no population of the ledger is about."),
]
Pool = Annotated[str | None, typer.Option(help="Public pool of queries: `hubbub pool build` makes one.", metavar="F")]
ReleaseFolder = Annotated[str, typer.Argument(help="The folder that `hubbub release --out` wrote.", metavar="RELEASE")]
TruthFolder = Annotated[
    str | None, typer.Option(help="Folder with what some tasks need: see hubbub synth --truth.", metavar="DIR")
]


@dataclass(frozen=True, kw_only=True)
class ReadingOptions:
    """How the lines of a log become records."""

    format: Annotated[
        str | None,
        typer.Option(
            help="Format of the log: {formats}; else it is recognised (auto).",
            metavar="F",
            autocompletion=completing("formats"),
        ),
    ] = None
    columns: Annotated[
        str | None,
        typer.Option(
            help="For `table`, `jsonl`: user=…,time=…,query=…,url=…,rank=…; "
            "for `ubi`: user=client_id|user_id|session_id[,click=…]; for logs of services: user=…",
            metavar="NAME=COLUMN,…",
        ),
    ] = None
    separator: Annotated[
        str | None,
        typer.Option(help="For `table`: , ; | or tab; else the header tells it.", metavar="C"),
    ] = None
    encoding: Annotated[
        str | None, typer.Option(help="For `table`, `sogou-2012`: latin-1, utf-16 and others (utf-8).", metavar="E")
    ] = None
    time_format: Annotated[
        str | None,
        typer.Option(help="For `table`: s, ms, us, ns or a strptime pattern; else ISO 8601 or an epoch.", metavar="F"),
    ] = None
    query_parameter: Annotated[
        str | None,
        typer.Option(help="For `weblog`, `solr`: the parameter of a request that is the query (q).", metavar="P"),
    ] = None
    drop_agents: Annotated[
        str | None,
        typer.Option(help="For `weblog`: leave out programs, by a list of User-Agents (robots-1).", metavar="LIST"),
    ] = None
    max_searches_a_day: Annotated[
        int | None, typer.Option(help="Leave out users with more searches than this on one day.", metavar="N")
    ] = None
    query: Annotated[
        str | None,
        typer.Option(help="For a database: what to read. Each row must come from rows of its own user.", metavar="SQL"),
    ] = None
    table: Annotated[
        str | None, typer.Option(help="For a database: the table to read; with a view, --own-query.", metavar="NAME")
    ] = None
    own_query: Annotated[
        bool | None,
        typer.Option(
            "--own-query", help="A query of yours made these rows, each from its own user's; as --query says."
        ),
    ] = None
    canonical_urls: Annotated[bool | None, typer.Option("--canonical-urls", help="Canonicalise clicked URLs.")] = None
    screen: ScreenRules = None
    deny: DenyFile = None
    allow: AllowFile = None

    def roles(self) -> dict[str, str] | None:
        """Which column has which role, where --columns says it."""
        if not self.columns:
            return None
        columns: dict[str, str] = {}
        for pair in self.columns.split(","):
            name, equals, column = pair.partition("=")
            if not equals or not name.strip() or not column.strip():
                allowed = "user=…,time=…,query=…,url=…,rank=…"
                raise ParameterError("--columns cannot be read.", given=self.columns, allowed=allowed)
            columns[name.strip()] = column.strip()
        return columns


@dataclass(frozen=True, kw_only=True)
class EngineOptions:
    """Where the records are counted."""

    engine: Annotated[
        str | None,
        typer.Option(help="Where the log is counted: {engines} (duckdb).", autocompletion=completing("engines")),
    ] = None
    master: Annotated[str | None, typer.Option(help="For spark: its master (local[*]).", metavar="URL")] = None
    memory: Annotated[str | None, typer.Option(help="The memory limit of an engine (2GB).")] = None
    threads: Annotated[int | None, typer.Option(help="The engine's threads (all cores).")] = None
    work: Annotated[
        str | None, typer.Option(help="Folder for copies of the raw log; run again to go on.", metavar="DIR")
    ] = None

    def limits(self) -> tuple[str, int | None]:
        """The options for memory and threads, checked."""
        return self.memory or "2GB", whole_number(self.threads, "threads", most=1024)


@dataclass(frozen=True, kw_only=True)
class LedgerOptions:
    """Under which names the ledger keeps a release of a log, or a look at it."""

    population: Annotated[str | None, typer.Option(help="Who the log is about; budgets add up per population.")] = None
    dataset: Annotated[str | None, typer.Option(help="Your name for this log: population and period.")] = None
    ledger: LedgerFile = None

    def names(self) -> tuple[str, str]:
        """Population and data set."""
        from hubbub.privacy.ledger import named

        return named(self.population or "default"), named(self.dataset or "default")

    @property
    def book(self) -> Path | None:
        """Where the ledger is; None: where the user's own is."""
        return Path(self.ledger) if self.ledger else None


@dataclass(frozen=True, kw_only=True)
class LogOptions(LedgerOptions, EngineOptions, ReadingOptions):
    """A raw log: where it is, how it is read and counted, and what the ledger calls it."""

    ASKED: ClassVar[str] = "LOG"
    log: Annotated[
        str | None,
        typer.Argument(
            help="The log: a file, a folder, a quoted glob, - (standard input), s3://…, https://…, or a database.",
            metavar="LOG",
        ),
    ] = None
    config: Annotated[
        str | None, typer.Option(help="TOML with any of these options and a [card] table.", metavar="FILE")
    ] = None

    def require(self) -> str:
        """Where the log is; refuses none, and an engine there is not."""
        if not self.log:
            raise ParameterError(
                f"{self.ASKED} is missing.", next="name the raw log: a file, a folder or a quoted glob"
            )
        if self.engine is not None and self.engine not in installed("engines").split(", "):
            raise ParameterError("There is no such engine.", given=self.engine, allowed=installed("engines"))
        return self.log


@dataclass(frozen=True, kw_only=True)
class NewLogOptions(LogOptions):
    """A raw log that has not been released yet: it may be too broken for that."""

    max_rejects: Annotated[str | None, typer.Option(help="Stop if more lines than this are unreadable (5%).")] = None

    def share(self) -> float:
        """The share of lines that may be rejected, such as 5% or 0.05."""
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(%?)", (self.max_rejects or "5%").strip())
        share = float(match.group(1)) / (100 if match.group(2) else 1) if match else -1.0
        if not 0 <= share <= 1:
            raise ParameterError("--max-rejects is not a share.", given=self.max_rejects, allowed="0% to 100%, e.g. 5%")
        return share


@dataclass(frozen=True, kw_only=True)
class ReleasedLogOptions(LogOptions):
    """The raw log that a release was made from: its own owner-only/run.toml knows the rest."""

    ASKED = "--log LOG"
    log: Annotated[
        str | None,
        typer.Option("--log", help="The raw log. Default: the one of owner-only/run.toml.", metavar="LOG"),
    ] = None


@dataclass(frozen=True, kw_only=True)
class BudgetOptions:
    """What a mechanism may cost, and its other parameters."""

    epsilon: Annotated[str | None, typer.Option(help="Privacy loss ε; same as --set epsilon=E.", metavar="E")] = None
    delta: Annotated[
        str | None, typer.Option(help="δ, on top of the factor e^ε; same as --set delta=D.", metavar="D")
    ] = None
    set: Annotated[
        list[str] | None, typer.Option(help="A parameter, as name=value; repeatable.", metavar="NAME=VALUE")
    ] = None


@dataclass(frozen=True, kw_only=True)
class MechanismOptions(BudgetOptions):
    """Which mechanism runs, and what it is given besides the log."""

    mechanism: Annotated[
        str | None,
        typer.Option(
            help="Which mechanism (crowd): {private}; not private: {not_private}.",
            metavar="M",
            autocompletion=completing("mechanisms"),
        ),
    ] = None
    variant: Annotated[str | None, typer.Option(help="strict (provable, default) or published (as in the paper).")] = (
        None
    )
    neighbours: Annotated[str | None, typer.Option(help="add-remove (default) or replace.")] = None
    tables: Annotated[str | None, typer.Option(help="Tables to release, e.g. queries,clicks.", metavar="T,…")] = None
    serp: Annotated[
        str | None, typer.Option(help="Public result list: Parquet or TSV with query, url.", metavar="F")
    ] = None
    pool: Pool = None
    public_list: Annotated[
        list[str] | None,
        typer.Option(help="Queries anybody knows: Parquet or TSV with a column query; repeatable.", metavar="F"),
    ] = None
    prior: Annotated[
        str | None,
        typer.Option(help="Weights of your own for queries: Parquet or TSV with query, weight.", metavar="F"),
    ] = None
    language: Annotated[
        str | None,
        typer.Option(help="The language of the queries (en), or none; same as --set language=L.", metavar="L"),
    ] = None
    kind: ItemKind = None
    prefer: Preferred = None
    by: GroupBy = None
    values: GroupValues = None
    no_known_words: Annotated[
        bool | None,
        typer.Option("--no-known-words", help="Words are no known queries: no row of nobody; --set known_words=no."),
    ] = None
    previous: Annotated[
        str | None, typer.Option(help="An earlier private release, whose queries count as known.", metavar="RELEASE")
    ] = None

    def settled(self) -> Self:
        """The same with the mechanism named, for run.toml."""
        return replace(self, mechanism=self.mechanism or USUAL)

    def knowing(self, settings: dict[str, str], users: int | None) -> dict[str, str]:
        """The parameters, with the declared number of users where the mechanism has one for it."""
        from hubbub.mechanisms import mechanisms

        stated, kind = whole_number(users, "users-public"), mechanisms().get(self.mechanism or USUAL)
        takes = kind is not None and any(p.declared_users for p in kind.parameters)
        return {"users": str(stated), **settings} if stated is not None and takes else settings

    def refuse_log(self, log: str) -> None:
        """The log itself is no public list of any kind."""
        from hubbub.ingest.sources import on_disk, resolve

        brought = [*(self.public_list or ()), *filter(None, (self.pool, self.prior, self.serp))]
        if not brought or log == "-" or "://" in log:
            return
        files = {on_disk(file).resolve() for file in resolve(log)}
        for path in brought:
            if Path(path).resolve() in files:
                raise Refused(
                    "The log itself cannot be a public list.",
                    given=path,
                    allowed="what anybody could know without this log",
                )

    def build(self, settings: dict[str, str], *, canonical_urls: bool | None) -> Mechanism:
        """The mechanism that these options describe."""
        from hubbub.mechanisms import build
        from hubbub.public.lists import read_list, read_pool, read_prior, read_serp
        from hubbub.release.earlier import read_previous

        named = {"language": self.language, "kind": self.kind, "prefer": self.prefer}
        for name, value in {**named, "known_words": "no" if self.no_known_words else None}.items():
            if value is not None and settings.get(name, value) != value:
                raise ParameterError("A parameter is set twice.", given=f"{name} = {settings[name]} and {value}")
            settings = settings if value is None else {**settings, name: value}
        return build(
            self.mechanism or USUAL,
            settings,
            own_prior=read_prior(self.prior) if self.prior else None,
            variant=self.variant,
            neighbours=self.neighbours,
            tables=[t.strip() for t in self.tables.split(",")] if self.tables else None,
            serp=read_serp(self.serp, canonical_urls=bool(canonical_urls)) if self.serp else None,
            pool=read_pool(self.pool) if self.pool else None,
            public_list=[read_list(path) for path in self.public_list or ()],
            previous=read_previous(self.previous) if self.previous else None,
            by=groupings(self.by, self.values),
        )


@dataclass(frozen=True, kw_only=True)
class OwnerOptions:
    """What only the owner can state of a release, or agree to."""

    users_public: Annotated[
        int | None,
        typer.Option(help="Declared number of users; δ must be below 1/N; crowd takes D by it.", metavar="N"),
    ] = None
    new_population: NewPopulation = None
    other_people: Annotated[
        bool | None,
        typer.Option(
            "--other-people", help="These are other people, though the same records were released under another name."
        ),
    ] = None
    allow_empty: Annotated[
        bool | None, typer.Option("--allow-empty", help="Release though no row lies in the stated period.")
    ] = None
    drop_outside: Annotated[
        bool | None,
        typer.Option("--drop-outside", help="Leave out rows outside the stated period, instead of stopping."),
    ] = None

    def stated(self) -> dict[str, Any]:
        """The same for a plan: how many users were declared, and what is agreed to."""
        users = whole_number(self.users_public, "users-public")
        agreed = {name: bool(getattr(self, name)) for name in OwnerOptions.__dataclass_fields__}
        return agreed | {"users_public": users}


@dataclass(frozen=True, kw_only=True)
class ReleaseOptions(OwnerOptions):
    """What is said of one release alone."""

    out: Annotated[str | None, typer.Option(help="The folder to make; must not exist.", metavar="DIR")] = None
    seed: Annotated[int | None, typer.Option(help="Repeatable noise, for tests: NOT PRIVATE.", metavar="S")] = None
    not_private: Annotated[bool | None, typer.Option("--not-private", help="Accept a release that is not private.")] = (
        None
    )
    supersedes: Supersedes = None
    because: Because = None
    review: AsDraft = None


def whole_number(value: int | None, name: str, least: int = 1, most: int | None = None) -> int | None:
    """An option that counts something."""
    if value is not None and not least <= value <= (value if most is None else most):
        allowed = f"{least} or more" if most is None else f"{least} to {most}"
        raise ParameterError(f"--{name} must be a whole number.", given=value, allowed=allowed)
    return value
