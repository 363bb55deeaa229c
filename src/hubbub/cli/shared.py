"""What every command shares: its terminal, how errors end, its options and how they are read."""

from __future__ import annotations

import functools
import json
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec
from unicodedata import category

import typer

from hubbub.errors import HubbubError, ParameterError

if TYPE_CHECKING:
    from hubbub.card.owner import Owner
    from hubbub.log import Period, SearchLog
    from hubbub.mechanisms import Mechanism
    from hubbub.release.resume import Run

P = ParamSpec("P")

Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout, everything else on stderr.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Say more; show the traceback of a bug of ours.")]
LedgerFile = Annotated[
    str | None, typer.Option("--ledger", help="The budget book. Default: the user's data directory.", metavar="FILE")
]
LogFile = Annotated[str | None, typer.Argument(help="The log: a file, a folder or a quoted glob.", metavar="LOG")]
Format = Annotated[
    str | None, typer.Option(help="Format of the log: aol, excite, sogou, table, ubi; else it is recognised (auto).")
]
Columns = Annotated[
    str | None,
    typer.Option(
        help="For `table`: user=…,time=…,query=…,url=…,rank=…; for `ubi`: user=client_id|user_id|session_id[,click=…]",
        metavar="NAME=COLUMN,…",
    ),
]
CanonicalUrls = Annotated[bool | None, typer.Option("--canonical-urls", help="Canonicalise clicked URLs.")]
MaxRejects = Annotated[str | None, typer.Option(help="Stop if more lines than this are unreadable (5%).")]
EngineName = Annotated[str | None, typer.Option(help="Where the log is counted: duckdb (default) or spark.")]
Master = Annotated[str | None, typer.Option(help="For spark: its master (local[*]).", metavar="URL")]
Memory = Annotated[str | None, typer.Option(help="The engine's memory limit (2GB).")]
Threads = Annotated[int | None, typer.Option(help="The engine's threads (all cores).")]
Work = Annotated[str | None, typer.Option(help="Folder for copies of the raw log; run again to go on.", metavar="DIR")]
Population = Annotated[str | None, typer.Option(help="Who the log is about; budgets add up per population.")]
NewPopulation = Annotated[
    bool | None,
    typer.Option("--new-population", help="These are people that no population of the ledger is about."),
]
OtherPeople = Annotated[
    bool | None,
    typer.Option(
        "--other-people", help="These are other people, though the same records were released under another name."
    ),
]
Dataset = Annotated[str | None, typer.Option(help="Your name for this log: population and period.")]
Config = Annotated[str | None, typer.Option(help="TOML with any of these options and a [card] table.", metavar="FILE")]

MechanismName = Annotated[str | None, typer.Option(help="Which mechanism: crowd, korolova, gaussian, …", metavar="M")]
Epsilon = Annotated[str | None, typer.Option(help="Privacy loss ε; same as --set epsilon=E.", metavar="E")]
Delta = Annotated[str | None, typer.Option(help="δ, on top of the factor e^ε; same as --set delta=D.", metavar="D")]
Set = Annotated[list[str] | None, typer.Option(help="A parameter, as name=value; repeatable.", metavar="NAME=VALUE")]
Variant = Annotated[str | None, typer.Option(help="strict (provable, default) or published (as in the paper).")]
NeighboursName = Annotated[str | None, typer.Option(help="add-remove (default) or replace.")]
TableNames = Annotated[str | None, typer.Option(help="Tables to release, e.g. queries,clicks.", metavar="T,…")]
UsersPublic = Annotated[int | None, typer.Option(help="Declared number of users; δ must be below 1/N.", metavar="N")]
AllowEmpty = Annotated[
    bool | None, typer.Option("--allow-empty", help="Release though no row lies in the stated period.")
]
DropOutside = Annotated[
    bool | None, typer.Option("--drop-outside", help="Leave out rows outside the stated period, instead of stopping.")
]
Serp = Annotated[str | None, typer.Option(help="Public result list: Parquet or TSV with query, url.", metavar="F")]
Pool = Annotated[str | None, typer.Option(help="Public pool of queries: `hubbub pool build` makes one.", metavar="F")]
PublicList = Annotated[
    str | None, typer.Option(help="Queries anybody knows: Parquet or TSV with a column query.", metavar="F")
]
Previous = Annotated[
    str | None, typer.Option(help="An earlier private release, whose queries count as known.", metavar="RELEASE")
]


