"""`hubbub attack`: what an attacker learns from a release, for its owner's eyes only."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from hubbub.cli.evaluate import OF_THE_LOG, _same, _tell
from hubbub.cli.inspect import NOT_OPTIONS, looked, release_options
from hubbub.cli.shared import (
    CanonicalUrls,
    Columns,
    Config,
    Dataset,
    EngineName,
    Format,
    Json,
    LedgerFile,
    Master,
    Memory,
    Population,
    Quiet,
    Terminal,
    Threads,
    Verbose,
    Work,
    asked,
    build_mechanism,
    command,
    open_log,
    require,
    whole_number,
)
from hubbub.errors import ParameterError

BANNER = "OWNER ONLY. Attacks with the raw log at hand: not private, do not publish."
OF_THE_MECHANISM = ("mechanism", "variant", "neighbours", "tables", "serp", "pool", "public_list", "previous")


@command
def attack(
    release: Annotated[str, typer.Argument(help="The folder that `hubbub release --out` wrote.", metavar="RELEASE")],
    log: Annotated[
        str | None,
        typer.Option(help="The raw log. Default: the one it was made from, by owner-only/run.toml.", metavar="LOG"),
    ] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(help="active, hash-inversion, homogeneity, linkage or membership; repeatable.", metavar="K"),
    ] = None,
    truth: Annotated[
        str | None, typer.Option(help="Folder whose canaries are the targets: see hubbub synth --truth.", metavar="DIR")
    ] = None,
    other: Annotated[
        str | None, typer.Option(help="Another log, from which hash-inversion learns words.", metavar="LOG")
    ] = None,
    targets: Annotated[int, typer.Option(help="Users to attack, at most.", min=1, max=100_000)] = 200,
    seed: Annotated[int, typer.Option(help="Of who is attacked, and of releases made again in memory.", min=0)] = 0,
    format: Format = None,
    columns: Columns = None,
    canonical_urls: CanonicalUrls = None,
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
    """Attack a release by the classic attacks. Not private; recorded; kept in owner-only/attacks.json.

    Attacks with fake accounts run the mechanism again in memory, seeded: no budget is spent, nothing is published.

    Example: hubbub attack release --log log.tsv.gz --kind active --truth truth
    """
    given: dict[str, Any] = dict(locals())
    for name in (*NOT_OPTIONS, "release", "kind", "truth", "other", "targets", "seed"):
        given.pop(name, None)
    from hubbub.privacy.fingerprint import look
    from hubbub.privacy.ledger import Ledger, named
    from hubbub.release.opened import Release
    from hubbub.worth.attacks.run import choose, mechanism_of, run
    from hubbub.worth.tasks.base import Truth
    from hubbub.worth.tasks.run import owner_only

    terminal = Terminal(as_json=json, quiet=quiet, verbose=verbose)
    released, chosen = Release(release), choose(kind)
    folder, known = owner_only(released), None if truth is None else Truth(truth)
    if config is None and (folder / "run.toml").is_file():
        config = str(folder / "run.toml")
    what = asked(given | dict.fromkeys(OF_THE_MECHANISM), None, config, release_options())
    stated = what.given
    if given["log"] is not None and config is not None and not _same(given["log"], config):
        stated |= {name: given[name] for name in OF_THE_LOG}  # another log may well be in another format
    if not stated["log"]:
        raise ParameterError("--log LOG is missing.", next="give the raw log that the release was made from")
    require(stated, (), "attack")
    mechanism = build_mechanism(stated, what.settings) if stated["mechanism"] else mechanism_of(released)
    who, which = named(stated["population"] or "default"), named(stated["dataset"] or "default")
    with (
        Ledger(Path(stated["ledger"]) if stated["ledger"] else None) as book,
        open_log(stated, what.owner.period, terminal) as raw,
    ):
        look(book, raw, who, which, "attack")
        terminal.say(BANNER)
        found = run(
            released,
            mechanism,
            raw,
            chosen,
            truth=known,
            other=other,
            targets=targets,
            seed=seed,
            say=partial(_tell, terminal),
            memory=stated["memory"] or "2GB",
            threads=whole_number(stated["threads"], "threads", most=1024),
        )
    for line in lines(found, {one.name for one in chosen}):
        terminal.say(line)
    terminal.say(f"Kept in {folder / 'attacks.json'}. {looked(who, which)}")
    terminal.document(found)


def lines(found: dict[str, dict[str, Any]], shown: set[str]) -> Iterator[str]:
    """What each attack achieved, for a person."""
    for name, outcome in found.items():
        if name not in shown:
            continue
        if "not_attackable" in outcome:
            yield f"\n{name}: not attackable: {outcome['not_attackable']}"
            continue
        yield f"\n{name}: {outcome['verdict']}"
        yield f"  success       {_rate(outcome['success'])}"
        yield f"  false alarms  {_rate(outcome['false_alarms'])}"
        if outcome["allowed"] is not None:
            yield f"  the guarantee allows a success of up to {outcome['allowed']:.3f}"
        yield f"  {outcome['how']}"


def _rate(rate: dict[str, Any]) -> str:
    if rate["rate"] is None:
        return "–"
    return f"{rate['rate']:.3f} ({rate['low']:.3f} to {rate['high']:.3f}; {rate['hits']} of {rate['tries']})"
