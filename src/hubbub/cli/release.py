"""`hubbub release`: from a log file to a folder that may be published."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any
from unicodedata import category

import typer

from hubbub.cli.shared import Json, LedgerFile, Quiet, Terminal, Verbose, command
from hubbub.errors import ParameterError


@command
def release(
    log: Annotated[
        str | None, typer.Argument(help="The log: a file, a folder or a quoted glob.", metavar="LOG")
    ] = None,
    out: Annotated[str | None, typer.Option(help="The folder to make; must not exist.", metavar="DIR")] = None,
    mechanism: Annotated[str | None, typer.Option(help="Which mechanism: korolova.", metavar="M")] = None,
    epsilon: Annotated[str | None, typer.Option(help="Privacy loss ε; same as --set epsilon=E.", metavar="E")] = None,
    delta: Annotated[str | None, typer.Option(help="Failure chance δ; same as --set delta=D.", metavar="D")] = None,
    set: Annotated[
        list[str] | None, typer.Option(help="A parameter, as name=value; repeatable.", metavar="NAME=VALUE")
    ] = None,
    variant: Annotated[
        str | None, typer.Option(help="strict (provable, default) or published (as in the paper).")
    ] = None,
    neighbours: Annotated[str | None, typer.Option(help="add-remove (default) or replace.")] = None,
    tables: Annotated[str | None, typer.Option(help="Tables to release, e.g. queries,clicks.", metavar="T,…")] = None,
    format: Annotated[str | None, typer.Option(help="Format of the log: aol or table.")] = None,
    columns: Annotated[
        str | None, typer.Option(help="For `table`: user=…,time=…,query=…,url=…,rank=…", metavar="NAME=COLUMN,…")
    ] = None,
    canonical_urls: Annotated[bool | None, typer.Option("--canonical-urls", help="Canonicalise clicked URLs.")] = None,
    max_rejects: Annotated[str | None, typer.Option(help="Stop if more lines than this are unreadable (5%).")] = None,
    serp: Annotated[
        str | None, typer.Option(help="Public result list: Parquet or TSV with query, url.", metavar="F")
    ] = None,
    engine: Annotated[str | None, typer.Option(help="Where the log is counted: duckdb (default) or spark.")] = None,
    master: Annotated[str | None, typer.Option(help="For spark: its master (local[*]).", metavar="URL")] = None,
    memory: Annotated[str | None, typer.Option(help="The engine's memory limit (2GB).")] = None,
    threads: Annotated[int | None, typer.Option(help="The engine's threads (all cores).")] = None,
    work: Annotated[str | None, typer.Option(help="Folder for temporary copies of the raw log.", metavar="DIR")] = None,
    population: Annotated[str | None, typer.Option(help="Who the log is about; budgets add up per population.")] = None,
    dataset: Annotated[str | None, typer.Option(help="Your name for this log: population and period.")] = None,
    users_public: Annotated[
        int | None, typer.Option(help="Declared number of users; δ must be below 1/N.", metavar="N")
    ] = None,
    ledger: LedgerFile = None,
    config: Annotated[
        str | None, typer.Option(help="TOML with any of these options and a [card] table.", metavar="FILE")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Repeatable noise, for tests: NOT PRIVATE.", metavar="S")] = None,
    not_private: Annotated[
        bool | None, typer.Option("--not-private", help="Accept a release that is not private.")
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Release a log with a privacy guarantee, a card and a page.

    Example: hubbub release log.tsv.gz --format aol --mechanism korolova --epsilon 1 --delta 1e-6 --out release
    """
    given: dict[str, Any] = dict(locals())
    for name in ("set", "config", "json", "quiet", "verbose"):
        del given[name]
    from hubbub.card.owner import read_config, read_owner

    stated = read_config(config) if config is not None else {}
    owner = read_owner(_table(stated, "card"))
    options = {key: value for key, value in stated.items() if key not in ("card", "set")}
    _check_options(options, list(given))
    _check_text(given | options)
    settings = parse_settings(_pairs(_table(stated, "set")) + _pairs(options, BUDGET))
    settings |= parse_settings((set or []) + _pairs(given, BUDGET))
    given = options | {name: value for name, value in given.items() if value is not None or name not in options}
    terminal = Terminal(as_json=json, quiet=quiet, verbose=verbose)
    run(given, settings, owner, _table(stated, "card"), terminal)