class Terminal:
    """Where a command speaks: results on stdout, the rest on stderr, progress only to a person."""

    def __init__(self, *, as_json: bool = False, quiet: bool = False, verbose: bool = False) -> None:
        self.as_json, self.quiet, self.verbose = as_json, quiet, verbose
        self._bar = False

    def say(self, text: str = "") -> None:
        """A line for a person."""
        self._end_bar()
        if not self.quiet:
            typer.echo(text, err=self.as_json)

    def note(self, text: str) -> None:
        """A line for a person who wants to know more."""
        if self.verbose:
            self._aside(text)

    def warn(self, text: str) -> None:
        """A line the owner should see."""
        if not self.quiet:
            self._aside(f"warning: {text}")

    def _aside(self, text: str) -> None:
        """Nobody may be listening on stderr: that must not end a release."""
        with suppress(OSError):
            self._end_bar()
            typer.echo(text, err=True)

    def progress(self, what: str) -> Callable[[int, int], None]:
        """A progress line on a terminal; nothing anywhere else."""
        shown = not self.quiet and sys.stderr is not None and sys.stderr.isatty() and "TERM" in os.environ

        def step(done: int, total: int) -> None:
            if shown:
                share = done / total if total else 1.0
                sys.stderr.write(f"\r{what} {share:4.0%}")
                sys.stderr.flush()
                self._bar = True

        return step

    def _end_bar(self) -> None:
        if self._bar:
            sys.stderr.write("\r\033[K")
            self._bar = False

    def document(self, data: object) -> None:
        """The one JSON document."""
        self._end_bar()
        if self.as_json:
            typer.echo(json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False, default=str))


def command(function: Callable[P, Any]) -> Callable[P, None]:
    """Turn exceptions into one clear message and the right exit code."""

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            function(*args, **kwargs)
        except HubbubError as error:
            typer.echo(f"hubbub: {error}", err=True)
            raise typer.Exit(error.exit_code) from None
        except KeyboardInterrupt:
            typer.echo("hubbub: interrupted", err=True)
            raise typer.Exit(130) from None
        except (typer.Exit, SystemExit, typer.Abort, BrokenPipeError):
            raise
        except OSError as error:
            typer.echo(f"hubbub: The system would not read or write: {error}.", err=True)
            typer.echo("  next:    check the disk, the permissions and where the output goes", err=True)
            raise typer.Exit(2) from None
        except Exception as error:
            typer.echo(f"hubbub: this is a bug of ours, please report it: {type(error).__name__}: {error}", err=True)
            if kwargs.get("verbose"):
                traceback.print_exc()
            else:
                typer.echo("  next:    run again with --verbose for the details", err=True)
            raise typer.Exit(3) from None

    return run


# ------------------------------------------------------------------ what was asked for


@dataclass(frozen=True)
class Asked:
    """What a command was asked for, by its options and its configuration; options win."""

    given: dict[str, Any]
    """Every option, None where nothing was said."""
    settings: dict[str, str]
    owner: Owner
    card: dict[str, Any]


def asked(given: dict[str, Any], set: list[str] | None, config: str | None, known: list[str] | None = None) -> Asked:
    """Options over configuration. `known` are the options a configuration may hold; those not in `given` are left."""
    from hubbub.card.owner import read_config, read_owner

    stated: dict[str, Any] = read_config(config) if config is not None else {}
    card = _table(stated, "card")
    owner = read_owner(card)
    options = {key: value for key, value in stated.items() if key not in ("card", "set")}
    _check_options(options, list(given) if known is None else known)
    _check_text(given | options)
    settings = parse_settings(_pairs(_table(stated, "set")) + _pairs(options, BUDGET))
    settings |= parse_settings((set or []) + _pairs(given, BUDGET))
    options = {name: value for name, value in options.items() if name in given}
    given = options | {name: value for name, value in given.items() if value is not None or name not in options}
    return Asked(given, settings, owner, card)


REQUIRED = {"log": "LOG", "out": "--out DIR", "mechanism": "--mechanism M", "format": "--format F"}


def require(given: dict[str, Any], names: Iterable[str], command: str) -> None:
    """Refuse a command without the options it cannot do without, or with an engine there is not."""
    from hubbub.mechanisms import mechanisms

    for name in names:
        if not given[name]:
            allowed = {"mechanism": ", ".join(mechanisms()), "format": "aol, excite, sogou, table, ubi"}.get(name, "")
            raise ParameterError(f"{REQUIRED[name]} is missing.", allowed=allowed, next=f"see hubbub {command} --help")
    if given["engine"] not in (None, "duckdb", "spark"):
        raise ParameterError("There is no such engine.", given=given["engine"], allowed="duckdb, spark")


def build_mechanism(given: dict[str, Any], settings: dict[str, str]) -> Mechanism:
    """The mechanism these options describe."""
    from hubbub.mechanisms import build
    from hubbub.public.lists import read_list, read_pool, read_serp
    from hubbub.release.earlier import read_previous

    return build(
        given["mechanism"],
        settings,
        variant=given["variant"],
        neighbours=given["neighbours"],
        tables=[t.strip() for t in given["tables"].split(",")] if given["tables"] else None,
        serp=read_serp(given["serp"], canonical_urls=bool(given["canonical_urls"])) if given["serp"] else None,
        pool=read_pool(given["pool"]) if given["pool"] else None,
        public_list=read_list(given["public_list"]) if given["public_list"] else None,
        previous=read_previous(given["previous"]) if given["previous"] else None,
    )


