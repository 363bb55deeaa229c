"""`hubbub worth`: what tasks lose to privacy, over ε, users and mechanisms, for the owner's eyes only."""

from __future__ import annotations

from typing import Annotated

import typer

from hubbub.cli.compare import BANNER, LISTED
from hubbub.cli.config import read_configuration
from hubbub.cli.options import LogOptions, TruthFolder, Without, whole_number
from hubbub.cli.raw_log import looking
from hubbub.cli.terminal import Terminal, command
from hubbub.errors import ParameterError


@command
def worth(
    log: Annotated[LogOptions, Without(["engine", "master", "threads"])],
    epsilons: Annotated[str, typer.Option(help="Values of ε.", metavar="E,…")] = "0.5,2,8",
    delta: Annotated[str, typer.Option(help="δ of every row.", metavar="D")] = "1e-6",
    users: Annotated[
        str | None,
        typer.Option(help="Sizes of samples of the log's users (a quarter of 5,000, and 5,000).", metavar="N,…"),
    ] = None,
    mechanism: Annotated[list[str] | None, LISTED] = None,
    task: Annotated[
        list[str] | None,
        typer.Option(
            help="Only this task: completion, popularity, spelling, synonyms, ranking; repeatable.", metavar="T"
        ),
    ] = None,
    draws: Annotated[int, typer.Option(help="Draws of noise of each row.", metavar="N")] = 1,
    truth: TruthFolder = None,
    out: Annotated[
        str | None, typer.Option(help="Where to write; the same folder again goes on where it was.", metavar="DIR")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the samples, of the noise and of the splits.", min=0)] = 0,
    jobs: Annotated[int, typer.Option(help="Processes at a time.")] = 2,
    *,
    terminal: Terminal,
) -> None:
    """Price privacy on a log: every task by ε, users and mechanism, and where a release beats none. Spends nothing.

    Not private: the look is recorded, and everything written goes to owner-only/. Interrupted, it goes on where it was.

    Example: hubbub worth log.tsv.gz --truth truth --out worth
    """
    from hubbub.look.compare.place import place
    from hubbub.look.price.page import PAGE, lines, record, write
    from hubbub.look.price.request import PriceRequest
    from hubbub.look.price.run import computed

    stated = read_configuration(log.config)
    log = stated.fill(log)
    log.require()
    workers = whole_number(jobs, "jobs", most=256) or 1
    sizes = tuple(_size(part) for part in _parts(users or ""))
    wanted = PriceRequest(_parts(epsilons), delta, sizes, mechanism, task, draws, truth, seed)
    with place(out) as folder, looking("worth", log, stated.owner.period, terminal, BANNER) as raw:
        bar = terminal.progress("pricing")
        found = computed(wanted, raw, folder, jobs=workers, memory=log.limits()[0], progress=bar)
        write(found, wanted, folder)
    terminal.say_all(lines(found))
    if out is not None:
        terminal.say(f"The page: {folder / PAGE}; beside it worth.json.")
    terminal.document(record(found, wanted))


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _size(text: str) -> int:
    if not text.isdecimal():
        raise ParameterError("--users names sizes of samples.", given=text, allowed="whole numbers: 1000,5000")
    return int(text)