def run(given: dict[str, Any], settings: dict[str, str], owner: Any, card: dict[str, Any], terminal: Terminal) -> None:
    """The resolved command; `given` holds every option, None where nothing was said."""
    from hubbub.guarantee import number
    from hubbub.ledger import Ledger
    from hubbub.lists import read_serp
    from hubbub.log import read_log
    from hubbub.mechanisms import build, mechanisms
    from hubbub.release import Plan, run_release

    for name, what in (("log", "LOG"), ("out", "--out DIR"), ("mechanism", "--mechanism M"), ("format", "--format F")):
        if not given[name]:
            allowed = {"mechanism": ", ".join(mechanisms()), "format": "aol, table"}.get(name, "")
            raise ParameterError(f"{what} is missing.", allowed=allowed, next="see hubbub release --help")
    if given["engine"] not in (None, "duckdb", "spark"):
        raise ParameterError("There is no such engine.", given=given["engine"], allowed="duckdb, spark")
    mechanism = build(
        given["mechanism"],
        settings,
        variant=given["variant"] or "strict",
        neighbours=given["neighbours"],
        tables=[t.strip() for t in given["tables"].split(",")] if given["tables"] else None,
        serp=read_serp(given["serp"], canonical_urls=bool(given["canonical_urls"])) if given["serp"] else None,
    )
    plan = Plan(
        mechanism,
        Path(given["out"]).absolute(),
        owner,
        population=given["population"] or "default",
        dataset=given["dataset"] or "default",
        users_public=_whole(given["users_public"], "users-public"),
        max_rejects=parse_share("5%" if given["max_rejects"] is None else given["max_rejects"]),
        seed=_whole(given["seed"], "seed", least=0),
        not_private=bool(given["not_private"]),
        run={k: _absolute(k, v) for k, v in given.items() if k not in ("epsilon", "delta")}
        | {"set": dict(settings), "card": card},
    )
    plan.refuse_early()
    guarantee = plan.guarantee()
    with Ledger(Path(given["ledger"]) if given["ledger"] else None) as ledger:
        ledger.would_allow(plan.population, mechanism.loss(), guarantee.private)
        terminal.say(guarantee.sentence("" if owner.period is None else str(owner.period)))
        for step, threshold in mechanism.thresholds().items():
            terminal.say(f"  {step}: released if the noisy count is at least {threshold}")
        with read_log(
            given["log"],
            format=given["format"],
            columns=parse_columns(given["columns"]),
            period=owner.period,
            canonical_urls=bool(given["canonical_urls"]),
            engine=given["engine"] or "duckdb",
            master=given.get("master"),
            memory=given["memory"] or "2GB",
            threads=_whole(given["threads"], "threads", most=1024),
            work=Path(given["work"]) if given["work"] else None,
            progress=terminal.progress("reading"),
        ) as log:
            if log.ingested.rejected:
                terminal.warn(f"{log.ingested.rejected} of {log.ingested.read} lines set aside: {log.ingested.reasons}")
            result = run_release(log, plan, ledger, say=terminal.note)
        spent = ledger.spent(plan.population)
    if result.warning:
        terminal.warn(result.warning)
    users = result.owner_only["users"]
    if plan.users_public is None and isinstance(users, int) and mechanism.loss().delta * users >= 1:
        terminal.warn(f"δ = {number(mechanism.loss().delta)} is not below 1/users; publish with a smaller δ")
    private = guarantee.private
    if not private:
        terminal.say("NOT PRIVATE: stamped so; do not publish.")
    for table, rows in result.rows.items():
        terminal.say(f"  {table}: {rows} rows")
    terminal.say(
        f"Ledger: population {plan.population} has spent ε = {number(spent.epsilon)} in {spent.releases} release(s)."
    )
    terminal.say(f"Open {plan.out}/public/index.html; check with: hubbub card {plan.out} --check")
    terminal.document(
        {
            "out": str(plan.out),
            "mechanism": mechanism.name,
            "variant": mechanism.variant,
            "guarantee": {
                "definition": guarantee.definition.value,
                "epsilon": guarantee.epsilon,
                "delta": guarantee.delta,
                "neighbours": guarantee.neighbours.value,
                "scope": guarantee.scope,
            },
            "claimed": {"epsilon": mechanism.claimed().epsilon, "delta": mechanism.claimed().delta},
            "tables": result.rows,
            "thresholds": mechanism.thresholds(),
            "ledger": {
                "population": plan.population,
                "dataset": plan.dataset,
                "entry": result.entry.id,
                "epsilon_spent": spent.epsilon if spent.epsilon != float("inf") else None,
            },
            "private": private,
            "owner_only": result.owner_only,
        }
    )


def _absolute(name: str, value: Any) -> Any:
    """Paths as they can be found again from anywhere."""
    return str(Path(value).absolute()) if value and name in ("log", "out", "serp", "work", "ledger") else value


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


def _whole(value: object, name: str, least: int = 1, most: int | None = None) -> int | None:
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < least or (most is not None and value > most):
        allowed = f"{least} or more" if most is None else f"{least} to {most}"
        raise ParameterError(f"--{name} must be a whole number.", given=value, allowed=allowed)
    return value


# ------------------------------------------------------------------ the configuration

KINDS: dict[str, tuple[str, tuple[type, ...]]] = {
    **dict.fromkeys(("threads", "users_public", "seed"), ("a whole number", (int,))),
    **dict.fromkeys(("canonical_urls", "not_private"), ("true or false", (bool,))),
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
