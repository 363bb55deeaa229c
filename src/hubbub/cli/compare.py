"""`hubbub compare`: every mechanism side by side on one log, for its owner's eyes only."""

from __future__ import annotations

from typing import Annotated

import typer

from hubbub.cli.config import read_configuration
from hubbub.cli.listed import completing
from hubbub.cli.options import BudgetOptions, LogOptions, MechanismOptions, Pool, TruthFolder, Without, whole_number
from hubbub.cli.raw_log import looking
from hubbub.cli.terminal import Terminal, command
from hubbub.errors import ParameterError

BANNER = "OWNER ONLY. Every number was computed from the raw log: not private, do not publish."
LISTED = typer.Option(
    help="One of {private}; not private: {not_private}; or a variant of one (zealous:published); repeatable. "
    "Default: all that prove something.",
    metavar="M",
    autocompletion=completing("mechanisms"),
)


@command
def compare(
    log: Annotated[LogOptions, Without(["engine", "master", "threads"])],
    budget: BudgetOptions,
    mechanism: Annotated[list[str] | None, LISTED] = None,
    task: Annotated[
        list[str] | None,
        typer.Option(
            help="A task to score: {tasks}; repeatable (counts).", metavar="T", autocompletion=completing("tasks")
        ),
    ] = None,
    draws: Annotated[int, typer.Option(help="Draws of noise of each row.", metavar="N")] = 5,
    truth: TruthFolder = None,
    out: Annotated[
        str | None, typer.Option(help="Where to write; the same folder again goes on where it was.", metavar="DIR")
    ] = None,
    sweep: Annotated[
        list[str] | None,
        typer.Option(help="One parameter through values: epsilon=0.5,1,2 or zealous.m=1,2; repeatable.", metavar="S"),
    ] = None,
    plot: Annotated[str, typer.Option(help="The two metrics of the Pareto plot.", metavar="X,Y")] = "volume,error",
    pool: Pool = None,
    tables: Annotated[
        str | None,
        typer.Option(
            help="Tables that every mechanism releases; what has not all of them does not run. Default: queries, or "
            "with --task what each has by itself.",
            metavar="T,…",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the noise, of bounding and of the splits.", min=0)] = 0,
    jobs: Annotated[int, typer.Option(help="Processes at a time.")] = 2,
    *,
    terminal: Terminal,
) -> None:
    """Compare mechanisms at one (ε, δ) on a log: rows, errors, task scores, over draws of noise. Spends nothing.

    Not private: the look is recorded, and everything written goes to owner-only/. Interrupted, it goes on where it was.
    --set d=5 is for all mechanisms that have a parameter d, --set zealous.m=2 for one.

    Example: hubbub compare log.tsv.gz --epsilon 1 --delta 1e-6 --task suggestion --sweep epsilon=0.5,1,2 --out compared
    """
    from hubbub.look.compare import CompareRequest, computed
    from hubbub.look.compare.page import PAGE, record
    from hubbub.look.compare.place import place
    from hubbub.look.compare.words import lines

    stated = read_configuration(log.config)
    log, public = stated.fill(log), stated.fill(MechanismOptions(pool=pool))
    log.require()
    named = [table.strip() for table in tables.split(",")] if tables else None
    workers = whole_number(jobs, "jobs", most=256) or 1
    settings = stated.settings_with(budget)
    wanted = CompareRequest(settings, mechanism, task, draws, truth, sweep or (), public.pool, _plot(plot), seed, named)
    with place(out) as folder, looking("compare", log, stated.owner.period, terminal, BANNER) as raw:
        bar = terminal.progress("comparing")
        found = computed(wanted, raw, folder, jobs=workers, memory=log.limits()[0], progress=bar)
    terminal.say_all(lines(found))
    if out is not None:
        terminal.say(f"The page: {folder / PAGE}; beside it compare.csv and compare.json.")
    terminal.document(record(found))


def _plot(text: str) -> tuple[str, str]:
    """The two metrics that `--plot` names."""
    names = [name.strip() for name in text.split(",")]
    if len(names) != 2 or not all(names):
        raise ParameterError(
            "--plot needs two metrics.", given=text, allowed="X,Y, e.g. volume,error or epsilon,volume"
        )
    return names[0], names[1]
