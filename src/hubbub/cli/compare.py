"""`hubbub compare`: every mechanism side by side on one log, for its owner's eyes only."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from hubbub.cli.inspect import NOT_OPTIONS, looked, release_options
from hubbub.cli.shared import (
    CanonicalUrls,
    Columns,
    Config,
    Dataset,
    Delta,
    Epsilon,
    Format,
    Json,
    LedgerFile,
    LogFile,
    Pool,
    Population,
    Quiet,
    Terminal,
    Verbose,
    Work,
    asked,
    command,
    open_log,
    require,
    whole_number,
)
from hubbub.errors import ParameterError

BANNER = "OWNER ONLY. Every number was computed from the raw log: not private, do not publish."
OWN = ("mechanism", "task", "draws", "truth", "sweep", "plot", "seed", "jobs", "out")
LISTED = typer.Option(
    help="A mechanism, or one of its variants (zealous:published); repeatable. Default: all that prove something.",
    metavar="M",
)


@command
def compare(
    log: LogFile = None,
    epsilon: Epsilon = None,
    delta: Delta = None,
    mechanism: Annotated[list[str] | None, LISTED] = None,
    task: Annotated[list[str] | None, typer.Option(help="A task to score; repeatable (counts).", metavar="T")] = None,
    draws: Annotated[int, typer.Option(help="Draws of noise of each row.", metavar="N")] = 5,
    truth: Annotated[
        str | None, typer.Option(help="Folder with what some tasks need: see hubbub synth --truth.", metavar="DIR")
    ] = None,
    out: Annotated[
        str | None, typer.Option(help="Where to write; the same folder again goes on where it was.", metavar="DIR")
    ] = None,
    sweep: Annotated[
        list[str] | None,
        typer.Option(help="One parameter through values: epsilon=0.5,1,2 or zealous.m=1,2; repeatable.", metavar="S"),
    ] = None,
    set: Annotated[
        list[str] | None,
        typer.Option(help="A parameter of all or of one: d=5 or zealous.m=2; repeatable.", metavar="NAME=VALUE"),
    ] = None,
    plot: Annotated[str, typer.Option(help="The two metrics of the Pareto plot.", metavar="X,Y")] = "volume,error",
    pool: Pool = None,
    seed: Annotated[int, typer.Option(help="Of the noise, of bounding and of the splits.", min=0)] = 0,
    jobs: Annotated[int, typer.Option(help="Processes at a time.")] = 2,
    format: Format = None,
    columns: Columns = None,
    canonical_urls: CanonicalUrls = None,
    memory: Annotated[str | None, typer.Option(help="Memory limit of each process's engine (2GB).")] = None,
    work: Work = None,
    population: Population = None,
    dataset: Dataset = None,
    ledger: LedgerFile = None,
    config: Config = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Compare mechanisms at one (ε, δ) on a log: rows, errors, task scores, over draws of noise. Spends nothing.

    Not private: the look is recorded, and everything written goes to owner-only/. Interrupted, it goes on where it was.

    Example: hubbub compare log.tsv.gz --epsilon 1 --delta 1e-6 --task suggestion --sweep epsilon=0.5,1,2 --out compared
    """
    given: dict[str, Any] = dict(locals())
    for name in (*NOT_OPTIONS, *OWN):
        given.pop(name, None)
    from hubbub.look.compare import Asked, computed
    from hubbub.look.compare.page import PAGE, record
    from hubbub.look.compare.place import place
    from hubbub.look.compare.words import lines
    from hubbub.privacy.fingerprint import look
    from hubbub.privacy.ledger import Ledger, named

    terminal = Terminal(as_json=json, quiet=quiet, verbose=verbose)
    what = asked(given | {"engine": None, "threads": None}, set, config, release_options())
    stated = what.given
    require(stated, ("log",), "compare")
    workers = whole_number(jobs, "jobs", most=256) or 1
    wanted = Asked(what.settings, mechanism, task, draws, truth, sweep or (), stated["pool"], _plot(plot), seed)
    who, which = named(stated["population"] or "default"), named(stated["dataset"] or "default")
    with (
        place(out) as folder,
        Ledger(Path(stated["ledger"]) if stated["ledger"] else None) as book,
        open_log(stated, what.owner.period, terminal) as raw,
    ):
        look(book, raw, who, which, "compare")
        terminal.say(BANNER)
        bar = terminal.progress("comparing")
        found = computed(wanted, raw, folder, jobs=workers, memory=stated["memory"] or "2GB", progress=bar)
    for line in lines(found):
        terminal.say(line)
    if out is not None:
        terminal.say(f"The page: {folder / PAGE}; beside it compare.csv and compare.json.")
    terminal.say(looked(who, which))
    terminal.document(record(found))


def _plot(text: str) -> tuple[str, str]:
    """Two metrics."""
    names = [name.strip() for name in text.split(",")]
    if len(names) != 2 or not all(names):
        raise ParameterError(
            "--plot needs two metrics.", given=text, allowed="X,Y, e.g. volume,error or epsilon,volume"
        )
    return names[0], names[1]
