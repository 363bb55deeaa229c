"""`hubbub release`: from a log file to a folder that may be published."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hubbub.cli.shared import (
    AllowEmpty,
    CanonicalUrls,
    Columns,
    Config,
    Dataset,
    Delta,
    DropOutside,
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
    NewPopulation,
    OtherPeople,
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
    UsersPublic,
    Variant,
    Verbose,
    Work,
    asked,
    build_mechanism,
    command,
    open_log,
    parse_share,
    require,
    settle_format,
    whole_number,
)

if TYPE_CHECKING:
    from hubbub.privacy.ledger import Ledger
    from hubbub.release.plan import Plan
    from hubbub.release.resume import Run


@command
def release(
    log: LogFile = None,
    out: Annotated[str | None, typer.Option(help="The folder to make; must not exist.", metavar="DIR")] = None,
    mechanism: MechanismName = None,
    epsilon: Epsilon = None,
    delta: Delta = None,
    set: Set = None,
    variant: Variant = None,
    neighbours: NeighboursName = None,
    tables: TableNames = None,
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
    new_population: NewPopulation = None,
    other_people: OtherPeople = None,
    dataset: Dataset = None,
    users_public: UsersPublic = None,
    ledger: LedgerFile = None,
    config: Config = None,
    seed: Annotated[int | None, typer.Option(help="Repeatable noise, for tests: NOT PRIVATE.", metavar="S")] = None,
    not_private: Annotated[
        bool | None, typer.Option("--not-private", help="Accept a release that is not private.")
    ] = None,
    allow_empty: AllowEmpty = None,
    drop_outside: DropOutside = None,
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
    terminal = Terminal(as_json=json, quiet=quiet, verbose=verbose)
    what = asked(given, set, config)
    run(what.given, what.settings, what.owner, what.card, terminal)


def run(given: dict[str, Any], settings: dict[str, str], owner: Any, card: dict[str, Any], terminal: Terminal) -> None:
    """The resolved command; `given` holds every option, None where nothing was said."""
    from hubbub.privacy.guarantee import finite, number
    from hubbub.privacy.ledger import Ledger
    from hubbub.privacy.ledger.words import totals_of
    from hubbub.release.plan import Plan
    from hubbub.release.refusals import admit
    from hubbub.release.story import run_admitted

    require(given, ("log", "out", "mechanism"), "release")
    mechanism = build_mechanism(given, settings)
    plan = Plan(
        mechanism,
        Path(given["out"]).absolute(),
        owner,
        population=given["population"] or "default",
        dataset=given["dataset"] or "default",
        users_public=whole_number(given["users_public"], "users-public"),
        max_rejects=parse_share("5%" if given["max_rejects"] is None else given["max_rejects"]),
        seed=whole_number(given["seed"], "seed", least=0),
        not_private=bool(given["not_private"]),
        new_population=bool(given["new_population"]),
        allow_empty=bool(given["allow_empty"]),
        drop_outside=bool(given["drop_outside"]),
        other_people=bool(given["other_people"]),
        run={k: _absolute(k, v) for k, v in given.items() if k not in ("epsilon", "delta")}
        | {"set": dict(settings), "card": card},
    )
    draft = plan.drafted()
    settle_format(given, terminal)
    plan.run["format"] = given["format"]
    guarantee = plan.guarantee()
    with (
        Ledger(Path(given["ledger"]) if given["ledger"] else None) as ledger,
        _resumable(given, plan, ledger, terminal) as kept,
    ):
        admitted = admit(draft, ledger, None if kept is None else kept.entry)
        if admitted.reserved is None and plan.population not in ledger.populations():
            terminal.say(f"The population {plan.population} is new to the ledger {ledger.path}: its budget begins.")
        terminal.say(guarantee.sentence("" if owner.period is None else str(owner.period)))
        for rule in mechanism.missing():
            terminal.say(f"  {rule}")
        for remark in plan.remarks():
            terminal.warn(remark)
        mechanism.say = terminal.say
        with open_log(given, owner.period, terminal, kept) as log:
            result = run_admitted(log, admitted, ledger, say=terminal.note)
        spent = ledger.spent(plan.population)
    if result.warning:
        terminal.warn(result.warning)
    for note in result.notes:
        terminal.warn(note)
    users = result.owner_only["users"]
    proves = mechanism.proven().epsilon is not None
    if proves and plan.users_public is None and isinstance(users, int) and mechanism.loss().delta * users >= 1:
        terminal.warn(f"δ = {number(mechanism.loss().delta)} is not below 1/users; publish with a smaller δ")
    private, claimed = guarantee.private, mechanism.claimed()
    if not private:
        terminal.say("NOT PRIVATE: stamped so; do not publish.")
    for table, rows in result.rows.items():
        terminal.say(f"  {table}: {rows} rows")
    terminal.say(f"Ledger: population {plan.population} has spent {totals_of(spent)} in {spent.releases} release(s).")
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
            "claimed": {"epsilon": finite(claimed.epsilon), "delta": finite(claimed.delta)},
            "tables": result.rows,
            "thresholds": mechanism.thresholds(),
            "ledger": {
                "population": plan.population,
                "dataset": plan.dataset,
                "entry": result.entry.id,
                "epsilon_spent": finite(spent.epsilon),
                "delta_spent": spent.delta,
            },
            "private": private,
            "owner_only": result.owner_only,
        }
        | ({"certificate": result.owner_only["certificate"]} if "certificate" in result.owner_only else {})
    )


@contextmanager
def _resumable(given: dict[str, Any], plan: Plan, ledger: Ledger, terminal: Terminal) -> Iterator[Run | None]:
    """With --work, a folder that an interrupted run leaves behind and the next one goes on from."""
    from hubbub.release.resume import Run, determines

    if not given["work"]:
        yield None
        return
    reading = {name: given[name] for name in ("format", "columns", "canonical_urls", "engine")}
    run = Run(Path(given["work"]), determines(plan, given["log"], reading, ledger.path), plan.out)
    try:
        found = run.find(ledger)
        if run.stands is not None:
            terminal.say(f"An earlier run made {run.stands}, and its budget is spent. This is a new release.")
        elif found is not None or run.ingested is not None:
            held = "" if run.entry is None else f", on its reservation (entry {run.entry.id})"
            terminal.say(f"Going on with the run that was interrupted{held}: no noise had been drawn.")
        for path in run.others:
            terminal.warn(f"{path} holds copies of a raw log, left by another run: run that again, or remove it")
        yield run
    except BaseException:
        if run.useful:
            terminal.warn(f"{run.path} keeps what was read of the raw log: run again to go on, or remove it")
        raise
    finally:
        run.remove()


def _absolute(name: str, value: Any) -> Any:
    """Paths as they can be found again from anywhere."""
    return (
        str(Path(value).absolute())
        if value and name in ("log", "out", "serp", "pool", "public_list", "previous", "work", "ledger")
        else value
    )