def settle_format(given: dict[str, Any], terminal: Terminal) -> None:
    """Where no format was given, recognise it, say so, and go on as if it had been."""
    from hubbub.ingest import AUTO, sniff

    if given["format"] in (None, AUTO):
        found = sniff(given["log"], parse_columns(given["columns"]))
        given["format"] = found.format
        terminal.say(f"The log looks like {found.format}: {found.why}. Using --format {found.format}.")


def open_log(given: dict[str, Any], period: Period | None, terminal: Terminal, run: Run | None = None) -> SearchLog:
    """Read and clean the log these options describe; close it after use."""
    from hubbub.log import read_log

    settle_format(given, terminal)
    log = read_log(
        given["log"],
        format=given["format"],
        columns=parse_columns(given["columns"]),
        period=period,
        canonical_urls=bool(given["canonical_urls"]),
        engine=given["engine"] or "duckdb",
        master=given.get("master"),
        memory=given["memory"] or "2GB",
        threads=whole_number(given["threads"], "threads", most=1024),
        work=Path(given["work"]) if given["work"] else None,
        run=run,
        progress=terminal.progress("reading"),
    )
    if log.ingested.rejected:
        terminal.warn(f"{log.ingested.rejected} of {log.ingested.read} lines set aside: {log.ingested.reasons}")
    return log


def parse_settings(pairs: list[str]) -> dict[str, str]:
    """`--set name=value` as a table."""
    settings: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise ParameterError("--set needs a name and a value.", given=pair, allowed="name=value, e.g. --set d=20")
        if name.strip() in settings:
            raise ParameterError("A parameter is set twice.", given=name.strip(), next="set it once")
        settings[name.strip()] = value.strip()
    return settings


def parse_columns(text: str | None) -> dict[str, str] | None:
    """`--columns user=a,query=b` as a table."""
    if not text:
        return None
    columns: dict[str, str] = {}
    for pair in text.split(","):
        name, equals, column = pair.partition("=")
        if not equals or not name.strip() or not column.strip():
            raise ParameterError("--columns cannot be read.", given=text, allowed="user=…,time=…,query=…,url=…,rank=…")
        columns[name.strip()] = column.strip()
    return columns


def parse_share(text: object) -> float:
    """A share such as 5% or 0.05."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(%?)", str(text).strip())
    share = float(match.group(1)) / (100 if match.group(2) else 1) if match else -1.0
    if not 0 <= share <= 1:
        raise ParameterError("--max-rejects is not a share.", given=text, allowed="0% to 100%, e.g. 5%")
    return share


def whole_number(value: object, name: str, least: int = 1, most: int | None = None) -> int | None:
    """An option that counts something."""
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < least or (most is not None and value > most):
        allowed = f"{least} or more" if most is None else f"{least} to {most}"
        raise ParameterError(f"--{name} must be a whole number.", given=value, allowed=allowed)
    return value


# ------------------------------------------------------------------ the configuration

KINDS: dict[str, tuple[str, tuple[type, ...]]] = {
    **dict.fromkeys(("threads", "users_public", "seed"), ("a whole number", (int,))),
    **dict.fromkeys(
        ("canonical_urls", "new_population", "other_people", "not_private", "allow_empty", "drop_outside"),
        ("true or false", (bool,)),
    ),
    **dict.fromkeys(("epsilon", "delta", "max_rejects"), ("a number or text", (int, float, str))),
}
TEXT = ("text", (str,))
BUDGET = ("epsilon", "delta")  # options that are settings: --epsilon E is --set epsilon=E


def _check_options(options: dict[str, Any], known: list[str]) -> None:
    """Refuse what is no option, or not of the option's type: `not_private = "no"` must not mean yes."""
    for key, value in options.items():
        if key not in known:
            allowed = ", ".join([*known, "[set]", "[card]"])
            raise ParameterError("The configuration has an unknown option.", given=key, allowed=allowed)
        words, kinds = KINDS.get(key, TEXT)
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            given = f"{key} = {value!r}"
            raise ParameterError("An option in the configuration is of the wrong type.", given=given, allowed=words)


def _check_text(given: dict[str, Any]) -> None:
    """An empty shell variable must not mean the default; what is no text cannot stand in run.toml."""
    for name, value in given.items():
        if isinstance(value, str) and (not value.strip() or any(category(c) in ("Cc", "Cs") for c in value)):
            what = "LOG" if name == "log" else "--" + name.replace("_", "-")
            allowed = "text in UTF-8 without control characters"
            raise ParameterError(f"{what} is empty or not text.", given=ascii(value), allowed=allowed)


def _pairs(table: dict[str, Any], names: tuple[str, ...] | None = None) -> list[str]:
    """Settings as `--set` would give them."""
    return [f"{name}={table[name]}" for name in names or table if table.get(name) is not None]


def _table(stated: dict[str, Any], name: str) -> dict[str, Any]:
    table = stated.get(name, {})
    if not isinstance(table, dict):
        raise ParameterError(f"[{name}] in the configuration must be a table.", given=table)
    return table
