"""`hubbub report`: rebuild the owner's report of a release, from what is there or from its log again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hubbub.cli.evaluate import OF_THE_LOG, _same
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
)
from hubbub.errors import ParameterError

if TYPE_CHECKING:
    from hubbub.cli.shared import Asked
    from hubbub.log import SearchLog
    from hubbub.mechanisms import Mechanism

BANNER = "OWNER ONLY. The report shows exact facts of the raw log: not private, do not publish."


@command
def report(
    release: Annotated[str, typer.Argument(help="The folder that `hubbub release --out` wrote.", metavar="RELEASE")],
    log: Annotated[
        str | None,
        typer.Option(
            help="Count the raw log again, all keys of it, and estimate other budgets. Default: only what is there.",
            metavar="LOG",
        ),
    ] = None,
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
    """Rebuild owner-only/report.html. Not private. With --log it reads the raw log, which the ledger records.

    Example: hubbub report release --log log.tsv.gz
    """
    given: dict[str, Any] = dict(locals())
    for name in (*NOT_OPTIONS, "release"):
        given.pop(name, None)
    from hubbub.show.owner import charts, owner_only, write_report

    terminal = Terminal(as_json=json, quiet=quiet, verbose=verbose)
    folder = owner_only(Path(release))
    terminal.say(BANNER)
    if log is not None:
        if config is None and (folder / "run.toml").is_file():
            config = str(folder / "run.toml")
        _count_again(Path(release), asked(given, None, config, release_options()), given, config, terminal)
    path = write_report(release)
    drawn = charts(release)
    terminal.say(f"{len(drawn)} charts in {path}: {', '.join(drawn)}.")
    terminal.document({"report": str(path), "charts": {name: chart.alt for name, chart in drawn.items()}})


def _count_again(release: Path, what: Asked, given: dict[str, Any], config: str | None, terminal: Terminal) -> None:
    """Everything that needs the log; written before the page is."""
    from hubbub.privacy.fingerprint import look
    from hubbub.privacy.ledger import Ledger, named

    stated = what.given
    if config is not None and not _same(given["log"], config):
        stated |= {name: given[name] for name in OF_THE_LOG}
    require(stated, (), "report")
    mechanism = _mechanism(release, config)
    who, which = named(stated["population"] or "default"), named(stated["dataset"] or "default")
    with (
        Ledger(Path(stated["ledger"]) if stated["ledger"] else None) as book,
        open_log(stated, what.owner.period, terminal) as raw,
    ):
        look(book, raw, who, which, "report")
        _gather(release, raw, mechanism, terminal)
    terminal.say(looked(who, which))


def _mechanism(release: Path, config: str | None) -> Mechanism:
    """As it was asked for, by the release's own run.toml."""
    if config is None:
        raise ParameterError(
            "What made this release is not known.",
            given=f"no owner-only/run.toml in {release}",
            next="give the configuration of the release with --config",
        )
    options: dict[str, Any] = dict.fromkeys(release_options())
    found = asked(options, None, config)
    if not found.given["mechanism"]:
        raise ParameterError("The configuration names no mechanism.", given=config, next="give one that does")
    return build_mechanism(found.given, found.settings)


def _gather(release: Path, raw: SearchLog, mechanism: Mechanism, terminal: Terminal) -> None:
    from hubbub.card.check import public_folder
    from hubbub.show import kept
    from hubbub.show.exact import gather
    from hubbub.show.tried import other_budgets

    folder = release / "owner-only"
    before = kept.read(folder)
    terminal.note("counting every key")
    tables, _ = gather(raw, mechanism, public_folder(release), every=True)
    tried, estimated = other_budgets(mechanism, raw, terminal.note)
    found = replace(
        before,
        tables=kept.merged(before.tables, tables),
        laws=dict(before.laws) | estimated,
        tried=tried,
    )
    kept.write(folder, found)
