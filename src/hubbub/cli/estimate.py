"""`hubbub estimate`: what a release would keep, before anything is spent."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hubbub.cli.inspect import NOT_OPTIONS, looked, release_options
from hubbub.cli.shared import (
    CanonicalUrls,
    Columns,
    Config,
    Dataset,
    Delta,
    EngineName,
    Epsilon,
    Format,
    Json,
    LedgerFile,
    LogFile,
    Master,
    MaxRejects,
    MechanismName,
    Memory,
    NeighboursName,
    Pool,
    Population,
    Previous,
    PublicList,
    Quiet,
    Serp,
    Set,
    TableNames,
    Terminal,
    Threads,
    Variant,
    Verbose,
    Work,
    asked,
    build_mechanism,
    command,
    open_log,
    parse_share,
    require,
    whole_number,
)
from hubbub.errors import ParameterError

if TYPE_CHECKING:
    from hubbub.look.estimate import Estimate
    from hubbub.mechanisms import Mechanism

OF_A_LOG = (
    *(
        "log",
        "format",
        "columns",
        "canonical_urls",
        "max_rejects",
        "serp",
        "public_list",
        "previous",
        "engine",
        "master",
        "memory",
        "threads",
    ),
    *("work", "population", "dataset", "ledger"),
)
OF_USERS = ("preset", "sample")


@command
def estimate(
    log: LogFile = None,
    users: Annotated[
        int | None, typer.Option(help="Instead of a log: this many users and a public shape.", metavar="N")
    ] = None,
    preset: Annotated[str | None, typer.Option(help="With --users: the shape, aol (default) or gotz.")] = None,
    sample: Annotated[
        int | None, typer.Option(help="With --users: made-up users, scaled to N (20000).", metavar="M")
    ] = None,
    mechanism: MechanismName = None,
    epsilon: Epsilon = None,
    delta: Delta = None,
    set: Set = None,
    variant: Variant = None,
    neighbours: NeighboursName = None,
    tables: TableNames = None,
    runs: Annotated[int | None, typer.Option(help="Simulated runs, where nothing is exact (4).", metavar="R")] = None,
    format: Format = None,
    columns: Columns = None,
    canonical_urls: CanonicalUrls = None,
    max_rejects: MaxRejects = None,
    serp: Serp = None,
    pool: Pool = None,
    public_list: PublicList = None,
    previous: Previous = None,
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
    """Estimate what a release would keep: thresholds and why, expected rows, expected error. Spends nothing.

    With --users nothing of the log is looked at. With LOG the numbers are exact and not private; the look is recorded.

    Example: hubbub estimate --users 500000 --mechanism korolova --epsilon 1 --delta 1e-6 --set d=20
    """
    given: dict[str, Any] = dict(locals())
    for name in NOT_OPTIONS:
        del given[name]
    from hubbub.look.estimate.words import lines

    terminal = Terminal(as_json=json, quiet=quiet, verbose=verbose)
    _refuse_mixed(given)
    what = asked(given, set, config, release_options())
    given = what.given | ({"log": None} if users is not None else {})
    if given["log"] is None and users is None:
        raise ParameterError("Nothing to estimate from.", allowed="LOG or --users N", next="see hubbub estimate --help")
    require(given, ("mechanism",) if users is not None else ("log", "mechanism"), "estimate")
    built = build_mechanism(given, what.settings)
    found = _public(built, given) if users is not None else _raw(built, given, what.owner.period, terminal)
    for line in lines(found):
        terminal.say(line)
    for warning in found.warnings:
        terminal.warn(warning)
    if found.owner_only:
        terminal.say(looked(given["population"] or "default", given["dataset"] or "default"))
    terminal.document(found.record())


def _refuse_mixed(given: dict[str, Any]) -> None:
    """A log or a number of users, and no options of the other."""
    other, why = (OF_A_LOG, "--users reads no log") if given["users"] is not None else (OF_USERS, "it is for --users")
    for name in other:
        if given[name] is not None:
            option = "LOG" if name == "log" else "--" + name.replace("_", "-")
            raise ParameterError(
                f"{option} does not go with the rest: {why}.",
                given=given[name],
                next="estimate from LOG, which is a look at raw data, or from --users N, which is not",
            )


def _public(mechanism: Mechanism, given: dict[str, Any]) -> Estimate:
    """No log, no ledger."""
    from hubbub.look.estimate import RUNS, estimate_users
    from hubbub.look.estimate.source import MOST_USERS, PRESET, SAMPLE

    if mechanism.serp is not None:
        raise ParameterError("Made-up queries are on no result list.", next="leave serp out, or estimate from LOG")
    return estimate_users(
        mechanism,
        whole_number(given["users"], "users", most=MOST_USERS) or 1,
        preset=given["preset"] or PRESET,
        sample=whole_number(given["sample"], "sample", least=100, most=1_000_000) or SAMPLE,
        runs=whole_number(given["runs"], "runs", most=1000) or RUNS,
    )


def _raw(mechanism: Mechanism, given: dict[str, Any], period: Any, terminal: Terminal) -> Estimate:
    """The ledger records the look, before anything is shown."""
    from hubbub.look.estimate import RUNS, estimate_log
    from hubbub.privacy.fingerprint import look
    from hubbub.privacy.ledger import Ledger, named

    runs = whole_number(given["runs"], "runs", most=1000) or RUNS
    most = parse_share("5%" if given["max_rejects"] is None else given["max_rejects"])
    who, which = named(given["population"] or "default"), named(given["dataset"] or "default")
    with (
        Ledger(Path(given["ledger"]) if given["ledger"] else None) as book,
        open_log(given, period, terminal) as raw,
    ):
        look(book, raw, who, which, "estimate")
        if raw.ingested.rejected > most * raw.ingested.read:
            terminal.warn("a release of this log would stop: more lines are rejected than --max-rejects allows")
        return estimate_log(mechanism, raw, runs=runs)
