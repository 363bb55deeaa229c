"""`hubbub synth`: make up a search log, with the truth about it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from hubbub.cli.listed import completing
from hubbub.cli.terminal import Terminal, command
from hubbub.plurals import counted


@command
def synth(
    users: Annotated[int, typer.Option(help="How many users the log has.", metavar="N")],
    out: Annotated[str, typer.Option(help="A new .tsv, .tsv.gz (AOL's format) or .parquet.", metavar="FILE")],
    preset: Annotated[
        str, typer.Option(help="The shape of the log: {presets}.", autocompletion=completing("presets"))
    ] = "aol",
    vocabulary: Annotated[
        str,
        typer.Option(
            help="Its words: {vocabularies}. The log is the same in each but for its texts.",
            autocompletion=completing("vocabularies"),
        ),
    ] = "en",
    seed: Annotated[int, typer.Option(help="The same seed gives the same log.")] = 0,
    truth: Annotated[
        str | None, typer.Option(help="A new folder for serp, topics, intents, … (.parquet).", metavar="DIR")
    ] = None,
    canaries: Annotated[
        str | None,
        typer.Option(
            help="Plant canaries: `default`, or a tab separated file of query, users, times, url.", metavar="FILE"
        ),
    ] = None,
    start: Annotated[str | None, typer.Option(help="The first day (the preset's).", metavar="DATE")] = None,
    days: Annotated[int | None, typer.Option(help="How many days it lasts (the preset's).", metavar="N")] = None,
    every: Annotated[str, typer.Option(help="The periods of what changes: month, week or day.")] = "month",
    changing: Annotated[
        int, typer.Option(help="So many needs rise, fall, burst in one period, come back with a season: each.")
    ] = 0,
    arriving: Annotated[float, typer.Option(help="The share of users who come during the log.")] = 0.0,
    leaving: Annotated[float, typer.Option(help="The share of users who go during the log.")] = 0.0,
    groups: Annotated[
        bool, typer.Option("--groups", help="Add the columns country, device and language (.parquet).")
    ] = False,
    typos: Annotated[float, typer.Option(help="The share of searches that are misspelt.", metavar="SHARE")] = 0.0,
    *,
    terminal: Terminal,
) -> None:
    """Make up a search log: nobody asked any of it, and what it means is known.

    Example: hubbub synth --users 20000 --out log.parquet --truth truth
    """
    from hubbub.synth import MADE_UP, Changes, lasting, read_canaries
    from hubbub.synth.presets import preset as preset_called
    from hubbub.synth.run import synthesise

    planted = MADE_UP if canaries == "default" else read_canaries(Path(canaries)) if canaries else ()
    changes = Changes(every, changing, changing, changing, changing, arriving=arriving, leaving=leaving)
    made = synthesise(
        users,
        Path(out),
        preset=replace(lasting(preset_called(preset), start, days), changes=changes),
        seed=seed,
        vocabulary=vocabulary,
        truth=Path(truth) if truth else None,
        canaries=planted,
        groups=groups,
        typos=typos,
        progress=terminal.progress("making up a log"),
    )
    terminal.say(
        f"A made-up log of {counted(users, 'user')}: {out}, {counted(made.rows, 'row')} in {made.seconds:.1f} s"
    )
    if made.truth:
        terminal.say(f"The truth about it: {', '.join(str(path) for path in made.truth.values())}")
    terminal.document(
        {
            "out": out,
            "rows": made.rows,
            "users": users,
            "preset": preset,
            "vocabulary": vocabulary,
            "seed": seed,
            "canaries": len(planted),
            "seconds": round(made.seconds, 3),
            "truth": {name: str(path) for name, path in made.truth.items()},
        }
    )
